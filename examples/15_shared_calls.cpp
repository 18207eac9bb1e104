// SPDX-License-Identifier: MIT
//
// Threads of a pool that do one call together: each opens KPROF_PART with its number, as each calls
// the function with its number. The call counts once, with its FLOPs; it lasts from the first begin
// to the last end. No thread needs to know what the others have open.
//
//     g++ -std=c++20 -O2 -pthread -I include examples/15_shared_calls.cpp -o shared && ./shared

#include <kprof/kprof.hpp>

#include <atomic>
#include <thread>
#include <vector>

struct Scale {
  kprof::extent n = 0;
  constexpr kprof::count flops() const { return n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}};
  }
};

/// One layer of a network, done by all threads of the pool.
void scale(std::vector<float>& all, int thread, int threads) {
  KPROF_PART(Scale, {.n = all.size()}, thread, threads);  // the parameters of the whole call
  const auto at = [&](int part) { return all.begin() + std::ssize(all) * part / threads; };
  for (auto value = at(thread); value != at(thread + 1); ++value) *value *= 2.0F;
}

/// Lets threads go on when all of them have come.
class barrier {
 public:
  explicit barrier(int threads) : threads_(threads) {}
  void wait() {
    const int round = round_;
    if (++come_ == threads_) {
      come_ = 0;
      ++round_;
      round_.notify_all();
    } else {
      round_.wait(round);
    }
  }

 private:
  const int threads_;
  std::atomic<int> come_ = 0, round_ = 0;
};

int main() {
  constexpr int threads = 3, layers = 8;
  std::vector<float> values(1 << 20, 1.0F);
  barrier layer_done(threads);
  const auto forward = [&](int thread) {
    for (int layer = 0; layer < layers; ++layer) {
      scale(values, thread, threads);
      layer_done.wait();
    }
  };
  std::vector<std::thread> pool;
  for (int thread = 1; thread < threads; ++thread) pool.emplace_back(forward, thread);
  forward(0);
  for (std::thread& worker : pool) worker.join();
  kprof::report();
}

// Output:
// kprof · 15_shared_calls · 61.8 ms · 3 threads on 2 CPUs · 8.39 MFLOP at 136 MFLOP/s
//
// Do first
//   1  Scale n=1048576 waits for its longest part, which takes 125% of the mean part. Share the work
//      more evenly: smaller pieces, handed out as threads come free. [H10]        at most 12.4 ms  12%
//
// Operators, sorted by self
//
// operator  parameters  calls    self             share    cpu   median     mean  GFLOP/s  GB/s
// ─────────────────────────────────────────────────────────────────────────────────────────────
// Scale     n=1048576       8  104 ms  ████████  100.0%  88.8%  7.61 ms  7.64 ms    0.137  1.10
// ─────────────────────────────────────────────────────────────────────────────────────────────
// in operators              8  104 ms            100.0%                             0.137  1.10
//
// not shown at width 100: total, FLOP/B, max, min
// off the CPU, waiting or for want of a CPU: Scale (11.6 ms of 104 ms)
// outside all scopes: 27.4 ms, 44.6% of 15_shared_calls 9667 (wall 61.5 ms, in scopes 34.1 ms, off the
//   CPU 26.9 ms)
// outside all scopes: 26.7 ms, 43.4% of 15_shared_calls 9668 (wall 61.4 ms, in scopes 34.7 ms, off the
//   CPU 30.3 ms)
// outside all scopes: 23.5 ms, 40.3% of 15_shared_calls 9666 (wall 58.4 ms, in scopes 34.8 ms, off the
//   CPU 23.3 ms)
//
// Calls that threads share; total is theirs, from the first begin to the last end
//
// operator  waiting  imbalance  threads    total
// ──────────────────────────────────────────────
// Scale     79.8 ms       1.25        3  61.2 ms
//
// Complete: nothing was lost of 24 scopes; kprof 0.1.0 took 162 µs (0.3% of wall time, all threads
//   summed). More: KPROF='report(tree,timeline,legend,details)'.
