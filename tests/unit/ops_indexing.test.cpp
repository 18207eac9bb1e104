// SPDX-License-Identifier: MIT
// Operators that go through indices: published vectors, and loops that mark what they touch.
#include <kprof/ops/indexing.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <set>
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

static_assert(costs(Embedding{.tokens = 512, .D = 768, .type = dtype::f16}, 0, 1576960));
static_assert(costs(Embedding{.tokens = 512, .D = 768, .pass = pass::bprop, .type = dtype::f16},
                    393216, 2363392));
static_assert(costs(IndexSelect{.n = 100, .slice = 64}, 0, 52000));

static_assert(costs(Embedding{.tokens = 0, .D = 5}, 0, 0) &&
              costs(Embedding{.tokens = 5, .D = 0, .pass = pass::bprop}, 0, 0));
static_assert(costs(Scatter{.n = 7, .slice = 3, .dtypeIndex = dtype::int32}, 0, 28 + 168));
static_assert(costs(Scatter{.n = 5, .slice = 5, .type = dtype::uint4}, 0, 40 + 26));
static_assert(costs(ScatterAdd{.n = 5, .slice = 0}, 0, 0) &&
              costs(Gather{.n = 0, .slice = 9}, 0, 0) && costs(Scatter{.n = 0}, 0, 0));
static_assert(costs(MaskedSelect{.numel = 9, .selected = 0}, 0, 9));
static_assert(costs(Embedding{}, 0, 16) && costs(Gather{}, 0, 16) && costs(IndexSelect{}, 0, 16) &&
              costs(Scatter{}, 0, 16));
static_assert(costs(MaskedSelect{}, 0, 9));
static_assert(Embedding{.type = dtype::bf16}.arithmetic().type == dtype::bf16 &&
              ScatterAdd{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);

static_assert(!is_constant([] { return Embedding{.tokens = -1}.flops(); }) &&
              !is_constant([] { return Embedding{.tokens = most, .D = 2}.bytes(); }));
static_assert(!is_constant([] { return Embedding{.pass = pass::wgrad}.bytes(); }));
static_assert(!is_constant([] { return Embedding{.dtypeIndex = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return Gather{.n = -1}.flops(); }) &&
              !is_constant([] { return Gather{.n = most, .slice = most}.bytes(); }));
static_assert(!is_constant([] { return IndexSelect{.slice = -1}.bytes(); }) &&
              !is_constant([] { return IndexSelect{.type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return Scatter{.n = -1}.flops(); }) &&
              !is_constant([] { return ScatterAdd{.n = most, .slice = 3}.flops(); }));
static_assert(!is_constant([] { return MaskedSelect{.numel = 3, .selected = 4}.flops(); }) &&
              !is_constant([] { return MaskedSelect{.numel = most}.bytes(); }));

/// n different indices below V.
std::vector<std::int64_t> indices(kprof_test::random_shape& random, std::int64_t n,
                                  std::int64_t V) {
  std::set<std::int64_t> out;
  while (static_cast<std::int64_t>(out.size()) < n) out.insert(random(0, V - 1));
  return {out.begin(), out.end()};
}

}  // namespace

TEST_CASE("ops_indexing.bytes_are_what_a_loop_over_the_indices_touches") {
  kprof_test::random_shape random(13);
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t V = random(1, 20), n = random(0, V), slice = random(1, 6);
    std::set<std::int64_t> table, other;
    std::uint64_t index = 0, added = 0;
    for (const std::int64_t row : indices(random, n, V)) {
      for (std::int64_t d = 0; d < slice; ++d) {
        table.insert(row * slice + d);
        other.insert(static_cast<std::int64_t>(index) * slice + d);
        ++added;
      }
      ++index;
    }
    const std::uint64_t t = table.size(), o = other.size();
    INFO("V " << V << " n " << n << " slice " << slice);
    const Embedding embedding{.tokens = n, .D = slice, .V = V, .type = dtype::f16};
    CHECK(costs(embedding, 0, 8 * index + 2 * (t + o)));
    CHECK(moves(embedding, 8 * index + 2 * t, 2 * o));
    Embedding back = embedding;
    back.pass = pass::bprop;
    CHECK(costs(back, added, 8 * index + 2 * (o + t + t)));
    CHECK(moves(back, 8 * index + 2 * (o + t), 2 * t));
    CHECK(costs(Gather{.n = n, .slice = slice, .type = dtype::f64}, 0, 8 * index + 8 * (t + o)));
    CHECK(moves(IndexSelect{.n = n, .slice = slice, .dtypeIndex = dtype::int32}, 4 * index + 4 * t,
                4 * o));
    CHECK(moves(Scatter{.n = n, .slice = slice}, 8 * index + 4 * o, 4 * t));
    CHECK(costs(ScatterAdd{.n = n, .slice = slice}, added, 8 * index + 4 * (o + 2 * t)));
    CHECK(moves(ScatterAdd{.n = n, .slice = slice}, 8 * index + 4 * (o + t), 4 * t));

    std::uint64_t set = 0, unset = 0;
    for (std::int64_t i = 0; i < V * slice; ++i) ++(random.coin() ? set : unset);
    CHECK(moves(
        MaskedSelect{
            .numel = V * slice, .selected = static_cast<std::int64_t>(set), .type = dtype::f16},
        2 * set + set + unset, 2 * set));
    CHECK(moves(MaskedSelect{.numel = V * slice, .type = dtype::f16}, 3 * (set + unset),
                2 * (set + unset)));
  }
}

TEST_CASE("ops_indexing.senseless_parameters_are_refused_and_do_not_trap") {
  for (const std::int64_t bad : {least, least + 1, std::int64_t{-2}}) {
    for (const pass p : {pass::fprop, pass::bprop}) {
      CHECK(is_refused(Embedding{.tokens = bad, .pass = p}));
      CHECK(is_refused(Embedding{.D = bad, .pass = p}));
      CHECK(is_refused(Embedding{.V = bad, .pass = p}));
    }
    CHECK(is_refused(Gather{.n = bad}));
    CHECK(is_refused(Gather{.slice = bad}));
    CHECK(is_refused(IndexSelect{.n = bad}));
    CHECK(is_refused(IndexSelect{.slice = bad}));
    CHECK(is_refused(Scatter{.n = bad}));
    CHECK(is_refused(Scatter{.slice = bad}));
    CHECK(is_refused(ScatterAdd{.n = bad}));
    CHECK(is_refused(ScatterAdd{.slice = bad}));
    CHECK(is_refused(MaskedSelect{.numel = bad}));
    CHECK(is_refused(MaskedSelect{.selected = bad}));
  }
  CHECK_FALSE(kprof::flops_of(Embedding{.tokens = most}).valid());
  CHECK_FALSE(kprof::flops_of(Embedding{.D = most}).valid());
  CHECK(Embedding{.V = most}.flops() == 0);
  CHECK_FALSE(kprof::flops_of(Gather{.n = most}).valid());
  CHECK_FALSE(kprof::flops_of(IndexSelect{.slice = most}).valid());
  CHECK_FALSE(kprof::flops_of(Scatter{.n = most}).valid());
  CHECK_FALSE(kprof::flops_of(ScatterAdd{.slice = most}).valid());
  CHECK_FALSE(kprof::flops_of(MaskedSelect{.numel = most}).valid());
  CHECK(is_refused(MaskedSelect{.selected = most}));
  CHECK(is_refused(MaskedSelect{.numel = 3, .selected = 4}));
  for (const pass p : {pass::dgrad, pass::wgrad, pass::bgrad, static_cast<pass>(77)})
    CHECK(is_refused(Embedding{.pass = p}));
  CHECK(is_refused(Embedding{.type = dtype::unknown}));
  CHECK(is_refused(Embedding{.dtypeIndex = dtype::unknown}));
  CHECK(is_refused(Gather{.type = dtype::unknown}));
  CHECK(is_refused(Scatter{.dtypeIndex = dtype::unknown}));
  CHECK(is_refused(ScatterAdd{.type = dtype::unknown}));
  CHECK(is_refused(MaskedSelect{.dtypeMask = dtype::unknown}));
}
