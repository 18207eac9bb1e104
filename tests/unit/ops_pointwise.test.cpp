// SPDX-License-Identifier: MIT
// Elementwise operators: published vectors, loops over broadcast index spaces, functions of a
// number that counts.
#include <kprof/ops/pointwise.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <algorithm>
#include <set>
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

template <class... Sizes>
concept sizes_of_a_shape = requires(Sizes... sizes) {
  shape{sizes...};
};
static_assert(sizes_of_a_shape<int, int, int, int, int, int> &&
              !sizes_of_a_shape<int, int, int, int, int, int, int> && !sizes_of_a_shape<double>);

// Published vectors.
static_assert(costs(Add{.a = {128, 256}, .b = {128, 256}, .type = dtype::f16}, 32768, 196608));
static_assert(costs(Mul{.a = {64, 1}, .b = {1, 32}}, 2048, 8576));
static_assert(costs(Eq{.a = {1000}, .type = dtype::f16}, 1000, 3002));
static_assert(costs(
    Ternary{.function = ternary_function::addcmul, .a = {100, 10}, .b = {100, 10}, .c = {100, 10}},
    3000, 16000));
static_assert(costs(Dropout{.numel = 65536, .type = dtype::f16}, 131072, 327680));
// Rows of a profile of ResNet-50.
static_assert(costs(Add{.a = {32, 256, 56, 56}, .b = {32, 256, 56, 56}, .type = dtype::f16},
                    25690112, 154140672));

static_assert(costs(Addcmul{.a = {100, 10}, .b = {100, 10}, .c = {100, 10}}, 3000, 16000));
static_assert(costs(Dropout{.numel = 0}, 0, 0));

// Shapes: a size may be 0 wherever it stands, and a negative one is no size that is left out.
static_assert(costs(Add{.a = {0}, .b = {0}}, 0, 0) && costs(Add{.a = {0}}, 0, 0) &&
              costs(Add{.a = {0, 5}, .b = {5}}, 0, 0));
static_assert(costs(Add{.a = {4, 0, 3}, .b = {4, 1, 1}}, 0, 0) &&
              costs(Add{.a = {4, 0}, .b = {4, 0}}, 0, 0) &&
              costs(Add{.a = {4, 0}, .b = {4, 1}}, 0, 0));
static_assert(!Add{.a = {4, 0}, .b = {4, 5}}.valid() && !Add{.a = {0}, .b = {5}}.valid() &&
              costs(Add{.a = {1, 2, 3, 4, 5, 0}}, 0, 0));
static_assert(!Add{.a = {-1}}.valid() && !Add{.a = {2, -1}, .b = {2}}.valid() &&
              !Add{.a = {2, 3, -1}}.valid() && !Add{.a = {}}.valid());
static_assert(shape_of(std::array{2U, 3U}) == shape{2, 3} &&
              shape_of(std::array<std::int64_t, 2>{4, 0}) == shape{4, 0} &&
              shape_of(std::array<int, 0>{}) == shape{1});
static_assert(!Add{.a = shape_of(std::array<int, 7>{})}.valid() &&
              !Add{.a = shape_of(std::array{2, -1})}.valid() && shape{2, 3}.rank() == 2);
static_assert(!Add{.a = {2, 3}, .b = {3, 2}}.valid() &&
              !Ternary{.a = {2}, .b = {1}, .c = {3}}.valid());

// What makes no sense does not compile in a constant expression.
static_assert(is_constant([] { return Add{.a = {2}, .b = {2}}.flops(); }) &&
              !is_constant([] { return Add{.a = {2}, .b = {3}}.flops(); }));
static_assert(!is_constant([] { return Add{.a = {2}, .b = {3}}.bytes(); }) &&
              !is_constant([] { return Add{.a = {-1}}.flops(); }));
static_assert(!is_constant([] {
  return Add{.a = {most, most}}.flops();
}) && !is_constant([] { return Maximum{.pass = pass::bprop}.flops(); }));
static_assert(!is_constant([] { return Unary{.numel = -1}.flops(); }));
static_assert(!is_constant([] {
  return Unary{.function = unary_function::floor, .pass = pass::bprop}.bytes();
}));
static_assert(!is_constant([] { return Ternary{.a = {2}, .b = {3}}.flops(); }) &&
              !is_constant([] { return Ternary{.type = dtype::unknown}.bytes(); }));
static_assert(!is_constant([] { return Dropout{.numel = -1}.flops(); }) &&
              !is_constant([] { return Dropout{.numel = most}.bytes(); }));

/// Counts what is done with it.
struct number {
  double value;
  static inline int done = 0;
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

number defined(ternary_function f, number a, number b, number c) {
  const number s{2};
  switch (f) {
    case ternary_function::fma: return a * b + c;
    case ternary_function::addcmul: return a + s * b * c;
    case ternary_function::addcdiv: return a + s * b / c;
    case ternary_function::lerp: return a + c * (b - a);
    case ternary_function::where: return select(a.value != 0, b, c);
    case ternary_function::clamp: return lowest(highest(a, b), c);
  }
  return a;
}

using sizes = std::vector<std::int64_t>;

/// What operands broadcast to by NumPy's rule, in six dimensions; empty where they do not.
sizes broadcast(const std::vector<sizes>& operands) {
  sizes out(6, 1);
  for (sizes s : operands) {
    s.insert(s.begin(), 6 - s.size(), 1);
    for (std::size_t d = 0; d < 6; ++d) {
      if (s[d] == 1 || s[d] == out[d]) continue;
      if (out[d] != 1) return {};
      out[d] = s[d];
    }
  }
  return out;
}

struct walked {
  std::uint64_t out = 0;
  std::vector<std::uint64_t> touched;  // distinct elements of each operand
};
/// Walks all elements of the result and marks the element of each operand that it needs.
walked walk(const std::vector<sizes>& operands, const sizes& out) {
  walked w;
  std::vector<std::set<std::int64_t>> touched(operands.size());
  std::int64_t n = 1;
  for (const std::int64_t s : out) n *= s;
  for (std::int64_t i = 0; i < n; ++i) {
    ++w.out;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      std::int64_t rest = i, offset = 0, stride = 1;
      for (std::size_t d = 6; d-- > 0;) {
        const std::int64_t at = rest % out[d];
        rest /= out[d];
        const std::size_t beyond = 6 - operands[k].size();
        if (d < beyond) continue;
        const std::int64_t size = operands[k][d - beyond];
        offset += (size == 1 ? 0 : at) * stride;
        stride *= size;
      }
      touched[k].insert(offset);
    }
  }
  for (const auto& t : touched) w.touched.push_back(t.size());
  return w;
}

sizes random_sizes(kprof_test::random_shape& random, const sizes& like) {
  sizes s = like;
  for (std::int64_t& n : s)
    if (random(0, 2) == 0) n = 1;
  // may not fit
  if (random(0, 3) == 0 && !s.empty())
    s[static_cast<std::size_t>(random(0, static_cast<std::int64_t>(s.size()) - 1))] = random(0, 5);
  s.erase(s.begin(), s.begin() + random(0, static_cast<std::int64_t>(s.size())));
  return s;
}

}  // namespace

TEST_CASE("ops_pointwise.broadcast_operators_touch_what_a_walk_over_the_result_touches") {
  kprof_test::random_shape random(7);
  int fit = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    sizes like(static_cast<std::size_t>(random(0, 6)));
    for (std::int64_t& n : like) n = random(0, 19) == 0 ? 0 : random(1, 3);
    const std::vector<sizes> of{random_sizes(random, like), random_sizes(random, like),
                                random_sizes(random, like)};
    const sizes two = broadcast({of[0], of[1]}), three = broadcast(of);
    const Add add{.a = shape_of(of[0]), .b = shape_of(of[1]), .dtypeB = dtype::f16};
    const Lt less{.a = shape_of(of[0]), .b = shape_of(of[1])};
    const Ternary fma{.a = shape_of(of[0]),
                      .b = shape_of(of[1]),
                      .c = shape_of(of[2]),
                      .type = dtype::f64,
                      .dtypeA = dtype::f32};
    INFO("round " << round);
    if (two.empty()) {
      CHECK(is_refused(add));
      CHECK(is_refused(less));
      ++refused;
    } else {
      const walked w = walk({of[0], of[1]}, two);
      CHECK(costs(add, w.out, 4 * w.touched[0] + 2 * w.touched[1] + 4 * w.out));
      CHECK(costs(less, w.out, 4 * w.touched[0] + 4 * w.touched[1] + w.out));
      CHECK(add.bytes().written == 4 * w.out);
      ++fit;
    }
    if (three.empty()) {
      CHECK(is_refused(fma));
    } else {
      const walked w = walk(of, three);
      CHECK(
          costs(fma, 2 * w.out, 4 * w.touched[0] + 8 * (w.touched[1] + w.touched[2]) + 8 * w.out));
    }
  }
  CHECK(fit > 1000);
  CHECK(refused > 50);
}

TEST_CASE("ops_pointwise.ternary_functions_do_what_they_count") {
  for (int f = 0; f <= static_cast<int>(ternary_function::clamp); ++f) {
    number::done = 0;
    static_cast<void>(defined(static_cast<ternary_function>(f), {1}, {2}, {3}));
    CHECK(Ternary{.function = static_cast<ternary_function>(f)}.flops() == number::done);
  }
}

TEST_CASE("ops_pointwise.functions_are_transcendental_by_name") {
  int n = 0;
  for (int f = 0; f <= static_cast<int>(unary_function::erfinv); ++f) {
    const Unary op{.function = static_cast<unary_function>(f)};
    CHECK(op.flops() == 1);
    CHECK(op.flops(cost_model::pyprof) == (op.transcendentals() == 1 ? 20 : 1));
    n += op.transcendentals() == 1 ? 1 : 0;
  }
  CHECK(n == 21);
  for (const unary_function f :
       {unary_function::exp, unary_function::log, unary_function::sqrt, unary_function::rsqrt,
        unary_function::sin, unary_function::cos, unary_function::tan, unary_function::tanh,
        unary_function::erf, unary_function::log1p, unary_function::expm1})
    CHECK(Unary{.function = f}.transcendentals() == 1);
  for (const unary_function f :
       {unary_function::abs, unary_function::neg, unary_function::reciprocal,
        unary_function::square, unary_function::floor})
    CHECK(Unary{.function = f}.transcendentals() == 0);
  for (int f = 0; f <= static_cast<int>(binary_function::atan2); ++f) {
    const Binary op{.function = static_cast<binary_function>(f)};
    CHECK(op.flops() == 1);
    CHECK((op.flops(cost_model::pyprof) == 20) ==
          (op.function == binary_function::pow || op.function == binary_function::atan2));
    Binary back = op;
    back.pass = pass::bprop;
    CHECK(back.valid() == (op.function <= binary_function::div));
  }
}

TEST_CASE("ops_pointwise.operators_have_the_names_of_their_functions") {
  CHECK(named<Add>() == "Add");
  CHECK(named<Maximum>() == "Maximum");
  CHECK(named<Ge>() == "Ge");
  CHECK(named<Pow>() == "Pow");
  CHECK(named<Ternary>() == "Ternary");
  CHECK(named<Unary>() == "Unary");
  CHECK(named<Rsqrt>() == "Rsqrt");
  CHECK(named<Addcmul>() == "Addcmul");
  CHECK(named<Where>() == "Where");
}

TEST_CASE("ops_pointwise.senseless_parameters_are_refused_and_do_not_trap") {
  for (const std::int64_t bad : {least, least + 2, std::int64_t{-1}}) {
    CHECK(is_refused(Unary{.numel = bad}));
    CHECK(is_refused(Dropout{.numel = bad}));
    CHECK_FALSE(Unary{.numel = bad}.transcendentals().valid());
  }
  for (const std::int64_t bad : {least, std::int64_t{-1}, most}) {
    for (std::size_t d = 0; d < 6; ++d) {
      std::array<std::int64_t, 6> sizes{2, 2, 2, 2, 2, 2};
      sizes[d] = bad;
      const shape s = shape_of(sizes);
      const bool fits = bad == most;  // but is too large
      CHECK_FALSE(kprof::flops_of(Add{.a = s}).valid());
      CHECK_FALSE(kprof::flops_of(Add{.b = s}).valid());
      CHECK_FALSE(Ternary{.a = s, .b = s, .c = s}.bytes().total().valid());
      CHECK_FALSE(Ternary{.c = s}.bytes().total().valid());
      CHECK(Binary{.b = s}.valid() == fits);
      CHECK_FALSE(Binary{.a = s}.transcendentals().valid());
    }
  }
  CHECK_FALSE(kprof::flops_of(Unary{.numel = most}).valid());
  CHECK_FALSE(kprof::flops_of(Dropout{.numel = most}).valid());
  for (const pass p : {pass::dgrad, pass::wgrad, pass::bgrad, static_cast<pass>(77)}) {
    CHECK(is_refused(Add{.pass = p}));
    CHECK(is_refused(Unary{.pass = p}));
    CHECK(is_refused(Dropout{.pass = p}));
  }
  CHECK(is_refused(Unary{.function = static_cast<unary_function>(77)}));
  CHECK(is_refused(Unary{.function = unary_function::is_nan, .pass = pass::bprop}));
  CHECK(is_refused(Binary{.function = static_cast<binary_function>(77)}));
  CHECK(is_refused(Binary{.gradient = static_cast<gradient_of>(77)}));
  CHECK(is_refused(Ternary{.function = static_cast<ternary_function>(77)}));
  CHECK(is_refused(Unary{.type = dtype::unknown}));
  CHECK(is_refused(Binary{.type = dtype::unknown}));
  CHECK(is_refused(Ternary{.type = dtype::unknown}));
  CHECK(is_refused(Dropout{.type = dtype::unknown}));
}
