// SPDX-License-Identifier: MIT
// Pooling: published vectors, loops that move the window, and parameters that make no sense.
#include <kprof/ops/pool.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cstdint>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::most;
using namespace kprof::ops;
using kprof::dtype;

namespace {

// Of formulas.md. The first is without indices: 2 * (200704 + 50176).
constexpr MaxPool2d halved(pass p) {
  return {.C = 64, .H = 56, .W = 56, .R = 2, .S = 2, .U = 2, .V = 2, .pass = p, .type = dtype::f16};
}
static_assert(costs(halved(pass::fprop), 200'704, 501'760) &&
              costs(halved(pass::bprop), 50'176, 903'168));
static_assert(costs(AvgPool2d{.N = 2, .C = 512, .H = 7, .W = 7, .R = 7, .S = 7}, 50'176, 204'800));
static_assert(costs(AdaptiveAvgPool2d{.N = 2, .C = 512, .H = 7, .W = 7}, 50'176, 204'800));
// ResNet-50's, of section 13.
constexpr MaxPool2d stem{.N = 32,
                         .C = 64,
                         .H = 112,
                         .W = 112,
                         .R = 3,
                         .S = 3,
                         .ph = 1,
                         .pw = 1,
                         .U = 2,
                         .V = 2,
                         .return_indices = true,
                         .type = dtype::f16};
static_assert(costs(stem, 57'802'752, 115'605'504));
// NVIDIA's guide: 3x3, stride 1, fp16 is 2.25 FLOP/byte.
constexpr MaxPool2d guide{
    .C = 8, .H = 64, .W = 64, .R = 3, .S = 3, .ph = 1, .pw = 1, .type = dtype::f16};
static_assert(guide.flops() * 4 == guide.bytes().total() * 9);

// Empty tensors. An output of size 0 needs no input; its gradient is 0.
static_assert(costs(MaxPool2d{.N = 0, .H = 3, .W = 3, .R = 2, .return_indices = true}, 0, 0) &&
              costs(AvgPool3d{.C = 0}, 0, 0) &&
              costs(MaxPool1d{.C = 0, .pass = pass::bprop}, 0, 0));
static_assert(costs(AdaptiveAvgPool2d{.H = 4, .W = 4, .P = 0}, 0, 0) &&
              costs(AdaptiveAvgPool2d{.H = 4, .W = 4, .P = 0, .pass = pass::bprop}, 0, 64));

constexpr bool on_cuda_cores(kprof::arithmetic a, dtype type) {
  return a.type == type && a.on == kprof::arithmetic_unit::cuda_core;
}
static_assert(on_cuda_cores(stem.arithmetic(), dtype::f16) &&
              on_cuda_cores(AvgPool1d{.type = dtype::f64}.arithmetic(), dtype::f64) &&
              on_cuda_cores(AdaptiveAvgPool1d{}.arithmetic(), dtype::f32));

// A senseless call is no constant.
static_assert(is_constant([] { return MaxPool2d{}.flops(); }) &&
              is_constant([] { return AvgPool2d{}.bytes(); }) &&
              is_constant([] { return AdaptiveAvgPool2d{}.flops(); }));
static_assert(!is_constant([] { return MaxPool2d{.N = -1}.flops(); }) &&
              !is_constant([] { return MaxPool2d{.C = -1}.bytes(); }));
static_assert(!is_constant([] { return MaxPool2d{.H = 2, .R = 3}.flops(); }) &&
              !is_constant([] { return MaxPool2d{.H = 2, .R = 3}.P(); }));
static_assert(!is_constant([] { return MaxPool2d{.W = 8, .S = 3, .pw = 3}.flops(); }) &&
              is_constant([] { return MaxPool2d{.W = 8, .S = 3, .pw = 2}.flops(); }));
static_assert(!is_constant([] { return MaxPool2d{.U = 0}.flops(); }) && !is_constant([] {
  return MaxPool2d{.dw = 0}.bytes();
}) && !is_constant([] { return MaxPool2d{.R = 0}.flops(); }));
static_assert(!is_constant([] { return MaxPool2d{.pass = pass::dgrad}.flops(); }) &&
              !is_constant([] { return MaxPool2d{.type = dtype::unknown}.bytes(); }));
static_assert(!is_constant([] { return MaxPool2d{.N = most, .R = 3, .ph = 1}.flops(); }) &&
              !is_constant([] { return MaxPool2d{.N = most}.bytes(); }));
static_assert(!is_constant([] { return MaxPool1d{.V = -1}.flops(); }) && !is_constant([] {
  return MaxPool1d{.W = 0}.bytes();
}) && !is_constant([] { return MaxPool1d{.pw = 1}.Q(); }));
static_assert(!is_constant([] { return MaxPool3d{.D = 3, .T = 2, .dd = 3}.flops(); }) &&
              !is_constant([] { return MaxPool3d{.sd = 0}.Z(); }));
static_assert(!is_constant([] { return AvgPool1d{.W = 3, .S = 4}.flops(); }) &&
              !is_constant([] { return AvgPool1d{.pass = pass::wgrad}.flops(); }));
static_assert(!is_constant([] { return AvgPool2d{.ph = -1}.flops(); }) && !is_constant([] {
  return AvgPool2d{.pass = pass::bgrad}.bytes();
}) && !is_constant([] { return AvgPool2d{.U = 0}.P(); }));
static_assert(!is_constant([] { return AvgPool3d{.W = 9, .S = 2, .pw = 2}.flops(); }) &&
              !is_constant([] { return AvgPool3d{.type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return AdaptiveAvgPool1d{.W = 0}.flops(); }) &&
              !is_constant([] { return AdaptiveAvgPool1d{.Q = -1}.bytes(); }));
static_assert(!is_constant([] { return AdaptiveAvgPool2d{.P = most}.flops(); }) &&
              !is_constant([] { return AdaptiveAvgPool2d{.pass = pass::dgrad}.flops(); }));
static_assert(!is_constant([] { return AdaptiveAvgPool3d{.N = most, .C = 2, .D = 2}.flops(); }) &&
              !is_constant([] { return AdaptiveAvgPool3d{.type = dtype::unknown}.flops(); }));

/// Where the windows of one dimension begin: found by moving the window. Rounded up, one more if
/// something of the padded input is left behind the last and the window begins in front of the
/// right padding.
std::vector<std::int64_t> begins(std::int64_t in, std::int64_t size, std::int64_t pad,
                                 std::int64_t stride, std::int64_t dilation, bool ceil_mode) {
  std::vector<std::int64_t> found;
  std::int64_t at = -pad;
  for (; at + dilation * (size - 1) < in + pad; at += stride) found.push_back(at);
  if (ceil_mode && !found.empty() && found.back() + dilation * (size - 1) < in + pad - 1 && at < in)
    found.push_back(at);
  return found;
}

struct walked {
  std::uint64_t compares = 0, adds_and_scales = 0, gradients = 0, outputs = 0;
};

/// Pools without numbers.
walked walk(const MaxPool3d& m) {
  const auto zs = begins(m.D, m.T, m.pd, m.sd, m.dd, m.ceil_mode),
             ps = begins(m.H, m.R, m.ph, m.U, m.dh, m.ceil_mode),
             qs = begins(m.W, m.S, m.pw, m.V, m.dw, m.ceil_mode);
  walked sum;
  for (std::int64_t image = 0; image < m.N * m.C; ++image)
    for (const std::int64_t z : zs)
      for (const std::int64_t p : ps)
        for (const std::int64_t q : qs) {
          bool first = true, meets = false;
          for (std::int64_t t = 0; t < m.T; ++t)
            for (std::int64_t r = 0; r < m.R; ++r)
              for (std::int64_t s = 0; s < m.S; ++s) {
                const std::int64_t d = z + t * m.dd, h = p + r * m.dh, w = q + s * m.dw;
                meets |= d >= 0 && d < m.D && h >= 0 && h < m.H && w >= 0 && w < m.W;
                ++sum.compares;  // with what was the largest before
                sum.adds_and_scales += first ? 0 : 1;
                first = false;
                ++sum.gradients;  // dy, spread over the window
              }
          ++sum.adds_and_scales;
          ++sum.outputs;
          if (m.dd * m.dh * m.dw == 1) REQUIRE(meets);
        }
  return sum;
}

template <class Max, class Avg>
void compare(Max max, Avg avg, const walked& sum, std::uint64_t inputs) {
  for (const bool indices : {false, true}) {
    max.return_indices = indices;
    max.pass = pass::fprop;
    REQUIRE(max.flops().value() == sum.compares);
    REQUIRE(max.bytes().read.value() == 4 * inputs);
    REQUIRE(max.bytes().written.value() == (indices ? 12 : 4) * sum.outputs);
    max.pass = pass::bprop;
    REQUIRE(max.flops().value() == sum.outputs);
    REQUIRE(max.bytes().read.value() == 12 * sum.outputs);
    REQUIRE(max.bytes().written.value() == 4 * inputs);
  }
  avg.pass = pass::fprop;
  REQUIRE(avg.flops().value() == sum.adds_and_scales);
  REQUIRE(avg.bytes().read.value() == 4 * inputs);
  REQUIRE(avg.bytes().written.value() == 4 * sum.outputs);
  avg.pass = pass::bprop;
  REQUIRE(avg.flops().value() == sum.gradients);
  REQUIRE(avg.bytes().read.value() == 4 * sum.outputs);
  REQUIRE(avg.bytes().written.value() == 4 * inputs);
}

struct random_window {
  std::int64_t in, size, pad, stride, dilation;
  random_window(kprof_test::random_shape& random, std::int64_t widest)
      : in(random(1, widest)),
        size(random(1, 4)),
        pad(random.coin() ? 0 : random(0, 4)),
        stride(random(1, 4)),
        dilation(random.coin() ? 1 : random(1, 3)) {}
  /// The window fits, and neither the first nor the last lies all in padding.
  bool fits() const {
    return !begins(in, size, pad, stride, dilation, false).empty() &&
           -pad + dilation * (size - 1) >= 0;
  }
};

}  // namespace

TEST_CASE("ops_pool.counts_what_a_moving_window_touches") {
  kprof_test::random_shape random(1);
  int fitting = 0;
  for (int i = 0; i < 2500; ++i) {
    const random_window d(random, 5), h(random, 6), w(random, 7);
    const bool up = random.coin();
    const MaxPool3d m{.N = random(1, 2),
                      .C = random(1, 3),
                      .D = d.in,
                      .H = h.in,
                      .W = w.in,
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
                      .ceil_mode = up};
    const AvgPool3d a{.N = m.N,
                      .C = m.C,
                      .D = m.D,
                      .H = m.H,
                      .W = m.W,
                      .T = m.T,
                      .R = m.R,
                      .S = m.S,
                      .pd = m.pd,
                      .ph = m.ph,
                      .pw = m.pw,
                      .sd = m.sd,
                      .U = m.U,
                      .V = m.V,
                      .dd = m.dd,
                      .dh = m.dh,
                      .dw = m.dw,
                      .ceil_mode = up};
    REQUIRE(m.valid() == (d.fits() && h.fits() && w.fits()));
    REQUIRE(a.valid() == m.valid());
    if (!m.valid()) continue;
    ++fitting;
    const walked sum = walk(m);
    compare(m, a, sum, static_cast<std::uint64_t>(m.N * m.C * m.D * m.H * m.W));
    REQUIRE(m.Z() * m.P() * m.Q() * m.N * m.C == sum.outputs);
    REQUIRE(a.Z() * a.P() * a.Q() == m.Z() * m.P() * m.Q());
  }
  CHECK(fitting > 200);
}

TEST_CASE("ops_pool.fewer_dimensions") {
  kprof_test::random_shape random(2);
  for (int i = 0; i < 3000; ++i) {
    const random_window h(random, 9), w(random, 20);
    const std::int64_t n = random(1, 3), c = random(1, 3);
    const bool up = random.coin();
    const MaxPool2d m2{.N = n,
                       .C = c,
                       .H = h.in,
                       .W = w.in,
                       .R = h.size,
                       .S = w.size,
                       .ph = h.pad,
                       .pw = w.pad,
                       .U = h.stride,
                       .V = w.stride,
                       .dh = h.dilation,
                       .dw = w.dilation,
                       .ceil_mode = up};
    const AvgPool2d a2{.N = n,
                       .C = c,
                       .H = h.in,
                       .W = w.in,
                       .R = h.size,
                       .S = w.size,
                       .ph = h.pad,
                       .pw = w.pad,
                       .U = h.stride,
                       .V = w.stride,
                       .dh = h.dilation,
                       .dw = w.dilation,
                       .ceil_mode = up};
    REQUIRE(m2.valid() == (h.fits() && w.fits()));
    REQUIRE(a2.valid() == m2.valid());
    if (m2.valid()) {
      compare(m2, a2, walk(m2.pool3d()), static_cast<std::uint64_t>(n * c * h.in * w.in));
      REQUIRE(m2.P().value() == begins(h.in, h.size, h.pad, h.stride, h.dilation, up).size());
      REQUIRE(m2.Q().value() == begins(w.in, w.size, w.pad, w.stride, w.dilation, up).size());
      REQUIRE(a2.P() == m2.P());
      REQUIRE(a2.Q() == m2.Q());
    }
    const MaxPool1d m1{.N = n,
                       .C = c,
                       .W = w.in,
                       .S = w.size,
                       .pw = w.pad,
                       .V = w.stride,
                       .dw = w.dilation,
                       .ceil_mode = up};
    const AvgPool1d a1{.N = n,
                       .C = c,
                       .W = w.in,
                       .S = w.size,
                       .pw = w.pad,
                       .V = w.stride,
                       .dw = w.dilation,
                       .ceil_mode = up};
    REQUIRE(m1.valid() == w.fits());
    REQUIRE(a1.valid() == w.fits());
    if (!m1.valid()) continue;
    compare(m1, a1,
            walk({.N = n,
                  .C = c,
                  .W = w.in,
                  .S = w.size,
                  .pw = w.pad,
                  .V = w.stride,
                  .dw = w.dilation,
                  .ceil_mode = up}),
            static_cast<std::uint64_t>(n * c * w.in));
    REQUIRE(a1.Q() == m1.Q());
  }
}

TEST_CASE("ops_pool.passes_and_types_that_there_are_not") {
  for (const pass p : {pass::dgrad, pass::wgrad, pass::bgrad, static_cast<pass>(9)}) {
    CHECK(is_refused(MaxPool2d{.pass = p}));
    CHECK(is_refused(AvgPool2d{.pass = p}));
    CHECK(is_refused(AdaptiveAvgPool2d{.pass = p}));
  }
  CHECK(is_refused(MaxPool1d{.type = static_cast<dtype>(99)}));
  CHECK(is_refused(AvgPool1d{.type = static_cast<dtype>(99)}));
  CHECK(is_refused(AdaptiveAvgPool1d{.type = dtype::unknown}));
}
