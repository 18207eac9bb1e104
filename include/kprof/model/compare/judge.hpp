// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_JUDGE_HPP
#define KPROF_MODEL_COMPARE_JUDGE_HPP

// Makes verdicts of changes. Included by compare.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/compare/comparison.hpp>
#include <kprof/model/compare/welch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

KPROF_DETAIL_BEGIN
namespace detail {

/// How far the difference may still grow before it reaches the threshold; not positive: it has.
[[gnu::cold]] inline double room_to_threshold(double difference, double threshold) noexcept {
  return difference >= 0 ? std::log1p(threshold) - difference : difference - std::log1p(-threshold);
}

/// The verdict of a change whose p is corrected for `tests` tests, from `runs` runs a side.
[[gnu::cold]] inline void judge(judged_change& change, const compare_settings& by,
                                std::size_t tests, std::size_t runs) {
  const mean_difference& d = change.by;
  const double size = std::fabs(d.change());
  if (change.p < by.alpha && size >= by.threshold) {
    change.verdict = d.difference > 0 ? change_verdict::slower : change_verdict::faster;
    return;
  }
  // Two one-sided tests at 5 % are the interval of 90 %.
  if (d.low(0.1) >= -by.threshold && d.high(0.1) <= by.threshold) {
    change.verdict = change_verdict::same;
    return;
  }
  change.verdict = change_verdict::not_shown;
  change.runs_needed =
      size >= by.threshold
          ? runs_that_show(std::fabs(d.difference), d.deviation,
                           by.alpha / static_cast<double>(std::max<std::size_t>(1, tests)))
          : runs_that_show(room_to_threshold(d.difference, by.threshold), d.deviation, 0.1);
  // So many runs do in 80 % of cases, and these were of the other ones.
  if (change.runs_needed > 0) change.runs_needed = std::max(change.runs_needed, runs + 1);
}

/// Where all rows changed together by much, half of them may have changed and the rest not: a row
/// counts as slower or faster only where its plain change says so too.
[[gnu::cold]] inline void doubt(judged_change& change, const mean_difference& plain,
                                const compare_settings& by) {
  const double sure = change.verdict == change_verdict::faster   ? -plain.change()
                      : change.verdict == change_verdict::slower ? plain.change()
                                                                 : by.threshold;
  if (sure >= by.threshold) return;
  change.verdict = change_verdict::not_shown;
  change.hidden_by_common = true;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
