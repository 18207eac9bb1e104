// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_STUDENT_T_HPP
#define KPROF_MODEL_COMPARE_STUDENT_T_HPP

// Student's t distribution. Included by the comparison of runs. Pure. Boost.Math
// has it too, but its header is 106,000 lines, more than report/html.hpp with all it includes.

#include <kprof/build_options.hpp>

#include <cmath>
#include <limits>

KPROF_DETAIL_BEGIN
namespace detail {

/// Logarithm of the gamma function of x > 0; std::lgamma also writes to a global variable.
[[gnu::cold]] inline double log_gamma(double x) noexcept {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// The continued fraction of the incomplete beta function, by the method of Lentz as Thompson and
/// Barnett changed it. It converges fast for x < (a + 1) / (a + b + 2).
[[gnu::cold]] inline double beta_fraction(double a, double b, double x) noexcept {
  constexpr double least = 1e-300;
  const auto away_from_0 = [](double value) { return std::fabs(value) < least ? least : value; };
  double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1)), product = d;
  for (int m = 1; m <= 10'000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_0(1 + even * d);
    c = away_from_0(1 + even / c);
    product *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_0(1 + odd * d);
    c = away_from_0(1 + odd / c);
    product *= c * d;
    if (std::fabs(c * d - 1) < 1e-15) break;
  }
  return product;
}

/// The regularized incomplete beta function I_x(a, b) for a, b > 0; `rest` is 1 - x, which has more
/// digits than x leaves where x is near 1.
[[gnu::cold]] inline double incomplete_beta(double a, double b, double x, double rest) noexcept {
  if (!(x > 0)) return 0;
  if (!(rest > 0)) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log(rest));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, rest) / b;
}

/// The probability that Student's t of `df` degrees of freedom is farther from 0 than `t`.
[[gnu::cold]] inline double two_sided_p(double t, double df) noexcept {
  if (std::isnan(t) || !(df > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(t)) return 0;
  const double square = t * t;
  return incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

/// The t >= 0 that |t| stays below with probability 1 - `p`: of p = 0.05 that of a 95 % interval.
[[gnu::cold]] inline double two_sided_t(double p, double df) noexcept {
  double low = 0, high = 1;
  while (two_sided_p(high, df) > p && high < 1e150) low = high, high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
    const double middle = (low + high) / 2;
    (two_sided_p(middle, df) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
