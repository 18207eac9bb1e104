// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_KERNELS_HPP
#define KPROF_REPORT_TEXT_KERNELS_HPP

// The section of kernels of the text report: their table, and under it why a number is missing.
// Included by the text report.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/concerned_names.hpp>
#include <kprof/report/text/hidden_rows.hpp>
#include <kprof/report/text/kernel_columns.hpp>
#include <kprof/report/text/kernel_grid.hpp>
#include <kprof/report/text/lines.hpp>
#include <kprof/report/text/matching_operators.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The rows of the table in their order, and what became of the others.
struct chosen_kernels {
  struct hidden {
    std::uint64_t rows = 0, calls = 0;
    double ns = 0;
    void add(const kernel_row& row) {
      ++rows;
      calls += row.calls;
      ns += row.total_ns;
    }
  };

  std::vector<kernel_row> rows;
  hidden filtered, cut;

  [[gnu::cold]] chosen_kernels(const profile& p, const text_plan& plan) {
    const grouping by = plan.by.without(group_key::step);  // devices' work is not told apart by it
    if (!plan.filter.active()) {
      rows = kernel_table(p, by);
    } else {
      const std::vector<bool> matches = matching(p, plan.filter);
      const auto match = [&](const device_work& w) {
        return matches[static_cast<std::size_t>(&w - p.device.work.data())];
      };
      for (const kernel_row& row :
           kernel_table(p, by, [&](const device_work& w) { return !match(w); }))
        filtered.add(row);
      rows = kernel_table(p, by, match);
    }
    while (plan.options.top > 0 && rows.size() > plan.options.top) {
      cut.add(rows.back());
      rows.pop_back();
    }
  }

 private:
  // The operator around the launch, or the kernel.
  static std::vector<bool> matching(const profile& p, const name_filter& filter) {
    const std::vector<bool> scopes = matching_operators(p, filter);
    std::vector<bool> kernels, matches;
    for (const std::string& name : p.device.kernels)
      kernels.push_back(filter.found_in(kernel_name(name)));
    for (const device_work& w : p.device.work) {
      const std::uint32_t node = scope_of(p, w);
      matches.push_back((node != scope_node::none && scopes[node]) ||
                        (w.kernel < kernels.size() && kernels[w.kernel]));
    }
    return matches;
  }
};

[[gnu::cold]] inline void print_kernel_rows(page& out, const profile& p, const text_plan& plan,
                                            const chosen_kernels& chosen) {
  kernel_grid table(out, p, plan, chosen.rows);
  chosen_kernels::hidden all = chosen.cut;
  for (const kernel_row& row : chosen.rows) all.add(row);
  if (chosen.cut.rows > 0)
    table.add_total({(out.ascii() ? "... " : "\u2026 ") +
                         counted(chosen.cut.rows, "more row", "more rows") +
                         " (top=" + std::to_string(plan.options.top) + ')',
                     chosen.cut.calls, chosen.cut.ns, true});
  table.add_total(
      {chosen.filtered.rows > 0 ? "kernels that match" : "all kernels", all.calls, all.ns});
  if (chosen.filtered.rows > 0)
    table.add_total(
        {"filtered out " + filtered_by(out, plan), chosen.filtered.calls, chosen.filtered.ns});
  table.print();
}

/// A line for each reason for which FLOPs or bytes are not known; that there is no operator is
/// plain to see.
[[gnu::cold]] inline void print_kernel_absences(page& out, const std::vector<kernel_row>& rows) {
  std::vector<std::string> names;
  for (const kernel_row& row : rows) names.push_back(operator_cell(row, out));
  const concerned_names concerned(std::move(names));
  for (const absence why : {absence::no_flops, absence::no_bytes, absence::invalid, absence::merged,
                            absence::several_kernels, absence::dropped, absence::lost,
                            absence::not_all_records, absence::untimed})
    concerned.print(out, "n/a, " + std::string{explain(why)} + ": ", [&](std::size_t i) {
      return rows[i].flops.why == why || rows[i].bytes.why == why || rows[i].mean_ns.why == why;
    });
}

/// The kernels of the rows by their whole names, each once.
[[gnu::cold]] inline void print_full_names(page& out, const std::vector<kernel_row>& rows) {
  text_numbers seen(rows.size());
  std::uint32_t count = 0;
  for (const kernel_row& row : rows) {
    if (row.kernel.empty() || seen.of(row.kernel) != count) continue;
    if (count++ == 0) {
      out.space();
      out.line("Whole names of the kernels", line_style::bold);
    }
    out.paragraph("  ", printable(row.kernel, 100'000, out.ascii()), 6);
  }
}

[[gnu::cold]] inline void print_kernels(page& out, const profile& p, const text_plan& plan) {
  if (std::none_of(p.device.work.begin(), p.device.work.end(),
                   [](const device_work& w) { return w.task == device_task::kernel; }))
    return;
  const chosen_kernels chosen(p, plan);
  out.space();
  out.paragraph(
      "",
      "Kernels, sorted by total; share is of " + out.time(plan.all_device_ns) + " of device time",
      2, line_style::bold);
  out.space();
  if (chosen.rows.empty()) {
    out.paragraph("",
                  "no kernel matches the filter; filtered out " + filtered_by(out, plan) + ": " +
                      counted(chosen.filtered.calls, "run", "runs") + ", " +
                      out.time(chosen.filtered.ns),
                  2);
  } else {
    print_kernel_rows(out, p, plan, chosen);
    print_kernel_absences(out, chosen.rows);
  }
  if (plan.options.full_names) print_full_names(out, chosen.rows);
}

[[gnu::cold]] inline void print_kernel_legend(page& out) {
  out.space();
  out.line("Legend of the kernels", line_style::bold);
  for (const kernel_column& c : kernel_columns) print_meaning(out, c.header, c.meaning);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
