// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_WELCH_HPP
#define KPROF_MODEL_COMPARE_WELCH_HPP

// Whether the means of two samples differ: Welch's t, Holm's correction for many rows, and how many
// runs would show what these do not. Included by the comparison of runs. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/compare/student_t.hpp>
#include <kprof/model/sorted_order.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

KPROF_DETAIL_BEGIN

/// The difference of two means of logarithms of times. Without an interval where a side has one
/// run.
struct mean_difference {
  double difference = 0;  ///< of the logarithms, after less before
  double error = 0;       ///< its standard error; 0 where a side has one run
  double df = 0;          ///< degrees of freedom by Welch and Satterthwaite
  double p = 1;           ///< two-sided
  double deviation = 0;   ///< of single runs: the root of the mean of both variances

  bool has_interval() const noexcept { return error > 0; }
  /// As a change of the time: 0.057 is 5.7 % more.
  double change() const noexcept { return std::expm1(difference); }
  /// The ends of the interval that holds the true change with probability 1 - `p`.
  double low(double p_outside = 0.05) const noexcept { return end(p_outside, -1); }
  double high(double p_outside = 0.05) const noexcept { return end(p_outside, 1); }

 private:
  double end(double p_outside, double sign) const noexcept {
    if (!has_interval()) return change();
    return std::expm1(difference + sign * error * detail::two_sided_t(p_outside, df));
  }
};

namespace detail {

/// The least standard deviation of a run's logarithm: a bucket of a histogram is 0.8 % wide, and
/// values anywhere in it look alike.
inline constexpr double least_deviation = 0.0023;

[[gnu::cold]] inline double mean_of(std::span<const double> values) noexcept {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}
/// Of two values or more; at least that of least_deviation.
[[gnu::cold]] inline double variance_of(std::span<const double> values) noexcept {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return std::max(sum / static_cast<double>(values.size() - 1), least_deviation * least_deviation);
}

[[gnu::cold]] inline mean_difference welch(std::span<const double> before,
                                           std::span<const double> after) noexcept {
  mean_difference out;
  out.difference = mean_of(after) - mean_of(before);
  if (before.size() < 2 || after.size() < 2) return out;
  const auto n = static_cast<double>(before.size()), m = static_cast<double>(after.size());
  const double of_before = variance_of(before), of_after = variance_of(after);
  const double a = of_before / n, b = of_after / m;
  out.deviation = std::sqrt((of_before + of_after) / 2);
  out.error = std::sqrt(a + b);
  out.df = (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1));
  out.p = two_sided_p(out.difference / out.error, out.df);
  return out;
}

/// Holm's step-down correction: p of each test as if it were the only one. The test with the i-th
/// smallest p of K is multiplied by K - i + 1, and is no smaller than one before it.
[[gnu::cold]] inline std::vector<double> holm(const std::vector<double>& p) {
  std::vector<double> out(p.size(), 1);
  double largest = 0;
  std::size_t left = p.size();
  for (const std::uint32_t i :
       sorted_order(p.size(), [&](std::uint32_t a, std::uint32_t b) { return p[a] < p[b]; }))
    out[i] = largest = std::min(1.0, std::max(largest, p[i] * static_cast<double>(left--)));
  return out;
}

/// Runs a side above this many are not worth a number.
inline constexpr std::size_t most_runs_named = 200;

/// The least number of runs a side, from 3 on, with which a difference of `distance` is shown at
/// the two-sided probability `p` in 80 % of cases, where runs have the standard deviation `s`; 0:
/// more than most_runs_named.
[[gnu::cold]] inline std::size_t runs_that_show(double distance, double s, double p) noexcept {
  const auto do_show = [&](std::size_t runs) {
    const double df = 2.0 * static_cast<double>(runs) - 2;
    return (two_sided_t(p, df) + two_sided_t(0.4, df)) * s *
               std::sqrt(2 / static_cast<double>(runs)) <=
           distance;
  };
  if (!(distance > 0) || !do_show(most_runs_named)) return 0;
  std::size_t low = 2, high = most_runs_named;  // low does not, high does
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (do_show(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
