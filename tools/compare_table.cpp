// SPDX-License-Identifier: MIT
// The table that `kprof compare` prints.

#include "compare.hpp"

#include <kprof/model/number_text.hpp>
#include <kprof/write/printable.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kprof_tool {
namespace {

namespace text = kprof::detail;

constexpr std::size_t width = 100;

std::string padding(const std::string& cell, std::size_t to) {
  const std::size_t has = text::display_width(cell);
  return std::string(has < to ? to - has : 0, ' ');
}

/// Foreign text in a paragraph: in lines of `width` columns, later ones indented.
void add_paragraph(std::string& out, const std::string& words, const std::string& first = "") {
  std::string line = first;
  const std::string indent(first.size(), ' ');
  std::string_view rest = words;
  while (!rest.empty()) {
    const std::size_t end = rest.find(' ');
    const std::string word = text::one_line(rest.substr(0, end));
    if (line.size() > indent.size() &&
        text::display_width(line) + 1 + text::display_width(word) > width) {
      out += line + '\n';
      line = indent;
    }
    if (line.size() > indent.size()) line += ' ';
    line += word;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  out += line + '\n';
}

struct table_line {
  std::string row, before, after, plain, change, interval, verdict, needs;
};

/// What changed first, in the order of the time that it changed; then by time.
std::vector<const kprof::row_change*> ordered(const std::vector<kprof::row_change>& all) {
  std::vector<const kprof::row_change*> rows;
  for (const kprof::row_change& row : all) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const kprof::row_change* a, const kprof::row_change* b) {
                     return text::changed_before(*a, *b);
                   });
  return rows;
}

table_line line_of(const kprof::row_change& row, std::string title) {
  return {std::move(title),
          text::format_time(row.before_ns),
          text::format_time(row.after_ns),
          text::change_text(row.plain),
          text::change_text(row.change.by),
          text::interval_text(row.change.by),
          kprof::verdict_word(row.change.verdict),
          text::needs_text(row.change)};
}

class table {
 public:
  explicit table(bool has_plain) : has_plain_(has_plain) {}

  void add(std::string& out, const table_line& l) const {
    const std::size_t title = has_plain_ ? 24 : 33;
    std::string line = text::printable(l.row, title);
    line += padding(line, title);
    right(line, l.before, 9);
    right(line, l.after, 9);
    if (has_plain_) right(line, l.plain, 9);
    right(line, l.change, 9);
    line += "  " + l.interval + padding(l.interval, 16) + "  " + l.verdict + padding(l.verdict, 9);
    right(line, l.needs, 11);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  void add_rule(std::string& out) const {
    for (std::size_t i = 0; i < width; ++i) out += "\u2500";
    out += '\n';
  }

 private:
  static void right(std::string& line, const std::string& cell, std::size_t columns) {
    line += padding(cell, columns) + cell;
  }

  bool has_plain_;
};

}  // namespace

std::string comparison_table(const kprof::comparison& c, const std::string& program) {
  const kprof::comparison_words words = kprof::words_of(c);
  std::string out;
  add_paragraph(out, (program.empty() ? "program" : text::printable(program, 60)) + " \u00B7 " +
                         text::tested_text(c));
  out += '\n';
  add_paragraph(out, words.first);
  if (!words.rest.empty()) add_paragraph(out, words.rest);
  for (const std::string& warning : words.warnings) add_paragraph(out, warning, "! ");
  out += '\n';
  const table lines(c.common_is_large);
  lines.add(out, {"row", "before", "after", "plain", "change", "95% interval", "verdict", "needs"});
  lines.add_rule(out);
  for (const kprof::total_change& t : c.totals)
    lines.add(out, {text::total_title(t), text::format_time(t.before_ns),
                    text::format_time(t.after_ns), text::change_text(t.change.by),
                    text::change_text(t.change.by), text::interval_text(t.change.by),
                    kprof::verdict_word(t.change.verdict), text::needs_text(t.change)});
  lines.add_rule(out);
  for (const kprof::row_change* row : ordered(c.rows))
    lines.add(out, line_of(*row, text::row_title(*row)));
  if (!c.kernels.rows.empty()) lines.add_rule(out);
  for (const kprof::row_change* row : ordered(c.kernels.rows))
    lines.add(out, line_of(*row, text::kernel_title(*row)));
  out += '\n';
  for (const std::string& line : words.below) add_paragraph(out, line);
  return out;
}

}  // namespace kprof_tool
