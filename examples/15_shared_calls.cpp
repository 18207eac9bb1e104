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
// kprof 0.1.0 · wall 5.78 ms · 3 threads · 24 scopes
//
// Operators by parameters, sorted by self; share is of 3.97 ms in all scopes
//
// operator  parameters  calls    total  threads  imbalance  waiting  GFLOP/s
// ──────────────────────────────────────────────────────────────────────────
// Scale     n=1048576       8  5.29 ms     3.00       1.10  11.9 ms     1.58
//
// Completeness
//   scopes    24 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   timeline  all 24 scopes, 5.78 ms
//   own cost  19.0 ns a scope, 457 ns in all (<0.1% of wall time, all threads summed); folding
//             52.0 µs; an empty scope shows 10.0 ns
//   memory    99.5 KiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, calibrated twice
