// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_DEVICE_TIME_HPP
#define KPROF_REPORT_TEXT_DEVICE_TIME_HPP

// The section of the text report that says how devices spent their time, what they waited for, and
// what the critical path consists of. Included by write_text.hpp. A profile that has no timeline of
// a device has no such section.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/critical_path.hpp>
#include <kprof/model/timeline/device_activity.hpp>
#include <kprof/model/timeline/idle_causes.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/model/timeline/time_summary.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/facts.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A part of a whole and its name.
struct told_time {
  const char* what;
  std::int64_t ns;
  std::int64_t exposed = 0;  // of it, beside nothing else
};

/// "computing 50.0%, copying 12.5% (exposed 2.0%)" without what took no time.
[[gnu::cold]] inline std::string told_shares(const told_time* first, std::size_t count,
                                             std::int64_t whole) {
  const auto share = [whole](std::int64_t ns) {
    return format_share(static_cast<double>(ns) / static_cast<double>(whole));
  };
  std::string text;
  for (const told_time* t = first; t != first + count; ++t) {
    if (t->ns == 0) continue;
    text.append(text.empty() ? "" : ", ").append(t->what).append(" ").append(share(t->ns));
    if (t->exposed > 0) text.append(" (exposed ").append(share(t->exposed)).append(")");
  }
  return text;
}
template <std::size_t N>
std::string told_shares(const told_time (&times)[N], std::int64_t whole) {
  return told_shares(times, N, whole);
}

/// What a thread was in where no scope is known. Single scopes go back as far as there is memory
/// for them, and are not in every profile.
[[gnu::cold]] inline const char* no_scope_text(const profile& p, interval window) noexcept {
  const completeness& c = p.complete;
  const bool are_known =
      c.recorded == 0 ||
      (!p.timeline.empty() && (c.in_timeline >= c.recorded ||
                               static_cast<double>(window.begin) >= p.wall_ns - c.timeline_ns));
  return are_known ? "outside scopes" : "in no known scope";
}

/// "Gemm 2.10 s, Softmax 300 ms"
[[gnu::cold]] inline std::string told_names(const page& out, const std::vector<named_time>& times,
                                            std::size_t most, const char* no_scope) {
  std::string text;
  for (std::size_t i = 0; i < times.size() && i < most; ++i) {
    const std::string name =
        times[i].name.empty() ? no_scope : printable(times[i].name, 40, out.ascii());
    text.append(i == 0 ? "" : ", ")
        .append(name)
        .append(" ")
        .append(out.time(static_cast<double>(times[i].ns)));
  }
  return text;
}

/// Why a device had nothing to do, in words.
[[gnu::cold]] inline std::array<told_time, 6> idle_times(const idle_causes& why) {
  return {{{"launched late", why.host},
           {"from kernel to kernel", why.kernel},
           {"event waits", why.event},
           {"launched in time", why.other},
           {"unknown launch", why.unknown},
           {"before and after all work", why.edges}}};
}

[[gnu::cold]] inline void print_device_time(page& out, const profile& p, const device_time& d) {
  const device_activity& a = d.activity;
  const idle_causes& why = d.idle;
  if (a.wall == 0) return;
  const told_time work[] = {{"busy", a.busy},
                            {"computing", a.compute},
                            {"communicating", a.communication, a.exposed_communication},
                            {"copying", a.copies, a.exposed_copies}};
  print_fact(out, "device " + std::to_string(a.device),
             out.time(static_cast<double>(a.wall)) + ": " + told_shares(work, a.wall));
  if (a.idle == 0) return;
  const char* const no_scope = no_scope_text(p, a.window);
  const std::array<told_time, 6> causes = idle_times(why);
  print_fact(out, "  idle",
             out.time(static_cast<double>(a.idle)) + ", " +
                 format_share(static_cast<double>(a.idle) / static_cast<double>(a.wall)) + ": " +
                 told_shares(causes.data(), causes.size(), a.wall));
  if (why.host == 0) return;
  const told_time host[] = {{"in calls that wait", why.in(host_state::synchronising)},
                            {"in other calls", why.in(host_state::calling)},
                            {"in operators", why.in(host_state::in_operator)},
                            {"in regions", why.in(host_state::in_region)},
                            {no_scope, why.in(host_state::outside)},
                            {"on an unknown thread", why.unknown_thread}};
  print_fact(out, "  late",
             "of this time the host was " + told_shares(host, why.host) + "; mostly " +
                 told_names(out, why.host_by, 3, no_scope));
}

/// Of the whole run, or of the stretch of which the timeline has all.
[[gnu::cold]] inline critical_path path_in(const profile& p, const run_times& times,
                                           interval window) {
  if (window.length() == 0) return critical_path_of(p, times);
  return critical_path_of(p, times, window, window.end, path_thread_of(p));
}

[[gnu::cold]] inline void print_path(page& out, const profile& p, const run_times& times,
                                     interval window) {
  const critical_path path = path_in(p, times, window);
  if (path.window.length() == 0) return;
  const told_time kinds[] = {{"computing", path.of(path_kind::compute)},
                             {"communicating", path.of(path_kind::communication)},
                             {"copying", path.of(path_kind::copy) + path.of(path_kind::set)},
                             {"host", path.of(path_kind::host)},
                             {"launching", path.of(path_kind::launch)},
                             {"from kernel to kernel", path.of(path_kind::kernel_wait)},
                             {"event waits", path.of(path_kind::event_wait)},
                             {"returning to the host", path.of(path_kind::sync_return)}};
  const std::int64_t whole = path.window.length();
  print_fact(out, "critical",
             out.time(static_cast<double>(whole)) + ": " + told_shares(kinds, whole));
  print_fact(out, "  on it", told_names(out, path.by, 5, no_scope_text(p, path.window)));
}

/// Ten lines for a run on one device. Of more than four devices it shows the first four.
[[gnu::cold]] inline void print_device_times(page& out, const profile& p, const time_summary& of) {
  const device_timeline& timeline = p.device.timeline;
  if (timeline.items.empty() && timeline.dropped_items == 0) return;
  const run_times& times = of.times;
  const interval window = of.window;
  out.space();
  out.line("timeline of the devices", line_style::bold);
  if (timeline.items.empty()) {
    out.paragraph("! ",
                  "n/a: there was no memory for it. All other tables have the " +
                      counted(timeline.dropped_items, "item", "items") + '.',
                  4, line_style::notice);
    return;
  }
  for (const device_time& d : of.devices) print_device_time(out, p, d);
  print_path(out, p, times, window);
  const device_completeness& c = p.device.complete;
  if (c.dropped + c.cut_buffers + c.foreign_buffers > 0)
    out.paragraph(
        "! ",
        (c.dropped > 0 ? counted(c.dropped, "record", "records") + " of kernels and copies"
                       : std::string{"records of kernels and copies"}) +
            " were lost: the devices may have worked where these lines say idle",
        4, line_style::notice);
  if (times.untimed > 0)
    out.paragraph("! ",
                  counted(times.untimed, "item or call that ends before it begins, or has",
                          "items and calls that end before they begin, or have") +
                      " no times: left out",
                  4, line_style::notice);
  if (times.dropped > 0)
    out.paragraph(
        "! ",
        counted(times.dropped, "item or call", "items and calls") +
            " had no room in the timeline, which has " +
            (window.length() > 0 ? "the last " + out.time(static_cast<double>(window.length()))
                                 : "gaps") +
            ": raise " + memory_limit_of(p) + " to see more. All other tables have them.",
        4, line_style::notice);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
