// SPDX-License-Identifier: MIT
// Reductions: published vectors, and naive ones with a number that counts what is done with it.
#include <kprof/ops/reduction.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cmath>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::least;
using kprof_test::most;
using kprof_test::named;
using namespace kprof::ops;
using kprof::dtype;

namespace {

static_assert(costs(Sum{.n_in = 200, .n_out = 10}, 200, 840));
static_assert(costs(Mean{.n_in = 4096, .type = dtype::f16}, 4097, 8194));

// Every one under its own name: FLOPs of 1001 elements to 7, of 9 to 9, and of 5 packed ones to 1.
template <class Op>
constexpr bool reduces(std::uint64_t many, std::uint64_t each, std::uint64_t packed) {
  return costs(Op{.n_in = 1001, .n_out = 7, .type = dtype::f16, .dtypeOut = dtype::f32}, many,
               2002 + 28) &&
         costs(Op{.n_in = 9, .n_out = 9, .type = dtype::f64, .dtypeOut = dtype::f64}, each, 144) &&
         costs(Op{.n_in = 5, .n_out = 1, .type = dtype::int4, .dtypeOut = dtype::int8}, packed,
               3 + 1);
}
static_assert(reduces<Sum>(1001, 9, 5) && reduces<Max>(1001, 9, 5) && reduces<Min>(1001, 9, 5) &&
              reduces<Prod>(1001, 9, 5));
static_assert(reduces<Argmax>(1001, 9, 5) && reduces<Argmin>(1001, 9, 5) &&
              reduces<Mean>(1008, 18, 6) && reduces<Norm2>(2009, 27, 11) &&
              reduces<Var>(4004, 36, 20));

static_assert(Mean{.type = dtype::f16}.arithmetic().type == dtype::f16 &&
              Mean{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);
// Of nothing: a sum is 0, which is written; there is no greatest element.
static_assert(costs(Sum{.n_in = 0, .n_out = 5}, 0, 20) && costs(Max{.n_in = 0, .n_out = 0}, 0, 0) &&
              !Max{.n_in = 0}.valid() && !Argmin{.n_in = 0}.valid());

static_assert(!is_constant([] { return Sum{.n_in = 10, .n_out = 3}.flops(); }) &&
              is_constant([] { return Sum{.n_in = 9, .n_out = 3}.flops(); }));
static_assert(!is_constant([] { return Sum{.n_in = 10, .n_out = 0}.flops(); }) &&
              !is_constant([] { return Sum{.n_in = -1}.bytes(); }));
static_assert(!is_constant([] { return Sum{.n_in = 2, .n_out = 4}.flops(); }) &&
              !is_constant([] { return Reduce{.type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return Var{.n_in = most, .n_out = 1}.bytes(); }) &&
              !is_constant([] { return Argmax{.n_in = 0}.transcendentals(); }));

struct number {
  double value;
  static inline std::uint64_t done = 0;
};
number operator+(number x, number y) {
  ++number::done;
  return {x.value + y.value};
}
number operator-(number x, number y) {
  ++number::done;
  return {x.value - y.value};
}
number operator*(number x, number y) {
  ++number::done;
  return {x.value * y.value};
}
number operator/(number x, number y) {
  ++number::done;
  return {x.value / y.value};
}
bool operator<(number x, number y) {
  ++number::done;
  return x.value < y.value;
}
number root(number x) {
  ++number::done;
  return {std::sqrt(x.value)};
}

/// One result of `x`, what is done once a result left out for the variance.
void reduce(reduction kind, const std::vector<number>& x) {
  number sum{0}, product{1}, low{1e300}, high{-1e300}, squares{0}, deviation{0};
  const number n{static_cast<double>(x.size())};
  double mean = 0;
  switch (kind) {
    case reduction::sum:
      for (const number v : x) sum = sum + v;
      break;
    case reduction::mean:
      for (const number v : x) sum = sum + v;
      sum = sum / n;
      break;
    case reduction::prod:
      for (const number v : x) product = product * v;
      break;
    case reduction::max:
    case reduction::argmax:
      for (const number v : x)
        if (high < v) high = v;
      break;
    case reduction::min:
    case reduction::argmin:
      for (const number v : x)
        if (v < low) low = v;
      break;
    case reduction::norm2:
      for (const number v : x) squares = squares + v * v;
      squares = root(squares);
      break;
    case reduction::var:
      for (const number v : x) sum = sum + v;
      mean = sum.value / n.value;
      for (const number v : x) {
        const number d = v - number{mean};
        deviation = deviation + d * d;
      }
      break;
  }
}

}  // namespace

TEST_CASE("ops_reduction.flops_are_what_a_naive_reduction_does") {
  kprof_test::random_shape random(11);
  for (int round = 0; round < 3000; ++round) {
    const auto kind = static_cast<reduction>(random(0, static_cast<int>(reduction::argmin)));
    const std::int64_t of_each = random(1, 9), n_out = random(0, 9);
    number::done = 0;
    for (std::int64_t i = 0; i < n_out; ++i) {
      std::vector<number> x;
      for (std::int64_t k = 0; k < of_each; ++k) x.push_back({static_cast<double>(random(-5, 5))});
      reduce(kind, x);
    }
    const bool position = kind == reduction::argmax || kind == reduction::argmin;
    INFO("kind " << static_cast<int>(kind) << ", " << n_out << " of " << of_each);
    CHECK(costs(Reduce{.kind = kind, .n_in = n_out * of_each, .n_out = n_out, .type = dtype::f16},
                number::done,
                static_cast<std::uint64_t>(n_out * of_each * 2 + n_out * (position ? 8 : 2))));
  }
}

TEST_CASE("ops_reduction.operators_have_the_names_of_their_kinds") {
  CHECK(named<Sum>() == "Sum");
  CHECK(named<Mean>() == "Mean");
  CHECK(named<Norm2>() == "Norm2");
  CHECK(named<Argmin>() == "Argmin");
  CHECK(named<Reduce>() == "Reduce");
  CHECK(Max{.n_in = 6, .n_out = 2}.general().kind == reduction::max);
  CHECK(Min{}.general().kind == reduction::min);
  CHECK(Prod{}.general().kind == reduction::prod);
}

TEST_CASE("ops_reduction.senseless_parameters_are_refused_and_do_not_trap") {
  for (int k = 0; k <= static_cast<int>(reduction::argmin); ++k) {
    const auto kind = static_cast<reduction>(k);
    for (const std::int64_t bad : {least, least + 1, std::int64_t{-1}}) {
      CHECK(is_refused(Reduce{.kind = kind, .n_in = bad}));
      CHECK(is_refused(Reduce{.kind = kind, .n_out = bad}));
      CHECK(is_refused(Reduce{.kind = kind, .n_in = bad, .n_out = bad}));
      CHECK_FALSE(Reduce{.kind = kind, .n_in = bad}.transcendentals().valid());
    }
    CHECK(is_refused(Reduce{.kind = kind, .n_in = 1, .n_out = most}));
    CHECK(is_refused(Reduce{.kind = kind, .n_in = 1, .n_out = 0}));
    CHECK_FALSE(kprof::flops_of(Reduce{.kind = kind, .n_in = most}).valid());
    CHECK_FALSE(kprof::flops_of(Reduce{.kind = kind, .n_in = most, .n_out = most}).valid());
    CHECK(is_refused(Reduce{.kind = kind, .type = dtype::unknown}));
  }
  CHECK(is_refused(Reduce{.kind = static_cast<reduction>(77)}));
  CHECK(is_refused(Argmax{.n_in = 0}));
}
