// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SUPPORT_MOVING_WINDOW_HPP
#define KPROF_TESTS_SUPPORT_MOVING_WINDOW_HPP

// Convolutions and transposed convolutions as loops that move a window and count what they do.

#include <kprof/ops/conv.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kprof_test {

using kprof::ops::Conv3d;
using kprof::ops::ConvTranspose3d;
using kprof::ops::pass;

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
inline std::vector<std::int64_t> begins(std::int64_t in, std::int64_t size, std::int64_t pad,
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

inline geometry geometry_of(const Conv3d& c) {
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
inline geometry geometry_of(const ConvTranspose3d& c) {
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
  random_window(random_shape& random, std::int64_t widest)
      : in(random(1, widest)),
        size(random(1, 3)),
        pad(random.coin() ? 0 : random(0, 4)),
        stride(random(1, 4)),
        dilation(random(1, 3)) {}
  bool fits() const { return !begins(in, size, pad, stride, dilation).empty(); }
};

}  // namespace kprof_test

#endif
