// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TEXT_PAGE_HPP
#define KPROF_REPORT_TEXT_PAGE_HPP

// A page of text of a given width: lines and paragraphs. Included by the text reports. What is put
// on a page never runs over its width, however narrow it is and whatever the text.

#include <kprof/build_options.hpp>
#include <kprof/report/text/format.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// Text without spaces at its ends and behind others, which nobody sees.
[[gnu::cold]] inline std::string seen_spaces(std::string_view text) {
  std::string seen;
  for (const char c : text)
    if (c != ' ' || (!seen.empty() && seen.back() != ' ')) seen += c;
  if (!seen.empty() && seen.back() == ' ') seen.pop_back();
  return seen;
}

/// The begin of printable text, so many columns of it.
inline std::string_view first_columns(std::string_view text, std::size_t width) noexcept {
  std::size_t used = 0, size = 0;
  while (size < text.size()) {
    const code_point c = first_character(text.substr(size));
    used += width_of(c.value);
    if (used > width) break;
    size += std::max<std::size_t>(c.size, 1);
  }
  return text.substr(0, size);
}
/// Its end.
inline std::string_view last_columns(std::string_view text, std::size_t width) noexcept {
  std::size_t used = display_width(text);
  while (!text.empty() && (used > width || width_of(first_character(text).value) == 0)) {
    const code_point c = first_character(text);
    used -= std::min<std::size_t>(used, width_of(c.value));
    text.remove_prefix(std::max<std::size_t>(c.size, 1));
  }
  return text;
}

/// A foreign name in a sentence, fit to print. A long one keeps its end too, which may be all that
/// tells it from others.
inline std::string short_name(std::string_view name, bool ascii) {
  constexpr std::size_t widest = 40, begin = 18;
  const std::string text = printable(name, 1000, ascii);
  if (display_width(text) <= widest) return text;
  const std::string_view mark = ascii ? "..." : "\u2026";
  std::string out{first_columns(text, begin)};
  return out.append(mark).append(last_columns(text, widest - begin - display_width(mark)));
}

/// How a line looks on a terminal: `notice` is what a reader should know before trusting a number,
/// `alarm` says that something is missing. Colour never says what the text does not.
enum class line_style : std::uint8_t { plain, bold, dim, notice, alarm };

inline const char* escape_of(line_style style) noexcept {
  switch (style) {
    case line_style::bold: return "\x1b[1m";
    case line_style::dim: return "\x1b[2m";
    case line_style::notice: return "\x1b[33m";
    case line_style::alarm: return "\x1b[31m";
    case line_style::plain: break;
  }
  return "";
}

class page {
 public:
  page(std::size_t width, bool ascii, bool color = false)
      : width_(width), ascii_(ascii), color_(color) {}

  std::size_t width() const noexcept { return width_; }
  bool ascii() const noexcept { return ascii_; }
  std::string take() { return std::move(text_); }

  std::string time(double ns) const { return format_time(ns, ascii_); }
  std::string safe(std::string_view foreign) const {
    return printable(foreign, longest_text, ascii_);
  }
  const char* dot() const noexcept { return ascii_ ? " | " : " \u00B7 "; }

  /// One line of printable text. The caller sees to it that it fits; if not, it is cut.
  [[gnu::cold]] void line(std::string_view text = {}, line_style style = line_style::plain) {
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    const bool styled = color_ && style != line_style::plain && !text.empty();
    if (styled) text_ += escape_of(style);
    if (display_width(text) <= width_) text_ += text;
    else text_ += first_columns(text, width_);
    if (styled) text_ += "\x1b[0m";
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

  /// `lead`, then printable text broken at spaces, its further lines indented by `indent`. `end`
  /// stands at the right, behind the last line or on one of its own.
  [[gnu::cold]] void paragraph(std::string lead, std::string_view text, std::size_t indent,
                               line_style style = line_style::plain, std::string_view end = {}) {
    std::string current = std::move(lead);
    std::size_t used = display_width(current), begin = used;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, word_end(text));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      add_word(word, current, used, begin, indent, style);
    }
    if (const std::size_t wide = display_width(end); wide > 0) {
      if (used + 2 + wide > width_) new_line(current, used, begin, indent, style);
      current.append(width_ > used + wide ? width_ - used - wide : 0, ' ').append(end);
    }
    line(current, style);
  }

  /// `lead`, then as many of the names (foreign text) as fit on its line, each with its note, and
  /// how many more there are.
  [[gnu::cold]] void list(const std::string& lead, const std::vector<std::string>& names,
                          const std::vector<std::string>& notes = {},
                          line_style style = line_style::plain) {
    const std::size_t before = display_width(lead),
                      room = before + 20 <= width_ ? width_ - before : width_;
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = short_name(names[i], ascii_) + (notes.empty() ? "" : notes[i]);
      const std::string more = " and " + format_count(names.size() - i) + " more";
      const std::size_t reserve = i + 1 == names.size() ? 0 : more.size();
      if (i > 0 && display_width(text) + 2 + display_width(name) + reserve > room) {
        text += more;
        break;
      }
      text.append(i > 0 ? ", " : "").append(name);
    }
    paragraph("", lead + text, 2, style);
  }

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  static bool begins_number(char c) noexcept {  // 5, <5, and what begins with a sign
    return is_digit(c) || c == '<' || static_cast<unsigned char>(c) >= 0x80;
  }
  // A number stays on the line of its unit.
  static std::size_t word_end(std::string_view text) noexcept {
    std::size_t begin = 0, end = text.find(' ');
    while (end != std::string_view::npos && end > begin && begins_number(text[begin]) &&
           is_digit(text[end - 1])) {
      begin = end + 1;
      end = text.find(' ', begin);
    }
    return end;
  }
  // `begin`: where the text of the current line begins; no space is put there.
  [[gnu::cold]] void add_word(std::string_view word, std::string& current, std::size_t& used,
                              std::size_t& begin, std::size_t indent, line_style style) {
    const std::size_t wide = display_width(word);
    if (used > begin && used + 1 + wide > width_ && (wide <= width_ - indent || used + 8 > width_))
      new_line(current, used, begin, indent, style);
    if (used > begin) current += ' ', ++used;
    while (!word.empty()) {
      const code_point c = first_character(word);
      if (used + width_of(c.value) > width_) new_line(current, used, begin, indent, style);
      current.append(word.substr(0, c.size));
      used += width_of(c.value);
      word.remove_prefix(c.size);
    }
  }
  void new_line(std::string& current, std::size_t& used, std::size_t& begin, std::size_t indent,
                line_style style) {
    line(current, style);
    current.assign(indent, ' ');
    used = begin = indent;
  }

  std::size_t width_;
  bool ascii_, color_;
  std::string text_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
