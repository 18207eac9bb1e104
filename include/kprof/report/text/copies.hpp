// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_COPIES_HPP
#define KPROF_REPORT_TEXT_COPIES_HPP

// The table of copies and memsets of the text report. Included by the text report.

#include <kprof/build_options.hpp>
#include <kprof/model/copy_table.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/fitted_table.hpp>
#include <kprof/report/text/hidden_rows.hpp>
#include <kprof/report/text/lines.hpp>
#include <kprof/report/text/matching_operators.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline std::string kind_cell(const copy_row& row, const page&) {
  return copy_name(row);
}

struct copy_column {
  const char* header;
  unsigned rank;  // where not all fit, the highest goes first
  bool text;
  bool number;  // can be summed
  std::string (*cell)(const copy_row&, const page&);
  const char* meaning;
};

inline constexpr copy_column copy_columns[] = {
    {"kind", 1, true, false, &kind_cell, "where a copy went, or memset"},
    {"from", 6, true, false,
     [](const copy_row& row, const page&) -> std::string {
       return row.task == device_task::set ? "" : memory_name(row.from);
     },
     "kind of memory that was read; copies from and to pageable memory go through a buffer of the "
     "driver"},
    {"to", 7, true, false,
     [](const copy_row& row, const page&) -> std::string { return memory_name(row.to); },
     "kind of memory that was written"},
    {"device", 9, false, false,
     [](const copy_row& row, const page&) { return std::to_string(row.device); },
     "number of the device, as CUDA has it"},
    {"calls", 4, false, true,
     [](const copy_row& row, const page&) { return calls_cell(row.calls); }, "copies or memsets"},
    {"bytes", 3, false, true,
     [](const copy_row& row, const page&) { return format_memory(row.bytes); },
     "copied or set, summed"},
    {"total", 2, false, true,
     [](const copy_row& row, const page& out) { return out.time(row.total_ns); },
     "time on the device, summed"},
    {"share", 8, false, true,
     [](const copy_row& row, const page&) { return format_share(row.share); },
     "total / time of all kernels, copies and memsets"},
    {"GB/s", 5, false, true,
     [](const copy_row& row, const page& out) {
       return row.bytes_per_s.known() ? number_cell(look::rate, row.bytes_per_s.value, out) : "n/a";
     },
     "10^9 bytes a second: bytes / total; these are counted, not by a formula"},
};

/// Of all rows: a row whose kind is no copy's.
[[gnu::cold]] inline copy_row sum_of(const std::vector<copy_row>& rows, double all_device_ns) {
  copy_row sum;
  for (const copy_row& row : rows) {
    sum.calls += row.calls;
    sum.untimed += row.untimed;
    sum.bytes += row.bytes;
    sum.total_ns += row.total_ns;
  }
  sum.share = share_of(sum.total_ns, all_device_ns);
  const absence timed = device_time_known({.copies = sum.calls, .untimed = sum.untimed});
  sum.bytes_per_s =
      ratio({static_cast<double>(sum.bytes), timed}, sum.total_ns * 1e-9, absence::no_time);
  return sum;
}

[[gnu::cold]] inline void print_copies(page& out, const profile& p, const text_plan& plan) {
  const bool filtered = plan.filter.active();
  const std::vector<bool> matches =
      filtered ? matching_operators(p, plan.filter) : std::vector<bool>{};
  const auto match = [&](const device_work& w) {
    const std::uint32_t node = scope_of(p, w);
    return !filtered || (node != scope_node::none && matches[node]);
  };
  const std::vector<copy_row> rows = copy_table(p, match);
  std::uint64_t hidden = 0;
  double hidden_ns = 0;
  if (filtered)
    for (const copy_row& row : copy_table(p, [&](const device_work& w) { return !match(w); }))
      hidden += row.calls, hidden_ns += row.total_ns;
  if (rows.empty() && hidden == 0) return;
  out.space();
  out.paragraph("",
                "Copies and memsets, sorted by total; share is of " + out.time(plan.all_device_ns) +
                    " of device time",
                2, line_style::bold);
  out.space();
  if (rows.empty()) {
    out.line("no copy is of an operator that matches the filter");
  } else {
    fitted_table table;
    const copy_row all = sum_of(rows, plan.all_device_ns);
    table.cells.rows.resize(rows.size() + 1);
    for (const copy_column& c : copy_columns) {
      table.add_column({.header = c.header, .right = !c.text}, c.rank);
      for (std::size_t i = 0; i < rows.size(); ++i)
        table.cells.rows[i].push_back(c.cell(rows[i], out));
      table.cells.rows.back().push_back(c.number ? c.cell(all, out) : "");
      if (std::string_view{c.header} == "GB/s")
        table.cells.align_points(table.cells.columns.size() - 1);
    }
    table.cells.rows.back()[0] = filtered ? "copies that match" : "all copies";
    table.cells.looks.resize(rows.size() + 1);
    table.cells.looks.back() = {.span = 2, .rule_before = true};
    table.fit(out);
    table.cells.looks.back().span = std::min(table.column("calls"), table.column("bytes"));
    table.print(out);
    for (const absence why : {absence::untimed, absence::no_time})
      if (std::any_of(rows.begin(), rows.end(),
                      [&](const copy_row& row) { return row.bytes_per_s.why == why; }))
        out.paragraph("", "n/a, " + std::string{explain(why)}, 2, line_style::notice);
  }
  if (hidden > 0)
    out.paragraph("",
                  "filtered out: " + format_count(hidden) + ' ' + filtered_by(out, plan) + ": " +
                      out.time(hidden_ns) + ", " +
                      format_share(share_of(hidden_ns, plan.all_device_ns)),
                  2);
}

[[gnu::cold]] inline void print_copy_legend(page& out) {
  out.space();
  out.line("Legend of the copies", line_style::bold);
  for (const copy_column& c : copy_columns) print_meaning(out, c.header, c.meaning);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
