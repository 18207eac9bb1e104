// SPDX-License-Identifier: MIT
// Transposed convolutions: published vectors, loops, and the transposed convolution as the gradient
// of the other.
#include <kprof/ops/conv.hpp>

#include "catch.hpp"
#include "moving_window.hpp"
#include "ops.hpp"

#include <cstdint>

using kprof::dtype;
using kprof_test::begins;
using kprof_test::compare;
using kprof_test::costs;
using kprof_test::geometry;
using kprof_test::geometry_of;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::most;
using kprof_test::random_window;
using kprof_test::spread_out;
using namespace kprof::ops;

namespace {

constexpr ConvTranspose2d twice{
    .N = 1, .C = 4, .H = 30, .W = 2, .K = 8, .R = 2, .S = 2, .U = 2, .V = 2};
static_assert(costs(twice, 15'360, 9'152) && twice.flops_valid() == 15'360);
static_assert(costs(ConvTranspose2d{.N = 0, .K = 4}, 0, 0) &&
              costs(ConvTranspose2d{.C = 0, .K = 4}, 0, 16));
static_assert(ConvTranspose1d{.pass = pass::bgrad}.arithmetic().on ==
              kprof::arithmetic_unit::cuda_core);
static_assert(ConvTranspose2d{}.arithmetic().on == kprof::arithmetic_unit::unknown);
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
              !is_constant([] { return ConvTranspose3d{.pass = pass::update}.flops_valid(); }));

}  // namespace

TEST_CASE("ops_conv_transpose.is_the_gradient") {
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

TEST_CASE("ops_conv_transpose.counts_what_each_pass_touches") {
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
