// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_TYPE_LINE_HPP
#define KPROF_REPORT_TEXT_TYPE_LINE_HPP

// The line of the text report that says how much of the time is with numbers of which type.
// Included by table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/type_times.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/report/text/page.hpp>
#include <kprof/report/text/text_plan.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// "by type of numbers: 16 bit 70.1%, f32 20.0%, unknown type 9.9% of device time in operators",
/// where two types or more have a hundredth of it. As the table sorts, of the device or the host.
[[gnu::cold]] inline void print_types(page& out, const profile& p, const text_plan& plan) {
  if (plan.one_type || plan.filter.active()) return;
  const bool by_host = plan.sort->is("self") || plan.sort->is("share") || plan.sort->is("total");
  const bool on_device = plan.device && !by_host;
  std::array<double, number_classes> ns = time_by_type(p, on_device);
  double all = 0;
  for (const double t : ns) all += t;
  const auto counts = [&](double t) { return t >= 0.01 * all && t > 0; };
  if (std::count_if(ns.begin(), ns.end() - 1, counts) < 2) return;  // unknown is no type
  std::string text;
  for (;;) {
    const auto most = static_cast<std::size_t>(std::max_element(ns.begin(), ns.end()) - ns.begin());
    if (!(ns[most] > 0)) break;
    text.append(text.empty() ? "" : ", ") +=
        number_class_name(static_cast<number_class>(most)) + (' ' + format_share(ns[most] / all));
    ns[most] = 0;
  }
  out.paragraph("",
                "by type of numbers: " + text +
                    (on_device     ? " of device time in operators"
                     : plan.device ? " of host time in operators"
                                   : " of the time in operators"),
                2);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
