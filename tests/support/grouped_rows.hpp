// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GROUPED_ROWS_HPP
#define KPROF_TESTS_GROUPED_ROWS_HPP

// What must hold of rows that stand for several sets of parameters: each says for how many. The
// checks return what is wrong, empty where nothing is.

#include "page_checks.hpp"

#include <kprof/model/summary.hpp>
#include <kprof/report/text/format.hpp>

#include <cstddef>
#include <map>
#include <string>

namespace kprof_test {

/// Rows with a range of numbers, "1\u2026900", have several sets, and say so.
inline std::string ranges_without_sets(const std::string& page) {
  const std::string digits = "0123456789";
  for (const page_row& row : operator_table_of(page).rows)
    for (const std::string mark : {"\xE2\x80\xA6", "..."})
      for (std::size_t at = row.text.find(mark); at != std::string::npos && !row.folded;
           at = row.text.find(mark, at + 1)) {
        const std::size_t end = at + mark.size();
        if (at > 0 && digits.find(row.text[at - 1]) != std::string::npos && end < row.text.size() &&
            digits.find(row.text[end]) != std::string::npos &&
            row.text.find(" sets") == std::string::npos)
          return "no number of sets in \"" + row.text + '"';
      }
  return {};
}

/// On a page on which no row is folded, every row of several sets says for how many it stands.
inline std::string rows_without_sets(const std::string& page, const kprof::profile& p,
                                     const kprof::grouping& by) {
  std::map<std::string, std::size_t> expected;
  for (const kprof::operator_row& row : operator_table(p, by))
    if (row.variants > 1)
      ++expected[row.merged ? kprof::detail::format_count(row.variants - 1) + "+ sets"
                            : kprof::detail::format_count(row.variants) + " sets"];
  const operator_page table = operator_table_of(page);
  for (const auto& [text, rows] : expected) {
    std::size_t found = 0;
    for (const page_row& row : table.rows)
      found += (' ' + row.text + ' ').find(' ' + text + ' ') != std::string::npos ? 1 : 0;
    if (found < rows)
      return std::to_string(rows) + " rows have " + text + ", but " + std::to_string(found) +
             " say so";
  }
  return {};
}

}  // namespace kprof_test

#endif
