// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_CALLS_HPP
#define KPROF_REPORT_TEXT_CALLS_HPP

// The table of calls of CUDA's libraries of the text report. Included by the text report.

#include <kprof/build_options.hpp>
#include <kprof/model/call_table.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/fitted_table.hpp>
#include <kprof/report/text/lines.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct call_column {
  const char* header;
  unsigned rank;  // where not all fit, the highest goes first
  bool text;
  std::string (*cell)(const call_row&, const page&);
  const char* meaning;
};

inline constexpr call_column call_columns[] = {
    {"function", 1, true,
     [](const call_row& row, const page& out) { return out.safe(row.function); },
     "of the CUDA runtime or driver; calls that one of them makes itself are part of it"},
    {"calls", 3, false, [](const call_row& row, const page&) { return calls_cell(row.calls); },
     "calls, failed ones too"},
    {"total", 2, false, [](const call_row& row, const page& out) { return out.time(row.total_ns); },
     "host time in the calls, summed over threads"},
    {"share", 5, false, [](const call_row& row, const page&) { return format_share(row.share); },
     "total / time in all calls of the table"},
    {"mean", 7, false,
     [](const call_row& row, const page& out) {
       return out.time(row.calls == 0 ? 0 : row.total_ns / static_cast<double>(row.calls));
     },
     "total / calls"},
    {"max", 8, false, [](const call_row& row, const page& out) { return out.time(row.max_ns); },
     "the longest call"},
    {"waited", 4, false,
     [](const call_row& row, const page& out) {
       return row.waited_ns > 0 ? out.time(row.waited_ns) : std::string{};
     },
     "of total, in functions that block: they wait for a device, copy at once or allocate"},
    {"mostly in", 6, true,
     [](const call_row& row, const page& out) {
       return row.scope.empty() ? std::string{"(no scope)"}
                                : printable_end(row.scope, 24, out.ascii());
     },
     "the operator or region that most of total was spent right in"},
};

[[gnu::cold]] inline void print_calls(page& out, const profile& p, const text_plan& plan) {
  std::vector<call_row> rows = call_table(p);
  out.space();
  if (rows.empty()) {
    out.paragraph("", "No calls of CUDA's libraries were noted", 2, line_style::bold);
    return;
  }
  double all_ns = 0;
  for (const call_row& row : rows) all_ns += row.total_ns;
  out.paragraph("",
                "Calls of CUDA's libraries, sorted by total; share is of " + out.time(all_ns) +
                    " of host time",
                2, line_style::bold);
  out.space();
  const std::size_t top = plan.options.top == 0 ? rows.size() : plan.options.top;
  std::uint64_t hidden = 0;
  double hidden_ns = 0;
  for (std::size_t i = top; i < rows.size(); ++i)
    hidden += rows[i].calls, hidden_ns += rows[i].total_ns;
  if (rows.size() > top) rows.resize(top);
  fitted_table table;
  table.cells.rows.resize(rows.size());
  for (const call_column& c : call_columns) {
    table.add_column({.header = c.header, .right = !c.text}, c.rank);
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.cells.rows[i].push_back(c.cell(rows[i], out));
  }
  table.fit(out);
  table.print(out);
  if (hidden != 0)
    out.paragraph(
        "",
        "not shown: " + format_count(hidden) + " calls of other functions, " + out.time(hidden_ns),
        2);
}

[[gnu::cold]] inline void print_call_legend(page& out) {
  out.space();
  out.line("Legend of the calls", line_style::bold);
  for (const call_column& c : call_columns) print_meaning(out, c.header, c.meaning);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
