// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_HPP
#define KPROF_MODEL_COMPARE_HPP

// Compares two sets of runs of a program: which operators became slower or faster, and which only
// seem to. Include it to compare profiles in a program. Pure.
//
// A run counts as one sample: calls of one process share its clock, neighbours and addresses, so
// that tests that pool calls find differences where there are none. Of each row, the statistic of a
// run is the logarithm of the median call. What all rows have in common, as from another clock, is
// taken out; Welch's t says whether the rest differs, and Holm's correction holds the chance of any
// false alarm at compare_settings::alpha. Record three runs a side or more, interleaved: one of the
// old program, one of the new one, and so on.

#include <kprof/build_options.hpp>
#include <kprof/model/compare/common_change.hpp>
#include <kprof/model/compare/compared_run.hpp>
#include <kprof/model/compare/comparison.hpp>
#include <kprof/model/compare/judge.hpp>
#include <kprof/model/compare/matched_rows.hpp>
#include <kprof/model/compare/run_differences.hpp>
#include <kprof/model/compare/welch.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/telling_kernel_names.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class comparing {
 public:
  [[gnu::cold]] comparing(const std::vector<compared_run>& before,
                          const std::vector<compared_run>& after, const compare_settings& by,
                          bool removes_common = true)
      : before_(before), after_(after), split_(before.size()), removes_common_(removes_common) {
    out_.by = by;
    out_.before_runs = before.size();
    out_.after_runs = after.size();
    for (const auto* side : {&before, &after})
      for (const compared_run& run : *side) {
        runs_.push_back(&run);
        out_.incomplete_runs += run.lost > 0 ? 1 : 0;
      }
    out_.order = order_of_runs(before, after);
    out_.differences = differences_of_runs(before, after);
  }

  [[gnu::cold]] comparison take() {
    if (before_.empty() || after_.empty()) return std::move(out_);
    add_totals();
    std::vector<matched_row> tested;
    for (matched_row& row : match_rows(runs_)) sort_in(row, tested);
    sort_table(tested, [](const matched_row& a, const matched_row& b) {
      return a.largest_share() > b.largest_share();
    });
    for (auto* only : {&out_.only_before, &out_.only_after})
      sort_table(*only,
                 [](const unmatched_row& a, const unmatched_row& b) { return a.share > b.share; });
    finish_other();
    add_rows(tested);
    return std::move(out_);
  }

 private:
  mean_difference difference(const std::vector<double>& logarithms) const {
    return welch({logarithms.data(), split_},
                 {logarithms.data() + split_, logarithms.size() - split_});
  }

  template <class Time>
  void add_total(const char* what, Time time_of) {
    std::vector<double> logarithms;
    for (const compared_run* run : runs_) {
      if (!(time_of(*run) > 0)) return;
      logarithms.push_back(std::log(time_of(*run)));
    }
    total_change total;
    total.what = what;
    total.before_ns = std::exp(mean_of({logarithms.data(), split_}));
    total.change.by = difference(logarithms);
    total.change.p = total.change.by.p;
    total.after_ns = total.before_ns * std::exp(total.change.by.difference);
    if (out_.has_verdicts()) judge(total.change, out_.by, 1, least_of_both());
    out_.totals.push_back(std::move(total));
  }
  void add_totals() {
    add_total("step", [](const compared_run& run) { return run.step_ns; });
    add_total("run", [](const compared_run& run) { return run.ns; });
  }

  /// Puts a row to those that are tested, to the others, or to those of one side.
  void sort_in(matched_row& row, std::vector<matched_row>& tested) {
    const bool is_before = row.is_in_any(0, split_), is_after = row.is_in_any(split_, runs_.size());
    if (!is_before || !is_after) {
      std::vector<unmatched_row>& only = is_before ? out_.only_before : out_.only_after;
      const std::size_t from = is_before ? 0 : split_, to = is_before ? split_ : runs_.size();
      const compared_row& any = row.any();
      only.push_back({row.key, any.name, any.parameters, any.brief, any.pass,
                      row.mean(from, to, &compared_row::share),
                      row.mean(from, to, &compared_row::time_ns)});
      return;
    }
    row.before_share = row.mean(0, split_, &compared_row::share);
    row.after_share = row.mean(split_, runs_.size(), &compared_row::share);
    const bool is_small = row.largest_share() < out_.by.least_share;
    const bool is_whole = row.is_in_all(), is_rare = row.has_fewer_calls(out_.by.least_calls);
    if (!is_small && is_whole && !is_rare && row.is_comparable()) {
      tested.push_back(std::move(row));
      return;
    }
    other_rows& other = out_.other;
    ++other.rows;
    ++(is_small    ? other.below_share
       : !is_whole ? other.in_some_runs
       : is_rare   ? other.rare
                   : other.incomparable);
    other.before_share += row.before_share;
    other.after_share += row.after_share;
    other_ns_.resize(runs_.size());
    for (std::size_t r = 0; r < runs_.size(); ++r)
      if (row.of[r] != nullptr) other_ns_[r] += row.of[r]->time_ns;
  }
  void finish_other() {
    std::vector<double> logarithms;
    for (const double ns : other_ns_)
      if (ns > 0) logarithms.push_back(std::log(ns));
    if (!logarithms.empty() && logarithms.size() == runs_.size())
      out_.other.change = difference(logarithms);
  }

  void add_rows(const std::vector<matched_row>& tested) {
    std::vector<std::vector<double>> calls, means;
    for (const matched_row& row : tested) {
      calls.push_back(row.logarithms(&compared_row::call_ns));
      means.push_back(row.logarithms(&compared_row::mean_ns));
    }
    const std::vector<double> common = common_changes(calls, runs_.size());
    out_.common = difference(common);
    out_.common_is_removed = removes_common_ && tested.size() >= least_rows_of_common_change;
    out_.common_is_large = out_.common_is_removed && out_.has_verdicts() &&
                           out_.common.p < out_.by.alpha &&
                           std::fabs(out_.common.change()) >= out_.by.threshold;
    std::vector<double> p;
    for (std::size_t i = 0; i < tested.size(); ++i) {
      row_change row = row_of(tested[i]);
      row.plain = difference(calls[i]);
      row.before_ns = std::exp(mean_of({calls[i].data(), split_}));
      row.after_ns = row.before_ns * std::exp(row.plain.difference);
      if (out_.common_is_removed)
        for (std::size_t r = 0; r < runs_.size(); ++r)
          calls[i][r] -= common[r], means[i][r] -= common[r];
      row.change.by = difference(calls[i]);
      row.of_mean = difference(means[i]);
      p.push_back(row.change.by.p);
      out_.rows.push_back(std::move(row));
    }
    const std::vector<double> corrected = holm(p);
    for (std::size_t i = 0; i < out_.rows.size(); ++i) {
      row_change& row = out_.rows[i];
      row.change.p = corrected[i];
      if (!out_.has_verdicts()) continue;
      judge(row.change, out_.by, out_.rows.size(), least_of_both());
      if (out_.common_is_large) doubt(row.change, row.plain, out_.by);
    }
  }
  row_change row_of(const matched_row& from) const {
    const compared_row& any = *from.of.back();
    row_change row;
    row.key = from.key;
    row.name = any.name;
    row.parameters = any.parameters;
    row.brief = any.brief;
    row.pass = any.pass;
    row.on_device = any.on_device;
    row.before_calls = from.calls(0, split_);
    row.after_calls = from.calls(split_, runs_.size());
    row.before_share = from.before_share;
    row.after_share = from.after_share;
    row.before_time_ns = from.mean(0, split_, &compared_row::time_ns);
    row.after_time_ns = from.mean(split_, runs_.size(), &compared_row::time_ns);
    row.work_differs = from.work_differs(split_);
    return row;
  }
  std::size_t least_of_both() const { return std::min(before_.size(), after_.size()); }

  const std::vector<compared_run>& before_;
  const std::vector<compared_run>& after_;
  std::size_t split_;                      // runs from here on are those after
  bool removes_common_;                    // what all rows have in common
  std::vector<const compared_run*> runs_;  // before, then after
  std::vector<double> other_ns_;           // by run
  comparison out_;
};

/// The runs of a side as if their kernels were their rows; none where a run has no kernels.
[[gnu::cold]] inline std::vector<compared_run> runs_of_kernels(
    const std::vector<compared_run>& side) {
  std::vector<compared_run> out;
  for (const compared_run& run : side) {
    if (run.kernels.empty()) return {};
    out.emplace_back().rows = run.kernels;
  }
  return out;
}

/// Gives kernels names that are short and tell all of them apart.
[[gnu::cold]] inline void shorten_names(kernel_changes& kernels) {
  std::map<std::string, std::string> names;
  for (const row_change& row : kernels.rows) names[row.name];
  for (auto* only : {&kernels.only_before, &kernels.only_after})
    for (const unmatched_row& row : *only) names[row.name];
  std::vector<std::string> whole;
  for (const auto& [name, shortened] : names) whole.push_back(name);
  std::vector<std::string> shortened = telling_kernel_names(whole);
  for (std::size_t i = 0; i < whole.size(); ++i) names[whole[i]] = std::move(shortened[i]);
  for (row_change& row : kernels.rows) row.name = names[row.name];
  for (auto* only : {&kernels.only_before, &kernels.only_after})
    for (unmatched_row& row : *only) row.name = names[row.name];
}

[[gnu::cold]] inline kernel_changes compare_kernels(const std::vector<compared_run>& before,
                                                    const std::vector<compared_run>& after,
                                                    const compare_settings& by) {
  const std::vector<compared_run> first = runs_of_kernels(before), second = runs_of_kernels(after);
  if (first.empty() || second.empty()) return {};
  comparison found = comparing(first, second, by, false).take();
  kernel_changes out{std::move(found.rows), std::move(found.only_before),
                     std::move(found.only_after)};
  shorten_names(out);
  return out;
}

}  // namespace detail

/// Compares the runs of a program before a change of it with those after it.
///     std::vector<kprof::compared_run> before, after;
///     before.push_back(kprof::run_to_compare(old_profile));  // and more of them
///     after.push_back(kprof::run_to_compare(new_profile));
///     for (const kprof::row_change& row : kprof::compare(before, after).rows) use(row);
[[gnu::cold]] inline comparison compare(const std::vector<compared_run>& before,
                                        const std::vector<compared_run>& after,
                                        const compare_settings& by = {}) {
  comparison out = detail::comparing(before, after, by).take();
  out.kernels = detail::compare_kernels(before, after, by);
  return out;
}

KPROF_DETAIL_END

#endif
