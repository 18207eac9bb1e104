// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TIMELINE_DEVICE_LINES_HPP
#define KPROF_REPORT_TEXT_TIMELINE_DEVICE_LINES_HPP

// What report(timeline) says of devices beside the section that comes unasked: how full they were,
// their streams, queues and launches, and what the critical path lets expect. Included by
// timeline_lines.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/timeline/critical_path.hpp>
#include <kprof/model/timeline/device_activity.hpp>
#include <kprof/model/timeline/device_figures.hpp>
#include <kprof/model/timeline/graph_saving.hpp>
#include <kprof/model/timeline/idle_causes.hpp>
#include <kprof/model/timeline/launches.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/device_time.hpp>
#include <kprof/report/text/direction_lines.hpp>
#include <kprof/report/text/facts.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

using text_cells = std::vector<std::vector<std::string>>;

[[gnu::cold]] inline std::string share_of(std::int64_t ns, std::int64_t whole) {
  if (ns == 0) return "-";
  return format_share(static_cast<double>(ns) /
                      static_cast<double>(std::max<std::int64_t>(1, whole)));
}

/// Prints as many rows as a table may have, and how many more there are. The head is the first.
[[gnu::cold]] inline void print_first_cells(page& out, text_cells cells, std::size_t most,
                                            const char* one, const char* many) {
  const std::size_t rows = cells.size() - 1;
  if (most != 0 && rows > most) cells.resize(most + 1);
  print_cells(out, cells);
  if (most != 0 && rows > most) out.line("  and " + counted(rows - most, one, many));
}

/// How full a device was; Kineto's estimates.
[[gnu::cold]] inline void print_figures(page& out, const device_figures& f) {
  const auto share = [](double x) { return x < 0 ? std::string{"n/a"} : format_share(x); };
  std::string text = "kernels ran for " + share(f.utilisation) +
                     " of the time; estimated: SM efficiency " + share(f.sm_efficiency) +
                     ", achieved occupancy " + share(f.achieved_occupancy);
  if (f.why != nullptr) text += std::string{" ("} + f.why + ')';
  if (f.unknown != 0)
    text += "; " + counted(f.unknown, "kernel counts", "kernels count") +
            " as none in these, since its launch configuration is not known";
  print_fact(out, "  use", text);
}

[[gnu::cold]] inline void print_launches(page& out, const launch_statistics& l) {
  const auto mean = [&](double ns) { return out.time(ns / static_cast<double>(l.launches)); };
  std::string text;
  if (l.launches != 0)
    text = counted(l.launches, "item", "items") + " launched alone: a call took " +
           mean(l.call_ns) + ", an item started " + mean(l.delay_ns) + " after its return, " +
           out.time(static_cast<double>(l.longest_delay)) + " at most; " + format_count(l.late) +
           " later than " + out.time(late_start_ns) + ", " +
           counted(l.slow_calls, "call longer", "calls longer") + " than " + out.time(slow_call_ns);
  if (l.short_items != 0)
    text += "; " + counted(l.short_items, "item was", "items were") +
            " shorter than the call: " + out.time(l.short_ns) + " of work in " +
            out.time(l.short_call_ns) + " of calls";
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (l.from_graphs != 0)
    add(counted(l.from_graphs, "item was", "items were") + " launched by graphs");
  if (l.unknown != 0) add("of " + counted(l.unknown, "item", "items") + " the launch is not known");
  if (!text.empty()) print_fact(out, "  launches", text);
}

[[gnu::cold]] inline void print_graph_saving(page& out, const graph_saving& g) {
  if (g.gaps == 0) return;
  print_fact(out, "  graph",
             "a CUDA graph would save at most " + out.time(static_cast<double>(g.saved_ns)) + ": " +
                 counted(g.gaps, "gap", "gaps") + " of " + out.time(static_cast<double>(g.gap_ns)) +
                 " ended with an item that was launched too late");
}

/// What each stream did, why it was idle, and how far the host ran ahead of it.
[[gnu::cold]] inline void print_streams(page& out, const profile& p, const run_times& times,
                                        std::uint32_t device, interval window, std::size_t most) {
  struct stream_times {
    device_activity activity;
    idle_causes idle;
    queue_length queue;
  };
  std::vector<stream_times> streams;
  const idle_search search(p, times);
  for (const item_stream& s : times.streams) {
    if (s.device != device) continue;
    streams.push_back(
        {activity_of(times, device, s.stream, window),
         search.of(items_of(times, device, s.stream), device, s.stream, window, short_gap_ns),
         queue_length_of(times, device, s.stream)});
  }
  sort_table(streams, [](const stream_times& a, const stream_times& b) {
    return a.activity.busy > b.activity.busy;
  });
  text_cells work{{"stream", "items", "busy", "computing", "communicating", "copying"}};
  text_cells idle{{"stream", "idle", "late", "kernel", "event", "in time", "unknown", "edges"}};
  text_cells queue{{"stream", "queued launches", "at most", "full for"}};
  for (const stream_times& s : streams) {
    const device_activity& a = s.activity;
    const idle_causes& i = s.idle;
    const std::string name = std::to_string(a.stream);
    const auto share = [&](std::int64_t ns) { return share_of(ns, a.wall); };
    work.push_back({name, format_count(a.items), share(a.busy), share(a.compute),
                    share(a.communication), share(a.copies)});
    idle.push_back({name, share(i.idle), share(i.host), share(i.kernel), share(i.event),
                    share(i.other), share(i.unknown), share(i.edges)});
    queue.push_back({name, format_rate(s.queue.mean) + " on average", format_count(s.queue.longest),
                     s.queue.full > 0 ? out.time(static_cast<double>(s.queue.full)) : "-"});
  }
  for (text_cells* cells : {&work, &idle, &queue})
    print_first_cells(out, std::move(*cells), most, "more stream", "more streams");
}

[[gnu::cold]] inline void print_device_details(page& out, const profile& p, const time_summary& of,
                                               const device_time& d, std::size_t most) {
  const std::uint32_t device = d.activity.device;
  const interval window = d.activity.window;
  if (window.length() == 0) return;
  out.space();
  out.line(
      "Device " + std::to_string(device) + " for " + out.time(static_cast<double>(window.length())),
      line_style::bold);
  print_figures(out, figures_of(p, of.times, device, window));
  print_launches(out, launch_statistics_of(of.times, device));
  print_graph_saving(out, graph_saving_of(p, of.times, device));
  print_streams(out, p, of.times, device, window, most);
}

/// What operators and regions on the critical path would gain the run, were they twice as fast.
[[gnu::cold]] inline void print_path_savings(page& out, const critical_path& path,
                                             std::size_t most) {
  const std::int64_t whole = path.window.length();
  text_cells cells{{"on the critical path", "time", "share", "twice as fast saves at most"}};
  for (const named_time& t : path.by)
    if (!t.name.empty() && t.ns > 0)
      cells.push_back({printable(t.name, 32, out.ascii()), out.time(static_cast<double>(t.ns)),
                       share_of(t.ns, whole), out.time(saves_at_most(t.ns, 2))});
  if (cells.size() == 1) return;
  out.space();
  out.line("Critical path of " + out.time(static_cast<double>(whole)), line_style::bold);
  print_first_cells(out, std::move(cells), most, "more name", "more names");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
