// SPDX-License-Identifier: MIT
// Products of matrices: published vectors, loops that count what a product does, and parameters
// that make no sense.
#include <kprof/ops/gemm.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <limits>
#include <set>
#include <type_traits>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::most;
using namespace kprof::ops;
using kprof::arithmetic_unit;
using kprof::dtype;

namespace {

constexpr Gemm gemm_of(dtype t, std::int64_t m, std::int64_t n, std::int64_t k, bool beta = false) {
  return {.M = m, .N = n, .K = k, .dtypeA = t, .dtypeB = t, .dtypeC = t, .beta = beta};
}

// ---- vectors: FLOPs and bytes worked out beside them

static_assert(costs(gemm_of(dtype::f16, 1024, 512, 2048), 2'147'483'648, 7'340'032));
static_assert(costs(gemm_of(dtype::f32, 7, 13, 29), 5'278, 2'684));
static_assert(costs(gemm_of(dtype::f64, 256, 256, 256, true), 33'554'432, 2'097'152));
// complex: 8 a multiply-add
static_assert(costs(gemm_of(dtype::c64, 3, 5, 7), 8 * 3 * 5 * 7, 8 * (21 + 35 + 15)));
static_assert(Gemm{.dtypeA = dtype::int4, .dtypeB = dtype::f16}.arithmetic().type == dtype::f16);
static_assert(costs(gemm_of(dtype::f32, 0, 5, 7, true), 0, 0) &&
              costs(gemm_of(dtype::f32, 3, 0, 7), 0, 0));
static_assert(costs(gemm_of(dtype::f32, 3, 5, 0), 0, 60));  // no products: zeros are written
static_assert(gemm_of(dtype::tf32, 1, 1, 1).arithmetic().on == arithmetic_unit::tensor_core &&
              gemm_of(dtype::f16, 1, 1, 1).arithmetic().on == arithmetic_unit::unknown);
static_assert(Gemm{.dtypeA = dtype::f16}.arithmetic().type == dtype::f16);

static_assert(costs(Bmm{.batch = 12, .M = 128, .N = 128, .K = 64, .type = dtype::f16}, 25'165'824,
                    786'432));
static_assert(costs(Bmm{.batch = 0, .M = 5, .N = 7, .K = 11}, 0, 0));
static_assert(Bmm{.type = dtype::bf16}.arithmetic().type == dtype::bf16);

constexpr GemmStridedBatched strided(std::int64_t a, std::int64_t b, std::int64_t c = -1) {
  return {.M = 3, .N = 5, .K = 7, .batch = 4, .strideA = a, .strideB = b, .strideC = c};
}
static_assert(costs(GemmStridedBatched{.M = 64, .N = 64, .K = 64, .batch = 8, .strideB = 0},
                    4'194'304, 278'528));
// rows between rows
static_assert(costs(strided(-1, 0, 5), 840, 4 * (84 + 35 + 60)));
static_assert(!strided(-1, -1, 0).valid() && !strided(-2, -1).valid() && !strided(-1, -2).valid() &&
              !strided(-1, -1, -2).valid());
static_assert(GemmStridedBatched{.batch = 1, .strideC = 0}.valid());  // one output cannot overlap
static_assert(costs(GemmStridedBatched{.M = 1,
                                       .N = 1,
                                       .K = 3,
                                       .batch = 3,
                                       .strideA = 0,
                                       .dtypeA = dtype::int4,
                                       .dtypeB = dtype::int4,
                                       .dtypeC = dtype::int32,
                                       .beta = true},
                    18, 2 + 5 + 24));
static_assert(costs(GemmStridedBatched{.M = 3, .N = 5, .K = 7, .batch = 0, .strideA = 0}, 0, 0));

static_assert(costs(GroupedGemm<8>{.groups = {{{64, 128, 32}, {0, 128, 32}, {16, 128, 32}}},
                                   .dtypeA = dtype::bf16,
                                   .dtypeB = dtype::bf16,
                                   .dtypeC = dtype::bf16},
                    655'360, 41'984));
static_assert(!GroupedGemm<2>{.groups = {{{3, 5, 7}, {-1, 2, 3}}}}.valid());
static_assert(costs(GroupedGemm<>{}, 0, 0));
static_assert(kprof::detail::same_text(kprof::name_of<GroupedGemm<3>>(),
                                       kprof::detail::text_of("GroupedGemm")));

static_assert(costs(RaggedGemm{.M = 80,
                               .N = 128,
                               .K = 32,
                               .groups = 3,
                               .active_groups = 2,
                               .dtypeA = dtype::bf16,
                               .dtypeB = dtype::bf16,
                               .dtypeC = dtype::bf16},
                    655'360, 41'984));
static_assert(costs(RaggedGemm{.M = 0, .N = 3, .K = 7, .groups = 9, .active_groups = 0}, 0, 0));
static_assert(!RaggedGemm{.M = 4, .groups = 2, .active_groups = 3}.valid() &&
              !RaggedGemm{.M = 1, .groups = 9, .active_groups = 2}.valid());
static_assert(!RaggedGemm{.M = 0, .groups = 2, .active_groups = 1}.valid() &&
              !RaggedGemm{.M = 2, .groups = 2, .active_groups = 0}.valid());

static_assert(costs(RaggedGemm{.M = 5, .N = 0, .K = 7}, 0, 0) &&
              costs(RaggedGemm{.M = 5, .N = 3, .K = 0}, 0, 60));
constexpr GemmEpilogue fused(bias_kind bias, activation act, bool residual, bool beta = false) {
  return {.M = 128,
          .N = 256,
          .K = 512,
          .dtypeA = dtype::f16,
          .dtypeB = dtype::f16,
          .dtypeC = dtype::f16,
          .beta = beta,
          .bias = bias,
          .act = act,
          .residual = residual};
}
static_assert(costs(fused(bias_kind::per_col, activation::none, false), 33'587'200, 459'264));
static_assert(costs(fused(bias_kind::per_col, activation::gelu, true), 33'652'736, 524'800));
static_assert(fused(bias_kind::per_col, activation::gelu, true).bytes().written == 65'536);
static_assert(
    costs(GemmEpilogue{.M = 0, .N = 5, .K = 7, .bias = bias_kind::per_col, .act = activation::relu},
          0, 0));
static_assert(GemmEpilogue{.dtypeA = dtype::fp8_e4m3}.arithmetic().on ==
              arithmetic_unit::tensor_core);

constexpr Linear linear_of(pass p, bool bias, dtype type = dtype::f16, dtype w = dtype::unknown) {
  return {.tokens = 128,
          .in_features = 768,
          .out_features = 3072,
          .bias = bias,
          .pass = p,
          .type = type,
          .dtypeW = w};
}
static_assert(costs(linear_of(pass::fprop, true), 604'372'992, 5'707'776));
static_assert(costs(linear_of(pass::dgrad, true), 603'979'776, 5'701'632));
static_assert(costs(Linear{.tokens = 10, .in_features = 5, .out_features = 20}, 2'000, 1'400));
static_assert(costs(linear_of(pass::wgrad, true), 603'979'776, 5'701'632));
static_assert(linear_of(pass::fprop, true).parameters() == 768 * 3072 + 3072 &&
              linear_of(pass::fprop, false).parameters() == 768 * 3072);
static_assert(!linear_of(pass::update, true).valid());
// All gradients in one call: those of dgrad, wgrad and, with a bias, bgrad; dy is read once.
static_assert(costs(linear_of(pass::bprop, false), 2 * 603'979'776,
                    2 * (2 * 128 * 768 + 128 * 3072 + 2 * 768 * 3072)));
static_assert(costs(linear_of(pass::bprop, true), 2 * 603'979'776 + 128 * 3072,
                    2 * (2 * 128 * 768 + 128 * 3072 + 2 * 768 * 3072 + 3072)));
static_assert(costs(Linear{.tokens = 0, .in_features = 5, .out_features = 20, .pass = pass::bprop},
                    0, 400));
static_assert(linear_of(pass::bgrad, true).arithmetic().on == arithmetic_unit::cuda_core &&
              linear_of(pass::fprop, true).arithmetic().on == arithmetic_unit::unknown);
static_assert(costs(Linear{.tokens = 0, .in_features = 5, .out_features = 20}, 0, 0) &&
              costs(Linear{.tokens = 0, .in_features = 5, .out_features = 20, .pass = pass::wgrad},
                    0, 400));
static_assert(costs(Linear{.tokens = 3, .in_features = 0, .out_features = 20, .bias = true}, 60,
                    320) &&
              costs(Linear{.tokens = 3, .in_features = 0, .pass = pass::dgrad}, 0, 0));

static_assert(!SparseGemm{.K = 6}.valid() && !SparseGemm{.K = 3, .dtypeA = dtype::tf32}.valid() &&
              !SparseGemm{.K = 4, .dtypeA = dtype::int4}.valid());
static_assert(!SparseGemm{.dtypeA = dtype::f64}.valid() &&
              SparseGemm{}.arithmetic().on == arithmetic_unit::tensor_core);
static_assert(costs(SparseGemm{.M = 0, .N = 5, .K = 4}, 0, 0));

static_assert(costs(BlockScaledGemm{.M = 3, .N = 0, .K = 33}, 0, 0) &&
              !BlockScaledGemm{.block = 0}.valid() && !BlockScaledGemm{.block = -32}.valid());
static_assert(BlockScaledGemm{}.arithmetic().on == arithmetic_unit::tensor_core &&
              BlockScaledGemm{}.arithmetic().type == dtype::fp8_e4m3);

// ---- what makes no sense, and what does not fit 64 bits, is no constant

#define REFUSED(...)                                                \
  static_assert(!is_constant([] { return __VA_ARGS__.flops(); }) && \
                !is_constant([] { return __VA_ARGS__.bytes(); }))
constexpr std::int64_t huge = std::int64_t{1} << 62U;
REFUSED(Gemm{.M = -1});
REFUSED(Gemm{.batch = -1});
REFUSED(Gemm{.dtypeA = dtype::unknown});
REFUSED(Gemm{.dtypeA = dtype::c64, .dtypeB = dtype::f32});
REFUSED(Linear{.type = dtype::c64, .dtypeW = dtype::f32});
REFUSED(SparseGemm{.dtypeB = dtype::c64});
REFUSED(BlockScaledGemm{.dtypeB = dtype::f16});
REFUSED(Gemm{.M = huge, .N = huge, .K = huge});
REFUSED(Bmm{.K = -1});
REFUSED(Bmm{.batch = huge, .M = 8, .N = 8, .K = 8});
REFUSED(GemmStridedBatched{.batch = 2, .strideC = 0});
REFUSED(GemmStridedBatched{.M = huge, .N = huge, .K = 2});
REFUSED(GroupedGemm<2>{.groups = {{{huge, 1, 2}, {huge, 1, 2}}}});
REFUSED(RaggedGemm{.active_groups = 2});
REFUSED(RaggedGemm{.M = huge, .N = 8, .K = 8});
REFUSED(GemmEpilogue{.N = -1, .bias = bias_kind::per_col});
REFUSED(GemmEpilogue{.M = huge, .N = 8, .act = activation::relu});
REFUSED(Linear{.pass = pass::update});
REFUSED(Linear{.tokens = huge, .in_features = 8, .out_features = 8});
REFUSED(SparseGemm{.K = 3});
REFUSED(SparseGemm{.M = huge, .N = 8, .K = 8});
REFUSED(BlockScaledGemm{.block = 0});
REFUSED(BlockScaledGemm{.M = huge, .N = 8, .K = 32});
static_assert(is_constant([] { return Gemm{}.flops(); }) &&
              is_constant([] { return GemmStridedBatched{.strideA = 0}.bytes(); }));

/// The distinct elements that `batch` matrices touch, a stride apart, whose rows lie `row` apart.
std::uint64_t touched(std::int64_t batch, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                      std::int64_t row) {
  std::set<std::int64_t> elements;
  for (std::int64_t z = 0; z < batch; ++z)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) elements.insert(z * stride + i * row + j);
  return elements.size();
}

}  // namespace

TEST_CASE("ops_gemm.a_product_does_what_three_loops_do") {
  kprof_test::random_shape draw(1);
  for (int i = 0; i < 2000; ++i) {
    const Gemm g{.M = draw(1, 6),
                 .N = draw(1, 6),
                 .K = draw(1, 6),
                 .batch = draw(1, 3),
                 .beta = draw.coin()};
    std::uint64_t operations = 0;
    std::set<std::int64_t> a, b, d;
    for (std::int64_t z = 0; z < g.batch; ++z)
      for (std::int64_t m = 0; m < g.M; ++m)
        for (std::int64_t n = 0; n < g.N; ++n) {
          d.insert((z * g.M + m) * g.N + n);
          for (std::int64_t k = 0; k < g.K; ++k) {
            operations += 2;  // a multiplication and an addition
            a.insert((z * g.M + m) * g.K + k);
            b.insert((z * g.K + k) * g.N + n);
          }
        }
    REQUIRE(g.flops() == operations);
    REQUIRE(g.bytes().read == 4 * (a.size() + b.size() + (g.beta ? d.size() : 0)));
    REQUIRE(g.bytes().written == 4 * d.size());
  }
}

TEST_CASE("ops_gemm.operands_a_stride_apart_count_what_they_touch") {
  kprof_test::random_shape draw(2);
  for (int i = 0; i < 3000; ++i) {
    GemmStridedBatched g{.M = draw(1, 5), .N = draw(1, 5), .K = draw(1, 5), .batch = draw(1, 5)};
    // One behind another, with a gap, shared by all, or row by row in turns, as the heads of an
    // attention lie.
    const auto lay = [&](kprof::extent& stride, std::int64_t rows, std::int64_t cols, bool shared) {
      const std::int64_t how = draw(0, shared ? 3 : 2), row = how == 2 ? g.batch * cols : cols;
      stride = how == 0   ? GemmStridedBatched::dense
               : how == 1 ? rows * cols + draw(0, 3)
               : how == 2 ? cols
                          : 0;
      return touched(g.batch, rows, cols, how == 0 ? rows * cols : std::int64_t{stride}, row);
    };
    const std::uint64_t a = lay(g.strideA, g.M, g.K, true), b = lay(g.strideB, g.K, g.N, true),
                        c = lay(g.strideC, g.M, g.N, false);
    REQUIRE(g.bytes().read == 4 * (a + b));
    REQUIRE(g.bytes().written == 4 * c);
    REQUIRE(g.flops() == static_cast<std::uint64_t>(2 * g.batch * g.M * g.N * g.K));
  }
}

TEST_CASE("ops_gemm.groups_of_one_shape_are_ragged") {
  kprof_test::random_shape draw(3);
  for (int i = 0; i < 1000; ++i) {
    GroupedGemm<6> grouped;
    RaggedGemm ragged{
        .M = 0, .N = draw(1, 5), .K = draw(1, 5), .groups = draw(0, 6), .active_groups = 0};
    for (std::int64_t g = 0; g < ragged.groups; ++g) {
      const std::int64_t rows = draw(0, 3);
      grouped.groups[static_cast<std::size_t>(g)] = {rows, ragged.N, ragged.K};
      ragged.M += rows;
      ragged.active_groups += rows > 0 ? 1 : 0;
    }
    REQUIRE(grouped.flops() == ragged.flops());
    REQUIRE(grouped.bytes().read == ragged.bytes().read);
    REQUIRE(grouped.bytes().written == ragged.bytes().written);
  }
}

TEST_CASE("ops_gemm.all_passes_of_a_layer_multiply_as_often_and_move_the_same") {
  kprof_test::random_shape draw(4);
  for (int i = 0; i < 1000; ++i) {
    Linear l{.tokens = draw(1, 99), .in_features = draw(1, 99), .out_features = draw(1, 99)};
    std::vector<std::uint64_t> flops, bytes;
    for (const pass p : {pass::fprop, pass::dgrad, pass::wgrad}) {
      l.pass = p;
      flops.push_back(l.flops().value());
      bytes.push_back(l.bytes().total().value());
    }
    REQUIRE(flops[0] == flops[1]);
    REQUIRE(flops[0] == flops[2]);
    REQUIRE(bytes[0] == bytes[1]);
    REQUIRE(bytes[0] == bytes[2]);
    const Gemm same{.M = l.tokens, .N = l.out_features, .K = l.in_features};
    REQUIRE(same.flops() == flops[0]);
    REQUIRE(same.bytes().total() == bytes[0]);
  }
}

TEST_CASE("ops_gemm.senseless_parameters_have_no_numbers") {
  for (const std::int64_t bad : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}}) {
    CHECK(is_refused(Gemm{.M = bad}));
    CHECK(is_refused(Gemm{.N = bad}));
    CHECK(is_refused(Gemm{.K = bad}));
    CHECK(is_refused(Gemm{.batch = bad}));
    CHECK(is_refused(Bmm{.M = bad}));
    CHECK(is_refused(GemmStridedBatched{.K = bad}));
    CHECK(is_refused(GemmStridedBatched{.strideA = bad - (bad == -1 ? 1 : 0)}));
    CHECK(is_refused(GroupedGemm<1>{.groups = {{{1, 1, bad}}}}));
    CHECK(is_refused(RaggedGemm{.M = bad}));
    CHECK(is_refused(RaggedGemm{.active_groups = bad}));
    CHECK(is_refused(GemmEpilogue{.M = bad, .residual = true}));
    CHECK(is_refused(Linear{.tokens = bad}));
    CHECK(is_refused(Linear{.in_features = bad}));
    CHECK(is_refused(Linear{.out_features = bad}));
    CHECK(is_refused(SparseGemm{.M = bad}));
    CHECK(is_refused(BlockScaledGemm{.N = bad}));
    CHECK(is_refused(BlockScaledGemm{.block = bad}));
  }
  CHECK(is_refused(Gemm{.M = most, .N = most}));
  // neither its FLOPs nor its bytes fit 63 bits
  CHECK_FALSE(kprof::flops_of(Gemm{.M = most}).valid());
  CHECK_FALSE(Gemm{.M = most}.bytes().total().valid());
  CHECK_FALSE(
      kprof::flops_of(GemmStridedBatched{.batch = most, .strideA = most, .strideB = most}).valid());
  CHECK(is_refused(GroupedGemm<1>{.groups = {{{most, most, most}}}}));
  CHECK(is_refused(RaggedGemm{.M = most, .N = most}));
  CHECK(is_refused(GemmEpilogue{.M = most, .N = most, .residual = true}));
  CHECK(is_refused(Linear{.tokens = most, .in_features = most}));
  CHECK(is_refused(SparseGemm{.M = most, .N = most}));
  CHECK(is_refused(BlockScaledGemm{.M = most, .N = most}));
  CHECK(is_refused(Linear{.pass = pass::update}));
  CHECK(is_refused(Linear{.type = dtype::unknown}));
}
