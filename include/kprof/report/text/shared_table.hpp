// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_SHARED_TABLE_HPP
#define KPROF_REPORT_TEXT_SHARED_TABLE_HPP

// The table of calls that several threads share: how long they took as a whole, how even their
// parts were, and what waiting cost. Included by table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/grid.hpp>
#include <kprof/report/text/lines.hpp>
#include <kprof/report/text/operator_groups.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A line that names the operators whose shared calls ran at once.
[[gnu::cold]] inline void print_overlap(page& out, const operator_groups& chosen) {
  std::vector<std::string> names, notes;
  for (const operator_group& g : chosen.groups) {
    if (!has_overlap(g.sum)) continue;
    names.push_back(g.sum.operators > 1 ? format_count(g.sum.operators) + " operators"
                                        : g.sum.name);
    notes.push_back(" (" + out.time(g.sum.overlap_ns) + " of " +
                    out.time(g.sum.total_ns + g.sum.overlap_ns) + ')');
  }
  if (names.empty()) return;
  out.space();
  out.list("calls overlap, as threads do not wait; total leaves out: ", names, notes,
           line_style::notice);
}

/// All calls of the operators of which threads shared some, as one row.
[[gnu::cold]] inline operator_row total_of_shared(const profile& p, const operator_groups& chosen) {
  std::vector<std::string> names;
  for (const operator_group& g : chosen.groups)
    if (g.sum.threads.known()) names.push_back(g.sum.name);
  return operator_total(p, [&](const scope_node& n) {
    return chosen.is_kept(n) && std::find(names.begin(), names.end(), n.name) != names.end();
  });
}

[[gnu::cold]] inline std::string shared_cell(const column& c, const operator_row& row,
                                             const profile& p, const page& out) {
  return c.is("total") ? figure_cell(row.shared_ns, look::time, out) : cell(c, row, p, out);
}

/// A line for each operator of the table above it of which threads shared calls, and one for all of
/// them; nothing where there is none, or where the user has chosen the columns. Columns of their
/// own would take the place of the parameters, and most operators would have nothing in them.
[[gnu::cold]] inline void print_shared_calls(page& out, const profile& p, const text_plan& plan,
                                             const operator_groups& chosen) {
  grid table;
  std::vector<const column*> shown;
  for (const char* id : {"operator", "waiting", "imbalance", "threads", "total"}) {
    shown.push_back(find_column(id));
    table.columns.push_back({.header = shown.back()->header, .right = shown.size() > 1});
  }
  table.columns[0].least = 8;
  for (const operator_group& g : chosen.groups) {
    if (!g.sum.threads.known()) continue;
    auto& row = table.rows.emplace_back();
    for (const column* c : shown) row.push_back(shared_cell(*c, g.sum, p, out));
  }
  if (table.rows.empty()) return;
  if (!plan.columns.empty()) return print_overlap(out, chosen);
  if (table.rows.size() > 1) {
    const operator_row all = total_of_shared(p, chosen);
    auto& row = table.rows.emplace_back();
    for (const column* c : shown)
      row.push_back(c == shown[0] ? "all of them" : shared_cell(*c, all, p, out));
    table.looks.resize(table.rows.size());
    table.looks.back().rule_before = true;
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i]->as == look::ratio) table.align_points(i);
    if (shown[i]->as == look::time) table.align_units(i);
  }
  out.space();
  out.paragraph(
      "", "Calls that threads share; total is theirs, from the first begin to the last end", 2);
  out.space();
  table.measure(out);
  std::vector<std::string> left_out;
  while (table.columns.size() > 2 && table.least_width() > out.width()) {
    left_out.insert(left_out.begin(), table.columns.back().header);
    table.drop(table.columns.size() - 1);
  }
  table.print(out);
  if (!left_out.empty()) {
    out.space();
    out.list("not shown at width " + std::to_string(out.width()) + ": ", left_out);
  }
  print_cut(out, table.cut(), table.whole_width());
  print_overlap(out, chosen);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
