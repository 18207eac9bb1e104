// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_FIRST_CALLS_HPP
#define KPROF_REPORT_TEXT_FIRST_CALLS_HPP

// The line of the text report that tells first calls apart: those that took much longer than the
// calls after them, and so much that the row's numbers suffer. Included by table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/report/text/operator_groups.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/row_description.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <cstddef>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// By how much the first call exceeds the median; 0 where that is nothing to tell: it is no more
/// than five times the median, or the excess no more than 1 % of the row's time.
inline double first_call_excess_ns(const operator_row& row) noexcept {
  if (row.calls < 3 || !row.first_ns.known() || !row.median_ns.known()) return 0;
  const double excess = row.first_ns.value - row.median_ns.value,
               all = row.mean_ns.value * static_cast<double>(row.calls);
  return row.first_ns.value > 5 * row.median_ns.value && excess > 0.01 * all ? excess : 0;
}

/// Whether a few calls take most of the time, and the first one does not account for that.
inline bool has_long_calls(const operator_row& row) noexcept {
  if (row.calls < 3 || !row.mean_ns.known() || !row.median_ns.known()) return false;
  const auto calls = static_cast<double>(row.calls);
  const bool without_first = first_call_excess_ns(row) > 0;
  const double mean = without_first ? (row.mean_ns.value * calls - row.first_ns.value) / (calls - 1)
                                    : row.mean_ns.value;
  return mean > 3 * row.median_ns.value;
}

inline std::string operator_or_all(const operator_row& r) {
  return r.name.empty() ? "(all)" : r.name;
}
/// An operator, and its parameters where it has several rows.
[[gnu::cold]] inline std::string name_of_row(const operator_group& g, std::size_t row,
                                             const row_describer& describer) {
  const operator_row& r = g.rows[row];
  const std::string name = operator_or_all(r);
  return g.rows.size() == 1 ? name : name + ' ' + joined(describer.parts(r, g.sets[row]));
}

/// The rows of an operator as a sentence names them: whole, or what tells a long name from others.
class names_of_rows {
 public:
  names_of_rows(const operator_group& g, const row_describer& describer)
      : group_(g), describer_(describer) {}

  [[gnu::cold]] std::string of(std::size_t row) {
    constexpr std::size_t short_enough = 40;
    const std::string whole = name_of_row(group_, row, describer_);
    if (group_.rows.size() == 1 || display_width(whole) <= short_enough) return whole;
    if (parts_.empty()) {
      for (std::size_t i = 0; i < group_.rows.size(); ++i)
        parts_.push_back(describer_.parts(group_.rows[i], group_.sets[i]));
      take_shared(parts_);
    }
    return parts_[row].empty() ? whole
                               : operator_or_all(group_.rows[row]) + ' ' + joined(parts_[row]);
  }

 private:
  const operator_group& group_;
  const row_describer& describer_;
  std::vector<part_list> parts_;  // of each row, without what all have
};

/// The rows whose first call took much longer, the largest excess first. An excess below a
/// thousandth of the run is left out.
[[gnu::cold]] inline void print_first_calls(page& out, const operator_groups& chosen,
                                            const row_describer& describer, const text_plan& plan) {
  struct slow_row {
    double excess_ns;
    std::string name, note;
  };
  std::vector<slow_row> slow;
  for (const operator_group& g : chosen.groups) {
    names_of_rows names(g, describer);
    for (std::size_t i = 0; i < g.shown; ++i) {
      const double excess = first_call_excess_ns(g.rows[i]);
      if (!(excess > 0.001 * plan.all_self_ns)) continue;
      slow.push_back({excess, names.of(i),
                      " (first " + out.time(g.rows[i].first_ns.value) + ", then " +
                          out.time(g.rows[i].median_ns.value) + ')'});
    }
  }
  if (slow.empty()) return;
  sort_table(slow, [](const slow_row& a, const slow_row& b) { return a.excess_ns > b.excess_ns; });
  std::vector<std::string> names, notes;
  for (slow_row& row : slow) {
    names.push_back(out.ascii() ? ascii_notation(row.name) : row.name);
    notes.push_back(row.note);
  }
  out.list("first call far above the median: ", names, notes);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
