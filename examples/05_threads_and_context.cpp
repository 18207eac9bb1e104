// SPDX-License-Identifier: MIT
//
// Guards work on every thread. A context carries the place where work was handed out to the threads
// that do it, so that the call tree shows the work there. A framework puts this into its parallel
// loop or thread pool once.
//
//     g++ -std=c++20 -O2 -pthread -I include examples/05_threads_and_context.cpp -o threads &&
//     ./threads

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

/// Calls body(0), ..., body(n - 1) on so many threads.
template <class Body>
void parallel_for(int threads, std::size_t n, const Body& body) {
  // a plain value: the path of the scopes open on this thread
  const kprof::context here = kprof::context::current();
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&] {
      // without it, the scopes below would begin a tree of their own
      const kprof::context_guard under{here};
      for (std::size_t i = next++; i < n; i = next++) body(i);
    });
  for (std::thread& worker : workers) worker.join();  // what a thread recorded stays
}

int main() {
  std::vector<std::vector<float>> parts(8, std::vector<float>(1 << 20, 1.0F));
  {
    KPROF_REGION("batch");
    parallel_for(2, parts.size(), [&](std::size_t i) {
      KPROF_OP(Scale, {.n = parts[i].size()});
      for (float& value : parts[i]) value *= 2.0F;
    });
  }
  kprof::report();
}

// Output:
// kprof · 05_threads_and_context · 23.0 ms · 3 threads on 2 CPUs · 8.39 MFLOP at 365 MFLOP/s
//
// Do first
//   1  The program has 3 threads in scopes at a time, on 2 CPUs. They take the CPUs from one another,
//      unless they wait: run as many threads as there are CPUs, and see to it that a library starts
//      none of its own (OMP_NUM_THREADS). [H2]
//
// Operators, sorted by self
//
// operator  parameters           calls     self            share   median     mean  GFLOP/s  GB/s
// ───────────────────────────────────────────────────────────────────────────────────────────────
// Scale     n=1048576                8  43.3 ms  ████████  65.5%  4.26 ms  5.41 ms    0.194  1.55
// ───────────────────────────────────────────────────────────────────────────────────────────────
// in operators                       8  43.3 ms            65.5%                      0.194  1.55
// in regions, outside operators         22.8 ms            34.5%
//
// not shown at width 100: total, FLOP/B, max, min
//
// Call tree, sorted by total; share is total, of 66.0 ms in all scopes
//
// scope                calls    total   share     self     mean  GFLOP/s  GB/s   FLOPs
// ────────────────────────────────────────────────────────────────────────────────────
// batch                    1  22.8 ms   34.5%  22.8 ms  22.8 ms    0.368  2.95  8.39 M
// └─ Scale(n=1048576)      8  43.3 ms   65.5%  43.3 ms  5.41 ms    0.194  1.55  8.39 M
// ────────────────────────────────────────────────────────────────────────────────────
// all scopes               9  66.0 ms  100.0%  66.0 ms             0.368  2.95  8.39 M
//
// Complete: nothing was lost of 9 scopes; kprof 0.1.0 took 63.0 µs (0.3% of wall time, all threads
//   summed). More: KPROF='report(timeline,legend,details)'.
