// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_PLAN_HPP
#define KPROF_REPORT_TEXT_PLAN_HPP

// The options of a text report, checked, and what its sections share. Included by the text report.

#include <kprof/config.hpp>
#include <kprof/report/columns.hpp>
#include <kprof/report/filter.hpp>
#include <kprof/report/options.hpp>
#include <kprof/report/page.hpp>
#include <kprof/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct text_plan {
  const report_options& options;
  const column* sort = nullptr;
  std::vector<const column*> columns;   // empty: automatic
  name_filter filter;
  double all_self_ns = 0;

  explicit text_plan(const report_options& o) : options(o) {}

  status prepare() {
    sort = find_column(options.sort);
    if (sort == nullptr) return unknown("sort", options.sort);
    for (const std::string& name : options.columns) {
      columns.push_back(find_column(name));
      if (columns.back() == nullptr) return unknown("column", name);
    }
    return filter.set(options.filter);
  }

 private:
  static status unknown(const char* what, const std::string& name) {
    return {std::string{"unknown "} + what + " \"" + printable(name, 100) + "\"; choose from: " + column_names() +
            " (or name, which is operator)"};
  }
};

/// Says which columns were cut, and at which page width they are `whole`.
inline void print_cut(page& out, const std::vector<std::string>& headers, std::size_t whole) {
  if (headers.empty()) return;
  std::string text = "cut at width " + std::to_string(out.width()) + ": ";
  for (const std::string& header : headers) text.append(&header == headers.data() ? "" : ", ").append(header);
  const std::string width = "width=" + std::to_string(std::min(whole, widest_page));
  if (whole <= widest_page) text.append("; whole with ").append(width).append(", or KPROF='report(").append(width).append(")'");
  else if (out.width() < widest_page) text.append("; not whole even with ").append(width);
  out.paragraph("", text, 2);
}

/// Rows that are not shown: counted and summed, so that nothing is lost in silence.
struct hidden_rows {
  std::uint64_t rows = 0, calls = 0;
  double self_ns = 0;

  template <class Row>
  void add(const Row& row) {
    ++rows;
    calls += row.calls;
    self_ns += row.self_ns;
  }

  void print(page& out, const std::string& what, const std::string& why, double all_self_ns) const {
    if (rows == 0) return;
    out.paragraph("", what + ": " + format_count(rows) + ' ' + why + ": " + format_count(calls) + " calls, self " + out.time(self_ns) + ", " +
                          format_share(all_self_ns > 0 ? self_ns / all_self_ns : 0), 2);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
