// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_KERNEL_COLUMNS_HPP
#define KPROF_REPORT_TEXT_KERNEL_COLUMNS_HPP

// The columns of the table of kernels: each is one line of the table below. Included by
// kernel_grid.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

[[gnu::cold]] inline std::string operator_cell(const kernel_row& row, const page&) {
  if (row.place == launch_place::unknown) return "(unknown)";
  if (row.place == launch_place::outside_operators) return "(outside)";
  if (row.operators > 1) return format_count(row.operators) + " operators";
  return row.op.empty() ? "(no name)" : row.op;
}

[[gnu::cold]] inline std::string region_text(const kernel_row& row, const char* outside) {
  std::string text = row.region;
  if (row.regions > 1) text = format_count(row.regions) + " regions";
  else if (row.regions == 1 && text.empty()) text = "(no name)";
  return row.also_in_none ? text + outside : text;
}
[[gnu::cold]] inline std::string region_cell(const kernel_row& row, const page&) {
  return region_text(row, ", outside");
}
[[gnu::cold]] inline std::string pass_cell(const kernel_row& row, const page&) {
  return row.several_passes ? "several" : row.pass;
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

[[gnu::cold]] inline std::string tensor_cell(const kernel_row& row, const page&) {
  switch (row.tensor_core) {
    case tensor_use::yes_by_name: return "yes (name)";
    case tensor_use::yes_declared: return "yes (declared)";
    case tensor_use::no_declared: return "no (declared)";
    case tensor_use::unknown: break;
  }
  return "unknown";
}

[[gnu::cold]] inline std::string occupancy_cell(const kernel_row& row, const page&) {
  const kernel_occupancy& o = row.occupancy;
  if (o.unknown != nullptr) return row.several_configurations ? "several" : "n/a";
  std::string text = format_share(o.share);
  if (o.share > 0.995) return text;
  return text + (o.limited_by_registers       ? " registers"
                 : o.limited_by_shared_memory ? " shared"
                 : o.limited_by_blocks        ? " blocks"
                                              : " warps");
}

/// A column of the table of kernels. Those up to `shared` say which kernel a row is of; the numbers
/// stand behind them.
struct kernel_column {
  const char* header;
  unsigned rank;  // where not all fit, the highest goes first
  bool text;
  std::size_t least;  // how far it may shrink, on a narrow page to a third of it; 0: not at all
  std::string (*cell)(const kernel_row&, const page&);  // null: laid out by kernel_grid
  const char* meaning;

  bool is(std::string_view name) const noexcept { return name == header; }
};

inline constexpr kernel_column kernel_columns[] = {
    {"operator", 1, true, 10, &operator_cell,
     "innermost operator around the launch; (outside): there is none, (unknown): the launch was "
     "not seen"},
    {"parameters", 8, true, 16, nullptr, "of its calls: what tells them apart"},
    {"region", 10, true, 10, &region_cell,
     "innermost region around the launch, in the operator or around it, or how many different "
     "ones; a row each with by=parameters+region"},
    {"pass", 9, true, 0, &pass_cell,
     "pass of the innermost operator that has one; where that is none that kprof knows, the value "
     "of its field `pass`"},
    {"kernel", 2, true, 32, nullptr,
     "name of the kernel, without namespaces, parameters and the template arguments that all "
     "kernels of this name have; whole with full_names"},
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
    {"FLOPs", 11, false, 0,
     [](const kernel_row& row, const page& out) { return figure_cell(row.flops, look::si, out); },
     "flops() of the operator's calls, where each runs this kernel and no other; k M G T P E = "
     "10^3 to 10^18"},
    {"bytes", 14, false, 0,
     [](const kernel_row& row, const page& out) { return figure_cell(row.bytes, look::si, out); },
     "bytes() of them, read + written; by the formula, not measured traffic"},
    {"roof", 6, false, 0,
     [](const kernel_row& row, const page& out) {
       return figure_cell(row.verdict.roof, look::share, out);
     },
     "the least time that the work takes on the device / total: 100 % is as fast as it can be"},
    {"bound", 7, true, 0,
     [](const kernel_row& row, const page&) { return std::string{bound_name(row.verdict.bound)}; },
     "what holds the kernel back, as in the table of operators"},
    {"waves", 11, false, 0,
     [](const kernel_row& row, const page&) {
       return row.occupancy.waves > 0 ? format_rate(row.occupancy.waves) : std::string{"n/a"};
     },
     "how often its blocks fill the device; of 1.1 waves the second is nearly empty"},
    {"occupancy", 12, true, 0, &occupancy_cell,
     "theoretical occupancy: warps that a multiprocessor holds at a time / most that it can hold, "
     "and what allows no more"},
    {"tiles", 13, true, 0,
     [](const kernel_row& row, const page&) {
       return row.tiles.share.known()
                  ? format_share(row.tiles.share.value) + " of " + std::to_string(row.tiles.rows) +
                        'x' + std::to_string(row.tiles.columns)
                  : std::string{"n/a"};
     },
     "of a product of matrices whose tile is in the kernel's name: the share of the tiles that is "
     "result, and their size; the rest reaches over its edges and is computed for nothing"},
    {"tensor core", 7, true, 0, &tensor_cell,
     "whether the kernel computes on tensor cores, and how that is known: by its name, which never "
     "says no, or declared by arithmetic() "
     "of an operator; of one that runs several kernels, only `no` holds for each"},
};

}  // namespace detail
KPROF_DETAIL_END

#endif
