// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_KERNELS_HPP
#define KPROF_REPORT_TEXT_KERNELS_HPP

// The section of kernels of the text report: their table, and under it why a number is missing.
// Included by the text report.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/model/launch_places.hpp>
#include <kprof/model/sorted_order.hpp>
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
#include <map>
#include <string>
#include <string_view>
#include <tuple>
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

  /// Rows that differ in their launch configurations alone.
  struct configurations : hidden {
    std::string kernel;
    double most_share = 0;  // of a row
  };

  std::vector<kernel_row> rows;
  std::vector<configurations> folded;
  hidden filtered, cut;
  bool summed = false;   // launch configurations of a kernel are in one row
  bool outside = false;  // all are outside any operator

  [[gnu::cold]] chosen_kernels(const profile& p, const text_plan& plan) {
    const grouping by = plan.by.without(group_key::step);  // devices' work is not told apart by it
    std::vector<bool> kept(p.device.work.size(), true);
    if (plan.filter.active()) {
      kept = matching(p, plan.filter);
      kept.flip();
      for (const kernel_row& row : kernel_summing(p, by, kept).finish()) filtered.add(row);
      kept.flip();
    }
    rows = kernel_summing(p, by, kept).finish();
    if (!plan.by_launch) sum_launches(p, by, kept);
    outside = !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const kernel_row& row) {
      return row.place == launch_place::outside_operators;
    });
    if (plan.options.top > 0 && plan.by == grouping{}) fold_configurations();
    // no line that says of two rows that they are left out
    if (plan.kernels_top > 0 && rows.size() <= std::min(plan.kernels_top + 2, plan.options.top))
      return;
    while (plan.kernels_top > 0 && rows.size() > plan.kernels_top) {
      cut.add(rows.back());
      rows.pop_back();
    }
  }

 private:
  /// A kernel outside of operators gets one row on each device, whatever its launches. What the
  /// operators are for, that is to tell the shapes of a kernel apart, nobody has said there.
  [[gnu::cold]] void sum_launches(const profile& p, const grouping& by, std::vector<bool> kept) {
    const launch_places places(p);
    for (std::size_t i = 0; i < kept.size(); ++i)
      kept[i] = kept[i] && places.of(p.device.work[i]).place != launch_place::in_operator;
    std::vector<kernel_row> all;
    std::vector<std::uint32_t> devices;
    for (kernel_row& row : rows)
      if (row.place == launch_place::in_operator) all.push_back(std::move(row));
      else if (std::find(devices.begin(), devices.end(), row.device) == devices.end())
        devices.push_back(row.device);
    for (const std::uint32_t device : devices) {
      std::vector<bool> of_device = kept;
      for (std::size_t i = 0; i < kept.size(); ++i)
        of_device[i] = kept[i] && p.device.work[i].device == device;
      for (kernel_row& row :
           kernel_summing(p, by.without(group_key::parameters), of_device).finish())
        all.push_back(std::move(row));
    }
    summed = all.size() < rows.size();
    rows.clear();
    for (const std::uint32_t i : sorted_order(all.size(), [&](std::uint32_t x, std::uint32_t y) {
           return all[x].total_ns > all[y].total_ns;
         }))
      rows.push_back(std::move(all[i]));
  }

  static constexpr double small_share = 0.01;
  static constexpr std::size_t most_small = 8;  // rows of one kernel

  /// Where a kernel of an operator has many rows, each small, as one whose blocks grow with a
  /// cache, these become one line.
  [[gnu::cold]] void fold_configurations() {
    using of_kernel = std::tuple<std::uint32_t, std::string_view, std::string_view, std::uint32_t>;
    const auto key_of = [](const kernel_row& row) {
      return of_kernel{row.node, row.kernel, row.pass, row.device};
    };
    std::map<of_kernel, std::vector<std::size_t>> by_kernel;  // small rows
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].share < small_share && !rows[i].kernel.empty())
        by_kernel[key_of(rows[i])].push_back(i);
    std::size_t many = 0;
    for (const auto& [key, some] : by_kernel) many += some.size() > most_small ? some.size() : 0;
    // Not all rows: the largest stays.
    if (many == rows.size() && many > 0)
      for (auto& [key, some] : by_kernel)
        if (some[0] == 0) some.erase(some.begin());
    std::vector<char> is_folded(rows.size());
    for (const auto& [key, some] : by_kernel) {
      if (some.size() <= most_small) continue;
      configurations line;
      line.kernel = rows[some[0]].kernel;
      for (const std::size_t i : some) {
        line.add(rows[i]);
        line.most_share = std::max(line.most_share, rows[i].share);
        is_folded[i] = 1;
      }
      auto at = folded.begin();
      while (at != folded.end() && at->ns >= line.ns) ++at;
      folded.insert(at, std::move(line));
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (is_folded[i] == 0 && left++ != i) rows[left - 1] = std::move(rows[i]);
    rows.resize(left);
  }

  // The operator around the launch, or the kernel.
  [[gnu::cold]] static std::vector<bool> matching(const profile& p, const name_filter& filter) {
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
  const std::string dots = out.ascii() ? "... " : "\u2026 ";
  for (const chosen_kernels::configurations& c : chosen.folded) {
    all.rows += c.rows, all.calls += c.calls, all.ns += c.ns;
    table.add_total({dots + format_count(c.rows) + " configurations of " +
                         printable(c.kernel, 40, out.ascii()) + ", each at most " +
                         format_share(c.most_share),
                     c.calls, c.ns, true});
  }
  if (chosen.cut.rows > 0)
    table.add_total({dots + counted(chosen.cut.rows, "more row", "more rows") +
                         (plan.kernels_top < plan.options.top ? " (kernels=on: up to " : " (top=") +
                         std::to_string(plan.options.top) + ')',
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
  out.paragraph("",
                "Kernels, sorted by total; share is of " + out.time(plan.all_device_ns) +
                    " of device time" + (chosen.outside ? "; all are outside any operator" : "") +
                    (chosen.summed ? "; a row for each launch configuration: kernels=on" : ""),
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
