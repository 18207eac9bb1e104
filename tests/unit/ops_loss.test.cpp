// SPDX-License-Identifier: MIT
// Loss functions: published vectors, and naive ones with a number that counts what is done with it.
#include <kprof/ops/loss.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cmath>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::least;
using kprof_test::most;
using namespace kprof::ops;
using kprof::dtype;

namespace {

static_assert(costs(CrossEntropy{.rows = 32, .classes = 1000}, 128000, 128388));
static_assert(costs(Mse{.numel = 4096}, 12288, 32772));

static_assert(costs(Mse{.numel = 0}, 0, 4));
static_assert(CrossEntropy{.type = dtype::bf16}.arithmetic().type == dtype::bf16 &&
              Mse{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);

static_assert(!is_constant([] { return CrossEntropy{.rows = -1}.flops(); }) &&
              !is_constant([] { return CrossEntropy{.rows = most, .classes = 3}.flops(); }));
static_assert(!is_constant([] { return CrossEntropy{.classes = 0}.bytes(); }) &&
              !is_constant([] { return CrossEntropy{.pass = pass::dgrad}.flops(); }));
static_assert(!is_constant([] { return Nll{.rows = -1}.flops(); }) &&
              !is_constant([] { return Nll{.classes = most, .pass = pass::bprop}.bytes(); }));
static_assert(!is_constant([] { return Mse{.numel = -1}.flops(); }) &&
              !is_constant([] { return Mse{.numel = most}.bytes(); }));

struct number {
  double value;
  static inline std::uint64_t done = 0, exponentials = 0;
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
number highest(number x, number y) {
  ++number::done;
  return {x.value < y.value ? y.value : x.value};
}
number exponential(number x) {
  ++number::done, ++number::exponentials;
  return {std::exp(x.value)};
}

using numbers = std::vector<number>;

/// What is done once a row is done with plain numbers.
double log_sum(const numbers& row) {
  number high{-1e300}, sum{0};
  for (const number x : row) high = highest(high, x);
  for (const number x : row) sum = sum + exponential(x - high);
  return high.value + std::log(sum.value);
}
numbers gradient(const numbers& row, double lse, std::size_t target, number scale) {
  numbers out;
  for (const number x : row) out.push_back(exponential(x - number{lse}) * scale);
  out[target].value -= scale.value;
  return out;
}

}  // namespace

TEST_CASE("ops_loss.flops_are_what_naive_losses_do") {
  kprof_test::random_shape random(19);
  for (int round = 0; round < 1500; ++round) {
    const std::int64_t rows = random(0, 6), classes = random(1, 9);
    std::vector<numbers> logits(static_cast<std::size_t>(rows),
                                numbers(static_cast<std::size_t>(classes), number{0.5}));
    number::done = number::exponentials = 0;
    std::vector<double> lse;
    for (const numbers& row : logits) lse.push_back(log_sum(row));
    const CrossEntropy forward{.rows = rows, .classes = classes};
    CHECK(forward.flops() == number::done);
    CHECK(forward.transcendentals() == number::exponentials);
    CHECK(forward.bytes().written == 4 * (lse.size() + 1));

    number::done = number::exponentials = 0;
    std::uint64_t written = 0;
    for (std::size_t r = 0; r < logits.size(); ++r)
      written += gradient(logits[r], lse[r], 0, {0.1}).size();
    const CrossEntropy backward{.rows = rows, .classes = classes, .pass = pass::bprop};
    CHECK(backward.flops() == number::done);
    CHECK(backward.transcendentals() == number::exponentials);
    CHECK(backward.bytes().written == 4 * written);
    CHECK(Nll{.rows = rows, .classes = classes, .pass = pass::bprop}.bytes().written ==
          4 * written);

    number::done = 0;
    number loss{0};
    for (const numbers& row : logits) loss = loss - row[0];
    CHECK(Nll{.rows = rows, .classes = classes}.flops() == number::done);

    const std::int64_t n = rows * classes;
    std::uint64_t done[2][2] = {};  // [backward][reduced]
    for (const int reduced : {0, 1}) {
      number::done = 0;
      number sum{0};
      for (std::int64_t i = 0; i < n; ++i) {
        const number d = number{1} - number{3}, square = d * d;
        if (reduced == 1) sum = sum + square;
      }
      done[0][reduced] = number::done;
      number::done = 0;
      const number twice_the_gradient{0.1};  // of the loss; the constant factor is free
      for (std::int64_t i = 0; i < n; ++i)
        static_cast<void>((number{1} - number{3}) * twice_the_gradient);
      done[1][reduced] = number::done;
    }
    for (const int back : {0, 1}) {
      const pass p = back == 1 ? pass::bprop : pass::fprop;
      CHECK(Mse{.numel = n, .reduction = loss_reduction::mean, .pass = p}.flops() == done[back][1]);
      CHECK(Mse{.numel = n, .reduction = loss_reduction::sum, .pass = p}.flops() == done[back][1]);
      CHECK(Mse{.numel = n, .reduction = loss_reduction::none, .pass = p}.flops() == done[back][0]);
    }
  }
}

TEST_CASE("ops_loss.senseless_parameters_are_refused_and_do_not_trap") {
  for (const pass p : {pass::fprop, pass::bprop}) {
    for (const std::int64_t bad : {least, least + 1, std::int64_t{-1}}) {
      CHECK(is_refused(CrossEntropy{.rows = bad, .pass = p}));
      CHECK(is_refused(CrossEntropy{.classes = bad, .pass = p}));
      CHECK(is_refused(Nll{.rows = bad, .pass = p}));
      CHECK(is_refused(Nll{.classes = bad, .pass = p}));
      CHECK(is_refused(Mse{.numel = bad, .pass = p}));
      CHECK_FALSE(CrossEntropy{.rows = bad, .pass = p}.transcendentals().valid());
    }
    CHECK(is_refused(CrossEntropy{.classes = 0, .pass = p}));
    CHECK(is_refused(Nll{.classes = 0, .pass = p}));
    CHECK_FALSE(kprof::flops_of(CrossEntropy{.rows = most, .pass = p}).valid());
    CHECK_FALSE(kprof::flops_of(CrossEntropy{.classes = most, .pass = p}).valid());
    CHECK_FALSE(kprof::flops_of(Nll{.rows = most, .pass = p}).valid());
    CHECK_FALSE(kprof::flops_of(Mse{.numel = most, .pass = p}).valid());
  }
  CHECK(Nll{.classes = most}.bytes().total() == 4 + 8 + 4);  // the others are not read
  CHECK_FALSE(kprof::flops_of(Nll{.classes = most, .pass = pass::bprop}).valid());
  for (const pass p : {pass::dgrad, pass::wgrad, pass::bgrad, static_cast<pass>(77)}) {
    CHECK(is_refused(CrossEntropy{.pass = p}));
    CHECK(is_refused(Nll{.pass = p}));
    CHECK(is_refused(Mse{.pass = p}));
  }
  CHECK(is_refused(CrossEntropy{.type = dtype::unknown}));
  CHECK(is_refused(CrossEntropy{.dtypeTarget = dtype::unknown}));
  CHECK(is_refused(Nll{.type = dtype::unknown}));
  CHECK(is_refused(Nll{.dtypeTarget = dtype::unknown}));
  CHECK(is_refused(Mse{.type = dtype::unknown}));
  CHECK(is_refused(Mse{.reduction = static_cast<loss_reduction>(77)}));
}
