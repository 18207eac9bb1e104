// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_SLOW_LINES_HPP
#define KPROF_REPORT_TEXT_SLOW_LINES_HPP

// The section of report(slowest): the calls that lost most against the median of their row, and
// what ran beside them. Included by write_text.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/slow_calls.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/row_description.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A thread's name; its number too, as threads often share a name.
[[gnu::cold]] inline std::string thread_text(const page& out, const profile& p,
                                             std::uint32_t thread) {
  if (thread >= p.threads.size()) return "an unknown thread";
  const thread_info& t = p.threads[thread];
  if (t.merged != 0) return "one of " + counted(t.merged, "ended thread", "ended threads");
  return "thread " + printable(t.name, 16, out.ascii()) + ' ' + std::to_string(t.id);
}

/// "Conv2d 32×64 → 64: 12.3 ms, 4.1 times its median, at 1.20 s in step 17, on thread main 812".
[[gnu::cold]] inline std::string slow_call_text(const page& out, const profile& p,
                                                const row_describer& describer,
                                                const slow_call_details& c) {
  const scope_node& n = p.nodes[c.node];
  std::string name = n.name;
  if (const std::string parameters = joined(describer.parts_of(n)); !parameters.empty())
    name += ' ' + parameters;
  std::string text = printable(out.ascii() ? ascii_notation(name) : name, 60, out.ascii()) + ": " +
                     out.time(c.ns) + ", " + format_rate(c.ns / c.median_ns) + " times its median" +
                     (c.is_first ? ", its first call" : "") + ", at " + out.time(c.begin_ns);
  if (c.step) text += " in step " + std::to_string(*c.step);
  return text + ", on " + thread_text(out, p, n.thread);
}

/// "beside it: Gemm on thread worker 813 for 11.0 ms, saxpy on device 0 for 1.02 ms and 2 more".
[[gnu::cold]] inline std::string neighbours_text(const page& out, const profile& p,
                                                 const slow_call_details& c) {
  constexpr std::size_t most_told = 3;
  std::string text = "beside it: ";
  for (std::size_t i = 0; i < std::min(most_told, c.neighbours.size()); ++i) {
    const call_neighbour& n = c.neighbours[i];
    text += (i == 0 ? "" : ", ") + printable(n.name, 40, out.ascii()) + " on " +
            (n.device < 0 ? thread_text(out, p, n.thread) : "device " + std::to_string(n.device)) +
            " for " + out.time(n.ns);
  }
  if (c.neighbours.size() > most_told)
    text += " and " + format_count(c.neighbours.size() - most_told) + " more";
  const bool has_threads = p.threads.size() > 1;
  if (!c.threads_known && has_threads)
    text += c.neighbours.empty() ? "n/a, the timeline does not reach back so far"
                                 : "; of threads n/a, the timeline does not reach back so far";
  else if (c.neighbours.empty()) text += "nothing that kprof saw";
  return text;
}

[[gnu::cold]] inline void print_slow_calls(page& out, const profile& p, const text_plan& plan) {
  out.space();
  out.line("Slowest calls, by what they lost against their median", line_style::bold);
  const std::vector<slow_call_details> calls = slowest_calls(p);
  if (calls.empty())
    return out.paragraph("  ", "no call of an operator took 1.5 times the median of its row", 4);
  const row_describer describer(p, plan, false);
  for (const slow_call_details& c : calls) {
    out.paragraph("  ", slow_call_text(out, p, describer, c), 6);
    out.paragraph("      ", neighbours_text(out, p, c), 8);
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif
