// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROOFLINE_CHART_HPP
#define KPROF_MODEL_ROOFLINE_CHART_HPP

// What a roofline chart shows: roofs, and a point for each row. Include it to draw one. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// A roof: rates of so many FLOPs a byte are at most min(flops_per_s, intensity * bytes_per_s).
struct chart_roof {
  std::string name;        ///< "f32, 1 thread", "f16 on tensor cores"
  double flops_per_s = 0;  ///< the flat part
  double bytes_per_s = 0;  ///< the slope

  double at(double flops_per_byte) const noexcept {
    return std::min(flops_per_s, flops_per_byte * bytes_per_s);
  }
};

/// A row under the roof.
struct chart_point {
  std::size_t row = 0;  ///< index in the rows that the chart was made of
  double flops_per_byte = 0;
  double flops_per_s = 0;
};

struct roofline_chart {
  std::vector<chart_roof> roofs;
  std::vector<chart_point> points;
  std::size_t left_out = 0;  ///< rows without FLOPs, bytes or time
};

namespace detail {

/// Whether an operator of the run says that it computes with that type.
inline bool computes_with(const profile& p, dtype type) noexcept {
  return std::any_of(p.nodes.begin(), p.nodes.end(), [&](const scope_node& n) {
    return n.work.has_flops && n.work.flops > 0 && computed_in(n.work.type) == type;
  });
}

[[gnu::cold]] inline void add_cpu_roofs(const profile& p, roofline_chart& chart) {
  const cpu_ceilings& cpu = p.machine.cpu;
  if (cpu.memory.empty()) return;
  const memory_ceiling& m = cpu.memory.back();
  for (const arithmetic_ceiling& a : cpu.arithmetic) {
    if (!computes_with(p, a.type)) continue;
    const std::string type = dtype_name(a.type);
    chart.roofs.push_back({type + ", 1 thread", a.operations.one_thread,
                           std::max(m.read.one_thread, m.triad.one_thread)});
    if (cpu.threads > 1)
      chart.roofs.push_back({type + ", " + std::to_string(cpu.threads) + " threads",
                             a.operations.all_threads,
                             std::max(m.read.all_threads, m.triad.all_threads)});
  }
}

/// The roofs of a device, by its index in device_profile::devices.
[[gnu::cold]] inline std::vector<chart_roof> roofs_of_device(const profile& p, std::size_t device) {
  std::vector<chart_roof> roofs;
  if (device >= p.machine.gpus.size()) return roofs;
  const gpu_ceilings& gpu = p.machine.gpus[device];
  for (const gpu_arithmetic_ceiling& a : gpu.arithmetic) {
    const bool tensor = a.on == arithmetic_unit::tensor_core;
    if (computes_with(p, a.type) ||
        (tensor && a.type == dtype::tf32 && computes_with(p, dtype::f32)))
      roofs.push_back({std::string{dtype_name(a.type)} + (tensor ? " on tensor cores" : ""),
                       a.operations, gpu.memory_bytes});
  }
  std::erase_if(roofs,
                [](const chart_roof& r) { return !(r.flops_per_s > 0) || !(r.bytes_per_s > 0); });
  return roofs;
}

/// Of the first device that worked.
[[gnu::cold]] inline std::vector<chart_roof> roofs_of_first_device(const profile& p) {
  for (std::size_t i = 0; i < p.device.devices.size(); ++i)
    if (p.device.devices[i].sum_ns > 0) return roofs_of_device(p, i);
  return {};
}

}  // namespace detail

/// The chart of rows of a profile: of those with work on a device where the run has any, else of
/// the host's. `roofs` is empty where the machine's ceilings are not known.
[[gnu::cold]] inline roofline_chart make_roofline_chart(const profile& p,
                                                        const std::vector<operator_row>& rows) {
  roofline_chart chart;
  const bool device = detail::has_device_work(p);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const operator_row& row = rows[i];
    if (row.on_device == device && row.flops_per_byte.known() && row.flops_per_byte.value > 0 &&
        row.flops_per_s.known() && row.flops_per_s.value > 0)
      chart.points.push_back({i, row.flops_per_byte.value, row.flops_per_s.value});
    else ++chart.left_out;
  }
  if (device) chart.roofs = detail::roofs_of_first_device(p);
  else detail::add_cpu_roofs(p, chart);
  std::erase_if(chart.roofs,
                [](const chart_roof& r) { return !(r.flops_per_s > 0) || !(r.bytes_per_s > 0); });
  return chart;
}

KPROF_DETAIL_END

#endif
