// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_GRID_HPP
#define KPROF_REPORT_TEXT_GRID_HPP

// A table of text whose columns fit a page. Included by the tables of the text report.

#include <kprof/build_options.hpp>
#include <kprof/report/text/page.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// How a line of a grid looks.
struct row_look {
  std::size_t span = 1;  // columns that the first cell covers; it is blank in those
  bool rule_before = false;
  line_style style = line_style::plain;
};

/// How a column of a grid behaves.
struct grid_column {
  std::string header;
  bool right = true;
  bool keep_end = false;      // of a text that is cut
  bool keep_ends = false;     // both of them
  bool is_printable = false;  // its cells have been made so
  bool runs_over = false;     // a long text goes on in the columns behind it that are empty there
  std::size_t least = 0;      // how far it may shrink; 0: not at all
  std::size_t natural = 0;    // the width that its cells want
  std::size_t width = 0;
};

/// A table whose columns are as wide as their cells, but for those that shrink to make it fit.
class grid {
 public:
  static constexpr std::size_t gap = 2;

  std::vector<grid_column> columns;
  std::vector<std::vector<std::string>> rows;  // foreign text is still foreign
  std::vector<row_look> looks;                 // of the rows; there may be fewer

  [[gnu::cold]] void measure(const page& out) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns[c].natural = display_width(columns[c].header);
      for (std::size_t r = 0; r < rows.size(); ++r)
        if (c > 0 || look_of(r).span == 1)  // what is longer than a page can be is seen to be
          columns[c].natural =
              std::max(columns[c].natural,
                       display_width(printable(rows[r][c], 2 * widest_page, out.ascii())));
    }
  }

  /// Pads the numbers of a column, so that their decimal points are under one another.
  [[gnu::cold]] void align_points(std::size_t column) {
    const auto fraction = [](const std::string& cell) {
      return cell.find('.') == std::string::npos ? 0 : cell.size() - cell.find('.');
    };
    std::size_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, fraction(row[column]));
    for (auto& row : rows)
      if (row[column] != "n/a") row[column].append(longest - fraction(row[column]), ' ');
  }

  /// Pads the units of a column, so that its numbers end under one another.
  [[gnu::cold]] void align_units(std::size_t column) {
    const auto unit = [](const std::string& cell) {
      const std::size_t space = cell.rfind(' ');
      return space == std::string::npos ? 0 : display_width(std::string_view{cell}.substr(space));
    };
    std::size_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, unit(row[column]));
    for (auto& row : rows)
      if (const std::size_t own = unit(row[column]); own > 0)
        row[column].append(longest - own, ' ');
  }

  static std::size_t least_width(const grid_column& c) noexcept {
    return c.least == 0 ? c.natural
                        : std::min(c.natural, std::max(c.least, display_width(c.header)));
  }

  /// The narrowest it can be.
  std::size_t least_width() const noexcept {
    std::size_t sum = columns.empty() ? 0 : gap * (columns.size() - 1);
    for (const grid_column& c : columns) sum += least_width(c);
    return sum;
  }

  /// The page width at which no cell is cut.
  std::size_t whole_width() const noexcept {
    std::size_t sum = columns.empty() ? 0 : gap * (columns.size() - 1);
    for (const grid_column& c : columns) sum += c.natural;
    return sum;
  }

  /// The headers of the columns that print() had to cut cells of.
  std::vector<std::string> cut() const {
    std::vector<std::string> headers;
    for (const grid_column& c : columns)
      if (c.width < c.natural) headers.push_back(c.header);
    return headers;
  }

  void drop(std::size_t column) {
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }

  [[gnu::cold]] void print(page& out) {
    const std::size_t total = lay_out(out.width());
    std::vector<std::string> headers;
    for (const grid_column& c : columns) headers.push_back(c.header);
    print_row(out, headers, {.style = line_style::bold});
    out.rule(total);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (look_of(r).rule_before) out.rule(total);
      print_row(out, rows[r], look_of(r));
    }
  }

  /// Gives the columns their widths on a page of so many columns, and returns their sum. What is
  /// left over goes to those that shrank, in equal parts.
  [[gnu::cold]] std::size_t lay_out(std::size_t available) {
    std::size_t total = least_width();
    for (grid_column& c : columns) c.width = least_width(c);
    for (std::size_t hungry = columns.size(); hungry > 0 && total < available;) {
      hungry = 0;
      for (const grid_column& c : columns) hungry += c.width < c.natural ? 1 : 0;
      const std::size_t part =
          hungry == 0 ? 0 : std::max<std::size_t>(1, (available - total) / hungry);
      for (grid_column& c : columns) {
        const std::size_t more =
            std::min({c.natural - c.width, part, available - std::min(available, total)});
        c.width += more;
        total += more;
      }
    }
    return total;
  }

  /// A cell as it is printed.
  static std::string fitted(const grid_column& c, const std::string& text, const page& out) {
    if (c.is_printable && display_width(text) <= c.width) return text;
    return c.keep_ends  ? printable_ends(text, c.width, out.ascii())
           : c.keep_end ? printable_end(text, c.width, out.ascii())
                        : printable(text, c.width, out.ascii());
  }

 private:
  row_look look_of(std::size_t row) const noexcept {
    return row < looks.size() ? looks[row] : row_look{};
  }

  [[gnu::cold]] void print_row(page& out, const std::vector<std::string>& cells,
                               const row_look& look) const {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      grid_column c = columns[i];
      const std::string& whole = cells[i];
      if (i == 0)
        for (; i + 1 < std::min(look.span, columns.size()); ++i)
          c.width += gap + columns[i + 1].width;
      for (; c.runs_over && display_width(whole) > c.width && i + 1 < columns.size() &&
             cells[i + 1].empty();
           ++i)
        c.width += gap + columns[i + 1].width;
      const std::string cell = fitted(c, whole, out);
      const std::string pad(c.width - std::min(c.width, display_width(cell)), ' ');
      if (&whole != &cells[0]) text.append(gap, ' ');
      text += c.right ? pad + cell : cell + pad;
    }
    out.line(text, look.style);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
