// SPDX-License-Identifier: MIT
// Named activations and gated linear units: published vectors, and their definitions with a number
// that counts what is done with it.
#include <kprof/ops/activation.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <algorithm>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::least;
using kprof_test::most;
using kprof_test::moves;
using kprof_test::named;
using namespace kprof::ops;
using kprof::dtype;

namespace {

static_assert(costs(Relu{.numel = 1048576, .type = dtype::f16}, 1048576, 4194304));
static_assert(costs(Relu{.numel = 1048576, .pass = pass::bprop, .type = dtype::f16}, 1048576,
                    6291456));
// A row of a profile of ResNet-50.
static_assert(costs(Relu{.numel = 32 * 64 * 112 * 112, .type = dtype::f16}, 25690112, 102760448));

static_assert(costs(Relu{.numel = 0}, 0, 0));
static_assert(Relu{.type = dtype::bf16}.arithmetic().on == kprof::arithmetic_unit::cuda_core &&
              Relu{.type = dtype::bf16}.arithmetic().type == dtype::bf16);

// Every one under its own name.
template <class... Ops>
constexpr bool one_flop_an_element() {
  return ((costs(Ops{.numel = 7}, 7, 56) &&
           costs(Ops{.numel = 1001, .pass = pass::bprop, .type = dtype::bf16}, 1001, 6006) &&
           costs(Ops{.numel = 5, .type = dtype::fp6_e2m3}, 5, 8)) &&
          ...);
}
static_assert(one_flop_an_element<Relu, Gelu, Silu, Sigmoid, Tanh, Elu, LeakyRelu, Softplus,
                                  Hardswish, Mish, Prelu>());
template <class... Ops>
constexpr bool gated() {
  return ((costs(Ops{.rows = 5, .F = 7, .type = dtype::f16}, 70, 210) &&
           costs(Ops{.rows = 5, .F = 7, .pass = pass::bprop}, 140, 700) &&
           costs(Ops{.rows = 1, .F = 5, .type = dtype::int4}, 10, 5 + 3)) &&
          ...);
}
static_assert(gated<Swiglu, Geglu, Reglu>());

static_assert(!is_constant([] { return Relu{.numel = -1}.flops(); }) &&
              !is_constant([] { return Relu{.numel = -1}.bytes(); }));
static_assert(!is_constant([] { return Relu{.numel = most}.bytes(); }) &&
              !is_constant([] { return Relu{.pass = pass::dgrad}.flops(); }));
static_assert(!is_constant([] { return Relu{.type = dtype::unknown}.flops(); }) &&
              !is_constant([] { return Activation{.act = activation::none}.flops(); }));
static_assert(!is_constant([] { return Swiglu{.F = -1}.flops(); }) &&
              !is_constant([] { return Swiglu{.rows = most, .F = most}.bytes(); }));

/// Counts what is done with it.
struct number {
  double value;
  static inline int done = 0, transcendental = 0;
};
number operator+(number x, number y) {
  ++number::done;
  return {x.value + y.value};
}
number operator-(number x, number y) {
  ++number::done;
  return {x.value - y.value};
}
number operator-(number x) {
  ++number::done;
  return {-x.value};
}
number operator*(number x, number y) {
  ++number::done;
  return {x.value * y.value};
}
number operator/(number x, number y) {
  ++number::done;
  return {x.value / y.value};
}
bool operator>(number x, number y) {
  ++number::done;
  return x.value > y.value;
}
number highest(number x, number y) {
  ++number::done;
  return {std::max(x.value, y.value)};
}
number lowest(number x, number y) {
  ++number::done;
  return {std::min(x.value, y.value)};
}
number select(bool which, number x, number y) {
  ++number::done;
  return which ? x : y;
}
// exp, log, tanh, erf
number special(number x) {
  ++number::done, ++number::transcendental;
  return x;
}

number defined(activation act, bool tanh_approximation, number x) {
  const number zero{0}, one{1}, half{0.5}, c{0.7}, three{3}, six{6};
  switch (act) {
    case activation::relu: return highest(x, zero);
    case activation::gelu:
      return tanh_approximation ? half * x * (one + special(c * (x + c * x * x * x)))
                                : half * x * (one + special(x * c));
    case activation::silu: return x * (one / (one + special(-x)));
    case activation::sigmoid: return one / (one + special(-x));
    case activation::tanh: return special(x);
    case activation::elu: return select(x > zero, x, c * (special(x) - one));
    case activation::leaky_relu:
    case activation::prelu: return select(x > zero, x, c * x);
    case activation::softplus: return special(one + special(x));
    case activation::hardswish: return x * lowest(highest(x + three, zero), six) / six;
    case activation::mish: return x * special(special(one + special(x)));
    case activation::none: return x;
  }
  return x;
}

}  // namespace

TEST_CASE("ops_activation.expressions_count_what_the_definitions_do") {
  for (int act = 1; act <= static_cast<int>(activation::prelu); ++act) {
    for (const bool tanh : {false, true}) {
      const Activation op{
          .act = static_cast<activation>(act), .numel = 5, .tanh_approximation = tanh};
      if (tanh && op.act != activation::gelu) {
        CHECK(is_refused(op));
        continue;
      }
      number::done = number::transcendental = 0;
      for (int i = 0; i < 5; ++i) static_cast<void>(defined(op.act, tanh, {i - 2.0}));
      INFO("activation " << act);
      CHECK(op.flops(cost_model::expressions) == number::done);
      CHECK(op.transcendentals(cost_model::expressions) == number::transcendental);
      CHECK(op.flops() == 5);
      CHECK(op.transcendentals() == (number::transcendental > 0 ? 5 : 0));
      Glu glu{.act = op.act, .rows = 5, .F = 1};
      if (!tanh) CHECK(glu.flops(cost_model::expressions) == number::done + 5);
    }
  }
}

TEST_CASE("ops_activation.bytes_are_what_a_loop_over_the_elements_touches") {
  kprof_test::random_shape random(3);
  for (int round = 0; round < 1000; ++round) {
    const std::int64_t rows = random(0, 9), F = random(0, 9);
    std::uint64_t in = 0, out = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t f = 0; f < F; ++f) in += 2, ++out;  // x[r,f] and x[r,F+f]
    CHECK(moves(Swiglu{.rows = rows, .F = F, .type = dtype::f16}, 2 * in, 2 * out));
    CHECK(moves(Glu{.rows = rows, .F = F, .pass = pass::bprop}, 4 * (in + out), 4 * in));
    CHECK(moves(Silu{.numel = rows * F, .type = dtype::f64}, 8 * out, 8 * out));
    CHECK(moves(Silu{.numel = rows * F, .pass = pass::bprop, .type = dtype::int8}, 2 * out, out));
  }
}

TEST_CASE("ops_activation.operators_have_the_names_of_their_functions") {
  CHECK(named<Relu>() == "Relu");
  CHECK(named<LeakyRelu>() == "LeakyRelu");
  CHECK(named<Swiglu>() == "Swiglu");
  CHECK(named<Geglu>() == "Geglu");
  CHECK(named<Reglu>() == "Reglu");
  CHECK(named<Glu>() == "Glu");
}

TEST_CASE("ops_activation.senseless_parameters_are_refused_and_do_not_trap") {
  for (const std::int64_t bad : {least, least + 2, std::int64_t{-1}}) {
    CHECK(is_refused(Relu{.numel = bad}));
    CHECK(is_refused(Activation{.numel = bad}));
    CHECK(is_refused(Activation{.act = activation::prelu, .weights = bad}));
    CHECK(is_refused(Swiglu{.rows = bad}));
    CHECK(is_refused(Glu{.F = bad}));
    CHECK_FALSE(Activation{.numel = bad}.transcendentals().valid());
    CHECK_FALSE(Glu{.F = bad}.transcendentals().valid());
  }
  for (const pass p : {pass::dgrad, pass::wgrad, pass::bgrad, static_cast<pass>(77)}) {
    CHECK(is_refused(Relu{.pass = p}));
    CHECK(is_refused(Swiglu{.pass = p}));
  }
  CHECK_FALSE(kprof::flops_of(Relu{.numel = most}).valid());
  CHECK_FALSE(kprof::flops_of(Activation{.act = activation::prelu, .weights = most}).valid());
  CHECK_FALSE(kprof::flops_of(Swiglu{.rows = most}).valid());
  CHECK_FALSE(kprof::flops_of(Swiglu{.F = most}).valid());
  CHECK(is_refused(Activation{.act = activation::none}));
  CHECK(is_refused(Activation{.act = static_cast<activation>(77)}));
  CHECK(is_refused(Activation{.act = activation::relu, .weights = 1}));
  CHECK(is_refused(Glu{.act = static_cast<activation>(77)}));
  CHECK(is_refused(Relu{.type = dtype::unknown}));
  CHECK(is_refused(Glu{.type = dtype::unknown}));
}
