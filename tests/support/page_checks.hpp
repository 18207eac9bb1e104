// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_PAGE_CHECKS_HPP
#define KPROF_TESTS_PAGE_CHECKS_HPP

// What must hold of every printed page, whatever the profile: lines fit, rows of the tables and of
// the call tree are told apart, shares add up to all. The checks read the page alone, as a person
// does. Each returns what is wrong, empty where nothing is. They need use_utf8_locale().
//
// The table may be flat, or a line for each operator with its rows indented below; rows and
// operators that are folded into one begin with "…". A row that has no calls goes on with what
// tells the row above apart.

#include "utf8.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kprof_test {

/// A line by the columns of the terminal.
class screen_line {
 public:
  explicit screen_line(std::string text) : text_(std::move(text)) {
    for (std::size_t i = 0; i < text_.size();) {
      std::size_t end = i + 1;
      while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80) ++end;
      for (std::size_t n = c_library_width(text_.substr(i, end - i)); n > 0; --n)
        byte_at_.push_back(i);
      i = end;
    }
  }

  const std::string& text() const noexcept { return text_; }
  std::size_t width() const noexcept { return byte_at_.size(); }
  std::string columns(std::size_t from, std::size_t to) const {
    const std::size_t begin = byte(from), end = byte(to);
    return begin < end ? text_.substr(begin, end - begin) : std::string{};
  }
  /// The column in which a byte stands.
  std::size_t column_of(std::size_t at) const {
    std::size_t column = 0;
    while (column < byte_at_.size() && byte_at_[column] < at) ++column;
    return column;
  }

 private:
  std::size_t byte(std::size_t column) const {
    return column < byte_at_.size() ? byte_at_[column] : text_.size();
  }

  std::string text_;
  std::vector<std::size_t> byte_at_;
};

/// A share as it is printed: 12.3% is within 0.05 of the truth, <0.1% is between 0 and 0.1.
struct printed_share {
  bool known = false;
  double percent = 0;
  double error = 0;

  printed_share& operator+=(const printed_share& more) {
    known = known || more.known;
    percent += more.percent;
    error += more.error;
    return *this;
  }
};

/// The first share in `text` that begins behind `from`.
inline printed_share share_in(std::string_view text, std::size_t from = 0) {
  for (std::size_t end = text.find('%', from); end != std::string_view::npos;
       end = text.find('%', end + 1)) {
    std::size_t begin = end, point = 0;
    for (; begin > 0 && ((text[begin - 1] >= '0' && text[begin - 1] <= '9') ||
                         text[begin - 1] == '.' || text[begin - 1] == ',');
         --begin)
      if (text[begin - 1] == '.') point = end - begin;
    if (begin == end) continue;
    const double value = std::strtod(std::string(text.substr(begin, end - begin)).c_str(), nullptr);
    if (begin > 0 && text[begin - 1] == '<') return {true, value / 2, value / 2};
    return {true, value, 0.5 * std::pow(10.0, -static_cast<double>(point))};
  }
  return {};
}

/// A row of the table of operators.
struct page_row {
  std::string text;   ///< what stands before its calls: operator, parameters and pass
  std::string group;  ///< the operator's line that an indented row stands below
  bool indented = false, folded = false;
  bool has_rows = false;  ///< an operator's line with rows below it
  printed_share share;
};

struct operator_page {
  std::vector<page_row> rows;
  std::string below;      ///< what stands below the table, in one line
  std::size_t lines = 0;  ///< of the table and what belongs to it
  bool of_device = false;
};

namespace page_details {

inline std::string one_spaced(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}
inline bool is_rule(const std::string& line) {
  return line.size() > 10 && line.find_first_not_of("\xE2\x94\x80-") == std::string::npos;
}
inline bool is_fold(std::string_view text) {
  const std::size_t at = text.find_first_not_of(' ');
  return at != std::string_view::npos && text.find(", each <") != std::string_view::npos &&
         (text.substr(at, 3) == "\xE2\x80\xA6" || text.substr(at, 4) == "... ");
}
/// Whether the line begins another part of the page.
inline bool begins_part(const std::string& line) {
  for (const char* const title : {"Call tree", "Kernels", "Copies", "Complete", "Nothing was",
                                  "Notes", "Threads", "Steps", "! "})
    if (line.rfind(title, 0) == 0) return true;
  return false;
}

}  // namespace page_details

/// The table of operators of a page; no rows where it has none.
inline operator_page operator_table_of(const std::string& page) {
  using namespace page_details;
  operator_page out;
  const std::vector<std::string> lines = lines_of(page);
  std::size_t at = 0;
  // The table's first column is that of operators, or what else makes its rows.
  const auto is_header = [&] {
    if (!is_rule(lines[at + 1])) return false;
    for (std::size_t up = 2; up <= std::min<std::size_t>(at, 4); ++up)
      if (lines[at - 1].empty() && lines[at - up].rfind("Operators", 0) == 0) return true;
    return lines[at].rfind("operator", 0) == 0;
  };
  while (at + 1 < lines.size() && !is_header()) ++at;
  if (at + 1 >= lines.size()) return out;
  std::size_t first = at;
  if (at >= 2 && lines[at - 2].rfind("Operators", 0) == 0) first = at - 2;
  else if (at >= 3 && lines[at - 3].rfind("Operators", 0) == 0) first = at - 3;
  for (std::size_t i = first; i < at; ++i)
    out.of_device = out.of_device || lines[i].find("device") != std::string::npos;
  const screen_line header(lines[at]);
  const std::size_t calls = lines[at].find(" calls"), share = lines[at].find(" share");
  if (calls == std::string::npos || share == std::string::npos) return out;
  const std::size_t calls_end = header.column_of(calls) + 6, shares = header.column_of(share) + 1;

  std::size_t i = at + 2;
  for (; i < lines.size() && !lines[i].empty() && !is_rule(lines[i]) && !begins_part(lines[i]);
       ++i) {
    const screen_line line(lines[i]);
    const std::string left = line.columns(0, calls_end);
    const std::size_t cell = left.find_last_of(' ');
    const bool has_calls = line.width() >= calls_end && !left.empty() && left.back() != ' ';
    const std::string text = has_calls ? left.substr(0, cell + 1) : left;
    if (!has_calls && !out.rows.empty() && !is_fold(left)) {
      out.rows.back().text += ' ' + one_spaced(text);
      continue;
    }
    page_row row;
    row.text = one_spaced(text);
    row.indented = text.rfind(' ', 0) == 0;
    row.folded = is_fold(text);
    const std::string right = line.columns(calls_end, line.width());
    const std::size_t behind = line.columns(calls_end, shares).size();
    // a share ends behind the place where its header begins
    std::size_t from = behind;
    while (from > 0 && right[from - 1] != ' ') --from;
    row.share = share_in(right, from);
    if (row.indented)
      for (std::size_t k = out.rows.size(); k-- > 0 && row.group.empty();)
        if (!out.rows[k].indented) {
          out.rows[k].has_rows = true;
          row.group = out.rows[k].text;
        }
    out.rows.push_back(std::move(row));
  }
  std::string below;
  for (; i < lines.size() && !begins_part(lines[i]); ++i) below += lines[i] + ' ';
  out.below = one_spaced(below);
  while (i > first && lines[i - 1].empty()) --i;
  out.lines = i - first;
  return out;
}

/// (i) No line is wider than the page.
inline std::string lines_wider_than(const std::string& page, std::size_t width) {
  for (const std::string& line : lines_of(page)) {
    const std::size_t columns = c_library_width(line);
    if (columns > width) return std::to_string(columns) + " columns: " + line;
  }
  return {};
}

/// (ii) No two rows of the table of operators read the same, their numbers left out.
inline std::string rows_that_read_the_same(const std::string& page) {
  std::map<std::string, int> seen;
  for (const page_row& row : operator_table_of(page).rows) {
    if (row.folded) continue;
    const std::string whole = row.group + '\n' + row.text;
    if (++seen[whole] == 2) return "two rows read \"" + row.text + "\" under \"" + row.group + '"';
  }
  return {};
}

/// (iii) The shares of operators, of what is outside them and of what is not shown add up to 100 %,
/// and those of an operator's rows to the operator's, within their rounding.
inline std::string shares_not_whole(const std::string& page) {
  const operator_page table = operator_table_of(page);
  const auto differ = [](const printed_share& a, const printed_share& b) {
    return a.known && b.known && std::fabs(a.percent - b.percent) > a.error + b.error + 1e-6;
  };
  const auto text = [](const printed_share& s) { return std::to_string(s.percent) + '%'; };
  printed_share operators, all;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const page_row& row = table.rows[i];
    if (row.indented) continue;
    operators += row.share;
    printed_share below;
    for (std::size_t k = i + 1; k < table.rows.size() && table.rows[k].indented; ++k)
      below += table.rows[k].share;
    if (differ(row.share, below))
      return "the rows of \"" + row.text + "\" have " + text(below) + " of " + text(row.share);
  }
  if (!operators.known) return {};
  const auto share_of = [&](const char* line) {
    const std::size_t at = table.below.find(line);
    return at == std::string::npos ? printed_share{} : share_in(table.below, at);
  };
  const printed_share said = share_of("in operators");
  if (differ(said, operators)) return "all operators have " + text(operators) + " of " + text(said);
  all = operators;
  for (const char* const line : {"more rows:", "filtered out:", "outside all scopes "})
    all += share_of(line);
  all += share_of(table.of_device ? "outside any operator:" : "in regions, outside operators");
  if (differ(all, {true, 100, 0})) return "all shares are " + text(all);
  return {};
}

/// The rows of the table of kernels, by what stands before the number of their runs. The totals
/// below a rule, and the line that folds rows, are no rows.
inline std::vector<std::string> kernel_rows_of(const std::string& page) {
  using namespace page_details;
  const std::vector<std::string> lines = lines_of(page);
  std::size_t at = 0;
  while (at < lines.size() && lines[at].rfind("Kernels, sorted by", 0) != 0) ++at;
  const auto is_header = [](const std::string& line) {
    return (line + ' ').find("kernel ") != std::string::npos && line.find(" calls ") < line.size();
  };
  while (at + 1 < lines.size() && !(is_header(lines[at]) && is_rule(lines[at + 1]))) ++at;
  std::vector<std::string> rows;
  if (at + 1 >= lines.size()) return rows;
  const std::size_t calls = lines[at].find(" calls");
  if (calls == std::string::npos) return rows;
  const std::size_t end = screen_line(lines[at]).column_of(calls) + 6;
  for (at += 2; at < lines.size() && !lines[at].empty() && !is_rule(lines[at]); ++at) {
    const screen_line line(lines[at]);
    const std::string left = line.columns(0, end);
    if (left.find("more row") != std::string::npos &&
        (left.find("(top=") != std::string::npos || left.find("(kernels=on") != std::string::npos))
      continue;
    const bool has_calls = line.width() >= end && !left.empty() && left.back() != ' ';
    if (has_calls) rows.push_back(one_spaced(left.substr(0, left.find_last_of(' ') + 1)));
    else if (!rows.empty()) rows.back() += '\n' + one_spaced(left);
  }
  return rows;
}

/// (ii) No two rows of the table of kernels read the same, their numbers left out.
inline std::string kernels_that_read_the_same(const std::string& page) {
  std::map<std::string, int> seen;
  for (const std::string& row : kernel_rows_of(page))
    if (++seen[row] == 2) return "two rows read \"" + row + '"';
  return {};
}

/// The rows of the call tree, each with the names of all rows around it; further lines of a name
/// belong to it. The sums below the tree are no rows.
inline std::vector<std::string> tree_rows_of(const std::string& page) {
  using namespace page_details;
  const std::vector<std::string> lines = lines_of(page);
  std::size_t at = 0;
  while (at < lines.size() && lines[at].rfind("Call tree, ", 0) != 0) ++at;
  while (at + 1 < lines.size() && !(lines[at].rfind("scope", 0) == 0 && is_rule(lines[at + 1])))
    ++at;
  std::vector<std::string> rows, around;
  if (at + 1 >= lines.size()) return rows;
  const std::size_t calls = lines[at].find(" calls");
  if (calls == std::string::npos) return rows;
  const std::size_t end = screen_line(lines[at]).column_of(calls) + 6;
  for (at += 2; at < lines.size() && !lines[at].empty() && !is_rule(lines[at]); ++at) {
    const screen_line line(lines[at]);
    std::string left = line.columns(0, end);
    if (left.find(" more row") != std::string::npos && left.find("(top=") != std::string::npos)
      continue;
    if (line.width() >= end && left.back() != ' ') left.erase(left.rfind(' ') + 1);
    std::size_t branch = std::string::npos;
    for (const char* const sign : {"\u251C\u2500 ", "\u2514\u2500 ", "|- ", "`- "})
      branch = std::min(branch, left.find(sign));
    std::size_t depth = 0;
    if (branch != std::string::npos) {
      const std::string lead = left.substr(0, branch);
      const std::size_t number = lead.find_first_of("0123456789");
      depth = number != std::string::npos ? std::strtoul(lead.c_str() + number, nullptr, 10)
                                          : 1 + c_library_width(lead) / 3;
      const std::size_t behind = left.find("- ", branch);
      left.erase(0, behind != std::string::npos && behind < branch + 3 ? behind + 2 : branch + 7);
    } else if (left.rfind(' ', 0) == 0 || left.rfind("|  ", 0) == 0 ||
               left.rfind("\u2502  ", 0) == 0) {
      if (!rows.empty()) rows.back() += '\n' + one_spaced(left);
      if (!around.empty()) around.back() = rows.back();
      continue;
    }
    around.resize(std::min(depth, around.size()));
    while (around.size() < depth) around.emplace_back();
    rows.push_back((around.empty() ? "" : around.back() + " / ") + one_spaced(left));
    around.push_back(rows.back());
  }
  return rows;
}

/// (ii) No two rows of the call tree below one row read the same, their numbers left out.
inline std::string siblings_that_read_the_same(const std::string& page) {
  std::map<std::string, int> seen;
  for (const std::string& row : tree_rows_of(page))
    if (++seen[row] == 2) return "two rows read \"" + row + '"';
  return {};
}

/// (iv) Lines of the table of operators, its title and what is said below it.
inline std::size_t lines_of_operators(const std::string& page) {
  return operator_table_of(page).lines;
}

}  // namespace kprof_test

#endif
