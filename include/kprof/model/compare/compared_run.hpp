// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_COMPARE_COMPARED_RUN_HPP
#define KPROF_MODEL_COMPARE_COMPARED_RUN_HPP

// What a comparison needs of a run: a few numbers a row, so that many runs fit into memory.
// Included by compare.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/kernel_row.hpp>
#include <kprof/model/kernel_table.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/steps.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// A row of the operator table, by its key.
struct compared_row {
  std::uint64_t key = 0;
  std::string name, parameters;
  std::string brief;        ///< the parameters in the notation of the operator; empty: it has none
  std::string pass;         ///< empty: not known
  std::uint64_t calls = 0;  ///< replays of graphs too
  /// Times are those of the device's work of the row, else of the calls on the host.
  bool on_device = false;
  /// Of a call: on the host the median, on the device, where only sums are known, the mean.
  figure call_ns;
  figure mean_ns;       ///< the mean of a call
  double time_ns = 0;   ///< the row's own time in the run
  double share = 0;     ///< of the run's time in scopes or on the devices
  figure flops, bytes;  ///< of a call
};

/// A run, as far as comparisons look at it.
struct compared_run {
  std::string program;
  std::uint64_t start_realtime_ns = 0;  ///< 0: not known
  double ns = 0;                        ///< of the run, without pauses
  double step_ns = 0;                   ///< the median step; 0: the run has no two steps
  std::uint64_t steps = 0;
  bool on_device = false;  ///< times of rows are those of the devices
  std::uint64_t lost = 0;  ///< scopes and records that are not in the numbers
  std::vector<compared_row> rows;
  std::vector<compared_row> kernels;  ///< compared_kernels_of() says how they are named
  // Of the machine.
  std::uint32_t cpus = 0;         ///< 0: not known
  std::vector<std::string> gpus;  ///< that worked, by name
  machine_ceilings machine;
};

namespace detail {

[[gnu::cold]] inline compared_row compared_row_of(const profile& p, const operator_row& row,
                                                  bool device, double whole_ns) {
  compared_row out;
  out.key = row.key;
  out.name = row.name;
  out.parameters = row.parameters;
  if (row.variants == 1 && row.node < p.nodes.size()) out.brief = p.nodes[row.node].brief;
  if (row.pass != pass_kind::unknown) out.pass = pass_name(row.pass);
  out.calls = row.calls + row.replays;
  out.on_device = row.on_device;
  out.call_ns = row.on_device ? row.device_mean_ns : row.median_ns;
  out.mean_ns = row.on_device ? row.device_mean_ns : row.mean_ns;
  out.time_ns = not_negative(device ? row.device_ns : row.self_ns);
  out.share = whole_ns > 0 ? out.time_ns / whole_ns : 0;
  out.flops = row.flops_per_call;
  out.bytes = row.bytes_per_call;
  return out;
}

/// A row for each kernel of an operator, whatever its launch configuration: `name` is the kernel's,
/// `parameters` the operator's.
[[gnu::cold]] inline std::vector<compared_row> compared_kernels_of(const profile& p) {
  std::map<std::uint64_t, compared_row> by_key;
  for (const kernel_row& kernel : kernel_table(p)) {
    if (kernel.kernel.empty() || !(kernel.total_ns > 0)) continue;
    const std::uint64_t key = key_hash{}.add(kernel.kernel).add(kernel.op).add(kernel.pass).value();
    compared_row& row = by_key[key];
    row.key = key;
    row.name = kernel.kernel;
    row.parameters = kernel.op;
    row.pass = kernel.pass;
    row.on_device = true;
    row.calls += kernel.calls - kernel.untimed;
    row.time_ns += kernel.total_ns;
    row.share += kernel.share;
  }
  std::vector<compared_row> out;
  for (auto& [key, row] : by_key) {
    row.call_ns = row.mean_ns = figure{row.time_ns / static_cast<double>(row.calls)};
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace detail

/// Takes from a profile what compare() needs.
[[gnu::cold]] inline compared_run run_to_compare(const profile& p) {
  compared_run out;
  out.program = p.program;
  out.start_realtime_ns = p.clock.start_realtime_ns;
  out.ns = detail::not_negative(p.wall_ns - p.paused_ns);
  if (const std::vector<step_row> steps = step_table(p); !steps.empty() && steps[0].count > 1) {
    out.step_ns = steps[0].median_ns;
    out.steps = steps[0].count;
  }
  out.on_device = detail::has_device_work(p);
  out.lost = p.complete.dropped + p.complete.dropped_inside + p.device.complete.dropped;
  const double whole_ns = out.on_device ? detail::all_device_work(p).ns : detail::all_self_ns(p);
  for (const operator_row& row : operator_table(p))
    out.rows.push_back(detail::compared_row_of(p, row, out.on_device, whole_ns));
  if (out.on_device) out.kernels = detail::compared_kernels_of(p);
  out.cpus = p.cpus;
  for (const device_info& d : p.device.devices)
    if (d.sum_ns > 0) out.gpus.push_back(d.name);
  out.machine = p.machine;
  return out;
}

KPROF_DETAIL_END

#endif
