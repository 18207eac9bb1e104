// SPDX-License-Identifier: MIT
// Normalisation: published vectors, and parameters that make no sense.
#include <kprof/ops/norm.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cstdint>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::most;
using kprof_test::moves;
using namespace kprof::ops;
using kprof::dtype;

namespace {

// Of formulas.md.
constexpr BatchNorm small_batch{
    .N = 2, .C = 16, .H = 8, .W = 8, .type = dtype::f16, .dtypeP = dtype::f32};
static_assert(costs(small_batch, 16'384, 8'448));
constexpr LayerNorm bert(pass p) {
  return {.rows = 128, .cols = 768, .pass = p, .type = dtype::f16};
}
static_assert(costs(bert(pass::fprop), 786'432, 397'312) &&
              costs(bert(pass::bprop), 1'277'952, 595'456));
static_assert(costs(RmsNorm{.rows = 16, .cols = 4096, .stats = false, .type = dtype::bf16}, 262'144,
                    270'336));
static_assert(costs(GroupNorm{.N = 1, .C = 64, .HW = 256, .G = 8}, 131'072, 131'648));
// ResNet-50's, of section 13.
constexpr BatchNorm resnet(std::int64_t c, std::int64_t hw) {
  return {.N = 32, .C = c, .H = hw, .W = hw, .type = dtype::f16, .dtypeP = dtype::f32};
}
static_assert(costs(resnet(64, 112), 205'520'896, 102'761'472) &&
              costs(resnet(64, 56), 51'380'224, 25'691'136) &&
              costs(resnet(256, 56), 205'520'896, 102'764'544));

// Of an empty batch nothing is read; zeros are the gradients of the parameters.
static_assert(costs(BatchNorm{.N = 0, .C = 5}, 0, 0) &&
              costs(BatchNorm{.N = 0, .C = 5, .train = false}, 0, 0) &&
              moves(BatchNorm{.N = 0, .C = 5, .pass = pass::bprop}, 0, 40));
static_assert(costs(LayerNorm{.rows = 0, .cols = 5}, 0, 0) &&
              costs(LayerNorm{.rows = 5, .cols = 0}, 0, 0) &&
              moves(LayerNorm{.rows = 0, .cols = 5, .pass = pass::bprop}, 0, 40));
static_assert(costs(GroupNorm{.HW = 0}, 0, 0) && costs(InstanceNorm{.N = 0}, 0, 0) &&
              moves(RmsNorm{.rows = 0, .cols = 3, .pass = pass::bprop}, 0, 12));
static_assert(costs(GroupNorm{.C = 0, .G = 4}, 0, 0));

constexpr bool on_cuda_cores(kprof::arithmetic a, dtype type) {
  return a.type == type && a.on == kprof::arithmetic_unit::cuda_core;
}
static_assert(on_cuda_cores(small_batch.arithmetic(), dtype::f16) &&
              on_cuda_cores(LayerNorm{}.arithmetic(), dtype::f32) &&
              on_cuda_cores(RmsNorm{.type = dtype::bf16}.arithmetic(), dtype::bf16));

// A senseless call is no constant.
static_assert(is_constant([] { return BatchNorm{}.flops(); }) &&
              is_constant([] { return LayerNorm{}.bytes(); }) &&
              is_constant([] { return RmsNorm{}.bytes(); }));
static_assert(!is_constant([] { return BatchNorm{.N = -1}.flops(); }) && !is_constant([] {
  return BatchNorm{.C = -1}.bytes();
}) && !is_constant([] { return BatchNorm{.C = -1}.parameters(); }));
static_assert(!is_constant([] { return BatchNorm{.train = false, .pass = pass::bprop}.flops(); }) &&
              !is_constant([] { return BatchNorm{.pass = pass::wgrad}.flops(); }));
static_assert(!is_constant([] { return BatchNorm{.type = dtype::unknown}.flops(); }) &&
              !is_constant([] {
                return BatchNorm{.W = most, .train = false, .type = dtype::f64}.bytes();
              }));
static_assert(!is_constant([] { return LayerNorm{.rows = -1}.flops(); }) && !is_constant([] {
  return LayerNorm{.cols = -1}.bytes();
}) && !is_constant([] { return LayerNorm{.cols = most}.flops(); }));
static_assert(!is_constant([] { return LayerNorm{.pass = pass::dgrad}.bytes(); }) &&
              !is_constant([] { return LayerNorm{.type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return GroupNorm{.C = 6, .G = 4}.flops(); }) && !is_constant([] {
  return GroupNorm{.G = 0}.bytes();
}) && !is_constant([] { return GroupNorm{.G = -1}.flops(); }));
static_assert(!is_constant([] {
  return GroupNorm{.N = 1 << 30, .C = 1 << 30, .HW = 1 << 30}.flops();
}) && !is_constant([] { return GroupNorm{.C = 2, .G = 4}.flops(); }));
static_assert(!is_constant([] { return InstanceNorm{.HW = -1}.flops(); }) &&
              !is_constant([] { return InstanceNorm{.pass = pass::bgrad}.bytes(); }));
static_assert(!is_constant([] { return InstanceNorm{.N = most}.bytes(); }) &&
              !is_constant([] { return InstanceNorm{.type = dtype::unknown}.bytes(); }));
static_assert(!is_constant([] { return RmsNorm{.rows = -1}.flops(); }) && !is_constant([] {
  return RmsNorm{.rows = most}.flops();
}) && !is_constant([] { return RmsNorm{.pass = pass::dgrad}.flops(); }));

}  // namespace

TEST_CASE("ops_norm.passes_and_types_that_there_are_not") {
  CHECK(is_refused(BatchNorm{.train = false, .pass = pass::bprop}));
}
