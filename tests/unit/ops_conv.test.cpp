// SPDX-License-Identifier: MIT
// Convolutions: published vectors, loops that move the window, and parameters that make no sense.
#include <kprof/ops/conv.hpp>

#include "catch.hpp"
#include "moving_window.hpp"
#include "ops.hpp"

#include <cstdint>

using kprof_test::begins;
using kprof_test::compare;
using kprof_test::costs;
using kprof_test::geometry;
using kprof_test::geometry_of;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::most;
using kprof_test::moves;
using kprof_test::random_window;
using kprof_test::spread_out;
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
static_assert(costs(alexnet, 210'830'400, 1'903'104) && alexnet.flops_valid() == 208'744'704);
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
static_assert(costs(depthwise, 28'901'376, 6'423'104) && depthwise.flops_valid() == 28'558'336);
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
static_assert(costs(long_window, 1'440, 672) && long_window.flops_valid() == 1'296);
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

static_assert(costs(Conv2d{.C = 3, .H = 4, .W = 4, .K = 5, .R = 3, .S = 3, .type = dtype::c64},
                    4 * 1'080, 8 * (48 + 135 + 20)));

// A window of 2^20 taps over as many elements, with half as much padding on each side: 2^19, ...,
// 2^20, ..., 2^19 taps meet it.
constexpr Conv1d whole{.W = 1 << 20, .S = 1 << 20, .pw = 1 << 19};
static_assert(whole.Q() == (1 << 20) + 1 && whole.flops() == ((std::uint64_t{1} << 20) + 1) << 21);

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

// All gradients in one call: FLOPs of dgrad, wgrad and, with a bias, bgrad; dy is read once.
constexpr Conv1d gradients(bool bias) {
  return {.N = 2, .C = 3, .W = 6, .K = 4, .S = 3, .bias = bias, .pass = pass::bprop};
}
static_assert(costs(gradients(false), 4 * 2 * 4 * 4 * 9, 4 * (2 * 36 + 2 * 36 + 32)) &&
              costs(gradients(true), 4 * 2 * 4 * 4 * 9 + 32, 4 * (2 * 36 + 2 * 36 + 32 + 4)));
static_assert(moves(Conv2d{.N = 0, .C = 3, .K = 2, .pass = pass::bprop}, 0, 24) &&
              moves(Conv2d{.N = 2, .C = 0, .K = 3, .pass = pass::bprop}, 0, 0) &&
              moves(Conv2d{.N = 2, .C = 0, .K = 3, .bias = true, .pass = pass::bprop}, 24, 12) &&
              moves(Conv2d{.N = 2, .C = 3, .K = 0, .pass = pass::bprop}, 0, 24));
constexpr bool on(kprof::arithmetic a, dtype type, kprof::arithmetic_unit unit) {
  return a.type == type && a.on == unit;
}
static_assert(on(c64(pass::fprop).arithmetic(), dtype::f16, kprof::arithmetic_unit::unknown) &&
              on(c64(pass::bgrad).arithmetic(), dtype::f16, kprof::arithmetic_unit::cuda_core));
static_assert(on(c64(pass::bprop).arithmetic(), dtype::f16, kprof::arithmetic_unit::unknown));
static_assert(on(Conv1d{.type = dtype::tf32}.arithmetic(), dtype::tf32,
                 kprof::arithmetic_unit::tensor_core));

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
static_assert(!is_constant([] { return Conv2d{.pass = pass::update}.flops(); }) &&
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

TEST_CASE("ops_conv.passes_and_types_that_there_are_not") {
  const auto unknown = static_cast<dtype>(99);
  CHECK(is_refused(Conv2d{.type = unknown}));
  CHECK(is_refused(Conv2d{.dtypeW = unknown}));
  CHECK(is_refused(ConvTranspose2d{.dtypeY = unknown}));
  CHECK(is_refused(Conv2d{.pass = static_cast<pass>(9)}));
  CHECK(is_refused(Conv3d{.pass = pass::update}));
  CHECK(is_refused(ConvTranspose1d{.pass = pass::unknown}));
}
