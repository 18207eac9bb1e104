// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_COMPARISON_HPP
#define KPROF_MODEL_COMPARE_COMPARISON_HPP

// What compare() finds: plain values. Included by compare.hpp and what shows a comparison. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/compare/welch.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

struct compare_settings {
  /// A change that is smaller is of no interest: 0.03 is 3 %.
  double threshold = 0.03;
  double alpha = 0.05;        ///< chance of a false alarm in any row, where nothing changed
  double least_share = 0.01;  ///< of the time on either side that a row has to take to be tested
  std::uint64_t least_calls = 5;  ///< of a row in every run
};

/// Fewer runs a side have no verdict.
inline constexpr std::size_t least_compared_runs = 3;

enum class change_verdict : std::uint8_t {
  none,       ///< there are too few runs
  slower,     ///< significant, and the threshold or more
  faster,     ///< the same
  same,       ///< the 90 % interval lies inside the threshold on both sides
  not_shown,  ///< neither
};

[[gnu::cold]] inline const char* verdict_word(change_verdict verdict) noexcept {
  switch (verdict) {
    case change_verdict::slower: return "slower";
    case change_verdict::faster: return "faster";
    case change_verdict::same: return "same";
    case change_verdict::not_shown: return "not shown";
    case change_verdict::none: break;
  }
  return "no verdict";
}

/// A change and what is made of it.
struct judged_change {
  mean_difference by;
  double p = 1;  ///< by.p, corrected for the number of rows that are tested
  change_verdict verdict = change_verdict::none;
  /// Of not_shown: with how many runs a side there is a verdict in 80 % of cases; 0: the change is
  /// so near the threshold that 200 would not do, or the common change hides it.
  std::size_t runs_needed = 0;
  /// The rows changed together so much that a change beyond that may be none of its own: the row's
  /// plain change does not reach the threshold.
  bool hidden_by_common = false;
};

/// A time of the whole run.
struct total_change {
  std::string what;                    ///< "step", "run"
  double before_ns = 0, after_ns = 0;  ///< means over the runs, of logarithms
  judged_change change;
};

/// A row that is tested.
struct row_change {
  std::uint64_t key = 0;
  std::string name, parameters, brief, pass;
  bool on_device = false;
  std::uint64_t before_calls = 0, after_calls = 0;  ///< a run, the mean
  double before_ns = 0, after_ns = 0;            ///< of a call; means over the runs, of logarithms
  double before_share = 0, after_share = 0;      ///< of the time
  double before_time_ns = 0, after_time_ns = 0;  ///< the row's own time in a run, the mean
  /// Of a call: beyond the common change, where comparison::common_is_removed.
  judged_change change;
  mean_difference plain;  ///< with the common change
  /// Of the mean call, like `change`: calls that take far longer than others show there alone. The
  /// same where the row's times are those of a device.
  mean_difference of_mean;
  bool work_differs = false;  ///< the formulas say something else of FLOPs or bytes
};

/// A row that one side lacks.
struct unmatched_row {
  std::uint64_t key = 0;
  std::string name, parameters, brief, pass;
  double share = 0;    ///< of the time of the side that has it, the mean
  double time_ns = 0;  ///< in a run, the mean
};

/// Kernels by their operators, where both sides have kernels.
struct kernel_changes {
  /// As rows are, but with nothing taken out: `name` is the kernel's, shortened, `parameters` the
  /// name of its operator, and a call is a run of the kernel.
  std::vector<row_change> rows;
  std::vector<unmatched_row> only_before, only_after;  ///< named as `rows` are
};

/// What both sides have and is not tested, together.
struct other_rows {
  std::uint64_t rows = 0;
  std::uint64_t below_share = 0;   ///< less than compare_settings::least_share
  std::uint64_t rare = 0;          ///< fewer calls than least_calls in a run
  std::uint64_t in_some_runs = 0;  ///< not in all runs
  std::uint64_t incomparable = 0;  ///< no time is known, or it is the device's in some runs only
  double before_share = 0, after_share = 0;
  mean_difference change;  ///< of their time in a run, where they take some in all
};

/// Something of the machine or the program that is not the same in all runs.
struct run_difference {
  std::string what;           ///< "CPUs allowed"
  std::string before, after;  ///< "4", or "4 or 8" where the runs of a side differ
};

/// When the runs were made.
enum class run_order : std::uint8_t {
  unknown,      ///< a profile does not say
  apart,        ///< all of one side, then all of the other
  interleaved,  ///< mixed
};

struct comparison {
  compare_settings by;
  std::size_t before_runs = 0, after_runs = 0;
  run_order order = run_order::unknown;
  std::vector<total_change> totals;  ///< a step where there are steps, and the run
  std::vector<row_change> rows;      ///< the longest time first
  /// How all tested rows changed together: clocks, other programs, compiler options.
  mean_difference common;
  bool common_is_removed = false;  ///< from the rows' changes: there are five or more
  /// It is significant and no smaller than the threshold: plain changes count too.
  bool common_is_large = false;
  other_rows other;
  kernel_changes kernels;
  std::vector<unmatched_row> only_before, only_after;  ///< the longest time first
  std::vector<run_difference> differences;
  std::size_t incomplete_runs = 0;  ///< that lost scopes or records

  bool has_verdicts() const noexcept {
    return before_runs >= least_compared_runs && after_runs >= least_compared_runs;
  }
  /// How many rows have this verdict.
  std::size_t count(change_verdict verdict) const noexcept {
    std::size_t found = 0;
    for (const row_change& row : rows) found += row.change.verdict == verdict ? 1 : 0;
    return found;
  }
  /// Whether a row, a step or the run is slower.
  bool is_slower() const noexcept {
    for (const total_change& t : totals)
      if (t.change.verdict == change_verdict::slower) return true;
    return count(change_verdict::slower) > 0;
  }
};

KPROF_DETAIL_END

#endif
