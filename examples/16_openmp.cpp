// SPDX-License-Identifier: MIT
//
// A call that the threads of OpenMP do together: KPROF_PART inside the parallel region, with the
// thread's number and the number of threads.
//
//     g++ -std=c++20 -O2 -fopenmp -I include examples/16_openmp.cpp -o openmp && ./openmp

#include <kprof/kprof.hpp>

#include <omp.h>

#include <vector>

struct Axpy {
  kprof::extent n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 8 * kprof::count{n}, .written = 4 * kprof::count{n}};
  }
};

void axpy(float a, const std::vector<float>& x, std::vector<float>& y) {
#pragma omp parallel num_threads(2)
  {
    KPROF_PART(Axpy, {.n = x.size()}, omp_get_thread_num(), omp_get_num_threads());
#pragma omp for nowait
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
}

int main() {
  omp_set_dynamic(0);  // no fewer threads than asked for
  const std::vector<float> x(1 << 20, 1.0F);
  std::vector<float> y(x.size());
  for (int i = 0; i < 10; ++i) axpy(2.0F, x, y);
  kprof::report();
}

// Output:
// kprof · 16_openmp · 15.0 ms · 2 threads on 2 CPUs · 21.0 MFLOP at 1.40 GFLOP/s
//
// Operators, sorted by self
//
// operator  parameters  calls     self             share    total   median     mean  GFLOP/s  GB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────
// Axpy      n=1048576      10  27.9 ms  ████████  100.0%  14.7 ms  1.41 ms  1.47 ms     1.43  8.59
// ────────────────────────────────────────────────────────────────────────────────────────────────
// in operators             10  27.9 ms            100.0%                                1.43  8.59
//
// not shown at width 100: FLOP/B, max, min
// outside all scopes: 1.04 ms, 7.0% of 16_openmp 9710 (wall 14.8 ms, in scopes 13.8 ms)
// outside all scopes: 553 µs, 3.8% of 16_openmp 9711 (wall 14.7 ms, in scopes 14.1 ms)
//
// Calls that threads share; total is theirs, from the first begin to the last end
//
// operator  waiting  imbalance  threads    total
// ──────────────────────────────────────────────
// Axpy      1.41 ms       1.04        2  14.7 ms
//
// Complete: nothing was lost of 20 scopes; kprof 0.1.0 took 136 µs (0.9% of wall time, all threads
//   summed). More: KPROF='report(tree,timeline,legend,details)'.
