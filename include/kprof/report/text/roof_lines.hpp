// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_ROOF_LINES_HPP
#define KPROF_REPORT_TEXT_ROOF_LINES_HPP

// The lines of the text report that say what the machine reaches at most, of the types that the
// program computes with. Included by write_text.hpp and table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/roofline_chart.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// "100 GFLOP/s a thread, 200 on 2".
[[gnu::cold]] inline std::string rate_text(const rate_ceiling& r, const char* unit,
                                           std::uint32_t threads, const page& out) {
  const std::string at_least = !r.is_lower_bound ? "" : out.ascii() ? ">= " : "\u2265 ";
  std::string text = at_least + format_si(r.one_thread, unit);
  if (threads > 1 && r.all_threads > 0)
    text += " a thread, " + format_si(r.all_threads, unit) + " on " + std::to_string(threads);
  return text;
}

/// The roof of the processors: "roof: f32 118 GFLOP/s a thread, 236 on 2 · DRAM 21 GB/s ...".
[[gnu::cold]] inline void print_cpu_roof(page& out, const profile& p) {
  const cpu_ceilings& cpu = p.machine.cpu;
  std::string text;
  const auto add = [&](const std::string& more) {
    text.append(text.empty() ? "" : out.dot()) += more;
  };
  for (const arithmetic_ceiling& a : cpu.arithmetic)
    if (a.operations.one_thread > 0 && computes_with(p, a.type))
      add(std::string{dtype_name(a.type)} + ' ' +
          rate_text(a.operations, "FLOP/s", cpu.threads, out));
  if (!cpu.memory.empty() && cpu.memory.back().read.one_thread > 0) {
    const memory_ceiling& m = cpu.memory.back();
    add(out.safe(m.level) + ' ' +
        rate_text(m.read.all_threads < m.triad.all_threads ? m.triad : m.read, "B/s", cpu.threads,
                  out));
  }
  if (text.empty()) return;
  if (!p.machine.source.empty()) add(out.safe(p.machine.source));
  out.paragraph("", "roof: " + text, 2);
}

/// The roof of a device: "roof of device 0: f16 989 TFLOP/s on tensor cores · ...".
[[gnu::cold]] inline void print_gpu_roof(page& out, const profile& p, std::size_t device) {
  const gpu_ceilings& gpu = p.machine.gpus[device];
  std::string text;
  const auto add = [&](const std::string& more) {
    text.append(text.empty() ? "" : out.dot()) += more;
  };
  for (const gpu_arithmetic_ceiling& a : gpu.arithmetic) {
    const bool tensor = a.on == arithmetic_unit::tensor_core;
    const auto is_slower = [&](const gpu_arithmetic_ceiling& other) {
      return other.type == a.type && other.on == a.on &&
             (other.operations > a.operations || (other.operations == a.operations && &other < &a));
    };
    if (std::any_of(gpu.arithmetic.begin(), gpu.arithmetic.end(), is_slower)) continue;
    if (computes_with(p, a.type) ||
        (tensor && a.type == dtype::tf32 && computes_with(p, dtype::f32)))
      add(std::string{dtype_name(a.type)} + (tensor ? " on tensor cores " : " ") +
          format_si(a.operations, "FLOP/s"));
  }
  if (gpu.memory_bytes > 0) add(format_si(gpu.memory_bytes, "B/s"));
  if (!text.empty())
    out.paragraph("", "roof of device " + std::to_string(p.device.devices[device].id) + ": " + text,
                  2);
}

[[gnu::cold]] inline void print_roofs(page& out, const profile& p) {
  bool on_device = false;
  for (std::size_t i = 0; i < std::min(p.machine.gpus.size(), p.device.devices.size()); ++i)
    if (p.device.devices[i].sum_ns > 0) print_gpu_roof(out, p, i), on_device = true;
  if (!on_device) print_cpu_roof(out, p);
}

/// Operators that must have run on more threads than the one that called them.
[[gnu::cold]] inline void print_several_threads(page& out, const profile& p) {
  const roofline roofs(p, device_sums(p));
  if (roofs.several_threads.empty()) return;
  std::vector<std::string> names;
  for (const std::string_view name : roofs.several_threads) names.emplace_back(name);
  out.list("faster than one thread can be, so held against the roof of all " +
               std::to_string(p.machine.cpu.threads) + " CPUs: ",
           names);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
