// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_CSV_LINE_HPP
#define KPROF_REPORT_CSV_LINE_HPP

// A line of a file as RFC 4180 describes it. Included by csv.hpp and its tables.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/report/output.hpp>
#include <kprof/write/printable.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// A line of fields.
class csv_line {
 public:
  /// Bytes that are no UTF-8 and control characters, but for tabs and ends of lines, become "\xNN"
  /// or "\u00NN": readers refuse a whole file for one of them.
  void add(std::string_view field) {
    if (!is_first_) line_ += ',';
    is_first_ = false;
    std::string readable;
    if (!is_plain(field)) field = readable = readable_text(field);
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
      line_ += field;
    } else {
      line_ += '"';
      for (const char c : field) line_.append(c == '"' ? 2 : 1, c);
      line_ += '"';
    }
  }
  void add(double number) { add_number(number); }
  void add(std::uint64_t number) { add_number(number); }
  void add(std::uint32_t number) { add_number(number); }
  void add(std::int64_t number) { add_number(number); }
  void add(bool) = delete;
  void add(const char* field) { add(std::string_view{field}); }
  void add(const std::string& field) { add(std::string_view{field}); }
  /// Empty where the figure is not known.
  void add(const figure& f, double scale = 1) {
    if (f.known()) add(f.value * scale);
    else skip();
  }
  /// An empty field.
  void skip() { add(std::string_view{}); }
  /// The fields so far.
  const std::string& text() const noexcept { return line_; }
  void put(text_sink& out) {
    out.put(line_ += "\r\n");
    line_.clear();
    is_first_ = true;
  }

 private:
  static bool is_plain(std::string_view field) noexcept {
    return std::all_of(field.begin(), field.end(), [](char c) { return c >= ' ' && c <= '~'; });
  }
  static std::string readable_text(std::string_view field) {
    std::string out;
    each_escaped(
        field,
        [](char32_t c) {
          return (c < 0x20 || (c >= 0x7F && c <= 0x9F)) && c != '\t' && c != '\r' && c != '\n';
        },
        [&](std::string_view piece) { out += piece; });
    return out;
  }
  template <class Number>
  void add_number(Number number) {
    char text[32];
    const std::to_chars_result end = std::to_chars(text, text + sizeof(text), number);
    add(std::string_view{text, static_cast<std::size_t>(end.ptr - text)});
  }

  std::string line_;
  bool is_first_ = true;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
