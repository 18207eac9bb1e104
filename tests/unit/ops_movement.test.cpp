// SPDX-License-Identifier: MIT
// Operators that only move elements: published vectors, and loops that mark what they read and
// write.
#include <kprof/ops/movement.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <set>
#include <utility>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::least;
using kprof_test::most;
using namespace kprof::ops;
using kprof::dtype;

namespace {

template <class Op>
constexpr bool only_moves(const Op& op, std::uint64_t read, std::uint64_t written) {
  return costs(op, 0, read + written) && op.bytes().read == read && op.bytes().written == written;
}

static_assert(only_moves(Concat{.inputs = {24, 40}}, 256, 256));
static_assert(only_moves(Cast{.numel = 1000, .dtypeIn = dtype::f32, .dtypeOut = dtype::f16}, 4000,
                         2000));
static_assert(costs(Transpose{.M = 512, .N = 512, .type = dtype::f64}, 0, 4194304));

// Nothing to move.
static_assert(only_moves(Concat{}, 0, 0) && only_moves(Slice{.numel = 0}, 0, 0) &&
              only_moves(Transpose{.M = 3, .N = 0, .batch = 7}, 0, 0) &&
              only_moves(Convert{.numel = 0}, 0, 0) && only_moves(Fill{.numel = 0}, 0, 0) &&
              only_moves(Memcpy{.size = 0}, 0, 0) && only_moves(Memset{.size = 0}, 0, 0));
static_assert(only_moves(Reshape{.numel = 35}, 0, 0) && only_moves(Reshape{.numel = most}, 0, 0));
static_assert(Reshape{}.type == dtype::f32 && Concat{}.inputs.size() == 16);
static_assert(Cast{.dtypeIn = dtype::bf16}.arithmetic().type == dtype::bf16 &&
              Fill{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);

static_assert(!is_constant([] {
  return Concat{.inputs = {1, -1}}.flops();
}) && !is_constant([] {
  return Concat{.inputs = {most, most, most}}.bytes();
}));
static_assert(!is_constant([] { return Slice{.numel = -1}.flops(); }) &&
              !is_constant([] { return Copy{.numel = most}.bytes(); }));
static_assert(!is_constant([] { return Transpose{.M = -1}.bytes(); }) &&
              !is_constant([] { return Transpose{.M = most, .N = most}.bytes(); }));
static_assert(!is_constant([] { return Permute{.type = dtype::unknown}.flops(); }) &&
              !is_constant([] { return Cast{.dtypeOut = dtype::unknown}.bytes(); }));
static_assert(!is_constant([] { return Reshape{.numel = -1}.bytes(); }) &&
              !is_constant([] { return Fill{.numel = -1}.flops(); }));
static_assert(!is_constant([] { return Memcpy{.size = -1}.bytes(); }) &&
              !is_constant([] { return Memset{.size = -1}.flops(); }));

template <class Op>
void check_numel(Op op) {
  for (const std::int64_t bad : {least, least + 1, std::int64_t{-1}}) {
    op.numel = bad;
    CHECK(is_refused(op));
  }
  op.numel = most;
  CHECK(kprof::flops_of(op).valid() == std::is_same_v<Op, Reshape>);
}
template <class Op>
void check_type(Op op) {
  op.type = dtype::unknown;
  CHECK(is_refused(op));
}

}  // namespace

TEST_CASE("ops_movement.bytes_are_what_loops_touch") {
  kprof_test::random_shape random(17);
  for (int round = 0; round < 1500; ++round) {
    const std::int64_t M = random(0, 7), N = random(0, 7), batch = random(0, 3);
    std::set<std::int64_t> read, written;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < M; ++i)
        for (std::int64_t j = 0; j < N; ++j) {
          read.insert((b * M + i) * N + j);
          written.insert((b * N + j) * M + i);
        }
    CHECK(only_moves(Transpose{.M = M, .N = N, .batch = batch, .type = dtype::f16}, 2 * read.size(),
                     2 * written.size()));
    CHECK(only_moves(Permute{.numel = batch * M * N}, 4 * read.size(), 4 * written.size()));

    // Columns `from` to `to` of x[M,N], and x beside z[M,batch].
    const std::int64_t from = random(0, N), to = random(from, N);
    std::set<std::pair<std::int64_t, std::int64_t>> x, y, z, joined;
    for (std::int64_t i = 0; i < M; ++i) {
      for (std::int64_t j = from; j < to; ++j) x.insert({i, j}), y.insert({i, j - from});
      for (std::int64_t j = 0; j < to - from; ++j) joined.insert({i, j});
      for (std::int64_t j = 0; j < batch; ++j) z.insert({i, j}), joined.insert({i, to - from + j});
    }
    CHECK(only_moves(Slice{.numel = M * (to - from)}, 4 * x.size(), 4 * y.size()));
    CHECK(only_moves(Concat{.inputs = {M * (to - from), M * batch}, .type = dtype::f64},
                     8 * (y.size() + z.size()), 8 * joined.size()));
    CHECK(only_moves(Cast{.numel = M * batch, .dtypeIn = dtype::int8, .dtypeOut = dtype::f64},
                     z.size(), 8 * z.size()));
    CHECK(only_moves(Fill{.numel = M * batch, .type = dtype::f16}, 0, 2 * z.size()));
    CHECK(only_moves(Copy{.numel = M * batch, .type = dtype::f16}, 2 * z.size(), 2 * z.size()));
  }
}

TEST_CASE("ops_movement.senseless_parameters_are_refused_and_do_not_trap") {
  check_numel(Slice{});
  check_numel(Copy{});
  check_numel(Permute{});
  check_numel(Cast{});
  check_numel(Reshape{});
  check_numel(Fill{});
  check_type(Concat{});
  check_type(Slice{});
  check_type(Copy{});
  check_type(Transpose{});
  check_type(Permute{});
  check_type(Reshape{});
  check_type(Fill{});
  CHECK(is_refused(Cast{.dtypeIn = dtype::unknown}));
  CHECK(is_refused(Cast{.dtypeOut = dtype::unknown}));
  for (const std::int64_t bad : {least, least + 1, std::int64_t{-1}}) {
    CHECK(is_refused(Transpose{.M = bad}));
    CHECK(is_refused(Transpose{.N = bad}));
    CHECK(is_refused(Transpose{.batch = bad}));
    CHECK(is_refused(Memcpy{.size = bad}));
    CHECK(is_refused(Memset{.size = bad}));
    for (std::size_t i = 0; i < 16; ++i) {
      Concat op{};
      op.inputs[i] = bad;
      CHECK(is_refused(op));
      op.inputs[i] = most;
      CHECK_FALSE(kprof::flops_of(op).valid());
    }
  }
  CHECK_FALSE(kprof::flops_of(Transpose{.M = most}).valid());
  CHECK_FALSE(kprof::flops_of(Transpose{.N = most}).valid());
  CHECK_FALSE(kprof::flops_of(Transpose{.batch = most}).valid());
  CHECK_FALSE(kprof::flops_of(Memcpy{.size = most}).valid());
  CHECK(Memset{.size = most}.bytes().read == 0);
}
