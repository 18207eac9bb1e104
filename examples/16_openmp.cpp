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
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 8 * kprof::count{n}, .written = 4 * kprof::count{n}};
  }
};

void axpy(float a, const std::vector<float>& x, std::vector<float>& y) {
#pragma omp parallel num_threads(2)
  {
    KPROF_PART(Axpy, {.n = std::ssize(x)}, omp_get_thread_num(), omp_get_num_threads());
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
// kprof 0.1.0 · wall 3.43 ms · 2 threads · 20 scopes
//
// Operators by parameters, sorted by self; share is of 4.26 ms in all scopes
//
// operator  parameters  calls    total  threads  imbalance  GFLOP/s
// ─────────────────────────────────────────────────────────────────
// Axpy      n=1048576      10  3.21 ms     2.00       1.14     6.52
//
// Completeness
//   scopes    20 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   timeline  all 20 scopes, 3.43 ms
//   own cost  20.1 ns a scope, 403 ns in all (<0.1% of wall time, all threads summed); folding
//             60.8 µs; an empty scope shows 10.0 ns
//   memory    67.2 KiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, calibrated twice
