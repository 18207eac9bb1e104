// SPDX-License-Identifier: MIT
// Pooling: published vectors, loops that move the window, windows that divide the input, and
// parameters that make no sense.
#include <kprof/ops/pool.hpp>

#include "catch.hpp"
#include "ops.hpp"

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

// Of formulas.md. The first is without indices: 2 * (200704 + 50176).
constexpr MaxPool2d halved(pass p) {
  return {.C = 64, .H = 56, .W = 56, .R = 2, .S = 2, .U = 2, .V = 2, .pass = p, .type = dtype::f16};
}
static_assert(costs(halved(pass::fprop), 200'704, 501'760) &&
              costs(halved(pass::bprop), 50'176, 903'168));
static_assert(moves(halved(pass::fprop), 401'408, 100'352) &&
              moves(halved(pass::bprop), 100'352 + 401'408, 401'408));
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
static_assert(costs(stem, 57'802'752, 115'605'504) && stem.P() == 56 && stem.Q() == 56);
// NVIDIA's guide: 3x3, stride 1, fp16 is 2.25 FLOP/byte.
constexpr MaxPool2d guide{
    .C = 8, .H = 64, .W = 64, .R = 3, .S = 3, .ph = 1, .pw = 1, .type = dtype::f16};
static_assert(guide.flops() * 4 == guide.bytes().total() * 9);

// By hand. Rows: span 5, (7 + 2 - 5) / 2 + 1 = 3; columns: span 4, (9 - 4) / 3 + 1 = 2. 2 * 3 * 6
// outputs of 6 taps; x 2 * 3 * 63.
constexpr MaxPool2d odd(pass p, bool indices) {
  return {.N = 2,
          .C = 3,
          .H = 7,
          .W = 9,
          .R = 3,
          .S = 2,
          .ph = 1,
          .U = 2,
          .V = 3,
          .dh = 2,
          .dw = 3,
          .return_indices = indices,
          .pass = p};
}
static_assert(costs(odd(pass::fprop, false), 216, 4 * (378 + 36)) &&
              moves(odd(pass::fprop, true), 4 * 378, 4 * 36 + 8 * 36));
static_assert(costs(odd(pass::bprop, false), 36, 4 * 36 + 8 * 36 + 4 * 378) &&
              moves(odd(pass::bprop, true), 4 * 36 + 8 * 36, 4 * 378));
// The same rounded up: 4 rows are left for strides of 2, which divides; 5 columns for strides of 3,
// so one window more.
constexpr MaxPool2d rounded_up{
    .H = 7, .W = 9, .R = 3, .S = 2, .ph = 1, .U = 2, .V = 3, .dh = 2, .dw = 3, .ceil_mode = true};
static_assert(rounded_up.P() == 3 && rounded_up.Q() == 3 && costs(rounded_up, 54, 4 * (63 + 9)));
// 22.5
static_assert(costs(
    MaxPool2d{
        .C = 5, .H = 3, .W = 3, .R = 2, .S = 2, .return_indices = true, .type = dtype::fp4_e2m1},
    80, 23 + 10 + 160));
static_assert(costs(MaxPool1d{.N = 3, .C = 5, .W = 10, .S = 3, .V = 3, .type = dtype::int8}, 135,
                    150 + 45));
// (12 - 5) / 2 + 1 = 4
static_assert(costs(MaxPool1d{.W = 10, .S = 3, .pw = 1, .V = 2, .dw = 2, .type = dtype::f64}, 12,
                    8 * 14));
static_assert(costs(
    MaxPool1d{.W = 10, .S = 3, .pw = 1, .V = 2, .dw = 2, .ceil_mode = true, .pass = pass::bprop}, 5,
    4 * 5 + 8 * 5 + 4 * 10));
static_assert(MaxPool1d{.W = 1, .S = 2, .pw = 1, .V = 3}.Q() == 1 &&
              // would begin at 2
              MaxPool1d{.W = 1, .S = 2, .pw = 1, .V = 3, .ceil_mode = true}.Q() == 1);
// 2 * 2 * 1
static_assert(
    costs(MaxPool3d{.D = 5, .H = 4, .W = 3, .T = 2, .R = 3, .S = 3, .sd = 3, .U = 1, .V = 2}, 72,
          4 * (60 + 4)));
// 2 * 2*2*1 outputs
static_assert(costs(MaxPool3d{.N = 2,
                              .D = 5,
                              .H = 4,
                              .W = 3,
                              .T = 2,
                              .R = 3,
                              .S = 3,
                              .pd = 1,
                              .sd = 3,
                              .pass = pass::bprop},
                    8, 32 + 64 + 480));
static_assert(
    costs(MaxPool3d{.C = 3, .D = 4, .T = 2, .dd = 3, .return_indices = true, .type = dtype::uint4},
          6, 6 + 2 + 24));

static_assert(costs(AvgPool2d{.C = 3,
                              .H = 8,
                              .W = 5,
                              .R = 3,
                              .S = 2,
                              .ph = 1,
                              .pw = 1,
                              .U = 3,
                              .V = 2,
                              .type = dtype::bf16},
                    3 * 3 * 3 * 6, 2 * (120 + 27)));
static_assert(moves(AvgPool2d{.C = 3,
                              .H = 8,
                              .W = 5,
                              .R = 3,
                              .S = 2,
                              .ph = 1,
                              .pw = 1,
                              .U = 3,
                              .V = 2,
                              .pass = pass::bprop,
                              .type = dtype::bf16},
                    54, 240));
static_assert(AvgPool2d{.C = 3,
                        .H = 8,
                        .W = 5,
                        .R = 3,
                        .S = 2,
                        .ph = 1,
                        .pw = 1,
                        .U = 3,
                        .V = 2,
                        .pass = pass::bprop}
                  .flops() == 162);
// columns: 4 begins inside
static_assert(
    costs(AvgPool2d{.H = 5, .W = 5, .R = 2, .S = 2, .U = 2, .V = 2, .dh = 2, .ceil_mode = true},
          2 * 3 * 4, 4 * (25 + 6)));
static_assert(costs(AvgPool1d{.N = 2, .C = 3, .W = 9, .S = 4, .V = 2, .type = dtype::f16}, 72,
                    2 * (54 + 18)));
static_assert(costs(AvgPool1d{.W = 9, .S = 4, .pw = 2, .V = 3, .type = dtype::int4}, 16, 5 + 2) &&
              AvgPool1d{.W = 9, .S = 4, .pw = 2, .V = 3}.Q() == 4);
static_assert(moves(AvgPool1d{.W = 9, .S = 4, .V = 2, .pass = pass::bprop, .type = dtype::f64}, 24,
                    72));
static_assert(costs(
    AvgPool3d{.N = 2, .D = 4, .H = 4, .W = 4, .T = 2, .R = 2, .S = 2, .sd = 2, .U = 2, .V = 2}, 128,
    4 * (128 + 16)));
// (9 - 5) / 2 + 1 = 3
static_assert(costs(AvgPool3d{.D = 7, .H = 2, .T = 3, .R = 2, .pd = 1, .sd = 2, .dd = 2}, 3 * 6,
                    4 * (14 + 3)));
static_assert(moves(AvgPool3d{.D = 7,
                              .H = 2,
                              .T = 3,
                              .R = 2,
                              .pd = 1,
                              .sd = 2,
                              .dd = 2,
                              .pass = pass::bprop,
                              .type = dtype::int8},
                    3, 14));
static_assert(AvgPool3d{.D = 7, .T = 3, .pd = 1, .sd = 2, .dd = 2}.Z() == 3);

// 7 into 3: 0-2, 2-4, 4-6: 9 elements in all; 5 into 2: 0-2, 2-4: 6.
static_assert(costs(AdaptiveAvgPool2d{.N = 2, .C = 3, .H = 7, .W = 5, .P = 3, .Q = 2}, 6 * 9 * 6,
                    4 * (210 + 36)));
// divides: 2x2 windows
static_assert(costs(AdaptiveAvgPool2d{.C = 3, .H = 6, .W = 8, .P = 3, .Q = 4, .type = dtype::f16},
                    3 * 48, 2 * (144 + 36)));
static_assert(moves(
    AdaptiveAvgPool2d{
        .C = 3, .H = 6, .W = 8, .P = 3, .Q = 4, .pass = pass::bprop, .type = dtype::fp6_e3m2},
    27, 108));
static_assert(costs(AdaptiveAvgPool2d{.N = 2, .C = 512, .H = 7, .W = 7, .pass = pass::bprop},
                    50'176, 204'800));
// 0 0-1 1 1-2 2
static_assert(costs(AdaptiveAvgPool1d{.C = 5, .W = 10, .Q = 4}, 5 * 12, 4 * 70) &&
              costs(AdaptiveAvgPool1d{.W = 3, .Q = 5}, 7, 32));
static_assert(costs(AdaptiveAvgPool1d{.C = 3, .W = 3, .pass = pass::bprop, .type = dtype::int4}, 9,
                    2 + 5));
static_assert(moves(AdaptiveAvgPool1d{.C = 3, .W = 3, .pass = pass::bprop, .type = dtype::int4}, 2,
                    5));
static_assert(costs(AdaptiveAvgPool3d{.D = 4, .H = 3, .W = 2}, 24, 100) &&
              costs(AdaptiveAvgPool3d{.D = 4, .H = 3, .W = 2, .Z = 2, .P = 2, .Q = 2}, 4 * 4 * 2,
                    4 * 32));
static_assert(moves(
    AdaptiveAvgPool3d{.N = 3, .D = 5, .Z = 2, .pass = pass::bprop, .type = dtype::bf16}, 12, 30));

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

TEST_CASE("ops_pool.windows_that_divide_the_input") {
  const auto taps = [](std::int64_t in, std::int64_t out) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < out; ++i)
      for (std::int64_t at = i * in / out; at * out < (i + 1) * in; ++at) ++sum;
    return sum;
  };
  for (std::int64_t in = 1; in <= 40; ++in)
    for (std::int64_t out = 0; out <= 50; ++out)
      for (const pass p : {pass::fprop, pass::bprop})
        REQUIRE(AdaptiveAvgPool1d{.W = in, .Q = out, .pass = p}.flops().value() == taps(in, out));
  kprof_test::random_shape random(3);
  for (int i = 0; i < 1000; ++i) {
    const AdaptiveAvgPool3d a{.N = random(1, 3),
                              .C = random(1, 3),
                              .D = random(1, 9),
                              .H = random(1, 9),
                              .W = random(1, 9),
                              .Z = random(1, 9),
                              .P = random(1, 9),
                              .Q = random(1, 9),
                              .type = dtype::f64};
    const auto images = static_cast<std::uint64_t>(a.N * a.C);
    REQUIRE(a.flops().value() == images * taps(a.D, a.Z) * taps(a.H, a.P) * taps(a.W, a.Q));
    REQUIRE(a.bytes().read.value() == 8 * images * static_cast<std::uint64_t>(a.D * a.H * a.W));
    REQUIRE(a.bytes().written.value() == 8 * images * static_cast<std::uint64_t>(a.Z * a.P * a.Q));
    const AdaptiveAvgPool2d b{.N = a.N,
                              .C = a.C,
                              .H = a.H,
                              .W = a.W,
                              .P = a.P,
                              .Q = a.Q,
                              .pass = pass::bprop,
                              .type = dtype::f16};
    REQUIRE(b.flops().value() == images * taps(a.H, a.P) * taps(a.W, a.Q));
    REQUIRE(b.bytes().read.value() == 2 * images * static_cast<std::uint64_t>(a.P * a.Q));
    REQUIRE(b.bytes().written.value() == 2 * images * static_cast<std::uint64_t>(a.H * a.W));
    // Global pooling is a window as large as the input.
    const AdaptiveAvgPool3d global{.N = a.N, .C = a.C, .D = a.D, .H = a.H, .W = a.W};
    const AvgPool3d window{
        .N = a.N, .C = a.C, .D = a.D, .H = a.H, .W = a.W, .T = a.D, .R = a.H, .S = a.W};
    REQUIRE(global.flops() == window.flops());
    REQUIRE(global.bytes().total() == window.bytes().total());
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
