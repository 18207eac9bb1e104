// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_OPERATOR_CELLS_HPP
#define KPROF_REPORT_TEXT_OPERATOR_CELLS_HPP

// Cells of the table of operators that are no number of a row: bars, sums of several rows; and how
// narrow its columns may be. Included by operator_grid.hpp.

#include <kprof/build_options.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/report/text/hidden_rows.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// How far a column of text may shrink.
[[gnu::cold]] inline std::size_t least_width(const column& c, bool comfortable,
                                             std::size_t page_width) noexcept {
  switch (c.as) {
    case look::name: return std::clamp<std::size_t>(page_width / 5, 8, 24);
    case look::parameters:
      return comfortable ? std::max<std::size_t>(page_width / 3, 26) : page_width > 60 ? 24 : 12;
    case look::call_site: return 16;
    case look::thread: return 12;
    default: return 0;
  }
}

/// A share as a bar of `width` characters at most, the largest share as the longest.
inline std::string bar_of(double share, double largest, std::size_t width, bool ascii) {
  if (!(share > 0) || !(largest > 0)) return {};
  const double length = std::min(share / largest, 1.0) * static_cast<double>(width);
  auto eighths = static_cast<std::size_t>(std::lround(length * 8));
  std::string out;
  if (ascii) {
    out.assign((eighths + 4) / 8, '#');
    return out;
  }
  static constexpr const char* parts[] = {"",       "\u258F", "\u258E", "\u258D",
                                          "\u258C", "\u258B", "\u258A", "\u2589"};
  for (; eighths >= 8; eighths -= 8) out += "\u2588";
  return out + parts[eighths];
}

/// What a column says of the sum of several rows; empty where that is no sum.
inline std::string sum_cell(const column& c, const hidden_rows& sum, const text_plan& plan,
                            const page& out) {
  if (c.is("calls")) return sum.calls == 0 ? "" : calls_cell(sum.calls);
  if (c.is("self")) return out.time(sum.self_ns);
  if (c.is("share")) return format_share(share_of(sum.self_ns, plan.all_self_ns));
  if (c.is("device")) return out.time(sum.device_ns);
  if (c.is("device_share")) return format_share(share_of(sum.device_ns, plan.all_device_ns));
  return {};
}

}  // namespace detail
KPROF_DETAIL_END

#endif
