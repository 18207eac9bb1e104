// SPDX-License-Identifier: MIT
//
// What parameters may be, and how formulas are kept right: enums, element types, shapes, short
// texts; checked counts; static_assert on the formulas; valid() for what the formulas do not cover;
// the list of all operators of a program.
//
//     g++ -std=c++20 -O2 -I include examples/02_parameters_and_formulas.cpp -o parameters &&
//     ./parameters

#include <kprof/kprof.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

enum class reduction : std::uint8_t { sum, max };

/// A parameter is a number, a bool, an enum, a std::array or nested struct of these, or a
/// kprof::fixed_string.
struct Reduce {
  reduction kind = reduction::sum;
  std::array<std::int64_t, 2> shape{1, 1};
  kprof::dtype type = kprof::dtype::f32;
  kprof::fixed_string<15> layer{};

  // kprof::count is checked: an overflow is a compile error in a constant and an `invalid` row at
  // run time.
  constexpr kprof::count elements() const { return kprof::count{shape[0]} * shape[1]; }
  constexpr kprof::count flops() const { return elements(); }
  constexpr kprof::traffic bytes() const {
    return {.read = elements() * size_of(type), .written = shape[0] * size_of(type)};
  }
  constexpr bool valid() const { return shape[0] > 0 && shape[1] > 0; }
};
static_assert(Reduce{.shape = {40, 20}}.flops() == 800);
static_assert(Reduce{.shape = {40, 20}, .type = kprof::dtype::f64}.bytes().total() ==
              8 * (800 + 40));
static_assert(!Reduce{.shape = {40, 0}}.valid());

/// A formula that is not declared is reported as n/a, never as 0. This one has traffic only.
struct Fill {
  kprof::extent n = 0;
  constexpr kprof::traffic bytes() const {
    return {.read = 0, .written = kprof::count{n} * size_of(kprof::dtype::f32)};
  }
};

// Every operator of the program: names distinct, fields and formulas usable, or a message says what
// to do.
using operators = kprof::op_registry<Reduce, Fill>;
static_assert(operators::size == 2 && operators::contains("Fill"));

float reduce(const Reduce& params, const std::vector<float>& x) {
  KPROF_OP(Reduce, params);
  return params.kind == reduction::sum ? std::accumulate(x.begin(), x.end(), 0.0F)
                                       : *std::max_element(x.begin(), x.end());
}

int main() {
  std::vector<float> x(4096 * 1024);
  {
    KPROF_OP(Fill, {.n = x.size()});
    std::fill(x.begin(), x.end(), 0.5F);
  }
  float result = 0;
  for (int i = 0; i < 6; ++i) result += reduce({.shape = {4096, 1024}, .layer = "mean"}, x);
  for (int i = 0; i < 3; ++i)
    result += reduce({.kind = reduction::max, .shape = {4096, 1024}, .layer = "softmax"}, x);
  // shown as invalid
  result += reduce({.kind = reduction::max, .shape = {4096, -1}, .layer = "logits"}, x);
  kprof::report_options options;
  options.columns = {"operator", "parameters", "calls", "self", "gflops", "gbs"};
  kprof::report(options);
  return result > 0 ? 0 : 1;
}

// Output:
// kprof · 02_parameters_and_formulas · 257 ms · 1 thread on 2 CPUs
//
// Operators, sorted by self; f32 where a type is known
//
// operator  parameters                                        calls     self  GFLOP/s   GB/s
// ──────────────────────────────────────────────────────────────────────────────────────────
// Reduce    3 rows                                               10   252 ms      n/a    n/a
//             shape=4096×1024 layer=mean                          6   142 ms    0.178  0.711
//             kind=max shape=4096×1024 layer=softmax              3  83.1 ms    0.151  0.606
//             invalid: kind=max shape=[4096,-1] layer=logits      1  27.7 ms      n/a    n/a
// Fill      n=4194304                                             1  4.19 ms      n/a  4.00
// ──────────────────────────────────────────────────────────────────────────────────────────
// in operators                                                   11   257 ms      n/a    n/a
//
// n/a, no flops() declared: Fill
// n/a, invalid parameters, or a formula that gives no number for them: Reduce (1 of 3 rows)
//
// Completeness
//   scopes    11 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere or merged
// ! 1 invalid: calls whose parameters fail valid(), or whose formula overflowed or went negative;
//     their rows say `invalid` and have no rates. Correct the parameters or the formula.
//   version   kprof 0.1.0
