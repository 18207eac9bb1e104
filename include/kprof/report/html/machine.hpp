// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_HTML_MACHINE_HPP
#define KPROF_REPORT_HTML_MACHINE_HPP

// The end of the page: what the machine reaches, what was recorded, and what this page lacks and
// how to get it. Included by html.hpp.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/model/roofline_chart.hpp>
#include <kprof/report/html/script_json.hpp>
#include <kprof/report/html/tables.hpp>
#include <kprof/report/text/footer.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

using labelled_texts = std::vector<std::pair<std::string, std::string>>;

[[gnu::cold]] inline std::string rate_of_page(const rate_ceiling& r, const char* unit) {
  if (!(r.one_thread > 0)) return {};
  std::string text = (r.is_lower_bound ? "\u2265 " : "") + format_si(r.one_thread, unit);
  if (r.all_threads > 0 && r.all_threads != r.one_thread)
    text += ", all " + format_si(r.all_threads, unit);
  return text;
}

[[gnu::cold]] inline labelled_texts ceiling_texts(const page_tables& t) {
  const machine_ceilings& m = t.run.machine;
  labelled_texts out;
  for (const gpu_ceilings& gpu : m.gpus) {
    for (const gpu_arithmetic_ceiling& a : gpu.arithmetic)
      if (a.operations > 0 && computes_with(t.run, a.type))
        out.emplace_back(std::string{dtype_name(a.type)} +
                             (a.on == arithmetic_unit::tensor_core ? " on tensor cores" : "") +
                             (a.table_operations > 0 ? ", measured" : ", data sheet"),
                         format_si(a.operations, "FLOP/s"));
    if (gpu.memory_bytes > 0)
      out.emplace_back(gpu.table_memory_bytes > 0 ? "memory, measured" : "memory, data sheet",
                       format_si(gpu.memory_bytes, "B/s"));
    if (gpu.l2_bytes > 0) out.emplace_back("L2", format_si(gpu.l2_bytes, "B/s"));
    break;
  }
  for (const arithmetic_ceiling& a : m.cpu.arithmetic)
    if (computes_with(t.run, a.type))
      out.emplace_back(std::string{dtype_name(a.type)} + ", one thread",
                       rate_of_page(a.operations, "FLOP/s"));
  for (const memory_ceiling& level : m.cpu.memory)
    out.emplace_back(level.level + ", one thread", rate_of_page(level.read, "B/s"));
  return out;
}

[[gnu::cold]] inline labelled_texts machine_texts(const page_tables& t) {
  const profile& p = t.run;
  labelled_texts out;
  for (const device_info& d : p.device.devices) {
    std::string text = d.name.empty() ? "not described" : d.name;
    if (d.multiprocessors > 0)
      text += ", " + format_count(d.multiprocessors) + " SMs, " + std::to_string(d.compute_major) +
              '.' + std::to_string(d.compute_minor);
    out.emplace_back("GPU " + std::to_string(d.id), text);
    if (d.memory_bytes > 0) out.emplace_back("its memory", format_memory(d.memory_bytes));
  }
  if (uses_device(p) && !p.device.state.empty()) out.emplace_back("records by", p.device.state);
  if (!p.machine.cpu.model.empty()) out.emplace_back("CPU", p.machine.cpu.model);
  if (p.cpus > 0) out.emplace_back("CPUs allowed", format_count(p.cpus));
  if (p.machine.cpu.clock_hz > 0)
    out.emplace_back("clock while measured", format_si(p.machine.cpu.clock_hz, "Hz"));
  if (!p.machine.source.empty()) out.emplace_back("ceilings", p.machine.source);
  if (!p.clock.source.empty()) out.emplace_back("clock", p.clock.source);
  return out;
}

[[gnu::cold]] inline labelled_texts recording_texts(const page_tables& t) {
  const profile& p = t.run;
  labelled_texts out{{"scopes", format_count(p.complete.recorded)},
                     {"dropped, invalid, open", format_count(p.complete.dropped) + ", " +
                                                    format_count(p.complete.invalid) + ", " +
                                                    format_count(p.complete.open)}};
  if (uses_device(p)) out.emplace_back("records", format_count(p.device.complete.records));
  if (p.cost.scope_ns > 0) out.emplace_back("a scope costs", format_time(p.cost.scope_ns));
  out.emplace_back(
      "memory",
      format_memory(p.cost.memory) +
          (p.cost.memory_limit > 0 ? " of " + format_memory(p.cost.memory_limit) : std::string{}));
  out.emplace_back("timeline", counted(p.complete.in_timeline, "scope", "scopes"));
  out.emplace_back("state", p.state);
  out.emplace_back("version", kprof_version());
  return out;
}

[[gnu::cold]] inline void put_machine(script_json& out, const page_tables& t) {
  const profile& p = t.run;
  const std::pair<const char*, labelled_texts> lists[] = {{"Ceilings", ceiling_texts(t)},
                                                          {"Machine", machine_texts(t)},
                                                          {"Recording", recording_texts(t)}};
  out.key("machine").open("[");
  for (const auto& [title, texts] : lists) {
    out.open("{");
    out.member("title", title);
    out.column("of", texts, [&](const auto& pair) {
      out.open("[");
      out.text(pair.first);
      out.text(pair.second);
      out.close("]");
    });
    out.close("}");
  }
  out.close("]");
  out.key("missing").open("[");
  const auto missing = [&](const std::string& what, const std::string& why,
                           const std::string& remedy) {
    out.open("[");
    for (const std::string& text : {what, why, remedy}) out.text(text);
    out.close("]");
  };
  if (p.steps.empty())
    missing("Steps", "the loop is not marked",
            "kprof::step() in the loop, or KPROF='step=NAME' for a region of that name");
  if (!t.device)
    missing("Kernels and copies",
            p.device.state.empty() ? "the program does not use CUDA" : p.device.state,
            "they appear when a program uses CUDA");
  if (p.timeline.empty() && p.device.timeline.items.empty())
    missing("Timeline", "the profile has no single scopes",
            "let the program write this page when it ends, or save(timeline=plain)");
  if (t.operators.rows.empty())
    missing("Operators", "no operator ran", "put guards around work: KPROF_OP(...)");
  else if (t.total.verdict.roof.why == absence::no_ceiling)
    missing("Shares of the roof", "the machine's ceilings are not known",
            "kprof ceilings measures them once; KPROF='ceilings=measure' for a GPU");
  out.close("]");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
