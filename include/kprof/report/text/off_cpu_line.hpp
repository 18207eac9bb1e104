// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_OFF_CPU_LINE_HPP
#define KPROF_REPORT_TEXT_OFF_CPU_LINE_HPP

// The line of the text report that names operators and regions whose threads were off the CPU for
// long. None is said of a run with work on a device, where the host mostly waits for the device.
// Included by table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/off_cpu.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/model/row_texts.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/first_calls.hpp>
#include <kprof/report/text/operator_groups.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/row_description.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whether threads were off the CPU in it for a tenth of its time and a hundredth of the run's,
/// which the scopes inside it do not account for.
inline bool was_off_cpu(const off_cpu_time& t, const text_plan& plan) noexcept {
  return !plan.device && t.measured_ns > 0.5 * t.total_ns && t.self_ns > 0.1 * t.measured_ns &&
         t.self_ns > 0.01 * plan.all_self_ns;
}
inline off_cpu_time off_cpu_of(const operator_row& row) {
  return {row.name, row.total_ns, row.measured_ns, row.off_cpu_self_ns};
}

inline constexpr std::size_t most_told = 3;

/// Those that were off the CPU for the longest time first.
[[gnu::cold]] inline void print_off_cpu(page& out, const profile& p, const operator_groups& chosen,
                                        const row_describer& describer, const text_plan& plan) {
  std::vector<off_cpu_time> found;
  for (const operator_group& g : chosen.groups) {
    names_of_rows names(g, describer);
    for (std::size_t i = 0; i < g.shown; ++i)
      if (was_off_cpu(off_cpu_of(g.rows[i]), plan)) {
        found.push_back(off_cpu_of(g.rows[i]));
        found.back().name = names.of(i);
      }
  }
  for (off_cpu_time& region : regions_off_cpu(p))
    if (was_off_cpu(region, plan)) found.push_back(std::move(region));
  if (found.empty()) return;
  std::string text = "off the CPU, waiting or for want of a CPU: ";
  std::size_t told = 0;
  for (const std::uint32_t i : sorted_order(found.size(), [&](std::uint32_t a, std::uint32_t b) {
         return found[a].self_ns > found[b].self_ns;
       })) {
    if (told == most_told) break;
    const std::string name = out.ascii() ? ascii_notation(found[i].name) : found[i].name;
    text += (told++ > 0 ? ", " : "") + short_name(name, out.ascii()) + " (" +
            out.time(found[i].self_ns) + " of " + out.time(found[i].measured_ns) + ')';
  }
  if (found.size() > told) text += " and " + format_count(found.size() - told) + " more";
  out.paragraph("", text, 2);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
