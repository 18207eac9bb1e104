// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_ROOF_LINES_HPP
#define KPROF_REPORT_TEXT_ROOF_LINES_HPP

// The lines of the text report that say what the machine reaches at most, of the types that the
// program computes with. Included by write_text.hpp and table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/ceiling_rates.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/names.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/projection.hpp>
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

/// The roof of processors: "f32 118 GFLOP/s a thread, 236 on 2 · DRAM 21 GB/s ...".
[[gnu::cold]] inline std::string cpu_roof_text(const page& out, const profile& p,
                                               const cpu_ceilings& cpu) {
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
  return text;
}

/// A rate of a GPU: "3.35 TB/s"; where kprof measured, "3.02 TB/s (data sheet 3.35 TB/s)", and
/// "989 TFLOP/s by the data sheet" of what its kernels do not reach.
[[gnu::cold]] inline std::string gpu_rate_text(double rate, double by_table, const char* unit,
                                               bool is_measured, const gpu_ceilings& gpu) {
  std::string text = format_si(rate, unit);
  if (by_table > 0) text += " (data sheet " + format_si(by_table, unit) + ')';
  else if (!is_measured && !gpu.measured.empty()) text += " by the data sheet";
  return text;
}

/// The roof of a GPU: "f16 on tensor cores 989 TFLOP/s · 3.35 TB/s"; with `details` the clock too.
[[gnu::cold]] inline std::string gpu_roof_text(const page& out, const profile& p,
                                               const gpu_ceilings& gpu, bool details) {
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
          gpu_rate_text(a.operations, a.table_operations, "FLOP/s",
                        a.operations == a.measured_operations || a.source == "by hand", gpu));
  }
  if (gpu.memory_bytes > 0)
    add(gpu_rate_text(gpu.memory_bytes, gpu.table_memory_bytes, "B/s", true, gpu));
  if (!gpu.measured.empty() && !text.empty()) add("measured " + out.safe(gpu.measured));
  for (const std::string& note : gpu.notes)
    if (details || !note.starts_with(gpu_ceilings::clock_note)) add(out.safe(note));
  return text;
}

[[gnu::cold]] inline void print_roofs(page& out, const profile& p, bool details) {
  bool on_device = false;
  for (std::size_t i = 0; i < std::min(p.machine.gpus.size(), p.device.devices.size()); ++i) {
    if (!(p.device.devices[i].sum_ns > 0)) continue;
    on_device = true;
    if (const std::string text = gpu_roof_text(out, p, p.machine.gpus[i], details); !text.empty())
      out.paragraph("", "roof of device " + std::to_string(p.device.devices[i].id) + ": " + text,
                    2);
  }
  if (on_device) return;
  const cpu_ceilings& cpu = p.machine.cpu;
  std::string text = cpu_roof_text(out, p, cpu);
  // Who turned them off knows why.
  if (cpu.arithmetic.empty() && cpu.memory.empty() && !cpu.notes.empty() &&
      cpu.notes[0] != ceilings_turned_off)
    out.paragraph("", "roof: n/a, " + out.safe(cpu.notes[0]), 2);
  if (text.empty()) return;
  if (!p.machine.source.empty()) text += out.dot() + out.safe(p.machine.source);
  out.paragraph("", "roof: " + text, 2);
}

/// Says that rows are projected, and on what.
[[gnu::cold]] inline void print_projected_on(page& out, const profile& p, const other_machine& to) {
  const bool device = has_device_work(p), on_gpu = device || !to.has_cpu();
  std::string text = "projected on " + out.safe(to.name) + ": each row keeps its share of the roof";
  if (on_gpu && !device) text += "; launches, and copies to it and from it, are not in it";
  const std::string roof =
      on_gpu ? gpu_roof_text(out, p, to.gpu, true) : cpu_roof_text(out, p, to.cpu);
  if (!roof.empty()) text += out.dot() + roof;
  out.paragraph("", text, 2, line_style::notice);
}

/// Operators that must have run on more threads than the one that called them, and do not say on
/// how many: both roofs.
[[gnu::cold]] inline void print_several_threads(page& out, const profile& p) {
  const roofline roofs(p, device_sums(p));
  if (roofs.several_threads.empty()) return;
  std::vector<std::string> names, notes;
  for (const unsaid_threads& u : roofs.several_threads) {
    names.emplace_back(u.op);
    notes.push_back(u.time_ns > 0 ? ' ' + format_share(u.ideal_on_one_ns / u.time_ns) + " and " +
                                        format_share(u.ideal_on_all_ns / u.time_ns)
                                  : "");
  }
  out.list(
      "faster than one thread can be, so on several; threads() would say on how many. Of the "
      "roof of one, and of all " +
          std::to_string(p.machine.cpu.threads) + " CPUs as shown: ",
      names, notes);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
