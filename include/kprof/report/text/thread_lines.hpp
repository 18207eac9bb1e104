// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_THREAD_LINES_HPP
#define KPROF_REPORT_TEXT_THREAD_LINES_HPP

// The lines of the text report that say how long threads ran outside all scopes, which no table
// accounts for. Included by table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/unguarded_cpu.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/table/dimensions.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The time of one thread or several.
struct thread_time {
  std::string name;
  double wall_ns = 0, in_scopes_ns = 0;
  std::uint64_t count = 1;
  double off_cpu_ns = 0;

  double outside_ns() const noexcept { return not_negative(wall_ns - in_scopes_ns); }

  /// "outside all scopes: 700 ms, 4.3% of main 4711 (wall 16.3 s, in scopes 15.6 s)"
  [[gnu::cold]] void print(page& out, bool has_pauses) const {
    out.paragraph("",
                  "outside all scopes: " + out.time(outside_ns()) + ", " +
                      format_share(share_of(outside_ns(), wall_ns)) + " of " + name + " (wall " +
                      out.time(wall_ns) + ", in scopes " + out.time(in_scopes_ns) +
                      (off_cpu_ns > 0.1 * wall_ns ? ", off the CPU " + out.time(off_cpu_ns) : "") +
                      (has_pauses ? "; pauses count as outside)" : ")"),
                  2);
  }
};

/// A line for each thread that spent more than 2 % of its time and 1 % of the run's outside all
/// scopes, at most three, those with the most such time; then a line that sums the others. Before
/// them, what threads without guards took.
[[gnu::cold]] inline void print_threads(page& out, const profile& p) {
  std::vector<thread_time> threads;
  thread_time rest;
  rest.count = 0;
  for (std::uint32_t i = 0; i < p.threads.size(); ++i)
    if (p.threads[i].wall_ns > 0)
      threads.push_back({printable(thread_name(p, i), 40, out.ascii()), p.threads[i].wall_ns,
                         not_negative(p.threads[i].in_scopes_ns),
                         std::max<std::uint64_t>(1, p.threads[i].merged),
                         not_negative(p.threads[i].off_cpu_ns)});
  sort_table(threads, [](const thread_time& a, const thread_time& b) {
    return a.outside_ns() > b.outside_ns();
  });
  const double unguarded = unguarded_cpu_ns(p);
  // The driver has threads of its own.
  if (!has_device_work(p) && unguarded > 0.02 * p.cpu_ns && unguarded > 0.01 * p.wall_ns)
    out.paragraph("",
                  "without guards: " + out.time(unguarded) + " of CPU time, " +
                      format_share(share_of(unguarded, p.cpu_ns)) + " of the process's " +
                      out.time(p.cpu_ns) + ", in threads that no row tells of",
                  2);
  std::size_t shown = 0;
  while (shown < std::min<std::size_t>(threads.size(), 3) &&
         threads[shown].outside_ns() > 0.02 * threads[shown].wall_ns &&
         threads[shown].outside_ns() > 0.01 * p.wall_ns)
    threads[shown++].print(out, p.paused_ns > 0);
  if (shown == 0) return;
  for (std::size_t i = shown; i < threads.size(); ++i) {
    rest.count += threads[i].count;
    rest.wall_ns += threads[i].wall_ns;
    rest.in_scopes_ns += threads[i].in_scopes_ns;
    rest.off_cpu_ns += threads[i].off_cpu_ns;
  }
  if (rest.count == 0) return;
  rest.name = counted(rest.count, "more thread", "more threads");
  rest.print(out, p.paused_ns > 0);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
