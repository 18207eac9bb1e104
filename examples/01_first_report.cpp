// SPDX-License-Identifier: MIT
//
// The whole of kprof in one program: declare an operator, guard its calls, print the report.
// Nothing is linked and nothing is initialised: including kprof.hpp arms a session that starts with
// the first guard.
//
//     g++ -std=c++20 -O2 -I include examples/01_first_report.cpp -o first_report && ./first_report

#include <kprof/kprof.hpp>

#include <vector>

struct Saxpy {  // an operator is its parameter struct
  kprof::extent n = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 2 * n * size_of(type), .written = n * size_of(type)};
  }
};
static_assert(Saxpy{.n = 1 << 20}.flops() == 2'097'152);  // formulas are tested by the compiler

void saxpy(float a, const std::vector<float>& x, std::vector<float>& y) {
  KPROF_OP(Saxpy, {.n = x.size()});  // until the end of the block
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

int main() {
  for (const std::size_t n : {16'777'216U, 65'536U}) {
    const std::vector<float> x(n, 1.0F);
    std::vector<float> y(n, 2.0F);
    for (int i = 0; i < 20; ++i) saxpy(3.0F, x, y);
  }
  kprof::report();  // the table, on stdout
}

// Output:
// kprof · 01_first_report · 440 ms · 1 thread on 2 CPUs
//
// Operators, sorted by self; all f32
//
// operator  parameters    calls    self             share   total   median     mean  GFLOP/s   GB/s
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// Saxpy     2 rows           40  419 ms  ████████  100.0%  419 ms  34.9 µs  10.5 ms     1.61   9.65
//             n=16777216     20  419 ms  ████████   99.9%  419 ms  20.1 ms  20.9 ms     1.60   9.62
//             n=65536        20  434 µs              0.1%  434 µs  19.8 µs  21.7 µs     6.04  36.2
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// in operators               40  419 ms            100.0%
//
// not shown at width 100: FLOP/B, max, min
//
// Complete: nothing was lost of 40 scopes; kprof 0.1.0 took 25.9 µs (<0.1% of wall time). More:
//   KPROF='report(tree,timeline,legend,details)'.
