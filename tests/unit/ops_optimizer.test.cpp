// SPDX-License-Identifier: MIT
// Optimizers: published vectors, and the steps themselves with a number that counts what is done
// with it and memory that counts what is read and written.
#include <kprof/ops/optimizer.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cmath>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::least;
using kprof_test::most;
using namespace kprof::ops;
using kprof::dtype;

namespace {

static_assert(costs(Sgd{.numel = 1'000'000}, 2'000'000, 12'000'000));
static_assert(costs(Adam{.numel = 1'000'000}, 14'000'000, 28'000'000));
static_assert(costs(
    AdamW{.numel = 1'000'000, .weight_decay = true, .dtypeG = dtype::f16, .dtypeCopy = dtype::f16},
    16'000'000, 28'000'000));
static_assert(costs(Lamb{.numel = 1'000'000, .weight_decay = true}, 21'000'000, 28'000'000));

static_assert(costs(Sgd{.numel = 0}, 0, 0) && costs(Lamb{.numel = 0, .weight_decay = true}, 0, 0));
static_assert(Sgd{.type = dtype::bf16}.arithmetic().type == dtype::bf16 &&
              Adam{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);

static_assert(!is_constant([] { return Sgd{.numel = -1}.flops(); }) &&
              !is_constant([] { return Sgd{.numel = most}.bytes(); }));
static_assert(!is_constant([] { return Momentum{.numel = -1}.bytes(); }) &&
              !is_constant([] { return Momentum{.nesterov = true, .dampening = true}.flops(); }));
static_assert(!is_constant([] { return Adam{.numel = -1}.flops(); }) &&
              !is_constant([] { return Adam{.numel = most}.flops(); }));
static_assert(!is_constant([] { return AdamW{.type = dtype::unknown}.flops(); }) &&
              !is_constant([] { return Lamb{.numel = -1}.bytes_staged(); }));

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
number root(number x) {
  ++number::done;
  return {std::sqrt(x.value)};
}

/// An element in memory.
struct cell {
  number value{1};
  std::uint64_t& reads;
  std::uint64_t& writes;
  number get() {
    ++reads;
    return value;
  }
  void set(number x) {
    ++writes;
    value = x;
  }
};

struct tally {
  std::uint64_t flops, gradients_read, gradients_written, kept_read, kept_written;
};
const number rate{0.1}, decay{0.01}, eps{1e-8}, b1{0.9}, b2{0.99}, one_b1{0.1}, one_b2{0.01},
    c1{0.5}, c2{0.5}, clip{2};

/// Runs `step(g, p, m, v)` on each of n elements, which lie in memory.
template <class Step>
tally run(std::int64_t n, Step step) {
  tally t{};
  number::done = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    cell g{{1}, t.gradients_read, t.gradients_written}, p{{1}, t.kept_read, t.kept_written}, m = p,
                                                                                             v = p;
    step(g, p, m, v);
  }
  t.flops = number::done;
  return t;
}

template <class Op>
void check(const Op& op, const tally& t) {
  CHECK(op.flops() == t.flops);
  CHECK(op.bytes().read == 2 * t.gradients_read + 4 * t.kept_read);
  CHECK(op.bytes().written == 4 * t.kept_written);
}

}  // namespace

TEST_CASE("ops_optimizer.steps_do_and_touch_what_is_counted") {
  for (const std::int64_t n : {0, 1, 5, 1000})
    for (const bool wd : {false, true}) {
      check(Sgd{.numel = n, .weight_decay = wd, .dtypeG = dtype::f16},
            run(n, [wd](cell& g, cell& p, cell&, cell&) {
              const number x = p.get();
              number grad = g.get();
              if (wd) grad = grad + decay * x;
              p.set(x - rate * grad);
            }));
      for (const bool nesterov : {false, true})
        for (const bool dampening : {false, true}) {
          if (nesterov && dampening) continue;
          check(Momentum{.numel = n,
                         .nesterov = nesterov,
                         .dampening = dampening,
                         .weight_decay = wd,
                         .dtypeG = dtype::f16},
                run(n, [=](cell& g, cell& p, cell& m, cell&) {
                  const number x = p.get();
                  number grad = g.get();
                  if (wd) grad = grad + decay * x;
                  const number mom = m.get() * b1 + (dampening ? one_b1 * grad : grad);
                  m.set(mom);
                  p.set(x - rate * (nesterov ? grad + b1 * mom : mom));
                }));
        }
      check(Adam{.numel = n, .weight_decay = wd, .dtypeG = dtype::f16},
            run(n, [wd](cell& g, cell& p, cell& m, cell& v) {
              const number x = p.get();
              number grad = g.get();
              if (wd) grad = grad + decay * x;
              const number m1 = b1 * m.get() + one_b1 * grad,
                           v1 = b2 * v.get() + one_b2 * grad * grad;
              m.set(m1), v.set(v1);
              p.set(x - rate * ((m1 / c1) / (root(v1 / c2) + eps)));
            }));
      check(AdamW{.numel = n, .weight_decay = wd, .dtypeG = dtype::f16},
            run(n, [wd](cell& g, cell& p, cell& m, cell& v) {
              const number x = p.get(), grad = g.get();
              const number m1 = b1 * m.get() + one_b1 * grad,
                           v1 = b2 * v.get() + one_b2 * grad * grad;
              m.set(m1), v.set(v1);
              number update = (m1 / c1) / (root(v1 / c2) + eps);
              if (wd) update = update + decay * x;
              p.set(x - rate * update);
            }));
      number of_p{0}, of_update{0};
      check(Lamb{.numel = n, .weight_decay = wd, .dtypeG = dtype::f16},
            run(n, [&](cell& g, cell& p, cell& m, cell& v) {
              const number x = p.get(), grad = g.get() / clip;
              const number m1 = m.get() * b1 + one_b1 * grad,
                           v1 = v.get() * b2 + one_b2 * grad * grad;
              m.set(m1), v.set(v1);
              number update = (m1 / c1) / (root(v1 / c2) + eps);
              if (wd) update = update + decay * x;
              of_p = of_p + x * x;
              of_update = of_update + update * update;
              p.set(x - rate * update);
            }));
      const tally staged = run(n, [&](cell& g, cell& p, cell& m, cell& v) {
        static_cast<void>(g.get()), static_cast<void>(p.get()), static_cast<void>(m.get()),
            static_cast<void>(v.get());
        g.set({1}), m.set({1}), v.set({1});
        static_cast<void>(g.get()), static_cast<void>(p.get());
        p.set({1});
      });
      const kprof::traffic t = Lamb{.numel = n, .dtypeG = dtype::f16}.bytes_staged();
      CHECK(t.read == 2 * staged.gradients_read + 4 * staged.kept_read);
      CHECK(t.written == 2 * staged.gradients_written + 4 * staged.kept_written);
    }
}

TEST_CASE("ops_optimizer.senseless_parameters_are_refused_and_do_not_trap") {
  for (const std::int64_t bad : {least, least + 1, std::int64_t{-1}}) {
    CHECK(is_refused(Sgd{.numel = bad}));
    CHECK(is_refused(Momentum{.numel = bad}));
    CHECK(is_refused(Adam{.numel = bad}));
    CHECK(is_refused(AdamW{.numel = bad}));
    CHECK(is_refused(Lamb{.numel = bad}));
    CHECK_FALSE(Lamb{.numel = bad}.bytes_staged().total().valid());
    CHECK_FALSE(Adam{.numel = bad}.transcendentals().valid());
  }
  CHECK(is_refused(Sgd{.numel = most, .weight_decay = true}));
  CHECK(is_refused(Momentum{.numel = most}));
  CHECK(is_refused(Adam{.numel = most}));
  CHECK(is_refused(AdamW{.numel = most}));
  CHECK(is_refused(Lamb{.numel = most}));
  CHECK_FALSE(Lamb{.numel = most}.bytes_staged().total().valid());
  CHECK(is_refused(Momentum{.nesterov = true, .dampening = true}));
  CHECK(is_refused(Sgd{.type = dtype::unknown}));
  CHECK(is_refused(Momentum{.type = dtype::unknown}));
  CHECK(is_refused(Adam{.type = dtype::unknown}));
  CHECK(is_refused(AdamW{.type = dtype::unknown}));
  CHECK(is_refused(Lamb{.type = dtype::unknown}));
}
