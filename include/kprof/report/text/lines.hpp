// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_LINES_HPP
#define KPROF_REPORT_TEXT_LINES_HPP

// Lines that several sections of the text report have: what was cut, what a column means.
// Included by the sections.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Says which columns were cut, and at which page width they are `whole`.
[[gnu::cold]] inline void print_cut(page& out, const std::vector<std::string>& headers,
                                    std::size_t whole) {
  if (headers.empty()) return;
  std::string text = "cut at width " + std::to_string(out.width()) + ": ";
  for (const std::string& header : headers)
    text.append(&header == headers.data() ? "" : ", ").append(header);
  const std::string width = "width=" + std::to_string(std::min(whole, widest_page));
  if (whole <= widest_page)
    text.append("; whole with ")
        .append(width)
        .append(", or KPROF='report(")
        .append(width)
        .append(")'");
  else if (out.width() < widest_page) text.append("; not whole even with ").append(width);
  out.paragraph("", text, 2);
}

/// "12 kernels, 1 copy"; memsets are among the copies.
[[gnu::cold]] inline std::string runs_of(const device_sum& sum) {
  return counted(sum.kernels, "kernel", "kernels") + ", " + counted(sum.copies, "copy", "copies");
}

/// A line of the legend.
[[gnu::cold]] inline void print_meaning(page& out, const char* header, const std::string& meaning) {
  std::string lead = std::string{"  "} + header;
  lead.resize(14, ' ');
  out.paragraph(lead, meaning, lead.size());
}

}  // namespace detail
KPROF_DETAIL_END

#endif
