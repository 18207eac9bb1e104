// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TIMELINE_LINES_HPP
#define KPROF_REPORT_TEXT_TIMELINE_LINES_HPP

// The section of report(timeline): all that kprof/timeline.hpp works out of a profile and that the
// sections "Steps" and "timeline of the devices" do not say. Included by write_text.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/device_steps.hpp>
#include <kprof/model/timeline/host_times.hpp>
#include <kprof/model/timeline/pass_links.hpp>
#include <kprof/model/timeline/passes.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/model/timeline/step_breakdown.hpp>
#include <kprof/model/timeline/time_summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/device_time.hpp>
#include <kprof/report/text/facts.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>
#include <kprof/report/text/timeline_device_lines.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The steps that the timeline has whole and that count.
struct detailed_steps {
  device_steps all;
  std::vector<interval> host;
  std::vector<interval> span;  // with their work on the devices
  weighted_steps marks;        // for how many steps of the run each stands
};

/// When the timeline has everything: single scopes and, where there are any, the devices' items.
[[gnu::cold]] inline interval known_times(const profile& p, const run_times& times,
                                          interval devices) {
  interval known = devices.length() > 0 ? devices : times.host;
  for (const timed_item& i : times.items)
    if (devices.length() == 0) known.end = std::max(known.end, i.span.end);
  if (p.complete.in_timeline < p.complete.recorded)
    known.begin = std::max(known.begin, whole_ns(p.wall_ns - p.complete.timeline_ns));
  return known;
}

[[gnu::cold]] inline detailed_steps detailed_steps_of(const profile& p, const run_times& times,
                                                      interval known) {
  detailed_steps out;
  out.all = steps_of(p, times);
  std::vector<marked_length> marks;
  for (const device_step& s : out.all.steps) {
    if (!s.counts || s.span.begin < known.begin || s.span.end > known.end) continue;
    out.host.push_back(s.host);
    out.span.push_back(s.span);
    marks.push_back({s.index, static_cast<double>(s.host.length())});
  }
  out.marks = weights_of_steps(p, out.all.thread, marks);
  return out;
}

/// Means over `count` steps in whole nanoseconds, whose sum is the mean of the steps, rounded.
template <std::size_t N>
[[gnu::cold]] std::vector<std::int64_t> means_of(const double (&sums)[N], double count) {
  std::vector<std::int64_t> out;
  double sum = 0;
  std::int64_t before = 0;
  for (const double part : sums) {
    sum += part;
    const auto until = static_cast<std::int64_t>(std::floor(sum / count + 0.5));
    out.push_back(until - before);
    before = until;
  }
  return out;
}

/// "6,461,230 ns  65.0%", or "-".
[[gnu::cold]] inline std::string mean_cell(std::int64_t ns, std::int64_t whole) {
  if (ns == 0) return "-";
  return format_count(static_cast<std::uint64_t>(ns)) + " ns  " + share_of(ns, whole);
}

class timeline_section {
 public:
  timeline_section(page& out, const profile& p, const run_times& times, interval window,
                   std::size_t most)
      : out_(out),
        p_(p),
        times_(times),
        most_(most),
        known_(known_times(p, times, window)),
        steps_(detailed_steps_of(p, times, known_)) {}

  [[gnu::cold]] void print_steps() {
    if (p_.steps.empty()) return;
    const device_steps& all = steps_.all;
    std::string left_out;
    const auto add = [&](std::uint64_t count, const char* why) {
      if (count != 0) left_out += (left_out.empty() ? "" : ", ") + format_count(count) + " " + why;
    };
    add(all.steps.size() - steps_.span.size(), "that the timeline has not whole or do not count");
    add(all.idle, "at the end without device work");
    add(all.cut, "at the end with far less device work than the one before");
    add(all.nested, "inside another one");
    add(all.odd, "that end before they begin");
    add(all.elsewhere, "of other threads");
    const std::string rest = left_out.empty() ? std::string{} : "; left out: " + left_out;
    out_.space();
    if (steps_.span.empty()) {
      out_.paragraph("",
                     "Where a step goes: n/a, there is no step that the timeline has whole" + rest,
                     2, line_style::bold);
      return;
    }
    const weighted_steps& marks = steps_.marks;
    out_.paragraph(
        "",
        "Where a step goes: means of " +
            (marks.thinned ? format_count(static_cast<std::uint64_t>(marks.steps)) +
                                 " steps, estimated by the " + format_count(marks.weights.size()) +
                                 " whose marks are kept"
                           : counted(steps_.span.size(), "step", "steps")) +
            rest,
        2, line_style::bold);
    print_breakdown();
  }

  [[gnu::cold]] void print_host() {
    if (steps_.host.empty() || p_.timeline.empty()) return;
    const host_breakdown host = host_breakdown_of(p_, times_, steps_.host, steps_.all.thread);
    if (host.steps.empty()) return;
    double sums[host_states] = {};
    for (std::size_t n = 0; n < host.steps.size(); ++n)
      for (std::size_t i = 0; i < host_states; ++i)
        sums[i] += steps_.marks.weights[n] * static_cast<double>(host.steps[n].in[i]);
    const std::vector<std::int64_t> means = means_of(sums, steps_.marks.steps);
    std::int64_t whole = 0;
    for (const std::int64_t ns : means) whole += ns;
    constexpr const char* names[host_states] = {"in calls that wait", "in other calls",
                                                "in operators", "in regions", "outside scopes"};
    out_.space();
    out_.line("The thread that steps", line_style::bold);
    text_cells cells{{"host", "mean of a step"}};
    for (std::size_t i = 0; i < host_states; ++i)
      if (means[i] != 0) cells.push_back({names[i], mean_cell(means[i], whole)});
    cells.push_back({"the step on the host", mean_cell(whole, whole)});
    print_cells(out_, cells);
    print_fact(out_, "mostly", told_names(out_, host.by, 5, "outside scopes") + " in all of them");
  }

  /// Threads in scopes at a time against the CPUs that the program may use.
  [[gnu::cold]] void print_threads() {
    if (p_.timeline.empty()) return;
    interval window = known_;
    if (!steps_.host.empty()) window = {steps_.host.front().begin, steps_.host.back().end};
    const thread_use use = thread_use_of(p_, times_, window);
    const std::int64_t whole = use.window.length();
    if (whole == 0) return;
    out_.space();
    out_.line("Threads in scopes at a time", line_style::bold);
    std::string text;
    std::int64_t more = 0;
    for (std::size_t n = 0; n < use.ns_with.size(); ++n) {
      if (n > 16) more += use.ns_with[n];
      else if (use.ns_with[n] != 0)
        text += (text.empty() ? "" : ", ") + std::to_string(n) + " for " +
                share_of(use.ns_with[n], whole);
    }
    if (more != 0) text += ", more for " + share_of(more, whole);
    text += " of " + out_.time(static_cast<double>(whole)) + "; " + format_rate(use.mean) +
            " on average while any is";
    if (use.cpus == 0) text += "; the CPUs that the program may use are not known";
    else
      text += "; the program may use " + counted(use.cpus, "CPU", "CPUs") +
              (use.too_many > 0 ? "; more threads than that for " + share_of(use.too_many, whole)
                                : std::string{});
    print_fact(out_, "threads", text);
  }

  /// Backward calls and the forward calls that they belong to, and the ratios of their times.
  [[gnu::cold]] void print_passes() {
    text_cells cells{{"operator", "layer", "forward", "backward", "ratio", "of FLOPs"}};
    for (const direction_row& row : directions_of(p_)) {
      if (row.ratio() < 0) continue;
      cells.push_back({printable(row.op, 24, out_.ascii()),
                       row.layer.empty() ? "-" : printable_end(row.layer, 24, out_.ascii()),
                       out_.time(row.ns[static_cast<std::size_t>(direction::forward)]),
                       out_.time(row.ns[static_cast<std::size_t>(direction::backward)]),
                       format_rate(row.ratio()),
                       row.formula_ratio() < 0 ? "n/a" : format_rate(row.formula_ratio())});
    }
    if (cells.size() == 1) return;
    out_.space();
    out_.line("Backward against forward", line_style::bold);
    print_first_cells(out_, std::move(cells), most_, "more operator", "more operators");
    if (!p_.timeline.empty() && !steps_.host.empty()) print_links();
  }

 private:
  [[gnu::cold]] void print_breakdown() {
    std::vector<std::uint32_t> devices = times_.devices();
    if (devices.size() > 4) devices.resize(4);
    if (devices.size() < 2) devices.clear();
    devices.insert(devices.begin(), all_devices);
    constexpr const char* names[time_uses] = {"kernel",       "copy",  "memset",   "communication",
                                              "call of CUDA", "input", "operator", "other"};
    text_cells cells(time_uses + 2);
    cells[0] = {"use"};
    for (std::size_t use = 0; use < time_uses; ++use) cells[use + 1] = {names[use]};
    cells.back() = {"the step"};
    std::vector<char> is_used(time_uses);
    for (const std::uint32_t device : devices) {
      double sums[time_uses] = {};
      std::int64_t whole = 0;
      const std::vector<step_breakdown> rows = breakdown_of(p_, times_, steps_.span, device);
      for (std::size_t n = 0; n < rows.size(); ++n)
        for (std::size_t use = 0; use < time_uses; ++use)
          sums[use] += steps_.marks.weights[n] * static_cast<double>(rows[n].part[use]);
      const std::vector<std::int64_t> means = means_of(sums, steps_.marks.steps);
      for (const std::int64_t ns : means) whole += ns;
      cells[0].push_back(devices.size() == 1     ? "mean of a step"
                         : device == all_devices ? "all devices"
                                                 : "device " + std::to_string(device));
      for (std::size_t use = 0; use < time_uses; ++use) {
        cells[use + 1].push_back(mean_cell(means[use], whole));
        if (sums[use] > 0) is_used[use] = 1;
      }
      cells.back().push_back(mean_cell(whole, whole));
    }
    for (std::size_t use = time_uses; use-- > 0;)
      if (is_used[use] == 0) cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(use) + 1);
    print_cells(out_, cells);
    print_overlap();
  }

  /// What ran beside what, which the uses do not tell.
  [[gnu::cold]] void print_overlap() {
    std::int64_t computation = 0, communication = 0, overlap = 0, rest = 0, whole = 0;
    for (const step_breakdown& row : breakdown_of(p_, times_, steps_.span)) {
      computation += row.computation;
      communication += row.communication;
      overlap += row.overlap;
      rest += row.rest;
      whole += row.step.length();
    }
    if (communication == 0) return;
    print_fact(out_, "beside",
               "computing " + share_of(computation, whole) + ", communicating " +
                   share_of(communication, whole) + ", both at once " + share_of(overlap, whole) +
                   ", neither " + share_of(rest, whole));
  }

  [[gnu::cold]] void print_links() {
    const pass_links found = links_of(p_, steps_.host);
    if (found.links.empty() && found.unlinked == 0) return;
    double forward = 0, backward = 0;
    std::vector<std::uint32_t> linked;  // forward calls: two backward ones may belong to one
    const auto ns_of = [this](std::uint32_t call) {
      return p_.clock.to_ns(static_cast<std::int64_t>(p_.timeline[call].duration));
    };
    for (const pass_link& link : found.links) {
      linked.push_back(link.forward);
      backward += ns_of(link.backward);
    }
    sort_plain(linked, [](std::uint32_t x, std::uint32_t y) { return x < y; });
    linked.erase(std::unique(linked.begin(), linked.end()), linked.end());
    for (const std::uint32_t call : linked) forward += ns_of(call);
    const std::uint64_t by_rule = found.links.size() - found.by_program;
    std::string how = " linked by the program";
    if (found.by_program == 0) how = " linked by the reverse order";
    else if (by_rule != 0)
      how = " linked, " + format_count(found.by_program) + " by the program, " +
            format_count(by_rule) + " by the reverse order";
    print_fact(out_, "links",
               counted(found.links.size(), "backward call", "backward calls") + how + ": forward " +
                   out_.time(forward) + " on the host, backward " + out_.time(backward) +
                   (found.unlinked == 0
                        ? std::string{}
                        : "; " + format_count(found.unlinked) + " without a forward call"));
  }

  page& out_;
  const profile& p_;
  const run_times& times_;
  std::size_t most_;
  interval known_;
  detailed_steps steps_;
};

/// Why the section has nothing to say.
[[gnu::cold]] inline const char* why_no_timeline(const profile& p) {
  if (p.device.timeline.dropped_items > 0)
    return "n/a, there was no memory for the timeline of the devices";
  if (p.complete.recorded > 0)
    return "n/a, this profile has no steps, no times of single scopes and no timeline of a device. "
           "KPROF_STEP(); where a step ends, or KPROF=step=REGION, makes steps; "
           "KPROF='report(timeline)' or kprof::snapshot({.timeline = true}) keeps the scopes";
  return "n/a, nothing was recorded: no steps, no scopes and no work of a device";
}

/// All that is known of the timeline.
[[gnu::cold]] inline void print_timeline(page& out, const profile& p, const text_plan& plan,
                                         const time_summary& of) {
  if (p.steps.empty() && p.timeline.empty() && p.device.timeline.items.empty()) {
    out.space();
    out.paragraph("", std::string{"Timeline: "} + why_no_timeline(p), 2, line_style::bold);
    return;
  }
  const bool has_items = !p.device.timeline.items.empty();
  const run_times host = has_items ? run_times{} : times_of(p);
  const std::size_t most = plan.options.top;
  timeline_section section(out, p, has_items ? of.times : host, of.window, most);
  section.print_steps();
  section.print_host();
  section.print_threads();
  for (const device_time& d : of.devices) print_device_details(out, p, of, d, most);
  if (has_items) print_path_savings(out, path_in(p, of.times, of.window), most);
  section.print_passes();
  if (p.timeline.empty() && p.complete.recorded > 0) {
    out.space();
    out.paragraph("! ",
                  "this profile has no times of single scopes, so that what the host did is not "
                  "known: KPROF='report(timeline)' or kprof::snapshot({.timeline = true}) keeps "
                  "them",
                  4, line_style::notice);
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif
