// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_FITTED_TABLE_HPP
#define KPROF_REPORT_TEXT_FITTED_TABLE_HPP

// A table whose columns are left out, the least important first, until the rest fit the page.
// Included by the tables of kernels and copies.

#include <kprof/build_options.hpp>
#include <kprof/report/text/grid.hpp>
#include <kprof/report/text/lines.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class fitted_table {
 public:
  grid cells;

  /// `rank`: where not all columns fit, the highest goes first.
  [[gnu::cold]] void add_column(grid_column column, unsigned rank) {
    cells.columns.push_back(std::move(column));
    ranks_.push_back(rank);
  }

  /// The table, and what of it could not be shown.
  [[gnu::cold]] void print(page& out) {
    cells.measure(out);
    const std::size_t whole = cells.whole_width();
    std::vector<std::string> left_out;
    while (ranks_.size() > 1 && cells.least_width() > out.width()) {
      const auto worst = std::max_element(ranks_.begin(), ranks_.end());
      const auto at = static_cast<std::size_t>(worst - ranks_.begin());
      left_out.insert(left_out.begin(), cells.columns[at].header);
      cells.drop(at);
      ranks_.erase(worst);
    }
    cells.print(out);
    out.space();
    if (!left_out.empty())
      out.list("not shown at width " + std::to_string(out.width()) + ": ", left_out);
    print_cut(out, cells.cut(), whole);
  }

 private:
  std::vector<unsigned> ranks_;  // by column
};

}  // namespace detail
KPROF_DETAIL_END

#endif
