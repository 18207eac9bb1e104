// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_HIDDEN_ROWS_HPP
#define KPROF_REPORT_TEXT_HIDDEN_ROWS_HPP

// The lines of the text report that account for rows which are not shown. Included by its sections.

#include <kprof/build_options.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <cstdint>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

// More than this part of the run is not left to lines that say "more".
inline constexpr double most_folded = 0.02;

/// Why rows are not shown, for the lines that count them.
[[gnu::cold]] inline std::string filtered_by(const page& out, const text_plan& plan) {
  return "(filter=" + printable(plan.options.filter, 40, out.ascii()) + ")";
}
[[gnu::cold]] inline std::string cut_by(const text_plan& plan, const std::string& order) {
  return '(' + order + ", top=" + std::to_string(plan.options.top) + ')';
}

/// Rows that are not shown: counted and summed, so that nothing is lost in silence.
struct hidden_rows {
  std::uint64_t rows = 0, calls = 0;
  double self_ns = 0, device_ns = 0;

  template <class Row>
  [[gnu::cold]] void add(const Row& row) {
    ++rows;
    calls += row.calls + row.replays;
    self_ns += row.self_ns;
    device_ns += row.device_ns;
  }

  [[gnu::cold]] void print(page& out, const std::string& what, const std::string& why,
                           const text_plan& plan) const {
    if (rows == 0) return;
    std::string text =
        what + ": " + format_count(rows) + ' ' + why + ": " + format_count(calls) + " calls, ";
    if (plan.device)
      text += "device " + out.time(device_ns) + ", " +
              format_share(share_of(device_ns, plan.all_device_ns)) + ", ";
    out.paragraph("",
                  text + "self " + out.time(self_ns) + ", " +
                      format_share(share_of(self_ns, plan.all_self_ns)),
                  2);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
