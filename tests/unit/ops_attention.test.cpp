// SPDX-License-Identifier: MIT
// Attention: published vectors, loops over the score matrix that count what the mask leaves and
// mark what they touch.
#include <kprof/ops/attention.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <set>
#include <tuple>
#include <type_traits>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::least;
using kprof_test::most;
using kprof_test::moves;
using namespace kprof::ops;
using kprof::dtype;

namespace {

static_assert(costs(Sdpa{.B = 2, .Hq = 12, .Hkv = 12, .Sq = 128, .Sk = 128, .D = 64}, 100663296,
                    1572864));
static_assert(costs(Sdpa{.B = 1,
                         .Hq = 32,
                         .Hkv = 8,
                         .Sq = 4096,
                         .Sk = 4096,
                         .D = 128,
                         .mask = attention_mask::causal,
                         .type = dtype::bf16},
                    137438953472, 83886080));
static_assert(costs(
    Sdpa{.B = 1, .Hq = 8, .Hkv = 8, .Sq = 16, .Sk = 1024, .D = 64, .mask = attention_mask::causal},
    33292288, 2129920));
static_assert(costs(Sdpa{.B = 1,
                         .Hq = 8,
                         .Hkv = 2,
                         .Sq = 1024,
                         .Sk = 1024,
                         .D = 64,
                         .mask = attention_mask::sliding_window,
                         .window_left = 255,
                         .window_right = 0},
                    470024192, 2621440));
static_assert(
    costs(Sdpa{.B = 2, .Hq = 12, .Hkv = 12, .Sq = 128, .Sk = 128, .D = 64, .pass = pass::bprop},
          251658240, 3158016));
static_assert(costs(
    DecodeAttention{
        .B = 1, .Hq = 32, .Hkv = 8, .Sk = 4096, .D = 128, .append = true, .type = dtype::bf16},
    67108864, 16797696));
static_assert(costs(MlaDecode{.B = 1, .H = 128, .Sk = 1024}, 285212672, 1458176));
static_assert(costs(Rope{.B = 1, .S = 512, .H = 8, .D = 64}, 786432, 1179648));

// 2 sequences, 6 heads on 2, 3 queries on 5 keys, sizes 7 and 11: q 2*6*3*7 = 252, k 2*2*5*7 = 140,
// v 2*2*5*11 = 220, o 2*6*3*11 = 396, logsumexp 36 rows; scores 12 * 15 = 180, 12 of them causal a
// head: 3, 4 and 5.
constexpr Sdpa odd{.B = 2, .Hq = 6, .Hkv = 2, .Sq = 3, .Sk = 5, .D = 7, .Dv = 11, .lse = true};
static_assert(odd.stored_P_bytes() == 2 * 180 && odd.kv_heads() == 2 &&
              Sdpa{.Hq = 6}.kv_heads() == 6 && odd.value_size() == 11);
static_assert(Sdpa{.Sq = 512, .Sk = 512, .D = 1, .mask = attention_mask::causal}.flops_exact() *
                  512 ==
              Sdpa{.Sq = 512, .Sk = 512, .D = 1, .mask = attention_mask::causal}.flops() * 513);
static_assert(Sdpa{.Sq = 9,
                   .Sk = 9,
                   .mask = attention_mask::sliding_window,
                   .window_left = most,
                   .window_right = most}
                  .flops() == Sdpa{.Sq = 9, .Sk = 9}.flops());
static_assert(Sdpa{.Sq = 9, .Sk = 9, .mask = attention_mask::sliding_window, .window_right = 0}
                  .flops() == Sdpa{.Sq = 9, .Sk = 9, .mask = attention_mask::causal}.flops_exact());
static_assert(costs(Sdpa{.B = 0, .Sq = 3, .Sk = 3}, 0, 0) && costs(Sdpa{.Sq = 0, .Sk = 3}, 0, 0) &&
              costs(Sdpa{.Sq = 3, .Sk = 0, .D = 5}, 0, 30));
// dk and dv are zeros
static_assert(costs(Sdpa{.Sq = 0, .Sk = 3, .D = 5, .pass = pass::bprop}, 0, 60));
static_assert(costs(Sdpa{}, 256, 512) && costs(DecodeAttention{}, 256, 512));
static_assert(Sdpa{.type = dtype::fp8_e4m3}.arithmetic().on ==
                  kprof::arithmetic_unit::tensor_core &&
              Sdpa{}.arithmetic().on == kprof::arithmetic_unit::unknown);

static_assert(costs(DecodeAttention{.B = 0}, 0, 0));
static_assert(costs(DecodeAttention{.Hq = 3, .Sk = 0, .D = 5}, 0, 30) &&
              !DecodeAttention{.Sk = 0, .append = true}.valid());

static_assert(costs(MlaDecode{.H = 1, .Sk = 3, .L = 3, .R = 0, .type = dtype::int4}, 36,
                    2 + 5 + 2) &&
              !MlaDecode{.Sk = 0, .append = true}.valid());
static_assert(costs(MlaDecode{.H = 1, .Sk = 0, .L = 3, .R = 1}, 0, 6));

static_assert(costs(Rope{.B = 0, .S = 3}, 0, 0));
static_assert(costs(Rope{.D = 0}, 0, 0));

static_assert(!Sdpa{.type = dtype::c64}.valid() && !DecodeAttention{.type = dtype::c128}.valid() &&
              !MlaDecode{.type = dtype::c64}.valid());
static_assert(std::is_same_v<DecodeAttn, DecodeAttention>);
static_assert(!is_constant([] { return Sdpa{.Sq = -1}.flops(); }) &&
              !is_constant([] { return Sdpa{.Hq = 6, .Hkv = 4}.flops(); }));
static_assert(Sdpa{.Sq = 9, .Sk = 9, .window_left = 3, .window_right = 0}.flops() ==
              Sdpa{.Sq = 9,
                   .Sk = 9,
                   .mask = attention_mask::sliding_window,
                   .window_left = 3,
                   .window_right = 0}
                  .flops());
static_assert(costs(Sdpa{.B = 1,
                         .Hq = 8,
                         .Hkv = 2,
                         .Sq = 1024,
                         .Sk = 1024,
                         .D = 64,
                         .window_left = 255,
                         .window_right = 0},
                    470024192, 2621440));
static_assert(!is_constant([] {
  return Sdpa{.mask = attention_mask::causal, .window_left = 3}.flops();
}) && !is_constant([] { return Sdpa{.B = most, .Hq = 9}.flops(); }));
static_assert(!is_constant([] { return Sdpa{.D = 0}.bytes(); }) &&
              !is_constant([] { return Sdpa{.Hq = 0}.flops_exact(); }));
static_assert(!is_constant([] { return Sdpa{.pass = pass::dgrad}.bytes(); }) &&
              !is_constant([] { return Sdpa{.B = -1}.stored_P_bytes(); }));
static_assert(!is_constant([] { return DecodeAttention{.Sk = -1}.flops(); }) &&
              !is_constant([] { return DecodeAttention{.Sk = most}.bytes(); }));
static_assert(!is_constant([] { return MlaDecode{.L = 0}.flops(); }) &&
              !is_constant([] { return MlaDecode{.Sk = most}.bytes(); }));
static_assert(!is_constant([] { return Rope{.D = 3}.flops(); }) &&
              !is_constant([] { return Rope{.S = most}.bytes(); }));

bool sees(const Sdpa& op, std::int64_t i, std::int64_t j) {
  const std::int64_t at = i + op.Sk - op.Sq;
  if (op.mask == attention_mask::causal) return j <= at;
  if (op.mask == attention_mask::none) return true;
  return (op.window_left < 0 || j >= at - op.window_left) &&
         (op.window_right < 0 || j <= at + op.window_right);
}

struct done {
  std::uint64_t entries = 0;  // of all heads
  // rows [sequence, position, head]
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> queries, keys;
};
done walk(const Sdpa& op) {
  done d;
  for (std::int64_t b = 0; b < op.B; ++b)
    for (std::int64_t h = 0; h < op.Hq; ++h)
      for (std::int64_t i = 0; i < op.Sq; ++i)
        for (std::int64_t j = 0; j < op.Sk; ++j) {
          if (!sees(op, i, j)) continue;
          ++d.entries;
          d.queries.insert({b, i, h});
          d.keys.insert({b, j, h / (op.Hq / op.Hkv)});
        }
  return d;
}

template <class Op>
Op with_size(kprof::extent Op::*field, std::int64_t value) {
  Op op{};
  op.*field = value;
  return op;
}

}  // namespace

TEST_CASE("ops_attention.flops_are_the_products_for_each_entry_that_the_mask_leaves") {
  kprof_test::random_shape random(23);
  for (int round = 0; round < 4000; ++round) {
    Sdpa op{};
    op.B = random(1, 2), op.Hkv = random(1, 2), op.Hq = op.Hkv * random(1, 3);
    op.Sq = random(0, 9), op.Sk = random(0, 9);
    op.D = random(1, 5), op.Dv = random(1, 5);
    op.mask = static_cast<attention_mask>(random(0, 2));
    if (op.mask == attention_mask::sliding_window)
      op.window_left = random(-1, 11), op.window_right = random(-1, 11);
    const done d = walk(op);
    const auto D = static_cast<std::uint64_t>(op.D), Dv = static_cast<std::uint64_t>(op.Dv);
    INFO("Sq " << op.Sq << " Sk " << op.Sk << " mask " << static_cast<int>(op.mask) << " left "
               << op.window_left << " right " << op.window_right);
    CHECK(op.flops_exact() == 2 * d.entries * (D + Dv));  // S = q k, O = P v
    Sdpa back = op;
    back.pass = pass::bprop;
    // S again; dV = P dO, dP = dO V, dQ = dS K, dK = dS Q
    CHECK(back.flops_exact() == 2 * d.entries * (D + Dv + Dv + D + D));
    back.backward = attention_backward::stored_P;
    CHECK(back.flops_exact() == 2 * d.entries * (Dv + Dv + D + D));
    if (op.mask != attention_mask::causal) {
      CHECK(op.flops() == op.flops_exact());
    } else if (op.Sk >= op.Sq) {  // row i has Sk - Sq + i + 1 entries, the average takes 1/2 less
      CHECK(op.flops() + static_cast<std::uint64_t>(op.B * op.Hq * op.Sq) * (D + Dv) ==
            op.flops_exact());
    } else {
      CHECK(op.flops() == static_cast<std::uint64_t>(op.B * op.Hq * op.Sq * op.Sk) * (D + Dv));
    }
    if (op.mask == attention_mask::none && op.Sq > 0 && op.Sk > 0) {
      const std::uint64_t q = d.queries.size(), k = d.keys.size();
      CHECK(moves(op, 2 * (q * D + k * (D + Dv)), 2 * q * Dv));
      op.lse = true;
      CHECK(moves(op, 2 * (q * D + k * (D + Dv)), 2 * q * Dv + 4 * q));
      CHECK(
          moves(back, 2 * (q * D + k * (D + Dv) + 2 * q * Dv) + 4 * q, 2 * (q * D + k * (D + Dv))));
      CHECK(op.stored_P_bytes() == 2 * d.entries);
    }
  }
}

TEST_CASE("ops_attention.decoding_touches_the_cache_once_a_sequence") {
  kprof_test::random_shape random(29);
  for (int round = 0; round < 1500; ++round) {
    const std::int64_t B = random(0, 3), Hkv = random(1, 3), Hq = Hkv * random(1, 3),
                       Sk = random(1, 9), page = random(0, 4);
    const std::int64_t D = random(1, 5), Dv = random(1, 5);
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> keys;
    std::set<std::pair<std::int64_t, std::int64_t>> pages;
    std::uint64_t multiply_adds = 0, added = 0, heads = 0;
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t h = 0; h < Hq; ++h, ++heads)
        for (std::int64_t j = 0; j < Sk; ++j) {
          multiply_adds += static_cast<std::uint64_t>(D + Dv);
          if (keys.insert({b, j, h / (Hq / Hkv)}).second && j == Sk - 1)
            added += static_cast<std::uint64_t>(D + Dv);
          if (page > 0) pages.insert({b, j / page});
        }
    const auto d = static_cast<std::uint64_t>(D), dv = static_cast<std::uint64_t>(Dv);
    const DecodeAttention op{.B = B,
                             .Hq = Hq,
                             .Hkv = Hkv,
                             .Sk = Sk,
                             .D = D,
                             .Dv = Dv,
                             .append = true,
                             .page_size = page,
                             .dtypeKV = dtype::int8};
    CHECK(op.flops() == 2 * multiply_adds);
    CHECK(moves(op, 2 * heads * d + keys.size() * (d + dv) + 4 * pages.size(),
                2 * heads * dv + added));

    // The latent cache: one head of keys, whose first L elements are the values.
    const std::int64_t L = D, R = Dv - 1, width = L + R;
    multiply_adds = added = 0;
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> latent;
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t h = 0; h < Hq; ++h)
        for (std::int64_t j = 0; j < Sk; ++j)
          for (std::int64_t e = 0; e < width; ++e) {
            multiply_adds += e < L ? 2 : 1;
            if (latent.insert({b, j, e}).second && j == Sk - 1) ++added;
          }
    const MlaDecode mla{
        .B = B, .H = Hq, .Sk = Sk, .L = L, .R = R, .append = true, .page_size = page};
    CHECK(mla.flops() == 2 * multiply_adds);
    CHECK(moves(mla,
                2 * (heads * static_cast<std::uint64_t>(width) + latent.size()) + 4 * pages.size(),
                2 * (heads * d + added)));
  }
}

TEST_CASE("ops_attention.rope_rotates_each_pair") {
  kprof_test::random_shape random(31);
  for (int round = 0; round < 500; ++round) {
    const std::int64_t B = random(0, 3), S = random(0, 5), H = random(0, 3), D = 2 * random(0, 4);
    std::uint64_t flops = 0, elements = 0;
    std::set<std::pair<std::int64_t, std::int64_t>> table;
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t s = 0; s < S; ++s)
        for (std::int64_t h = 0; h < H; ++h)
          for (std::int64_t d = 0; d < D; d += 2) {  // x' = x cos - y sin, y' = x sin + y cos
            flops += 6, elements += 2;
            table.insert({s, d}), table.insert({s, d + 1});
          }
    CHECK(costs(Rope{.B = B, .S = S, .H = H, .D = D}, flops, 4 * elements + 4 * table.size()));
    CHECK(moves(Rope{.B = B, .S = S, .H = H, .D = D, .pass = pass::bprop},
                2 * elements + 4 * table.size(), 2 * elements));
  }
}

TEST_CASE("ops_attention.senseless_parameters_are_refused_and_do_not_trap") {
  for (const std::int64_t bad : {least, least + 1, std::int64_t{-2}, most}) {
    const bool negative = bad < 0;
    for (const auto field :
         {&Sdpa::B, &Sdpa::Hq, &Sdpa::Hkv, &Sdpa::Sq, &Sdpa::Sk, &Sdpa::D, &Sdpa::Dv})
      for (const auto mask :
           {attention_mask::none, attention_mask::causal, attention_mask::sliding_window})
        for (const pass p : {pass::fprop, pass::bprop}) {
          Sdpa op = with_size(field, bad);
          op.mask = mask, op.pass = p;
          if (negative || field == &Sdpa::Hkv || field == &Sdpa::Sq || field == &Sdpa::Sk)
            CHECK(is_refused(op));
          CHECK_FALSE(kprof::flops_of(op).valid());
          if (!op.valid()) CHECK_FALSE(op.flops_exact().valid());
        }
    for (const auto field : {&Sdpa::window_left, &Sdpa::window_right}) {
      Sdpa op = with_size(field, bad);
      CHECK(op.valid() == !negative);
      op.mask = attention_mask::causal;
      CHECK(is_refused(op));
      op.mask = attention_mask::sliding_window, op.Sq = 1 << 20, op.Sk = 0x3FFF'FFFF;
      CHECK(op.valid() == !negative);
      static_cast<void>(op.flops());
      op.Sq = 0x3FFF'FFFF, op.Sk = 1;
      static_cast<void>(op.flops());
    }
    for (const auto field : {&DecodeAttention::B, &DecodeAttention::Hq, &DecodeAttention::Hkv,
                             &DecodeAttention::Sk, &DecodeAttention::D, &DecodeAttention::Dv}) {
      if (negative) CHECK(is_refused(with_size(field, bad)));
      CHECK_FALSE(kprof::flops_of(with_size(field, bad)).valid());
    }
    CHECK(DecodeAttention{.page_size = bad}.valid() == !negative);
    CHECK(kprof::flops_of(DecodeAttention{.page_size = bad}).valid() == !negative);
    CHECK(kprof::flops_of(MlaDecode{.page_size = bad}).valid() == !negative);
    for (const auto field :
         {&MlaDecode::B, &MlaDecode::H, &MlaDecode::Sk, &MlaDecode::L, &MlaDecode::R}) {
      if (negative) CHECK(is_refused(with_size(field, bad)));
      CHECK_FALSE(kprof::flops_of(with_size(field, bad)).valid());
    }
    for (const auto field : {&Rope::B, &Rope::S, &Rope::H, &Rope::D}) {
      if (negative) CHECK(is_refused(with_size(field, bad)));
      CHECK_FALSE(kprof::flops_of(with_size(field, bad)).valid());
    }
  }
  for (const pass p : {pass::dgrad, pass::wgrad, pass::bgrad, static_cast<pass>(77)}) {
    CHECK(is_refused(Sdpa{.pass = p}));
    CHECK(is_refused(Rope{.pass = p}));
  }
  CHECK(is_refused(Sdpa{.Hq = 0}));
  CHECK(is_refused(Sdpa{.Hq = 2, .Hkv = 4}));
  CHECK(is_refused(Sdpa{.D = 0, .Dv = 3}));
  CHECK(is_refused(Sdpa{.mask = attention_mask::causal, .window_left = 3}));
  CHECK(is_refused(Sdpa{.mask = static_cast<attention_mask>(77)}));
  CHECK(is_refused(Sdpa{.backward = static_cast<attention_backward>(77)}));
  CHECK(is_refused(Sdpa{.type = dtype::unknown}));
  CHECK(is_refused(DecodeAttention{.type = dtype::unknown}));
  CHECK(is_refused(DecodeAttention{.Hq = 3, .Hkv = 2}));
  CHECK(is_refused(DecodeAttention{.D = 0}));
  CHECK(is_refused(DecodeAttention{.Sk = 0, .append = true}));
  CHECK(is_refused(MlaDecode{.type = dtype::unknown}));
  CHECK(is_refused(MlaDecode{.H = 0}));
  CHECK(is_refused(Rope{.D = 63}));
  CHECK(is_refused(Rope{.type = dtype::unknown}));
  CHECK(is_refused(Rope{.dtypeTable = dtype::unknown}));
}
