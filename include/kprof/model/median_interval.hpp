// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_MEDIAN_INTERVAL_HPP
#define KPROF_MODEL_MEDIAN_INTERVAL_HPP

// How well a few times tell the median of all that could be taken: the interval between two of them
// that holds it in 95 of 100 cases, whatever their distribution. Included by the micro-benchmark.
// Pure.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Which of n values in their order, counted from 1, hold the median between them with a
/// probability of 95 % or more; the widest two are not enough where n < 6: low is 0 then.
struct median_ranks {
  std::size_t low = 0, high = 0;
};

/// Each value is below the median with probability 1/2, so that how many are is binomial: `low` is
/// the largest rank with P(fewer than low below) <= 2.5 %. Above 1,000 values by the normal
/// distribution.
[[gnu::cold]] inline median_ranks ranks_around_median(std::size_t n) noexcept {
  constexpr double tail = 0.025;
  std::size_t low = 0;
  if (n <= 1000) {
    double term = std::ldexp(1.0, -static_cast<int>(n)), sum = 0;  // of exactly k values below
    for (std::size_t k = 0; k <= n / 2; ++k) {
      sum += term;
      if (sum > tail) break;
      low = k + 1;
      term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    }
  } else {
    const auto size = static_cast<double>(n);
    low = static_cast<std::size_t>(size / 2 - 0.98 * std::sqrt(size));
  }
  return low == 0 ? median_ranks{} : median_ranks{low, n + 1 - low};
}

}  // namespace detail

/// A median, and what holds it in 95 of 100 cases. In nanoseconds.
struct median_interval {
  double median_ns = 0;
  double low_ns = 0, high_ns = 0;  ///< 0 where there are fewer than 6 samples
  std::size_t samples = 0;

  bool has_interval() const noexcept { return high_ns > 0; }
  /// How far the median may be off, as a share of it; 1 where there is no interval.
  double precision() const noexcept {
    if (!has_interval() || !(median_ns > 0)) return 1;
    return std::max(high_ns - median_ns, median_ns - low_ns) / median_ns;
  }
};

namespace detail {

/// Puts the values into their order up to the highest one that is asked for.
[[gnu::cold]] inline median_interval interval_of(std::vector<double>& values) {
  median_interval out;
  const std::size_t n = out.samples = values.size();
  if (n == 0) return out;
  const auto value = [&](std::size_t rank) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  out.median_ns = value(n / 2 + 1);
  if (n % 2 == 0) out.median_ns = (out.median_ns + value(n / 2)) / 2;
  if (const median_ranks ranks = ranks_around_median(n); ranks.low > 0) {
    out.low_ns = value(ranks.low);
    out.high_ns = value(ranks.high);
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
