// SPDX-License-Identifier: MIT
// Pooling into an output of given size: loops over the windows that divide the input.
#include <kprof/ops/pool.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cstdint>

using kprof::dtype;
using namespace kprof::ops;

TEST_CASE("ops_adaptive_pool.windows_that_divide_the_input") {
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
