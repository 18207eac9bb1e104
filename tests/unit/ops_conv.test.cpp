// SPDX-License-Identifier: MIT
// Convolutions: published vectors, loops that move the window, the transposed convolution as the
// gradient of the other, and parameters that make no sense.
#include <kprof/ops/conv.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::most;
using kprof_test::moves;
using namespace kprof::ops;
using kprof::dtype;

namespace {

// Of formulas.md.
constexpr Conv2d c64(pass p) {
  return {.N = 8,
          .C = 64,
          .H = 32,
          .W = 32,
          .K = 128,
          .R = 3,
          .S = 3,
          .ph = 1,
          .pw = 1,
          .pass = p,
          .type = dtype::f16};
}
static_assert(costs(c64(pass::fprop), 1'207'959'552, 3'293'184) &&
              c64(pass::fprop).flops_valid() == 1'158'152'192);
static_assert(costs(c64(pass::wgrad), 1'207'959'552, 3'293'184) &&
              c64(pass::wgrad).flops_valid() == 1'158'152'192);
static_assert(costs(c64(pass::dgrad), 1'207'959'552, 3'293'184) &&
              c64(pass::dgrad).flops_valid() == 1'158'152'192);
constexpr Conv2d alexnet{.N = 1,
                         .C = 3,
                         .H = 224,
                         .W = 224,
                         .K = 96,
                         .R = 11,
                         .S = 11,
                         .ph = 2,
                         .pw = 2,
                         .U = 4,
                         .V = 4};
static_assert(costs(alexnet, 210'830'400, 1'903'104) && alexnet.flops_valid() == 208'744'704 &&
              alexnet.P() == 55 && alexnet.Q() == 55);
constexpr Conv2d depthwise{.N = 4,
                           .C = 32,
                           .H = 112,
                           .W = 112,
                           .K = 32,
                           .R = 3,
                           .S = 3,
                           .ph = 1,
                           .pw = 1,
                           .g = 32,
                           .type = dtype::f16};
static_assert(costs(depthwise, 28'901'376, 6'423'104) && depthwise.flops_valid() == 28'558'336 &&
              depthwise.parameters() == 288);
constexpr Conv2d dilated{.N = 2,
                         .C = 16,
                         .H = 33,
                         .W = 33,
                         .K = 16,
                         .R = 3,
                         .S = 3,
                         .ph = 4,
                         .pw = 4,
                         .dh = 4,
                         .dw = 4,
                         .type = dtype::bf16};
static_assert(costs(dilated, 10'036'224, 144'000) && dilated.flops_valid() == 8'479'744);
constexpr Conv1d long_window{.N = 2, .C = 3, .W = 6, .K = 6, .S = 4, .pw = 1};
static_assert(costs(long_window, 1'440, 672) && long_window.flops_valid() == 1'296 &&
              long_window.Q() == 5);
constexpr Conv3d cube{.N = 1,
                      .C = 3,
                      .D = 8,
                      .H = 32,
                      .W = 32,
                      .K = 16,
                      .T = 3,
                      .R = 3,
                      .S = 3,
                      .pd = 1,
                      .ph = 1,
                      .pw = 1,
                      .type = dtype::f16};
static_assert(costs(cube, 21'233'664, 313'888) && cube.flops_valid() == 18'661'632);
constexpr ConvTranspose2d twice{
    .N = 1, .C = 4, .H = 30, .W = 2, .K = 8, .R = 2, .S = 2, .U = 2, .V = 2};
static_assert(costs(twice, 15'360, 9'152) && twice.flops_valid() == 15'360 && twice.P() == 60 &&
              twice.Q() == 4);
// ResNet-50, batch 32: the slide of section 13.
constexpr Conv2d resnet(std::int64_t c, std::int64_t hw, std::int64_t k, std::int64_t window,
                        std::int64_t stride = 1) {
  return {.N = 32,
          .C = c,
          .H = hw,
          .W = hw,
          .K = k,
          .R = window,
          .S = window,
          .ph = window / 2,
          .pw = window / 2,
          .U = stride,
          .V = stride,
          .type = dtype::f16};
}
static_assert(costs(resnet(3, 224, 64, 7, 2), 7'552'892'928, 61'032'832) &&
              costs(resnet(64, 56, 64, 1), 822'083'584, 25'698'304));
static_assert(costs(resnet(64, 56, 64, 3), 7'398'752'256, 25'763'840) &&
              costs(resnet(64, 56, 256, 1), 3'288'334'336, 64'258'048));
// XLA's test: 3x3 in 3x3, SAME: 49 of the 81 taps.
constexpr Conv2d same{.H = 3, .W = 3, .R = 3, .S = 3, .ph = 1, .pw = 1};
static_assert(same.flops() == 162 && same.flops_valid() == 98);

// By hand. Rows: 7 + 2 - (2 2 + 1) = 4, by 2: P = 3; columns: 9 - (3 + 1) = 5, by 3: Q = 2. 2 *
// 4*3*2 outputs * 3 channels * 6 taps = 864. Rows begin at -1, 1, 3 and step by 2: 2 + 3 + 2 taps
// of 9 meet the input; columns 4 of 4: 2 * 4*3 * 28 = 672. x 378, w 4*3*6 = 72, y 24.
constexpr Conv2d awkward(pass p) {
  return {.C = 6,
          .H = 7,
          .W = 9,
          .K = 4,
          .R = 3,
          .S = 2,
          .ph = 1,
          .U = 2,
          .V = 3,
          .dh = 2,
          .dw = 3,
          .g = 2,
          .pass = p};
}
static_assert(costs(awkward(pass::fprop), 864, 1'896) && moves(awkward(pass::fprop), 1'800, 96) &&
              awkward(pass::fprop).flops_valid() == 672);
static_assert(costs(awkward(pass::dgrad), 864, 1'896) && moves(awkward(pass::dgrad), 384, 1'512) &&
              awkward(pass::dgrad).flops_valid() == 672);
static_assert(costs(awkward(pass::wgrad), 864, 1'896) && moves(awkward(pass::wgrad), 1'608, 288) &&
              awkward(pass::wgrad).flops_valid() == 672);
static_assert(costs(awkward(pass::bgrad), 24, 112) && moves(awkward(pass::bgrad), 96, 16) &&
              awkward(pass::bgrad).flops_valid() == 24);
static_assert(awkward(pass::fprop).P() == 3 && awkward(pass::fprop).Q() == 2 &&
              awkward(pass::fprop).parameters() == 72);
// P = Q = (5 + 2 - 3) / 2 + 1 = 3, 72 outputs of 27 products; bias, activation and residual 72
// each. x 150, w 108, b 4, residual 72.
constexpr Conv2d fused(pass p) {
  return {.N = 2,
          .C = 3,
          .H = 5,
          .W = 5,
          .K = 4,
          .R = 3,
          .S = 3,
          .ph = 1,
          .pw = 1,
          .U = 2,
          .V = 2,
          .bias = true,
          .act = activation::relu,
          .residual = true,
          .pass = p,
          .type = dtype::f16};
}
static_assert(costs(fused(pass::fprop), 2 * 72 * 27 + 3 * 72, 668 + 144) &&
              moves(fused(pass::fprop), 668, 144) && fused(pass::fprop).parameters() == 112);
// 2 * 2*4 images and filters * 3 channels * 7 * 7 taps (rows 2 + 3 + 2), and the fused.
static_assert(fused(pass::fprop).flops_valid() == 2 * 8 * 3 * 49 + 216);
static_assert(costs(fused(pass::dgrad), 2 * 72 * 27, 2 * (72 + 108 + 150)) &&
              costs(fused(pass::wgrad), 2 * 72 * 27, 2 * (72 + 108 + 150)));
static_assert(costs(Conv2d{.K = 2, .bias = true}, 4 + 2, 4 * (1 + 2 + 2 + 2)) &&
              costs(Conv2d{.K = 2, .act = activation::gelu}, 4 + 2, 4 * (1 + 2 + 2)));
static_assert(costs(Conv2d{.K = 2, .residual = true}, 4 + 2, 4 * (1 + 2 + 2 + 2)));
// P = Q = 2: y 20, x 48, w 135: in 4 bits 67.5 bytes.
constexpr Conv2d mixed(pass p, dtype x, dtype w, dtype y) {
  return {.C = 3,
          .H = 4,
          .W = 4,
          .K = 5,
          .R = 3,
          .S = 3,
          .pass = p,
          .type = x,
          .dtypeW = w,
          .dtypeY = y};
}
static_assert(costs(mixed(pass::fprop, dtype::int8, dtype::int4, dtype::f16), 1'080, 48 + 68 + 40));
static_assert(moves(mixed(pass::wgrad, dtype::bf16, dtype::f32, dtype::unknown), 96 + 40, 540));
static_assert(moves(mixed(pass::dgrad, dtype::f16, dtype::fp8_e4m3, dtype::f32), 80 + 135, 96));
static_assert(moves(mixed(pass::bgrad, dtype::f16, dtype::f64, dtype::f32), 80, 40));
// 288, 810, 120 bits
static_assert(costs(mixed(pass::fprop, dtype::fp6_e2m3, dtype::unknown, dtype::unknown), 1'080,
                    36 + 102 + 15));
static_assert(costs(Conv2d{.C = 3, .H = 4, .W = 4, .K = 5, .R = 3, .S = 3, .type = dtype::c64},
                    4 * 1'080, 8 * (48 + 135 + 20)));
constexpr Conv2d all_mixed{.C = 2,
                           .K = 3,
                           .bias = true,
                           .residual = true,
                           .type = dtype::int8,
                           .dtypeW = dtype::f16,
                           .dtypeY = dtype::f32};
// the bias as the weights, the residual as the output
static_assert(moves(all_mixed, 2 + 12 + 6 + 12, 12));

// Span 5: (11 + 4 - 5) / 2 + 1 = 6. Begins at -2, 0 .. 8, step 2: 2 + 3 + 3 + 3 + 3 + 2 = 16 taps
// of 18. x 132, w 36, y 108.
constexpr Conv1d atrous{.N = 3, .C = 4, .W = 11, .K = 6, .S = 3, .pw = 2, .V = 2, .dw = 2, .g = 2};
static_assert(costs(atrous, 1'296, 1'104) && atrous.flops_valid() == 1'152 && atrous.Q() == 6);
// As in Mamba: 13 outputs of 16 channels, of which each of 4 taps meets 10. x 160, w 64, y 208.
constexpr Conv1d causal{.C = 16,
                        .W = 10,
                        .K = 16,
                        .S = 4,
                        .pw = 3,
                        .g = 16,
                        .bias = true,
                        .act = activation::silu,
                        .type = dtype::bf16};
static_assert(costs(causal, 1'664 + 2 * 208, 864 + 32) && causal.flops_valid() == 1'280 + 416 &&
              causal.parameters() == 64 + 16);
static_assert(costs(Conv1d{.C = 5, .W = 7, .K = 3, .type = dtype::f64}, 210, 568));
// 17.5, 7.5, 10.5
static_assert(costs(Conv1d{.C = 5, .W = 7, .K = 3, .type = dtype::uint4}, 210, 18 + 8 + 11));
static_assert(costs(Conv1d{.C = 5, .W = 7, .K = 3, .pass = pass::bgrad}, 21, 4 * (21 + 3)) &&
              moves(Conv1d{.C = 5, .W = 7, .K = 3, .pass = pass::dgrad}, 144, 140));
static_assert(moves(
    Conv1d{.C = 5, .W = 7, .K = 3, .pass = pass::wgrad, .type = dtype::f16, .dtypeW = dtype::f32},
    112, 60));
static_assert(costs(Conv1d{.W = 3, .residual = true, .dtypeY = dtype::f64}, 9, 12 + 4 + 24 + 24));
// A window of 2^20 taps over as many elements, with half as much padding on each side: 2^19, ...,
// 2^20, ..., 2^19 taps meet it.
constexpr Conv1d whole{.W = 1 << 20, .S = 1 << 20, .pw = 1 << 19};
static_assert(whole.Q() == (1 << 20) + 1 && whole.flops() == ((std::uint64_t{1} << 20) + 1) << 21);
// (2 half + 1) windows, less |i - half| in each: (2 half + 1) 2 half - half (half + 1)
constexpr std::uint64_t half = 1 << 19;
static_assert(whole.flops_valid() == 2 * (3 * half * half + half));

// Z = (4 + 2 - 4) / 2 + 1 = 2, P = 1, Q = (6 + 4 - 1) / 3 + 1 = 4: 24 outputs of 2 * 6 products.
// Depth begins at -1, 1, taps 3 apart: 2 of 4 meet; height 3 of 3; width at -2, 1, 4, 7: 2 of 4. x
// 240, w 36.
constexpr Conv3d odd{.C = 2,
                     .D = 4,
                     .H = 5,
                     .W = 6,
                     .K = 3,
                     .T = 2,
                     .R = 3,
                     .pd = 1,
                     .pw = 2,
                     .sd = 2,
                     .V = 3,
                     .dd = 3,
                     .dh = 2};
static_assert(costs(odd, 576, 1'200) && odd.flops_valid() == 2 * 3 * 2 * 12 && odd.Z() == 2 &&
              odd.P() == 1 && odd.Q() == 4);
static_assert(costs(Conv3d{.D = 2, .H = 3, .W = 5, .K = 7, .pass = pass::bgrad, .type = dtype::f64},
                    210, 8 * 217));
// y 2, w 32, x 32
static_assert(moves(Conv3d{.C = 4,
                           .D = 2,
                           .H = 2,
                           .W = 2,
                           .K = 2,
                           .T = 2,
                           .R = 2,
                           .S = 2,
                           .g = 2,
                           .pass = pass::dgrad,
                           .type = dtype::int4},
                    1 + 16, 16));
static_assert(moves(Conv3d{.C = 4,
                           .D = 2,
                           .H = 2,
                           .W = 2,
                           .K = 2,
                           .T = 2,
                           .R = 2,
                           .S = 2,
                           .g = 2,
                           .pass = pass::wgrad,
                           .dtypeW = dtype::f64},
                    4 * 34, 8 * 32));

// P = 2*2 - 2 + 2 + 1 + 1 = 6, Q = 3*3 + 2 + 1 = 12. 2 * 4 * 3 filters * 12 elements * 6 taps. Rows
// 2h - 1 + r: one of 9 is cut off. x 48, w 72, y 432.
constexpr ConvTranspose2d up(pass p, bool bias = false) {
  return {.C = 4,
          .H = 3,
          .W = 4,
          .K = 6,
          .R = 3,
          .S = 2,
          .ph = 1,
          .oph = 1,
          .U = 2,
          .V = 3,
          .dw = 2,
          .g = 2,
          .bias = bias,
          .pass = p};
}
static_assert(costs(up(pass::fprop), 1'728, 2'208) && up(pass::fprop).flops_valid() == 1'536 &&
              up(pass::fprop).P() == 6 && up(pass::fprop).Q() == 12);
static_assert(costs(up(pass::fprop, true), 2'160, 2'232) &&
              up(pass::fprop, true).parameters() == 78 &&
              moves(up(pass::fprop, true), 4 * (48 + 72 + 6), 1'728));
static_assert(moves(up(pass::dgrad, true), 4 * (432 + 72), 192) &&
              moves(up(pass::wgrad, true), 4 * (432 + 48), 288) &&
              costs(up(pass::bgrad), 432, 4 * 438));
// 4.5, 1.5, 13.5
static_assert(
    costs(ConvTranspose2d{.H = 3, .W = 3, .K = 3, .residual = true, .type = dtype::fp4_e2m1},
          54 + 27, 5 + 2 + 14 + 14));
// Q = 8 - 2 + 3 + 1 = 10. 2w - 1 + s: 2 of 20 are cut off. x 30, w 24, y 40.
constexpr ConvTranspose1d up1{
    .N = 2, .C = 3, .W = 5, .K = 2, .S = 4, .pw = 1, .V = 2, .type = dtype::f16};
static_assert(costs(up1, 480, 188) && up1.flops_valid() == 432 && up1.Q() == 10);
// 6 + 1 + 2 + 1 = 10
static_assert(costs(ConvTranspose1d{.W = 3, .S = 2, .opw = 2, .V = 3}, 12, 4 * (3 + 2 + 10)));
// 2 + 2 + 1 + 1 = 6
static_assert(costs(ConvTranspose1d{.W = 3, .S = 2, .opw = 1, .dw = 2}, 12, 4 * (3 + 2 + 6)));
static_assert(moves(
    ConvTranspose1d{.C = 3, .W = 5, .K = 2, .pass = pass::wgrad, .dtypeW = dtype::f64}, 100, 48));
static_assert(costs(ConvTranspose1d{.C = 3, .W = 5, .K = 2, .bias = true, .act = activation::relu},
                    60 + 20, 4 * (15 + 6 + 2 + 10)));
static_assert(moves(ConvTranspose1d{.C = 3, .W = 5, .K = 2, .residual = true}, 4 * (15 + 6 + 10),
                    40));
constexpr ConvTranspose3d up3{
    .C = 2, .D = 2, .H = 2, .W = 2, .K = 3, .T = 2, .R = 2, .S = 2, .sd = 2, .U = 2, .V = 2};
// x 16, w 48, y 192
static_assert(costs(up3, 768, 1'024) && up3.Z() == 4 && up3.parameters() == 48);
// 3 + 1 + 2 + 1 = 7; 7*1*3
static_assert(
    costs(ConvTranspose3d{.D = 2, .H = 1, .W = 3, .T = 2, .opd = 2, .sd = 3, .pass = pass::bgrad},
          21, 88));
static_assert(moves(ConvTranspose3d{.C = 2,
                                    .D = 2,
                                    .H = 2,
                                    .W = 2,
                                    .K = 3,
                                    .pass = pass::dgrad,
                                    .type = dtype::int8,
                                    .dtypeW = dtype::uint4,
                                    .dtypeY = dtype::f16},
                    48 + 3, 16));

// Empty tensors: without output nothing is read; zeros are written.
static_assert(costs(
    Conv2d{.N = 0, .C = 3, .H = 5, .W = 5, .K = 4, .R = 3, .S = 3, .bias = true, .residual = true},
    0, 0));
static_assert(costs(Conv2d{.N = 2, .C = 0, .K = 3}, 0, 24) &&
              costs(Conv2d{.N = 2, .C = 3, .K = 0}, 0, 0) &&
              costs(Conv2d{.C = 3, .K = 0, .pass = pass::dgrad}, 0, 12));
static_assert(moves(Conv2d{.N = 0, .C = 3, .K = 2, .pass = pass::wgrad}, 0, 24) &&
              moves(Conv2d{.N = 0, .K = 2, .pass = pass::bgrad}, 0, 8));
static_assert(costs(Conv2d{.N = 2, .C = 0, .K = 3, .pass = pass::wgrad}, 0, 0) &&
              costs(Conv2d{.N = 2, .C = 0, .K = 3, .pass = pass::dgrad}, 0, 0));
static_assert(costs(ConvTranspose2d{.N = 0, .K = 4}, 0, 0) &&
              costs(ConvTranspose2d{.C = 0, .K = 4}, 0, 16));

constexpr bool on(kprof::arithmetic a, dtype type, kprof::arithmetic_unit unit) {
  return a.type == type && a.on == unit;
}
static_assert(on(fused(pass::fprop).arithmetic(), dtype::f16, kprof::arithmetic_unit::unknown) &&
              on(fused(pass::bgrad).arithmetic(), dtype::f16, kprof::arithmetic_unit::cuda_core));
static_assert(on(Conv1d{.type = dtype::tf32}.arithmetic(), dtype::tf32,
                 kprof::arithmetic_unit::tensor_core));
static_assert(on(ConvTranspose1d{.pass = pass::bgrad}.arithmetic(), dtype::f32,
                 kprof::arithmetic_unit::cuda_core) &&
              on(ConvTranspose2d{}.arithmetic(), dtype::f32, kprof::arithmetic_unit::unknown));

// A senseless call is no constant.
static_assert(is_constant([] { return Conv2d{}.flops(); }) &&
              is_constant([] { return Conv2d{}.bytes(); }) &&
              is_constant([] { return Conv2d{}.flops_valid(); }));
static_assert(!is_constant([] { return Conv2d{.N = -1}.flops(); }) &&
              !is_constant([] { return Conv2d{.N = -1}.bytes(); }));
static_assert(!is_constant([] { return Conv2d{.N = -1}.flops_valid(); }) &&
              !is_constant([] { return Conv2d{.K = -1}.parameters(); }));
static_assert(!is_constant([] { return Conv2d{.H = 2, .R = 3}.P(); }) &&
              !is_constant([] { return Conv2d{.H = 2, .R = 3}.Q(); }));
static_assert(!is_constant([] { return Conv2d{.H = 4, .R = 3, .dh = 2}.flops(); }) &&
              is_constant([] { return Conv2d{.H = 5, .R = 3, .dh = 2}.flops(); }));
static_assert(!is_constant([] { return Conv2d{.C = 4, .K = 6, .g = 3}.flops(); }) &&
              !is_constant([] { return Conv2d{.C = 6, .K = 4, .g = 3}.flops(); }));
static_assert(!is_constant([] { return Conv2d{.g = 0}.flops(); }) && !is_constant([] {
  return Conv2d{.U = 0}.flops();
}) && !is_constant([] { return Conv2d{.dw = 0}.flops(); }));
static_assert(!is_constant([] { return Conv2d{.pass = pass::bprop}.flops(); }) &&
              !is_constant([] { return Conv2d{.type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return Conv2d{.N = most, .C = 2}.flops(); }) &&
              !is_constant([] { return Conv2d{.K = most, .pass = pass::bgrad}.bytes(); }));
static_assert(!is_constant([] { return Conv1d{.W = 2, .S = 3}.flops(); }) && !is_constant([] {
  return Conv1d{.V = 0}.bytes();
}) && !is_constant([] { return Conv1d{.pw = -1}.flops(); }));
static_assert(!is_constant([] { return Conv1d{.W = 0}.flops(); }) && !is_constant([] {
  return Conv1d{.S = 0}.flops();
}) && !is_constant([] { return Conv1d{.S = 0}.parameters(); }));
static_assert(!is_constant([] { return Conv3d{.D = 2, .T = 3}.flops(); }) && !is_constant([] {
  return Conv3d{.sd = 0}.flops();
}) && !is_constant([] { return Conv3d{.dd = -1}.Z(); }));
static_assert(!is_constant([] {
  return Conv3d{.N = 1 << 30, .C = 1 << 30, .K = 1 << 30}.flops();
}));
static_assert(!is_constant([] { return ConvTranspose1d{.opw = 1}.flops(); }) &&
              // no output left
              !is_constant([] { return ConvTranspose1d{.W = 2, .pw = 1}.flops(); }));
static_assert(!is_constant([] { return ConvTranspose2d{.oph = -1, .U = 2}.flops(); }) &&
              !is_constant([] { return ConvTranspose2d{.oph = 2, .U = 2}.bytes(); }));
static_assert(!is_constant([] { return ConvTranspose2d{.C = 3, .g = 2}.flops(); }) &&
              !is_constant([] { return ConvTranspose2d{.H = 0}.flops(); }));
static_assert(!is_constant([] { return ConvTranspose3d{.sd = 0}.flops(); }) &&
              !is_constant([] { return ConvTranspose3d{.C = most, .K = 3}.parameters(); }));
static_assert(!is_constant([] { return ConvTranspose3d{.D = 1, .pd = 1}.Z(); }) &&
              !is_constant([] { return ConvTranspose3d{.pass = pass::bprop}.flops_valid(); }));

/// Elements that were touched.
class touched {
 public:
  explicit touched(std::int64_t size) : seen_(static_cast<std::size_t>(size)) {}
  void at(std::int64_t i) {
    char& s = seen_.at(static_cast<std::size_t>(i));
    count_ += s == 0 ? 1 : 0;
    s = 1;
  }
  std::uint64_t elements() const { return count_; }
  std::uint64_t size() const { return seen_.size(); }

 private:
  std::vector<char> seen_;
  std::uint64_t count_ = 0;
};

/// Where the windows of one dimension begin: found by moving the window until it leaves the padded
/// input.
std::vector<std::int64_t> begins(std::int64_t in, std::int64_t size, std::int64_t pad,
                                 std::int64_t stride, std::int64_t dilation) {
  std::vector<std::int64_t> found;
  for (std::int64_t at = -pad; at + dilation * (size - 1) < in + pad; at += stride)
    found.push_back(at);
  return found;
}

/// Spreads one dimension: the output's extent is what the farthest tap reaches, and the taps that
/// are not cut off are counted.
struct spread_out {
  std::int64_t extent = 0;
  std::uint64_t taps = 0;
  spread_out(std::int64_t in, std::int64_t size, std::int64_t pad, std::int64_t out_pad,
             std::int64_t stride, std::int64_t dilation) {
    for (int again = 0; again < 2; ++again)
      for (std::int64_t i = 0; i < in; ++i)
        for (std::int64_t s = 0; s < size; ++s) {
          const std::int64_t at = i * stride + s * dilation - pad;
          if (again == 0 && at + 1 - pad + out_pad > extent) extent = at + 1 - pad + out_pad;
          if (again == 1 && at >= 0 && at < extent) ++taps;
        }
  }
};

/// A convolution's geometry, of three dimensions. `wide` is the side on which windows lie: a
/// convolution's x, a transposed one's y; `narrow` is the other, with an element for each window.
/// Filters are w[narrow, wide / g, taps].
struct geometry {
  std::int64_t N = 1, wide = 1, narrow = 1, g = 1;
  std::array<std::int64_t, 3> wide_extent{}, narrow_extent{}, size{}, pad{}, stride{}, dilation{};

  static std::int64_t product(const std::array<std::int64_t, 3>& a) { return a[0] * a[1] * a[2]; }
  template <class F>
  static void each(const std::array<std::int64_t, 3>& from, const std::array<std::int64_t, 3>& to,
                   F f) {
    for (std::int64_t i = from[0]; i < to[0]; ++i)
      for (std::int64_t j = from[1]; j < to[1]; ++j)
        for (std::int64_t k = from[2]; k < to[2]; ++k) f(std::array{i, j, k});
  }
  /// Whether no element of the wide side is left out for certain.
  bool meets_all() const { return product(stride) == 1 && product(dilation) == 1; }
};

geometry geometry_of(const Conv3d& c) {
  geometry a{.N = c.N,
             .wide = c.C,
             .narrow = c.K,
             .g = c.g,
             .wide_extent = {c.D, c.H, c.W},
             .narrow_extent = {},
             .size = {c.T, c.R, c.S},
             .pad = {c.pd, c.ph, c.pw},
             .stride = {c.sd, c.U, c.V},
             .dilation = {c.dd, c.dh, c.dw}};
  for (std::size_t i = 0; i < 3; ++i)
    a.narrow_extent[i] = static_cast<std::int64_t>(
        begins(a.wide_extent[i], a.size[i], a.pad[i], a.stride[i], a.dilation[i]).size());
  return a;
}
geometry geometry_of(const ConvTranspose3d& c) {
  geometry a{.N = c.N,
             .wide = c.K,
             .narrow = c.C,
             .g = c.g,
             .wide_extent = {c.opd, c.oph, c.opw},
             .narrow_extent = {c.D, c.H, c.W},
             .size = {c.T, c.R, c.S},
             .pad = {c.pd, c.ph, c.pw},
             .stride = {c.sd, c.U, c.V},
             .dilation = {c.dd, c.dh, c.dw}};
  for (std::size_t i = 0; i < 3; ++i)
    a.wide_extent[i] = spread_out(a.narrow_extent[i], a.size[i], a.pad[i], a.wide_extent[i],
                                  a.stride[i], a.dilation[i])
                           .extent;
  return a;
}

/// Convolves without numbers, in one of three directions.
struct walked {
  std::uint64_t dense = 0, valid = 0, wide = 0, narrow = 0, w = 0;
};
class walk {
 public:
  explicit walk(const geometry& geometry)
      : a_(geometry),
        wide_(a_.N * a_.wide * a_.product(a_.wide_extent)),
        narrow_(a_.N * a_.narrow * a_.product(a_.narrow_extent)),
        w_(a_.narrow * wide_group_ * a_.product(a_.size)) {}

  /// Each element of the narrow side looks through its window: fprop, and dgrad of the transposed
  /// one.
  walked through_windows() {
    for (std::int64_t n = 0; n < a_.N; ++n)
      for (std::int64_t k = 0; k < a_.narrow; ++k)
        a_.each({}, a_.narrow_extent, [&](auto p) {
          for (std::int64_t i = 0; i < wide_group_; ++i)
            a_.each({}, a_.size, [&](auto r) {
              std::array<std::int64_t, 3> h{};
              for (std::size_t x = 0; x < 3; ++x)
                h[x] = p[x] * a_.stride[x] - a_.pad[x] + r[x] * a_.dilation[x];
              product_of(n, k, k / narrow_group_ * wide_group_ + i, p, r, h);
            });
        });
    return sums();
  }
  /// Each element of the wide side gathers from the windows that it lies in: dgrad, and fprop of
  /// the transposed one. The padding does too, as the dense count has it.
  walked gathering() {
    std::array<std::int64_t, 3> from{}, to{};
    for (std::size_t x = 0; x < 3; ++x) {
      from[x] = -a_.pad[x];
      to[x] = a_.wide_extent[x] + a_.pad[x];
    }
    for (std::int64_t n = 0; n < a_.N; ++n)
      for (std::int64_t c = 0; c < a_.wide; ++c)
        a_.each(from, to, [&](auto h) {
          for (std::int64_t j = 0; j < narrow_group_; ++j)
            a_.each({}, a_.size, [&](auto r) {
              std::array<std::int64_t, 3> p{};
              for (std::size_t x = 0; x < 3; ++x) {
                const std::int64_t t = h[x] + a_.pad[x] - r[x] * a_.dilation[x];
                p[x] = t / a_.stride[x];
                if (t < 0 || t % a_.stride[x] != 0 || p[x] >= a_.narrow_extent[x]) return;
              }
              product_of(n, c / wide_group_ * narrow_group_ + j, c, p, r, h);
            });
        });
    return sums();
  }
  /// Each weight sums over images and windows: wgrad.
  walked by_weight() {
    for (std::int64_t group = 0; group < a_.g; ++group)
      for (std::int64_t k = group * narrow_group_; k < (group + 1) * narrow_group_; ++k)
        for (std::int64_t c = group * wide_group_; c < (group + 1) * wide_group_; ++c)
          a_.each({}, a_.size, [&](auto r) {
            for (std::int64_t n = 0; n < a_.N; ++n)
              a_.each({}, a_.narrow_extent, [&](auto p) {
                std::array<std::int64_t, 3> h{};
                for (std::size_t x = 0; x < 3; ++x)
                  h[x] = r[x] * a_.dilation[x] + p[x] * a_.stride[x] - a_.pad[x];
                product_of(n, k, c, p, r, h);
              });
          });
    return sums();
  }

 private:
  static std::int64_t within(const std::array<std::int64_t, 3>& at,
                             const std::array<std::int64_t, 3>& extent) {
    return (at[0] * extent[1] + at[1]) * extent[2] + at[2];
  }
  /// One multiply-add: element p of the narrow side, tap r, element h of the wide side.
  void product_of(std::int64_t n, std::int64_t k, std::int64_t c,
                  const std::array<std::int64_t, 3>& p, const std::array<std::int64_t, 3>& r,
                  const std::array<std::int64_t, 3>& h) {
    sum_.dense += 2;
    narrow_.at((n * a_.narrow + k) * a_.product(a_.narrow_extent) + within(p, a_.narrow_extent));
    w_.at((k * wide_group_ + c % wide_group_) * a_.product(a_.size) + within(r, a_.size));
    for (std::size_t x = 0; x < 3; ++x)
      if (h[x] < 0 || h[x] >= a_.wide_extent[x]) return;
    sum_.valid += 2;
    wide_.at((n * a_.wide + c) * a_.product(a_.wide_extent) + within(h, a_.wide_extent));
  }
  walked sums() {
    // else some may be left out, and are moved all the same
    sum_.wide = a_.meets_all() ? wide_.elements() : wide_.size();
    sum_.narrow = narrow_.elements();
    sum_.w = w_.elements();
    return sum_;
  }

  geometry a_;
  std::int64_t wide_group_ = a_.wide / a_.g, narrow_group_ = a_.narrow / a_.g;
  touched wide_, narrow_, w_;
  walked sum_;
};

/// Each pass against a loop of its own.
template <class Op>
void compare(Op op, const geometry& a) {
  constexpr bool transposed = requires { op.opw; };
  for (const pass p : {pass::fprop, pass::dgrad, pass::wgrad}) {
    op.pass = p;
    const walked sum = p == pass::wgrad                   ? walk(a).by_weight()
                       : (p == pass::dgrad) == transposed ? walk(a).through_windows()
                                                          : walk(a).gathering();
    const std::uint64_t x = transposed ? sum.narrow : sum.wide,
                        y = transposed ? sum.wide : sum.narrow;
    INFO("pass " << static_cast<int>(p));
    REQUIRE(op.flops().value() == sum.dense);
    REQUIRE(op.flops_valid().value() == sum.valid);
    REQUIRE(op.bytes().read.value() == 4 * (p == pass::fprop   ? x + sum.w
                                            : p == pass::dgrad ? y + sum.w
                                                               : x + y));
    REQUIRE(op.bytes().written.value() == 4 * (p == pass::fprop   ? y
                                               : p == pass::dgrad ? x
                                                                  : sum.w));
    if (p != pass::fprop) continue;
    op.pass = pass::bgrad;
    REQUIRE(op.flops().value() == y);
    REQUIRE(op.bytes().total().value() == 4 * (y + static_cast<std::uint64_t>(op.K)));
    REQUIRE(op.parameters().value() == sum.w);
  }
}

/// Extents of one dimension, often so that the window does not fit.
struct random_window {
  std::int64_t in, size, pad, stride, dilation;
  random_window(kprof_test::random_shape& random, std::int64_t widest)
      : in(random(1, widest)),
        size(random(1, 3)),
        pad(random.coin() ? 0 : random(0, 4)),
        stride(random(1, 4)),
        dilation(random(1, 3)) {}
  bool fits() const { return !begins(in, size, pad, stride, dilation).empty(); }
};

}  // namespace

TEST_CASE("ops_conv.counts_what_a_moving_window_touches") {
  kprof_test::random_shape random(1);
  int fitting = 0;
  for (int i = 0; i < 1200; ++i) {
    const std::int64_t g = random(1, 2);
    const random_window d(random, 3), h(random, 4), w(random, 5);
    const Conv3d c{.N = random(1, 2),
                   .C = g * random(1, 2),
                   .D = d.in,
                   .H = h.in,
                   .W = w.in,
                   .K = g * random(1, 2),
                   .T = d.size,
                   .R = h.size,
                   .S = w.size,
                   .pd = d.pad,
                   .ph = h.pad,
                   .pw = w.pad,
                   .sd = d.stride,
                   .U = h.stride,
                   .V = w.stride,
                   .dd = d.dilation,
                   .dh = h.dilation,
                   .dw = w.dilation,
                   .g = g};
    const bool fits = d.fits() && h.fits() && w.fits();
    REQUIRE(c.valid() == fits);
    if (!fits) continue;
    ++fitting;
    const geometry a = geometry_of(c);
    compare(c, a);
    REQUIRE(c.Z() == a.narrow_extent[0]);
    REQUIRE(c.P() == a.narrow_extent[1]);
    REQUIRE(c.Q() == a.narrow_extent[2]);
  }
  CHECK(fitting > 150);
}

TEST_CASE("ops_conv.fewer_dimensions") {
  kprof_test::random_shape random(2);
  for (int i = 0; i < 1500; ++i) {
    const std::int64_t g = random(1, 3);
    const random_window h(random, 7), w(random, 8);
    const Conv2d two{.N = random(1, 2),
                     .C = g * random(1, 2),
                     .H = h.in,
                     .W = w.in,
                     .K = g * random(1, 2),
                     .R = h.size,
                     .S = w.size,
                     .ph = h.pad,
                     .pw = w.pad,
                     .U = h.stride,
                     .V = w.stride,
                     .dh = h.dilation,
                     .dw = w.dilation,
                     .g = g};
    REQUIRE(two.valid() == (h.fits() && w.fits()));
    if (two.valid())
      compare(two, geometry_of(Conv3d{.N = two.N,
                                      .C = two.C,
                                      .H = h.in,
                                      .W = w.in,
                                      .K = two.K,
                                      .R = h.size,
                                      .S = w.size,
                                      .ph = h.pad,
                                      .pw = w.pad,
                                      .U = h.stride,
                                      .V = w.stride,
                                      .dh = h.dilation,
                                      .dw = w.dilation,
                                      .g = g}));
    const Conv1d one{.N = two.N,
                     .C = two.C,
                     .W = w.in,
                     .K = two.K,
                     .S = w.size,
                     .pw = w.pad,
                     .V = w.stride,
                     .dw = w.dilation,
                     .g = g};
    REQUIRE(one.valid() == w.fits());
    if (one.valid())
      compare(one, geometry_of(Conv3d{.N = two.N,
                                      .C = two.C,
                                      .W = w.in,
                                      .K = two.K,
                                      .S = w.size,
                                      .pw = w.pad,
                                      .V = w.stride,
                                      .dw = w.dilation,
                                      .g = g}));
  }
}

TEST_CASE("ops_conv.taps_in_the_input") {
  kprof_test::random_shape random(3);
  for (int i = 0; i < 5000; ++i) {
    const Conv1d c{.W = random(1, 40),
                   .S = random(1, 20),
                   .pw = random(0, 50),
                   .V = random(1, 30),
                   .dw = random(1, 12)};
    std::uint64_t valid = 0;
    for (const std::int64_t at : begins(c.W, c.S, c.pw, c.V, c.dw))
      for (std::int64_t s = 0; s < c.S; ++s)
        valid += at + s * c.dw >= 0 && at + s * c.dw < c.W ? 2 : 0;
    if (c.valid()) REQUIRE(c.flops_valid().value() == valid);
    const ConvTranspose1d t{
        .W = c.W, .S = c.S, .pw = c.pw, .opw = random(0, 12), .V = c.V, .dw = c.dw};
    const spread_out out(t.W, t.S, t.pw, t.opw, t.V, t.dw);
    REQUIRE(t.valid() == (out.extent > 0 && (t.opw < t.V || t.opw < t.dw)));
    if (!t.valid()) continue;
    REQUIRE(t.Q().value() == static_cast<std::uint64_t>(out.extent));
    REQUIRE(t.flops_valid().value() == 2 * out.taps);
    REQUIRE(t.flops().value() == static_cast<std::uint64_t>(2 * t.W * t.S));
  }
}

TEST_CASE("ops_conv.taps_among_large_extents") {
  kprof_test::random_shape random(5);
  constexpr std::int64_t widest = (1 << 30) - 1;
  for (int i = 0; i < 5000; ++i) {
    const Conv1d c{.W = random(widest / 2, widest),
                   .S = random(1, 30),
                   .pw = random(0, widest),
                   .V = random(widest / 20, widest),
                   .dw = random(1, widest / 20)};
    std::uint64_t valid = 0;
    for (const std::int64_t at : begins(c.W, c.S, c.pw, c.V, c.dw))
      for (std::int64_t s = 0; s < c.S; ++s)
        valid += at + s * c.dw >= 0 && at + s * c.dw < c.W ? 2 : 0;
    REQUIRE((!c.valid() || c.flops_valid().value() == valid));
    // Many windows of many taps: without padding all meet the input.
    const Conv1d dense{.W = widest, .S = random(1, widest), .V = random(1, 9)};
    REQUIRE(dense.flops_valid() == dense.flops());
    const std::int64_t s = random(1, widest);
    const Conv1d full{.W = widest, .S = s, .pw = s - 1};  // each tap meets each element
    REQUIRE(full.flops_valid() == kprof::count{2} * widest * s);
  }
}

TEST_CASE("ops_conv.transposed_is_the_gradient") {
  kprof_test::random_shape random(4);
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t g = random(1, 3);
    const random_window d(random, 6), h(random, 9), w(random, 9);
    if (!d.fits() || !h.fits() || !w.fits()) continue;
    const Conv3d c{.N = random(1, 3),
                   .C = g * random(1, 4),
                   .D = d.in,
                   .H = h.in,
                   .W = w.in,
                   .K = g * random(1, 4),
                   .T = d.size,
                   .R = h.size,
                   .S = w.size,
                   .pd = d.pad,
                   .ph = h.pad,
                   .pw = w.pad,
                   .sd = d.stride,
                   .U = h.stride,
                   .V = w.stride,
                   .dd = d.dilation,
                   .dh = h.dilation,
                   .dw = w.dilation,
                   .g = g,
                   .pass = pass::dgrad,
                   .type = dtype::f16,
                   .dtypeW = dtype::int8,
                   .dtypeY = dtype::f64};
    const auto left = [](const random_window& x) {  // what lies behind the last window
      return x.in + x.pad - 1 - x.dilation * (x.size - 1) -
             begins(x.in, x.size, x.pad, x.stride, x.dilation).back();
    };
    ConvTranspose3d t{.N = c.N,
                      .C = c.K,
                      .D = static_cast<std::int64_t>(c.Z().value()),
                      .H = static_cast<std::int64_t>(c.P().value()),
                      .W = static_cast<std::int64_t>(c.Q().value()),
                      .K = c.C,
                      .T = c.T,
                      .R = c.R,
                      .S = c.S,
                      .pd = c.pd,
                      .ph = c.ph,
                      .pw = c.pw,
                      .opd = left(d),
                      .oph = left(h),
                      .opw = left(w),
                      .sd = c.sd,
                      .U = c.U,
                      .V = c.V,
                      .dd = c.dd,
                      .dh = c.dh,
                      .dw = c.dw,
                      .g = g,
                      .type = dtype::f64,
                      .dtypeW = dtype::int8,
                      .dtypeY = dtype::f16};
    REQUIRE(t.valid());
    REQUIRE(t.Z() == c.D);
    REQUIRE(t.P() == c.H);
    REQUIRE(t.Q() == c.W);
    REQUIRE(t.flops() == c.flops());
    REQUIRE(t.flops_valid() == c.flops_valid());
    REQUIRE(t.parameters() == c.parameters());
    REQUIRE(t.bytes().read == c.bytes().read);
    REQUIRE(t.bytes().written == c.bytes().written);
    t.pass = pass::dgrad;
    Conv3d forward = c;
    forward.pass = pass::fprop;
    REQUIRE(t.bytes().read == forward.bytes().read);
    REQUIRE(t.bytes().written == forward.bytes().written);
    // The two-dimensional one is the same without depth.
    if (c.D == 1 && c.T == 1 && c.pd == 0 && t.opd == 0) {
      const ConvTranspose2d t2{.N = t.N,
                               .C = t.C,
                               .H = t.H,
                               .W = t.W,
                               .K = t.K,
                               .R = t.R,
                               .S = t.S,
                               .ph = t.ph,
                               .pw = t.pw,
                               .oph = t.oph,
                               .opw = t.opw,
                               .U = t.U,
                               .V = t.V,
                               .dh = t.dh,
                               .dw = t.dw,
                               .g = g,
                               .pass = t.pass,
                               .type = t.type,
                               .dtypeW = t.dtypeW,
                               .dtypeY = t.dtypeY};
      REQUIRE(t2.flops_valid() == t.flops_valid());
      REQUIRE(t2.bytes().read == t.bytes().read);
      REQUIRE(t2.P() == c.H);
      REQUIRE(t2.Q() == c.W);
    }
  }
}

TEST_CASE("ops_conv.transposed_counts_what_each_pass_touches") {
  kprof_test::random_shape random(6);
  int fitting = 0;
  for (int i = 0; i < 400; ++i) {
    const std::int64_t g = random(1, 3);
    const random_window d(random, 2), h(random, 3), w(random, 4);
    const auto added = [&](const random_window& x) {
      return random(0, (x.stride > x.dilation ? x.stride : x.dilation) - 1);
    };
    const ConvTranspose3d c{.N = random(1, 2),
                            .C = g * random(1, 2),
                            .D = d.in,
                            .H = h.in,
                            .W = w.in,
                            .K = g * random(1, 2),
                            .T = d.size,
                            .R = h.size,
                            .S = w.size,
                            .pd = d.pad,
                            .ph = h.pad,
                            .pw = w.pad,
                            .opd = added(d),
                            .oph = added(h),
                            .opw = added(w),
                            .sd = d.stride,
                            .U = h.stride,
                            .V = w.stride,
                            .dd = d.dilation,
                            .dh = h.dilation,
                            .dw = w.dilation,
                            .g = g};
    const geometry a = geometry_of(c);
    const bool fits = a.wide_extent[0] > 0 && a.wide_extent[1] > 0 && a.wide_extent[2] > 0;
    REQUIRE(c.valid() == fits);
    if (!fits) continue;
    ++fitting;
    compare(c, a);
    REQUIRE(c.Z() == a.wide_extent[0]);
    REQUIRE(c.P() == a.wide_extent[1]);
    REQUIRE(c.Q() == a.wide_extent[2]);
    const ConvTranspose2d two{.N = c.N,
                              .C = c.C,
                              .H = c.H,
                              .W = c.W,
                              .K = c.K,
                              .R = c.R,
                              .S = c.S,
                              .ph = c.ph,
                              .pw = c.pw,
                              .oph = c.oph,
                              .opw = c.opw,
                              .U = c.U,
                              .V = c.V,
                              .dh = c.dh,
                              .dw = c.dw,
                              .g = g};
    const ConvTranspose1d one{.N = c.N,
                              .C = c.C,
                              .W = c.W,
                              .K = c.K,
                              .S = c.S,
                              .pw = c.pw,
                              .opw = c.opw,
                              .V = c.V,
                              .dw = c.dw,
                              .g = g};
    ConvTranspose3d flat = c;
    flat.D = flat.T = flat.sd = flat.dd = 1;
    flat.pd = flat.opd = 0;
    compare(two, geometry_of(flat));
    flat.H = flat.R = flat.U = flat.dh = 1;
    flat.ph = flat.oph = 0;
    compare(one, geometry_of(flat));
  }
  CHECK(fitting > 100);
}

TEST_CASE("ops_conv.passes_and_types_that_there_are_not") {
  const auto unknown = static_cast<dtype>(99);
  CHECK(is_refused(Conv2d{.type = unknown}));
  CHECK(is_refused(Conv2d{.dtypeW = unknown}));
  CHECK(is_refused(ConvTranspose2d{.dtypeY = unknown}));
  CHECK(is_refused(Conv2d{.pass = static_cast<pass>(9)}));
  CHECK(is_refused(Conv3d{.pass = pass::bprop}));
  CHECK(is_refused(ConvTranspose1d{.pass = pass::bprop}));
}
