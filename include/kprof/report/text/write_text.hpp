// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_WRITE_TEXT_HPP
#define KPROF_REPORT_TEXT_WRITE_TEXT_HPP

// Defines write_text(), which text.hpp declares, where the session is compiled: the page from its
// first line to its last. The code of the report is marked cold: it runs once in a program, and is
// to be compiled quickly and to stay small.

#include <kprof/build_options.hpp>
#include <kprof/model/summary.hpp>
#include <kprof/model/timeline/time_summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/destination.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/text/advice_lines.hpp>
#include <kprof/report/text/calls.hpp>
#include <kprof/report/text/copies.hpp>
#include <kprof/report/text/device.hpp>
#include <kprof/report/text/device_time.hpp>
#include <kprof/report/text/footer.hpp>
#include <kprof/report/text/kernels.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/roof_lines.hpp>
#include <kprof/report/text/roofline_picture.hpp>
#include <kprof/report/text/slow_lines.hpp>
#include <kprof/report/text/step_lines.hpp>
#include <kprof/report/text/table.hpp>
#include <kprof/report/text/text_plan.hpp>
#include <kprof/report/text/timeline_lines.hpp>
#include <kprof/report/text/tree.hpp>
#include <kprof/status.hpp>
#include <kprof/write/within_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

KPROF_DETAIL_BEGIN

namespace detail {

/// " · 218 GFLOP at 9.16 GFLOP/s, 7% of the roof": what the formulas say of all calls, over the
/// time of the run, and of the roof in their own, which is said where it is less than half of the
/// run; where they say no FLOPs, bytes. At least that where parameters of some calls were not kept.
/// Without calls that are faster than the machine can be. Empty where they say neither.
[[gnu::cold]] inline std::string total_work_text(const profile& p, const page& out) {
  const roofline roofs(p, device_sums(p));
  const auto is_impossible = [&](const scope_node& n) {
    return roofs.of(static_cast<std::size_t>(&n - p.nodes.data())).is_impossible;
  };
  bool lacks_calls = false;
  std::uint64_t impossible = 0;  // calls
  for (const scope_node& n : p.nodes) {
    lacks_calls = lacks_calls || (n.kind == scope_kind::op && n.merged);
    if (is_impossible(n)) impossible += finished_calls(n);
  }
  const operator_row all =
      operator_total(p, [&](const scope_node& n) { return !n.merged && !is_impossible(n); });
  const bool computes = all.flops.known() && all.flops.value > 0;
  const figure amount = computes ? all.flops : all.bytes;
  if (!amount.known() || !(amount.value > 0)) return {};
  const std::string unit = computes ? "FLOP" : "B";
  std::string text = out.dot();
  if (lacks_calls) text += "at least ";
  text += format_si(amount.value, unit.c_str());
  const double running_ns = p.wall_ns - p.paused_ns;
  if (running_ns > 0)
    text += " at " + format_si(amount.value / (running_ns * 1e-9), (unit + "/s").c_str());
  const double time_ns = all.on_device ? all.device_total_ns : all.total_ns;
  const bool is_most_of_run = time_ns > 0.5 * running_ns;
  if (all.verdict.roof.known() && all.verdict.bound != bound_by::impossible)
    text.append(is_most_of_run ? ", " : std::string{out.dot()} + "operators ")
        .append(all.verdict.roof.at_most ? "at most "
                : is_most_of_run         ? ""
                                         : "at ")
        .append(format_share(all.verdict.roof.value) + " of the roof");
  if (impossible > 0)
    text += ", without " + counted(impossible, "impossible call", "impossible calls");
  return text;
}

[[gnu::cold]] inline void print_header(page& out, const profile& p) {
  std::uint64_t threads = 0;
  for (const thread_info& t : p.threads) threads += std::max<std::uint64_t>(1, t.merged);
  std::string text = "kprof";
  if (!p.program.empty()) text += out.dot() + printable(p.program, 40, out.ascii());
  text += out.dot() + out.time(p.wall_ns);
  if (p.paused_ns > 0) text += " (" + out.time(p.paused_ns) + " paused)";
  text += out.dot() + counted(threads, "thread", "threads");
  if (p.cpus > 0) text += " on " + counted(p.cpus, "CPU", "CPUs");
  text += total_work_text(p, out);
  if (!p.recording) text += out.dot() + (p.state.empty() ? "not recording" : out.safe(p.state));
  out.paragraph("", text, 2);
}

inline bool has_scopes(const profile& p) noexcept {
  return std::any_of(p.nodes.begin(), p.nodes.end(),
                     [](const scope_node& n) { return n.kind != scope_kind::root; });
}

[[gnu::cold]] KPROF_DETAIL_LOCAL inline status write_page(const profile& p,
                                                          const report_options& options,
                                                          std::string& out) {
  text_plan plan(options);
  if (status s = plan.prepare(); !s) return s;
  plan.look_at(p);
  const int width = options.width > 0 ? options.width : output_width(options.path);
  page page(static_cast<std::size_t>(std::clamp(width, 40, static_cast<int>(widest_page))),
            options.ascii, options.color.value_or(false));
  print_header(page, p);
  print_devices(page, p);
  print_roofs(page, p, options.details);
  if (plan.other) print_projected_on(page, p, *plan.other);
  for (const std::string& line : plan.complaints)
    page.paragraph("! ", page.safe(line), 4, line_style::notice);
  const time_summary times = time_summary_of(p);
  print_advice(page, p, plan, times);
  if (!has_scopes(p)) {
    page.space();
    page.line("no scopes were recorded");
    print_outside(page, p, plan);
  } else {
    if (options.table) print_table(page, p, plan);
    if (options.roofline) print_roofline(page, p, plan);
    if (plan.tree) print_tree(page, p, plan);
  }
  print_steps(page, p);
  if (plan.kernels) print_kernels(page, p, plan);
  if (plan.copies) print_copies(page, p, plan);
  print_device_times(page, p, times);
  if (options.timeline) print_timeline(page, p, plan, times);
  if (options.slowest) print_slow_calls(page, p, plan);
  if (options.api) print_calls(page, p, plan);
  if (options.legend) {
    print_legend(page, plan);
    if (plan.device && plan.kernels) print_kernel_legend(page);
    if (plan.device && plan.copies) print_copy_legend(page);
    if (options.api) print_call_legend(page);
  }
  print_footer(page, p, plan);
  out = page.take();
  return {};
}

}  // namespace detail

[[gnu::cold]] KPROF_DETAIL_SESSION status write_text(const profile& p,
                                                     const report_options& options,
                                                     std::string& out) {
  if (status s = detail::snapshot_error(p.state); !s) return s;
  return detail::within_memory([&] { return detail::write_page(p, options, out); });
}

KPROF_DETAIL_END

#endif
