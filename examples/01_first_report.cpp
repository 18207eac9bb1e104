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
  std::int64_t n = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 2 * n * size_of(type), .written = n * size_of(type)};
  }
};
static_assert(Saxpy{.n = 1 << 20}.flops() == 2'097'152);  // formulas are tested by the compiler

void saxpy(float a, const std::vector<float>& x, std::vector<float>& y) {
  KPROF_OP(Saxpy, {.n = std::ssize(x)});  // until the end of the block
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
// kprof · 01_first_report · 218 ms · 1 thread on 2 CPUs
//
// Operators, sorted by self; all f32
//
// operator  parameters    calls    self             share   total   median     mean  GFLOP/s  GB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────
// Saxpy     2 rows           40  206 ms  ████████  100.0%  206 ms  45.2 µs  5.16 ms     3.27  19.6
//             n=16777216     20  206 ms  ████████   99.8%  206 ms  10.0 ms  10.3 ms     3.26  19.6
//             n=65536        20  428 µs              0.2%  428 µs  19.8 µs  21.4 µs     6.13  36.8
// ────────────────────────────────────────────────────────────────────────────────────────────────
// in operators               40  206 ms            100.0%
//
// not shown at width 100: FLOP/B, max, min
//
// Call tree, sorted by total; share is total, of 206 ms in all scopes
//
// scope                       calls   total  share    self     mean
// ─────────────────────────────────────────────────────────────────
// Saxpy(n=16777216 type=f32)     20  206 ms  99.8%  206 ms  10.3 ms
// Saxpy(n=65536 type=f32)        20  428 µs   0.2%  428 µs  21.4 µs
//
// Completeness
//   scopes    40 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   timeline  all 40 scopes, 218 ms
//   own cost  19.0 ns a scope, 761 ns in all (<0.1% of wall time); folding 29.1 µs; an empty scope
//             shows 10.0 ns
//   memory    33.9 KiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, calibrated twice
//   version   kprof 0.1.0
