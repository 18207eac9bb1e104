// SPDX-License-Identifier: MIT
// Mixtures of experts: published vectors, and loops over experts and rows.
#include <kprof/ops/moe.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <array>
#include <set>
#include <tuple>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::least;
using kprof_test::most;
using kprof_test::moves;
using namespace kprof::ops;
using kprof::dtype;

namespace {

static_assert(costs(MoeMlp::of(std::array{3, 0, 5}, {.hidden = 64, .ffn = 128, .gated = true}),
                    393216, 106496));
static_assert(costs(MoeMlp{.tokens = 8,
                           .active_experts = 2,
                           .hidden = 64,
                           .ffn = 128,
                           .gated = true,
                           .type = dtype::bf16},
                    393216, 106496));

static_assert(MoeMlp::of(std::array{3, 0, 5}, {}).experts == 3 &&
              MoeMlp::of(std::array{3, 0, 5}, {}).active_experts == 2);
static_assert(MoeMlp::of(std::array{3, 0, 5}, {}).tokens == 8);
static_assert(costs(MoeMlp::of(std::array<std::int64_t, 4>{}, {.hidden = 64, .ffn = 128}), 0, 0));
// the second product has no depth: zeros
static_assert(costs(MoeMlp{.tokens = 8, .active_experts = 2, .hidden = 3, .ffn = 0}, 0, 48));
static_assert(MoeMlp{.type = dtype::fp8_e4m3}.arithmetic().on ==
              kprof::arithmetic_unit::tensor_core);

static_assert(costs(MoeRouter{.tokens = 0, .hidden = 9, .experts = 9}, 0, 0));

static_assert(!is_constant([] { return MoeMlp{.tokens = -1}.flops(); }) &&
              !is_constant([] { return MoeMlp{.tokens = 3, .active_experts = 4}.flops(); }));
static_assert(!is_constant([] { return MoeMlp{.tokens = 3, .active_experts = 0}.bytes(); }) &&
              !is_constant([] { return MoeMlp{.ffn = most}.flops(); }));
static_assert(!is_constant([] {
  return MoeMlp{.tokens = 8, .active_experts = 3, .experts = 2}.flops();
}));
static_assert(!is_constant([] { return MoeMlp{.ffn = least}.bytes(); }));
static_assert(!is_constant([] { return MoeMlp::of(std::array{3, -1}, {}).flops(); }));
static_assert(!is_constant([] { return MoeMlp::of(std::array{most, most, most}, {}).flops(); }));
static_assert(!is_constant([] { return MoeRouter{.experts = 0}.flops(); }) &&
              !is_constant([] { return MoeRouter{.tokens = most, .hidden = 3}.flops(); }));

template <class Op>
Op with_size(kprof::extent Op::*field, std::int64_t value) {
  Op op{};
  op.*field = value;
  return op;
}

}  // namespace

TEST_CASE("ops_moe.experts_are_two_products_for_each_row") {
  kprof_test::random_shape random(37);
  for (int round = 0; round < 600; ++round) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(random(1, 5)));
    for (std::int64_t& n : rows) n = random(0, 3);
    const std::int64_t h = random(1, 4), F = random(1, 4);
    const bool gated = random.coin();
    const std::int64_t wide = gated ? 2 * F : F;
    std::uint64_t multiply_adds = 0, row = 0;
    // Elements of x, of the first product's weights and result, of the second's input, weights and
    // result.
    std::set<std::tuple<std::uint64_t, std::int64_t, std::int64_t>> x, w1, y1, x2, w2, y;
    for (std::size_t e = 0; e < rows.size(); ++e)
      for (std::int64_t t = 0; t < rows[e]; ++t, ++row) {
        for (std::int64_t n = 0; n < wide; ++n)
          for (std::int64_t k = 0; k < h; ++k) {
            ++multiply_adds;
            x.insert({row, k, 0}), w1.insert({e, k, n}), y1.insert({row, n, 0});
          }
        for (std::int64_t n = 0; n < h; ++n)
          for (std::int64_t k = 0; k < F; ++k) {
            ++multiply_adds;
            x2.insert({row, k, 0}), w2.insert({e, k, n}), y.insert({row, n, 0});
          }
      }
    const MoeMlp op =
        MoeMlp::of(rows, {.hidden = h, .ffn = F, .gated = gated, .dtypeW = dtype::int8});
    CHECK(op.flops() == 2 * multiply_adds);
    CHECK(
        moves(op, 2 * (x.size() + x2.size()) + w1.size() + w2.size(), 2 * (y1.size() + y.size())));
  }
}

TEST_CASE("ops_moe.the_router_is_a_product_and_a_softmax") {
  kprof_test::random_shape random(41);
  for (int round = 0; round < 500; ++round) {
    const std::int64_t T = random(0, 6), h = random(0, 5), E = random(1, 6);
    std::uint64_t flops = 0, logits = 0, exponentials = 0;
    for (std::int64_t t = 0; t < T; ++t)
      for (std::int64_t e = 0; e < E; ++e, ++logits) {
        for (std::int64_t k = 0; k < h; ++k) flops += 2;
        flops += 5, ++exponentials;  // max, subtract, exp, add, divide
      }
    const MoeRouter op{.tokens = T, .hidden = h, .experts = E, .softmax = true, .type = dtype::f32};
    CHECK(op.flops() == flops);
    CHECK(op.transcendentals() == exponentials);
    CHECK(op.bytes().written == 4 * logits);
    CHECK(op.bytes().read == (T == 0 ? 0 : 4 * (T + E) * h));
  }
}

TEST_CASE("ops_moe.senseless_parameters_are_refused_and_do_not_trap") {
  for (const std::int64_t bad : {least, least + 1, std::int64_t{-1}, most}) {
    const bool negative = bad < 0;
    for (const bool gated : {false, true})
      for (const auto field :
           {&MoeMlp::tokens, &MoeMlp::active_experts, &MoeMlp::hidden, &MoeMlp::ffn}) {
        MoeMlp op = with_size(field, bad);
        op.gated = gated;
        if (negative) CHECK(is_refused(op));
        CHECK_FALSE(kprof::flops_of(op).valid());
      }
    CHECK(kprof::flops_of(MoeMlp{.experts = bad}).valid() == !negative);
    for (const auto field : {&MoeRouter::tokens, &MoeRouter::hidden, &MoeRouter::experts}) {
      if (negative) CHECK(is_refused(with_size(field, bad)));
      CHECK_FALSE(kprof::flops_of(with_size(field, bad)).valid());
    }
    if (negative) CHECK_FALSE(MoeRouter{.tokens = bad}.transcendentals().valid());
    if (negative) CHECK(is_refused(MoeMlp::of(std::vector<std::int64_t>{3, bad}, {})));
    CHECK_FALSE(kprof::flops_of(MoeMlp::of(std::vector<std::int64_t>{bad, bad, bad}, {})).valid());
  }
  CHECK(is_refused(MoeMlp{.tokens = 3, .active_experts = 4}));
  CHECK(is_refused(MoeMlp{.tokens = 0, .active_experts = 1}));
  CHECK(is_refused(MoeMlp{.tokens = 3, .active_experts = 0}));
  CHECK(is_refused(MoeMlp{.tokens = 8, .active_experts = 3, .experts = 2}));
  CHECK(is_refused(MoeMlp{.type = dtype::unknown}));
  CHECK(is_refused(MoeRouter{.type = dtype::unknown}));
  CHECK(is_refused(MoeRouter{.experts = 0}));
}
