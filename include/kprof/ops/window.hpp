// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_WINDOW_HPP
#define KPROF_OPS_WINDOW_HPP

// How a window moves over one dimension of a tensor: where it fits, and how many of its taps meet
// the input. Included by conv.hpp and pool.hpp; not for users.

#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// Sum of floor((a i + b) / m) over 0 <= i < n, for m > 0: as Euclid's algorithm, in as many steps.
constexpr std::uint64_t floor_sum(std::uint64_t n, std::uint64_t m, std::uint64_t a,
                                  std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  while (n != 0) {
    sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
    const std::uint64_t top = a % m * n + b % m, slope = a % m;
    n = top / m;
    b = top % m;
    a = m;
    m = slope;
  }
  return sum;
}

/// One dimension of a window that moves over `in` elements.
struct window {
  std::int64_t in = 1, size = 1, pad = 0, stride = 1, dilation = 1;

  constexpr std::int64_t span() const { return dilation * (size - 1) + 1; }
  constexpr bool well_formed() const {
    return extents(in, size, pad, stride, dilation) && positive(in, size, stride, dilation);
  }
  constexpr bool valid() const { return well_formed() && span() <= in + 2 * pad; }
  /// Positions of the window. Only for a valid() one.
  constexpr std::int64_t out() const { return (in + 2 * pad - span()) / stride + 1; }
  /// Pairs of a position and a tap that lie in the input, not in its padding.
  constexpr count taps() const { return taps_of(out()); }
  /// The same for a given number of positions.
  constexpr count taps_of(std::int64_t positions) const {
    return up_to(positions, in - 1 + pad) - up_to(positions, pad - 1);
  }

 private:
  /// Pairs that lie no farther right than `last`, in coordinates of the padded input.
  constexpr count up_to(std::int64_t positions, std::int64_t last) const {
    if (last < 0) return 0;
    const auto taps_within = [&](std::int64_t reach) {
      return reach < 0 ? 0 : reach / dilation + 1 < size ? reach / dilation + 1 : size;
    };
    // at the first and at each position
    const std::int64_t first = taps_within(last),
                       all = taps_within(last - (positions - 1) * stride);
    const std::int64_t rest = first - all;
    return count{all} * positions + rest +
           floor_sum(static_cast<std::uint64_t>(rest), static_cast<std::uint64_t>(stride),
                     static_cast<std::uint64_t>(dilation),
                     static_cast<std::uint64_t>(rest == 0 ? 0 : last - (first - 1) * dilation));
  }
};

}  // namespace ops::detail
KPROF_DETAIL_END

#endif
