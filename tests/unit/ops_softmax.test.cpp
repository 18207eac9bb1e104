// SPDX-License-Identifier: MIT
// Softmax: published vectors, the algorithms written out with numbers that count their operations,
// and parameters that make no sense.
#include <kprof/ops/softmax.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::least;
using kprof_test::most;
using namespace kprof::ops;
using kprof::dtype;

namespace {

template <class Op>
constexpr Op of(std::int64_t rows, std::int64_t cols, pass p = pass::fprop, dtype t = dtype::f32) {
  return {.rows = rows, .cols = cols, .pass = p, .type = t};
}
// Of formulas.md.
static_assert(costs(of<Softmax>(16, 1000), 80'000, 128'000) &&
              costs(of<Softmax>(16, 1000, pass::bprop), 64'000, 192'000));
static_assert(of<Softmax>(16, 1000).transcendentals() == 16'000);
static_assert(costs(of<LogSoftmax>(16, 1000), 80'000, 128'000) &&
              costs(of<LogSoftmax>(16, 1000, pass::bprop), 64'000, 192'000));
static_assert(of<LogSoftmax>(16, 1000).transcendentals() == 16'000 &&
              of<LogSoftmax>(16, 1000, pass::bprop).transcendentals() == 16'000);
static_assert(costs(of<Softmax>(0, 5), 0, 0) && costs(of<Softmax>(5, 0, pass::bprop), 0, 0) &&
              costs(of<LogSoftmax>(0, 0), 0, 0));
static_assert(of<Softmax>(1, 1, pass::fprop, dtype::f16).arithmetic().type == dtype::f16 &&
              Softmax{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);
static_assert(of<LogSoftmax>(1, 1, pass::fprop, dtype::bf16).arithmetic().type == dtype::bf16 &&
              LogSoftmax{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);

// A senseless call is no constant.
static_assert(is_constant([] { return Softmax{}.flops(); }) &&
              is_constant([] { return LogSoftmax{}.bytes(); }) &&
              is_constant([] { return Softmax{}.transcendentals(); }));
static_assert(!is_constant([] { return Softmax{.rows = -1}.flops(); }) &&
              !is_constant([] { return Softmax{.cols = -1}.bytes(); }));
static_assert(!is_constant([] { return Softmax{.rows = -1}.transcendentals(); }) &&
              !is_constant([] { return Softmax{.rows = most}.flops(); }));
static_assert(!is_constant([] { return Softmax{.pass = pass::dgrad}.flops(); }) &&
              !is_constant([] { return Softmax{.type = dtype::unknown}.bytes(); }));
static_assert(!is_constant([] { return Softmax{.rows = 1LL << 32, .cols = 1LL << 32}.flops(); }) &&
              !is_constant([] { return Softmax{.cols = most, .type = dtype::int4}.bytes(); }));
static_assert(!is_constant([] { return LogSoftmax{.rows = least}.flops(); }) &&
              !is_constant([] { return LogSoftmax{.cols = -1}.bytes(); }));
static_assert(!is_constant([] { return LogSoftmax{.cols = -1}.transcendentals(); }) &&
              !is_constant([] { return LogSoftmax{.pass = pass::wgrad}.transcendentals(); }));
static_assert(!is_constant([] { return LogSoftmax{.pass = pass::bgrad}.bytes(); }) &&
              !is_constant([] { return LogSoftmax{.type = dtype::unknown}.flops(); }));

/// A number whose operations are counted. Those on a scalar of a row are done with double.
struct counted {
  double v = 0;
  static inline std::uint64_t operations = 0, transcendentals = 0;
  friend counted operator+(counted a, counted b) { return ++operations, counted{a.v + b.v}; }
  friend counted operator-(counted a, counted b) { return ++operations, counted{a.v - b.v}; }
  friend counted operator*(counted a, counted b) { return ++operations, counted{a.v * b.v}; }
  friend counted operator/(counted a, counted b) { return ++operations, counted{a.v / b.v}; }
  friend counted larger(counted a, counted b) { return ++operations, a.v < b.v ? b : a; }
  friend counted exponential(counted a) {
    return ++operations, ++transcendentals, counted{std::exp(a.v)};
  }
};

struct row {
  std::vector<counted> x, dy, y, dx;
};

void forward(row& r, bool logarithm) {
  counted largest{-1e300}, sum;
  for (const counted x : r.x) largest = larger(largest, x);
  std::vector<counted> shifted, e;
  for (const counted x : r.x) {
    shifted.push_back(x - largest);
    e.push_back(exponential(shifted.back()));
    sum = sum + e.back();
  }
  const counted log_sum{std::log(sum.v)};
  for (std::size_t i = 0; i < r.x.size(); ++i)
    r.y.push_back(logarithm ? shifted[i] - log_sum : e[i] / sum);
}

void backward(row& r, bool logarithm) {
  counted sum;
  std::vector<counted> product;
  for (std::size_t i = 0; i < r.x.size(); ++i) {
    if (logarithm) {
      sum = sum + r.dy[i];
    } else {
      product.push_back(r.dy[i] * r.y[i]);
      sum = sum + product[i];
    }
  }
  for (std::size_t i = 0; i < r.x.size(); ++i)
    r.dx.push_back(logarithm ? r.dy[i] - exponential(r.y[i]) * sum : (r.dy[i] - sum) * r.y[i]);
}

template <class Op>
void compare(bool logarithm, unsigned seed) {
  kprof_test::random_shape random(seed);
  for (int i = 0; i < 1500; ++i) {
    Op op = of<Op>(random(1, 6), random(1, 12), pass::fprop, dtype::f16);
    std::vector<row> rows(static_cast<std::size_t>(op.rows));
    std::uint64_t elements = 0;
    for (row& r : rows)
      for (std::int64_t c = 0; c < op.cols; ++c, ++elements) {
        r.x.push_back({static_cast<double>(random(-40, 40)) / 10});
        r.dy.push_back({static_cast<double>(random(-40, 40)) / 10});
      }
    counted::operations = counted::transcendentals = 0;
    for (row& r : rows) forward(r, logarithm);
    REQUIRE(op.flops().value() == counted::operations);
    REQUIRE(op.transcendentals().value() == counted::transcendentals);
    REQUIRE(op.bytes().read.value() == 2 * elements);
    REQUIRE(op.bytes().written.value() == 2 * elements);
    op.pass = pass::bprop;
    counted::operations = counted::transcendentals = 0;
    for (row& r : rows) backward(r, logarithm);
    REQUIRE(op.flops().value() == counted::operations);
    REQUIRE(op.transcendentals().value() == counted::transcendentals);
    REQUIRE(op.bytes().read.value() == 4 * elements);
    REQUIRE(op.bytes().written.value() == 2 * elements);
    // what was counted is softmax: a row adds up to 1, its gradient to 0
    for (const row& r : rows) {
      double ones = 0, zero = 0;
      for (const counted y : r.y) ones += logarithm ? std::exp(y.v) : y.v;
      for (const counted x : r.dx) zero += x.v;
      REQUIRE(std::abs(ones - 1) < 1e-9);
      REQUIRE(std::abs(zero) < 1e-9);
    }
  }
}

template <class Op>
void hostile() {
  const std::int64_t ends[] = {
      least,    least + 1, -1, 0, 1, 1 << 30, std::int64_t{1} << 32, std::int64_t{1} << 62,
      most - 1, most};
  for (const pass p :
       {pass::fprop, pass::bprop, pass::dgrad, pass::wgrad, pass::bgrad, static_cast<pass>(9)})
    for (const std::int64_t rows : ends)
      for (const std::int64_t cols : ends)
        for (const dtype t : {dtype::unknown, dtype::int4, dtype::f64, static_cast<dtype>(99)}) {
          const Op op = of<Op>(rows, cols, p, t);
          const bool sensible = (p == pass::fprop || p == pass::bprop) && rows >= 0 && cols >= 0 &&
                                (t == dtype::int4 || t == dtype::f64);
          CHECK(op.valid() == sensible);
          if (!sensible) CHECK((is_refused(op) && !op.transcendentals().valid()));
          else if (rows != 0 && cols != 0 && (rows >= most - 1 || cols >= most - 1))
            CHECK(is_refused(op));
          else static_cast<void>(op.bytes());
        }
}

}  // namespace

TEST_CASE("ops_softmax.counts_each_primitive") {
  compare<Softmax>(false, 1);
  compare<LogSoftmax>(true, 2);
}

TEST_CASE("ops_softmax.hostile_sizes") {
  hostile<Softmax>();
  hostile<LogSoftmax>();
}
