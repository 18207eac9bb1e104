// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_KERNELS_HPP
#define KPROF_REPORT_TEXT_KERNELS_HPP

// The table of kernels of the text report. Included by the text report. A column is one line of the
// table below.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_name.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/concerned_names.hpp>
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
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline std::string operator_cell(const kernel_row& row, const page&) {
  if (row.place == launch_place::unknown) return "(unknown)";
  if (row.place == launch_place::outside_operators) return "(outside)";
  if (row.operators > 1) return format_count(row.operators) + " operators";
  return row.op.empty() ? "(no name)" : row.op;
}

[[gnu::cold]] inline std::string parameters_cell(const kernel_row& row, const page&) {
  const std::string keys = keys_text(row.values);
  const std::string text =
      row.variants > 1 && row.parameters.empty()
          ? keys + (keys.empty() ? "" : " ") + format_count(row.variants) + " variants"
      : row.parameters_merged
          ? "(not kept)"
          : keys + (keys.empty() || row.parameters.empty() ? "" : " ") + row.parameters;
  if (row.variants > 1 && row.parameters.empty()) return text;
  if (!row.invalid) return text;
  return text.empty() ? "invalid" : "invalid: " + text;
}

[[gnu::cold]] inline std::string region_cell(const kernel_row& row, const page&) {
  return (row.regions > 1 ? format_count(row.regions) + " regions" : row.region) +
         (row.also_in_none ? ", none" : "");
}
[[gnu::cold]] inline std::string pass_cell(const kernel_row& row, const page&) {
  return row.several_passes ? "several" : row.pass;
}
[[gnu::cold]] inline std::string kernel_cell(const kernel_row& row, const page&) {
  return row.kernel.empty() ? "(other kernels)" : short_kernel_name(row.kernel);
}

/// "128x4": without the ones at the end; "n/a" where nothing is known.
[[gnu::cold]] inline std::string extent_cell(const kernel_row& row,
                                             const std::uint32_t (&extent)[3]) {
  if (row.several_configurations) return "several";
  if (extent[0] == 0) return "n/a";
  std::string text = std::to_string(extent[0]);
  const int last = extent[2] > 1 ? 2 : extent[1] > 1 ? 1 : 0;
  for (int i = 1; i <= last; ++i) text += 'x' + std::to_string(extent[i]);
  return text;
}

[[gnu::cold]] inline std::string figure_cell(const figure& f, look as, const page& out) {
  return f.known() ? number_cell(as, f.value, out) : "n/a";
}

[[gnu::cold]] inline std::string tensor_cell(const kernel_row& row, const page&) {
  switch (row.tensor_core) {
    case tensor_use::yes_by_name: return "yes (name)";
    case tensor_use::yes_declared: return "yes (declared)";
    case tensor_use::no_declared: return "no (declared)";
    case tensor_use::unknown: break;
  }
  return "unknown";
}

struct kernel_column {
  const char* header;
  unsigned rank;  // where not all fit, the highest goes first
  bool text;
  std::size_t least;  // how far it may shrink, on a narrow page to a third of it; 0: not at all
  std::string (*cell)(const kernel_row&, const page&);
  const char* meaning;
};

inline constexpr kernel_column kernel_columns[] = {
    {"operator", 1, true, 10, &operator_cell,
     "innermost operator around the launch; (outside): there is none, (unknown): the launch was "
     "not seen"},
    {"parameters", 8, true, 16, &parameters_cell, "of its calls"},
    {"region", 10, true, 10, &region_cell,
     "innermost region around the launch, in the operator or around it, or how many different "
     "ones; a row each with by=parameters+region"},
    {"pass", 9, true, 0, &pass_cell,
     "value of the field `pass` of the innermost operator that has one"},
    {"kernel", 2, true, 32, &kernel_cell, "name of the kernel, made short; whole with full_names"},
    {"calls", 4, false, 0, [](const kernel_row& row, const page&) { return calls_cell(row.calls); },
     "runs of the kernel"},
    {"total", 3, false, 0,
     [](const kernel_row& row, const page& out) { return out.time(row.total_ns); },
     "time on the device, summed; what ran at the same time counts each"},
    {"share", 5, false, 0,
     [](const kernel_row& row, const page&) { return format_share(row.share); },
     "total / time of all kernels, copies and memsets"},
    {"mean", 6, false, 0,
     [](const kernel_row& row, const page& out) {
       return figure_cell(row.mean_ns, look::time, out);
     },
     "time of a run"},
    {"min", 17, false, 0,
     [](const kernel_row& row, const page& out) {
       return figure_cell(row.min_ns, look::time, out);
     },
     "the shortest run"},
    {"max", 18, false, 0,
     [](const kernel_row& row, const page& out) {
       return figure_cell(row.max_ns, look::time, out);
     },
     "the longest run"},
    {"device", 19, false, 0,
     [](const kernel_row& row, const page&) {
       return row.several_devices ? "several" : std::to_string(row.device);
     },
     "number of the device, as CUDA has it"},
    {"stream", 20, false, 0,
     [](const kernel_row& row, const page&) {
       return row.streams > 1 ? format_count(row.streams) + " streams" : std::to_string(row.stream);
     },
     "number of the stream, as CUPTI has it, or how many different ones; a row each with "
     "by=parameters+thread"},
    {"grid", 12, true, 0,
     [](const kernel_row& row, const page&) { return extent_cell(row, row.grid); },
     "blocks of a launch"},
    {"block", 13, true, 0,
     [](const kernel_row& row, const page&) { return extent_cell(row, row.block); },
     "threads of a block"},
    {"registers", 15, false, 0,
     [](const kernel_row& row, const page&) {
       return row.several_configurations ? "several" : std::to_string(row.registers);
     },
     "registers of a thread"},
    {"shared", 16, false, 0,
     [](const kernel_row& row, const page&) {
       return row.several_configurations ? "several" : format_memory(row.shared);
     },
     "shared memory of a block, static and dynamic"},
    {"FLOPs", 11, false, 0,
     [](const kernel_row& row, const page& out) { return figure_cell(row.flops, look::si, out); },
     "flops() of the operator's calls, where each runs this kernel and no other; k M G T P E = "
     "10^3 to 10^18"},
    {"bytes", 14, false, 0,
     [](const kernel_row& row, const page& out) { return figure_cell(row.bytes, look::si, out); },
     "bytes() of them, read + written; by the formula, not measured traffic"},
    {"tensor core", 7, true, 0, &tensor_cell,
     "whether the kernel computes on tensor cores, and how that is known: by its name, which never "
     "says no, or declared by arithmetic() "
     "of an operator; of one that runs several kernels, only `no` holds for each"},
};

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
    void print(page& out, const std::string& what, const std::string& why,
               const text_plan& plan) const {
      if (rows == 0) return;
      out.paragraph("",
                    what + ": " + format_count(rows) + ' ' + why + ": " +
                        counted(calls, "run", "runs") + ", " + out.time(ns) + ", " +
                        format_share(share_of(ns, plan.all_device_ns)),
                    2);
    }
  };

  std::vector<kernel_row> rows;
  hidden filtered, cut;

  [[gnu::cold]] chosen_kernels(const profile& p, const text_plan& plan) {
    if (!plan.filter.active()) {
      rows = kernel_table(p, plan.by);
    } else {
      const std::vector<bool> matches = matching(p, plan.filter);
      const auto match = [&](const device_work& w) {
        return matches[static_cast<std::size_t>(&w - p.device.work.data())];
      };
      for (const kernel_row& row :
           kernel_table(p, plan.by, [&](const device_work& w) { return !match(w); }))
        filtered.add(row);
      rows = kernel_table(p, plan.by, match);
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

inline bool tells_something(const kernel_column& c, const std::vector<kernel_row>& rows) noexcept {
  if (c.cell == static_cast<std::string (*)(const kernel_row&, const page&)>(&parameters_cell))
    return std::any_of(rows.begin(), rows.end(), [](const kernel_row& row) {
      return row.place == launch_place::in_operator;
    });
  if (c.cell == &region_cell)
    return std::any_of(rows.begin(), rows.end(),
                       [](const kernel_row& row) { return row.regions > 0; });
  if (c.cell == &pass_cell)
    return std::any_of(rows.begin(), rows.end(), [](const kernel_row& row) {
      return row.several_passes || !row.pass.empty();
    });
  return true;
}

[[gnu::cold]] inline void print_kernel_rows(page& out, const std::vector<kernel_row>& rows) {
  fitted_table table;
  table.cells.rows.resize(rows.size());
  const bool one_device = std::all_of(rows.begin(), rows.end(), [&](const kernel_row& row) {
    return !row.several_devices && row.device == rows[0].device;
  });
  for (const kernel_column& c : kernel_columns) {
    if (!tells_something(c, rows)) continue;
    table.add_column({.header = c.header,
                      .right = !c.text,
                      .keep_ends = c.cell == &kernel_cell,
                      .least = std::min(c.least, out.width() / 3)},
                     !one_device && std::string_view{c.header} == "device" ? 6 : c.rank);
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.cells.rows[i].push_back(c.cell(rows[i], out));
  }
  table.print(out);
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
      out.line("Whole names of the kernels");
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
      2);
  out.space();
  if (chosen.rows.empty()) {
    out.line("no kernel matches the filter");
  } else {
    print_kernel_rows(out, chosen.rows);
    print_kernel_absences(out, chosen.rows);
  }
  chosen.cut.print(out, "more rows", cut_by(plan, "by total"), plan);
  chosen.filtered.print(out, "filtered out", filtered_by(out, plan), plan);
  if (plan.options.full_names) print_full_names(out, chosen.rows);
}

[[gnu::cold]] inline void print_kernel_legend(page& out) {
  out.space();
  out.line("Legend of the kernels");
  for (const kernel_column& c : kernel_columns) print_meaning(out, c.header, c.meaning);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
