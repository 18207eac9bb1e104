// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_PAGE_HPP
#define KPROF_REPORT_TEXT_PAGE_HPP

// A page of text of a given width: lines, paragraphs and aligned grids. Included by the text
// reports. What is put on a page never runs over its width, however narrow it is and whatever the
// text.

#include <kprof/build_options.hpp>
#include <kprof/report/text/format.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::size_t widest_page = 1000;
// columns of foreign text that are ever looked at
inline constexpr std::size_t longest_text = 1000;

/// Like printable(), but keeps the end of a text that is too long: for paths.
inline std::string printable_end(std::string_view text, std::size_t width, bool ascii) {
  const std::size_t from = text.size() > longest_text ? text.size() - longest_text : 0;
  std::string out = printable(text.substr(from), 10 * longest_text, ascii);
  std::size_t used = display_width(out);
  if (used <= width && from == 0) return out;
  const std::string_view ellipsis = ascii ? "..." : "\u2026";
  const std::size_t room = width >= display_width(ellipsis) ? width - display_width(ellipsis) : 0;
  std::string_view rest = out;
  while (!rest.empty() && (used > room || width_of(first_character(rest).value) == 0)) {
    const code_point c = first_character(rest);
    used -= width_of(c.value);
    rest.remove_prefix(c.size);
  }
  return room == 0 ? std::string(width, '.') : std::string(ellipsis).append(rest);
}

/// Like printable(), but keeps both ends of a text that is too long: for kernels, whose names begin
/// and end with what tells them apart.
inline std::string printable_ends(std::string_view text, std::size_t width, bool ascii) {
  std::string out = printable(text, longest_text, ascii);
  if (display_width(out) <= width) return out;
  std::size_t used = 0, size = 0;
  while (size < out.size()) {
    const code_point c = first_character(std::string_view{out}.substr(size));
    if (used + width_of(c.value) > width / 2) break;
    used += width_of(c.value);
    size += c.size;
  }
  return out.substr(0, size) + printable_end(std::string_view{text}, width - used, ascii);
}

class page {
 public:
  page(std::size_t width, bool ascii) : width_(width), ascii_(ascii) {}

  std::size_t width() const noexcept { return width_; }
  bool ascii() const noexcept { return ascii_; }
  std::string take() { return std::move(text_); }

  std::string time(double ns) const { return format_time(ns, ascii_); }
  std::string safe(std::string_view foreign) const {
    return printable(foreign, longest_text, ascii_);
  }
  const char* dot() const noexcept { return ascii_ ? " | " : " \u00B7 "; }

  /// One line of printable text. The caller sees to it that it fits; if not, it is cut.
  [[gnu::cold]] void line(std::string_view text = {}) {
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    if (display_width(text) <= width_) text_ += text;
    else text_ += cut(text, width_);
    text_ += '\n';
  }

  /// An empty line, unless there is one.
  void space() {
    if (!text_.ends_with("\n\n")) line();
  }

  void rule(std::size_t width) {
    std::string dashes;
    for (std::size_t i = 0; i < std::min(width, width_); ++i) dashes += ascii_ ? "-" : "\u2500";
    line(dashes);
  }

  /// `lead`, then printable text broken at spaces, its further lines indented by `indent`.
  [[gnu::cold]] void paragraph(std::string lead, std::string_view text, std::size_t indent) {
    std::string current = std::move(lead);
    std::size_t used = display_width(current), begin = used;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, word_end(text));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      add_word(word, current, used, begin, indent);
    }
    line(current);
  }

  /// `lead`, then as many of the names (foreign text) as fit on its line, each with its note, and
  /// how many more there are.
  [[gnu::cold]] void list(const std::string& lead, const std::vector<std::string>& names,
                          const std::vector<std::string>& notes = {}) {
    const std::size_t before = display_width(lead),
                      room = before + 20 <= width_ ? width_ - before : width_;
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = printable(names[i], 40, ascii_) + (notes.empty() ? "" : notes[i]);
      const std::string more = " and " + format_count(names.size() - i) + " more";
      const std::size_t reserve = i + 1 == names.size() ? 0 : more.size();
      if (i > 0 && display_width(text) + 2 + display_width(name) + reserve > room) {
        text += more;
        break;
      }
      text.append(i > 0 ? ", " : "").append(name);
    }
    paragraph("", lead + text, 2);
  }

 private:
  // A number stays on the line of its unit.
  static std::size_t word_end(std::string_view text) noexcept {
    std::size_t end = text.find(' ');
    while (end != std::string_view::npos && end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
      end = text.find(' ', end + 1);
    return end;
  }
  // `begin`: where the text of the current line begins; no space is put there.
  [[gnu::cold]] void add_word(std::string_view word, std::string& current, std::size_t& used,
                              std::size_t& begin, std::size_t indent) {
    const std::size_t wide = display_width(word);
    if (used > begin && used + 1 + wide > width_ && (wide <= width_ - indent || used + 8 > width_))
      new_line(current, used, begin, indent);
    if (used > begin) current += ' ', ++used;
    while (!word.empty()) {
      const code_point c = first_character(word);
      if (used + width_of(c.value) > width_) new_line(current, used, begin, indent);
      current.append(word.substr(0, c.size));
      used += width_of(c.value);
      word.remove_prefix(c.size);
    }
  }
  void new_line(std::string& current, std::size_t& used, std::size_t& begin, std::size_t indent) {
    line(current);
    current.assign(indent, ' ');
    used = begin = indent;
  }
  static std::string_view cut(std::string_view text, std::size_t width) {
    std::size_t used = 0, size = 0;
    while (size < text.size()) {
      const code_point c = first_character(text.substr(size));
      used += width_of(c.value);
      if (used > width) break;
      size += c.size;
    }
    return text.substr(0, size);
  }

  std::size_t width_;
  bool ascii_;
  std::string text_;
};

/// How a column of a grid behaves.
struct grid_column {
  std::string header;
  bool right = true;
  bool keep_end = false;    // of a text that is cut
  bool keep_ends = false;   // both of them
  std::size_t least = 0;    // how far it may shrink; 0: not at all
  std::size_t natural = 0;  // the width that its cells want
  std::size_t width = 0;
};

/// A table whose columns are as wide as their cells, but for those that shrink to make it fit.
class grid {
 public:
  static constexpr std::size_t gap = 2;

  std::vector<grid_column> columns;
  std::vector<std::vector<std::string>> rows;  // foreign text is still foreign

  [[gnu::cold]] void measure(const page& out) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      columns[c].natural = display_width(columns[c].header);
      for (const auto& row : rows)  // what is longer than a page can be is seen to be
        columns[c].natural = std::max(
            columns[c].natural, display_width(printable(row[c], 2 * widest_page, out.ascii())));
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
    print_row(out, headers);
    out.rule(total);
    for (const auto& row : rows) print_row(out, row);
  }

 private:
  // What is left over goes to those that shrank, in equal parts.
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

  [[gnu::cold]] void print_row(page& out, const std::vector<std::string>& cells) const {
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const grid_column& c = columns[i];
      const std::string cell = c.keep_ends  ? printable_ends(cells[i], c.width, out.ascii())
                               : c.keep_end ? printable_end(cells[i], c.width, out.ascii())
                                            : printable(cells[i], c.width, out.ascii());
      const std::string pad(c.width - std::min(c.width, display_width(cell)), ' ');
      if (i > 0) text.append(gap, ' ');
      text += c.right ? pad + cell : cell + pad;
    }
    out.line(text);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
