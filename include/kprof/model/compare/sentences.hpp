// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_SENTENCES_HPP
#define KPROF_MODEL_COMPARE_SENTENCES_HPP

// What a comparison says in words: the same in the page and in the program kprof. Included by
// these. Pure. Names in it are as the program gave them: an output makes them safe to print.

#include <kprof/build_options.hpp>
#include <kprof/model/compare/comparison.hpp>
#include <kprof/model/number_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// 0.057 as "5.7%", 1.26 as "126%"; without its sign.
[[gnu::cold]] inline std::string percent_size(double change) {
  const double size = 100 * std::fabs(change);
  if (!(size < 1e6)) return "n/a";
  return format_fixed(size, size < 99.95 ? 1 : 0);
}
/// 0.057 as "+5.7", -0.057 as "−5.7"; 0 has no sign.
[[gnu::cold]] inline std::string signed_percent(double change) {
  const std::string size = percent_size(change);
  if (size == "n/a" || size == "0.0") return size;
  return (change < 0 ? "\u2212" : "+") + size;
}
/// "+5.7%".
[[gnu::cold]] inline std::string change_text(const mean_difference& d) {
  return signed_percent(d.change()) + '%';
}
/// "+5.3 to +6.0"; empty where there is no interval.
[[gnu::cold]] inline std::string interval_text(const mean_difference& d) {
  if (!d.has_interval()) return {};
  return signed_percent(d.low()) + " to " + signed_percent(d.high());
}

/// "+5.7%, +5.3 to +6.0%".
[[gnu::cold]] inline std::string change_and_interval(const mean_difference& d) {
  return change_text(d) + (d.has_interval() ? ", " + interval_text(d) + '%' : std::string{});
}

/// The operator, its parameters in the notation that it has, and the pass.
template <class Row>
[[gnu::cold]] std::string row_title(const Row& row) {
  std::string out = row.name;
  for (const std::string* part : {row.brief.empty() ? &row.parameters : &row.brief, &row.pass})
    if (!part->empty()) out.append(" ") += *part;
  return out;
}

/// The kernel, its operator and the pass.
template <class Row>
[[gnu::cold]] std::string kernel_title(const Row& row) {
  return row.name + (row.parameters.empty() ? "" : " of " + row.parameters) +
         (row.pass.empty() ? "" : ' ' + row.pass);
}

/// Of a change that is not shown: "17 runs", with which it would be.
[[gnu::cold]] inline std::string needs_text(const judged_change& change) {
  if (change.verdict != change_verdict::not_shown) return {};
  if (change.hidden_by_common) return "all moved";
  return (change.runs_needed > 0 ? format_count(change.runs_needed)
                                 : '>' + format_count(most_runs_named)) +
         " runs";
}

/// "median step", "run".
[[gnu::cold]] inline std::string total_title(const total_change& total) {
  return total.what == "step" ? "median step" : "whole run";
}

/// Whether a table in which what changed comes first has row `a` before row `b`: rows with a
/// verdict by how much of the time they changed, then those that are not shown, then the same.
/// Where there are too few runs for verdicts, all by how much of the time they changed.
[[gnu::cold]] inline bool changed_before(const row_change& a, const row_change& b) {
  const auto rank = [](const row_change& row) {
    switch (row.change.verdict) {
      case change_verdict::slower:
      case change_verdict::faster:
      case change_verdict::none: return 0;
      case change_verdict::not_shown: return 1;
      default: return 2;
    }
  };
  const auto weight = [](const row_change& row) {
    return std::fabs(row.change.by.difference) * std::max(row.before_share, row.after_share);
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return rank(a) == 0 && weight(a) > weight(b);
}

/// Whether the mean call surely changed by as much as counts, and by more than the median call.
[[gnu::cold]] inline bool has_another_tail(const row_change& row, const compare_settings& by) {
  const double change = row.of_mean.change();
  return row.of_mean.has_interval() && row.of_mean.p < 0.01 && std::fabs(change) >= by.threshold &&
         std::fabs(change - row.change.by.change()) >= by.threshold;
}

[[gnu::cold]] inline std::string runs_text(const comparison& c) {
  return counted(c.after_runs, "run", "runs") + " against " + format_count(c.before_runs);
}

/// "5 runs against 5, made in turns; 38 rows tested, changes under 3% ignored".
[[gnu::cold]] inline std::string tested_text(const comparison& c) {
  const double percent = 100 * c.by.threshold;
  return runs_text(c) + (c.order == run_order::interleaved ? ", made in turns; " : "; ") +
         counted(c.rows.size(), "row", "rows") + (c.has_verdicts() ? " tested" : " compared") +
         ", changes under " + format_fixed(percent, percent == std::floor(percent) ? 0 : 1) +
         "% ignored";
}

/// "A step is slower: it takes 5.0% more time, 4.1 to 5.9%."
[[gnu::cold]] inline std::string sentence_of_total(const comparison& c) {
  if (c.totals.empty()) return "The time of the runs is not known.";
  const total_change& total = c.totals[0];
  const mean_difference& d = total.change.by;
  const std::string what = total.what == "step" ? "a step" : "the run",
                    subject = total.what == "step" ? "A step" : "The run";
  const std::string takes =
      "takes " + percent_size(d.change()) + '%' + (d.difference < 0 ? " less time" : " more time");
  const std::string both = change_and_interval(d);
  switch (total.change.verdict) {
    case change_verdict::slower:
      return subject + " is slower: it " + takes + ", " + percent_size(d.low()) + " to " +
             percent_size(d.high()) + "%.";
    case change_verdict::faster:
      return subject + " is faster: it " + takes + ", " + percent_size(d.high()) + " to " +
             percent_size(d.low()) + "%.";
    case change_verdict::same: return subject + " takes the same time: " + both + '.';
    case change_verdict::not_shown:
      return "Whether " + what + " became slower or faster is not shown: " + both +
             (total.change.runs_needed > 0
                  ? "; " + format_count(total.change.runs_needed) + " runs a side would show it."
                  : "; it takes more than " + format_count(most_runs_named) +
                        " runs a side to show it.");
    case change_verdict::none: break;
  }
  return subject + ' ' + takes + "; whether by chance cannot be told from " + runs_text(c) + '.';
}

/// "A (+9.0%), B (+5.8%) and 3 more", the largest change of the time first.
[[gnu::cold]] inline std::string rows_with(const comparison& c, change_verdict verdict) {
  std::vector<const row_change*> found;
  for (const row_change& row : c.rows)
    if (row.change.verdict == verdict) found.push_back(&row);
  const auto weight = [](const row_change* row) {
    return std::fabs(row->after_time_ns - row->before_time_ns);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const row_change* a, const row_change* b) { return weight(a) > weight(b); });
  std::string out;
  const std::size_t named = found.size() <= 3 ? found.size() : 2;
  for (std::size_t i = 0; i < named; ++i)
    out += (i == 0                                    ? ""
            : i + 1 == named && named == found.size() ? " and "
                                                      : ", ") +
           row_title(*found[i]) + " (" + change_text(found[i]->change.by) + ')';
  if (named < found.size()) out += " and " + format_count(found.size() - named) + " more";
  return out;
}

/// The operator whose rows make most of the change of the time, and how much; none below a half.
[[gnu::cold]] inline std::string sentence_of_cause(const comparison& c) {
  if (c.totals.empty()) return {};
  const change_verdict verdict = c.totals[0].change.verdict;
  if (verdict != change_verdict::slower && verdict != change_verdict::faster) return {};
  double all_ns = 0;
  std::vector<std::pair<std::string_view, double>> by_name;
  for (const row_change& row : c.rows) {
    const double ns = row.after_time_ns - row.before_time_ns;
    all_ns += ns;
    if (row.change.verdict != verdict) continue;
    const auto known = std::find_if(by_name.begin(), by_name.end(),
                                    [&](const auto& entry) { return entry.first == row.name; });
    if (known == by_name.end()) by_name.emplace_back(row.name, ns);
    else known->second += ns;
  }
  for (const unmatched_row& row : c.only_after) all_ns += row.time_ns;
  for (const unmatched_row& row : c.only_before) all_ns -= row.time_ns;
  if (all_ns == 0 || (all_ns > 0) != (verdict == change_verdict::slower)) return {};
  for (const auto& [name, ns] : by_name)
    if (ns / all_ns > 0.5 && ns / all_ns < 1.5)
      return (ns / all_ns > 0.85 ? "Nearly all of it is " : "More than half of it is ") +
             std::string{name} + '.';
  return {};
}

[[gnu::cold]] inline std::string sentence_of_rows(const comparison& c) {
  if (c.rows.empty()) return "No operator of both sides can be compared.";
  if (!c.has_verdicts())
    return "Verdicts take " + format_count(least_compared_runs) +
           " runs a side or more, made in turns.";
  std::string out;
  for (const change_verdict verdict : {change_verdict::slower, change_verdict::faster})
    if (const std::size_t n = c.count(verdict); n > 0)
      out += (out.empty() ? "" : " ") + counted(n, "row is ", "rows are ") + verdict_word(verdict) +
             ": " + rows_with(c, verdict) + '.';
  if (out.empty())
    out = c.count(change_verdict::not_shown) > 0 ? "No row is shown to be slower or faster."
                                                 : "No row is slower or faster.";
  return out;
}

[[gnu::cold]] inline std::string sentence_of_open_rows(const comparison& c) {
  const std::size_t open = c.count(change_verdict::not_shown);
  if (open == 0) return {};
  return counted(open, "row is", "rows are") + " neither shown to change nor to be the same.";
}

[[gnu::cold]] inline std::string sentence_of_common(const comparison& c) {
  if (!c.common_is_removed) return {};
  if (!c.common_is_large)
    return "Taken out of each row: what all rows have in common, " + change_text(c.common) + '.';
  return "All rows together take " + percent_size(c.common.change()) +
         (c.common.difference < 0 ? "% less time" : "% more time") +
         " (machine, clocks or compiler options), which is taken out of each.";
}

[[gnu::cold]] inline std::vector<std::string> warnings_of(const comparison& c) {
  std::vector<std::string> out;
  for (const run_difference& d : c.differences)
    out.push_back("Not the same in all runs: " + d.what + " (" + d.before + " before, " + d.after +
                  " after).");
  if (c.order == run_order::apart && c.before_runs + c.after_runs > 2)
    out.emplace_back(
        "All runs of one side were made before those of the other: what changed on the machine "
        "meanwhile counts too. Make them in turns.");
  if (c.incomplete_runs > 0)
    out.push_back(counted(c.incomplete_runs, "run", "runs") + " lost scopes or records.");
  if (c.common_is_large)
    out.emplace_back(
        "Where all rows change that much, a row is slower or faster only where its plain change "
        "reaches the threshold too.");
  std::vector<std::string> other_work;
  for (const row_change& row : c.rows)
    if (row.work_differs) other_work.push_back(row_title(row));
  if (!other_work.empty())
    out.push_back("FLOPs or bytes by the formulas differ in " +
                  counted(other_work.size(), "row", "rows") + ": " + other_work[0] +
                  (other_work.size() > 1 ? ", ..." : "") + '.');
  return out;
}

/// What is said of rows that are not tested, and that all else is as it was.
[[gnu::cold]] inline std::vector<std::string> words_of_the_rest(const comparison& c) {
  std::vector<std::string> out;
  for (const row_change& row : c.rows)
    if (has_another_tail(row, c.by))
      out.push_back("The mean call of " + row_title(row) + " changed by " +
                    change_and_interval(row.of_mean) +
                    ": that of its slow calls, which the median does not show.");
  if (c.other.rows > 0)
    out.push_back(counted(c.other.rows, "other row", "other rows") + ", " +
                  format_share(std::max(c.other.before_share, c.other.after_share)) +
                  " of the time, too small or seldom to be tested" +
                  (c.other.change.difference != 0
                       ? ": together " + change_and_interval(c.other.change)
                       : std::string{}) +
                  '.');
  const auto say_only = [&](const std::vector<unmatched_row>& only, const char* where,
                            bool are_kernels) {
    if (only.empty()) return;
    double share = 0;
    for (const unmatched_row& row : only) share += row.share;
    const std::string subject = are_kernels ? counted(only.size(), "kernel is", "kernels are")
                                            : counted(only.size(), "row is", "rows are");
    out.push_back(subject + " only " + where + ", " + format_share(share) +
                  " of the time: " + (are_kernels ? kernel_title(only[0]) : row_title(only[0])) +
                  (only.size() > 1 ? ", ..." : "") + '.');
  };
  say_only(c.only_before, "before", false);
  say_only(c.only_after, "after", false);
  say_only(c.kernels.only_before, "before", true);
  say_only(c.kernels.only_after, "after", true);
  if (c.only_before.empty() && c.only_after.empty() && !c.rows.empty())
    out.emplace_back("No row appeared or vanished.");
  if (c.differences.empty()) out.emplace_back("Program, machine and ceilings are the same.");
  return out;
}

}  // namespace detail

/// A comparison in words.
struct comparison_words {
  std::string first;                  ///< the conclusion
  std::string rest;                   ///< what explains it
  std::vector<std::string> warnings;  ///< what makes it doubtful
  std::vector<std::string> below;     ///< of what is in no row of the table
};

[[gnu::cold]] inline comparison_words words_of(const comparison& c) {
  comparison_words out;
  std::string total = detail::sentence_of_total(c), rows = detail::sentence_of_rows(c);
  // What is shown comes before what is not.
  const bool is_shown = c.totals.empty() || c.totals[0].change.verdict == change_verdict::slower ||
                        c.totals[0].change.verdict == change_verdict::faster;
  if (!is_shown && c.count(change_verdict::slower) + c.count(change_verdict::faster) > 0)
    std::swap(total, rows);
  out.first = std::move(total);
  for (const std::string& text : {detail::sentence_of_cause(c), rows,
                                  detail::sentence_of_open_rows(c), detail::sentence_of_common(c)})
    if (!text.empty()) out.rest += (out.rest.empty() ? "" : " ") + text;
  out.warnings = detail::warnings_of(c);
  out.below = detail::words_of_the_rest(c);
  return out;
}

KPROF_DETAIL_END

#endif
