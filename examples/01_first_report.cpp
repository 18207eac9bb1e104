// SPDX-License-Identifier: MIT
//
// The whole of kprof in one program: declare an operator, guard its calls, print the report. Nothing is linked and
// nothing is initialised: including kprof.hpp arms a session that starts with the first guard.
//
//     g++ -std=c++20 -O2 -I include examples/01_first_report.cpp -o first_report && ./first_report

#include <kprof/kprof.hpp>

#include <vector>

struct Saxpy {                                   // an operator is its parameter struct
  std::int64_t n = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count   flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const { return {.read = 2 * n * size_of(type), .written = n * size_of(type)}; }
};
static_assert(Saxpy{.n = 1 << 20}.flops() == 2'097'152);   // formulas are tested by the compiler

void saxpy(float a, const std::vector<float>& x, std::vector<float>& y) {
  KPROF_OP(Saxpy, {.n = std::ssize(x)});         // until the end of the block
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

int main() {
  for (const std::size_t n : {16'777'216U, 65'536U}) {
    const std::vector<float> x(n, 1.0F);
    std::vector<float> y(n, 2.0F);
    for (int i = 0; i < 20; ++i) saxpy(3.0F, x, y);
  }
  kprof::report();                               // the table, on stdout
}

// Output:
// kprof 0.1.0 · wall 308 ms · 1 thread · 40 scopes
//
// Operators by parameters, sorted by self; share is of 296 ms in all scopes
//
// operator  parameters           calls    self  share   total     mean      max  GFLOP/s  GB/s  FLOP/B
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Saxpy     n=16777216 type=f32     20  296 ms  99.9%  296 ms  14.8 ms  16.7 ms     2.27  13.6   0.167
// Saxpy     n=65536 type=f32        20  389 µs   0.1%  389 µs  19.4 µs  32.8 µs     6.74  40.5   0.167
//
// not shown at width 100: median, min
//
// Call tree, sorted by total; share is total, of 296 ms in all scopes
//
// scope                       calls   total  share    self     mean
// ─────────────────────────────────────────────────────────────────
// Saxpy(n=16777216 type=f32)     20  296 ms  99.9%  296 ms  14.8 ms
// Saxpy(n=65536 type=f32)        20  389 µs   0.1%  389 µs  19.4 µs
//
// Completeness
//   scopes    40 recorded; none open, left open, dropped, closed by an outer scope, closed elsewhere,
//             invalid or merged
//   timeline  all 40 scopes, 308 ms
//   own cost  32.7 ns a scope, 1.31 µs in all (<0.1% of wall time); folding 22.4 µs; an empty scope
//             shows 18.4 ns
//   memory    33.4 KiB of 64.0 MiB
//   clock     tsc, 0.400 ns a tick, calibrated twice
