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
// kprof 0.1.0 · wall 333 ms · 1 thread · 40 scopes
//
// Operators by parameters, sorted by self; share is of 319 ms in all scopes
//
// operator  parameters           calls    self  share   total     mean      max  GFLOP/s  GB/s  FLOP/B
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Saxpy     n=16777216 type=f32     20  319 ms  99.9%  319 ms  15.9 ms  16.1 ms     2.11  12.6   0.167
// Saxpy     n=65536 type=f32        20  469 µs   0.1%  469 µs  23.5 µs  34.6 µs     5.59  33.5   0.167
//
// not shown at width 100: median, min
//
// Call tree, sorted by total; share is total, of 319 ms in all scopes
//
// scope                       calls   total  share    self     mean
// ─────────────────────────────────────────────────────────────────
// Saxpy(n=16777216 type=f32)     20  319 ms  99.9%  319 ms  15.9 ms
// Saxpy(n=65536 type=f32)        20  469 µs   0.1%  469 µs  23.5 µs
//
// Completeness
//   scopes    40 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   timeline  all 40 scopes, 333 ms
//   own cost  32.4 ns a scope, 1.30 µs in all (<0.1% of wall time); folding 19.3 µs; an empty scope
//             shows 12.0 ns
//   memory    33.3 KiB of 64.0 MiB
//   clock     tsc, 0.400 ns a tick, calibrated twice
