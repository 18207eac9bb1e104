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
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}};
  }
};

/// One layer of a network, done by all threads of the pool.
void scale(std::vector<float>& all, int thread, int threads) {
  KPROF_PART(Scale, {.n = std::ssize(all)}, thread, threads);  // the parameters of the whole call
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
// kprof · 15_shared_calls · 51.4 ms · 3 threads on 2 CPUs · 8.39 MFLOP at 163 MFLOP/s
//
// Operators, sorted by self
//
// operator  parameters  calls     self             share    total   median     mean  GFLOP/s  GB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────
// Scale     n=1048576       8  16.2 ms  ████████  100.0%  41.5 ms  4.27 ms  5.19 ms    0.202  1.62
// ────────────────────────────────────────────────────────────────────────────────────────────────
// in operators              8  16.2 ms            100.0%                               0.202  1.62
//
// not shown at width 100: FLOP/B, max, min
// outside all scopes: 45.7 ms, 89.2% of 15_shared_calls 24400 (wall 51.3 ms, in scopes 5.55 ms)
// outside all scopes: 38.7 ms, 87.9% of 15_shared_calls 24402 (wall 44.1 ms, in scopes 5.33 ms)
// outside all scopes: 33.5 ms, 86.3% of 15_shared_calls 24401 (wall 38.8 ms, in scopes 5.30 ms)
//
// Calls that threads share; total is from the first begin to the last end
//
// operator  waiting  imbalance  threads    total
// ──────────────────────────────────────────────
// Scale      108 ms       1.03        3  41.5 ms
//
// Complete: nothing was lost of 24 scopes; kprof 0.1.0 took 51.6 µs (0.1% of wall time, all threads
//   summed). More: KPROF='report(tree,legend,details)'.
