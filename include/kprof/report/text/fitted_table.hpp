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
#include <string_view>
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

  /// Chooses the columns and their widths.
  [[gnu::cold]] void fit(const page& out) {
    std::vector<std::size_t> natural;
    for (const grid_column& c : cells.columns) natural.push_back(c.natural);
    cells.measure(out);
    for (std::size_t i = 0; i < natural.size(); ++i)
      cells.columns[i].natural = std::max(cells.columns[i].natural, natural[i]);
    whole_ = cells.whole_width();
    while (ranks_.size() > 1 && cells.least_width() > out.width()) {
      const auto worst = std::max_element(ranks_.begin(), ranks_.end());
      const auto at = static_cast<std::size_t>(worst - ranks_.begin());
      left_out_.insert(left_out_.begin(), cells.columns[at].header);
      cells.drop(at);
      ranks_.erase(worst);
    }
    cells.lay_out(out.width());
  }
  /// The place of a column; the number of columns if it is not shown.
  [[gnu::cold]] std::size_t column(std::string_view header) const noexcept {
    std::size_t at = 0;
    while (at < cells.columns.size() && cells.columns[at].header != header) ++at;
    return at;
  }
  [[gnu::cold]] bool is_left_out(std::string_view header) const noexcept {
    return std::find(left_out_.begin(), left_out_.end(), header) != left_out_.end();
  }

  /// The table, and what of it could not be shown; after fit().
  [[gnu::cold]] void print(page& out) {
    cells.print(out);
    out.space();
    if (!left_out_.empty())
      out.list("not shown at width " + std::to_string(out.width()) + ": ", left_out_);
    print_cut(out, cells.cut(), whole_);
  }

 private:
  std::vector<unsigned> ranks_;        // by column
  std::vector<std::string> left_out_;  // headers
  std::size_t whole_ = 0;              // width of a page that shows all
};

}  // namespace detail
KPROF_DETAIL_END

#endif
