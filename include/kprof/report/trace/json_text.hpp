// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_JSON_TEXT_HPP
#define KPROF_REPORT_TRACE_JSON_TEXT_HPP

// Texts and numbers as all viewers of Chrome traces read them, which other readers of JSON do too.
// Included by the outputs trace, gbench and hatchet. Pure.
//
// Perfetto undoes escapes only in texts that have a quote, Catapult stops at control characters,
// TensorBoard at what is not UTF-8. So only quotes and backslashes are escaped. Catapult refuses a
// file with a NaN or an infinity.

#include <kprof/build_options.hpp>
#include <kprof/write/printable.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Bytes of a text in a trace; of a longer one the beginning, with an ellipsis.
inline constexpr std::size_t longest_trace_text = 1000;

/// Appends foreign text: a control character becomes its picture (U+2400 and on) or, as each byte
/// that is not UTF-8, U+FFFD. Characters of `escaped` have a backslash before them.
inline void append_trace_text(std::string& out, std::string_view text,
                              std::string_view escaped = {}) {
  const std::size_t begin = out.size();
  while (!text.empty()) {
    if (out.size() - begin >= longest_trace_text) {
      out += "\u2026";
      return;
    }
    const auto code = static_cast<unsigned char>(text[0]);
    std::size_t size = 1;
    if (code < 0x80 && escaped.find(text[0]) != std::string_view::npos) {
      out += '\\';
      out += text[0];
    } else if (code < 0x20 || code == 0x7F) {
      out += "\xE2\x90";
      out += static_cast<char>(code == 0x7F ? 0xA1 : 0x80 + code);
    } else if (code < 0x80) {
      out += text[0];
    } else {
      const code_point c = first_character(text);
      size = c.size == 0 ? 1 : c.size;
      if (c.size == 0 || c.value < 0xA0) out += "\uFFFD";
      else out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
}

/// The same without quotes around it.
inline void append_json_text(std::string& out, std::string_view text) {
  append_trace_text(out, text, "\"\\");
}

inline void append_integer(std::string& out, std::uint64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

/// Microseconds with the nanoseconds behind the point, as far as they are not 0: "12", "12.05".
inline void append_us(std::string& out, std::int64_t ns) {
  char text[32];
  const std::uint64_t whole = static_cast<std::uint64_t>(ns < 0 ? 0 : ns);
  char* end = std::to_chars(text, text + sizeof text, whole / 1000).ptr;
  if (const std::uint64_t rest = whole % 1000; rest != 0) {
    *end++ = '.';
    *end++ = static_cast<char>('0' + rest / 100);
    *end++ = static_cast<char>('0' + rest / 10 % 10);
    *end++ = static_cast<char>('0' + rest % 10);
    while (end[-1] == '0') --end;
  }
  out.append(text, end);
}

/// An amount whole; above 2^63 as a floating number, which Perfetto would take for negative.
inline void append_amount(std::string& out, double value) {
  if (value >= 0 && value < 9.2e18) return append_integer(out, static_cast<std::uint64_t>(value));
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, std::isfinite(value) ? value : 0).ptr);
}

/// Four significant digits of a number that is finite.
inline void append_rounded(std::string& out, double value) {
  char text[32];
  out.append(text,
             std::to_chars(text, text + sizeof text, value, std::chars_format::general, 4).ptr);
}

/// The members of a JSON object, one after the other: `"flops":1024,"type":"f32"`.
class json_members {
 public:
  explicit json_members(std::string& out) noexcept : out_(out) {}

  void text(std::string_view name, std::string_view value) {
    key(name);
    out_ += '"';
    append_json_text(out_, value);
    out_ += '"';
  }
  void integer(std::string_view name, std::uint64_t value) {
    key(name);
    append_integer(out_, value);
  }
  void amount(std::string_view name, double value) {
    key(name);
    append_amount(out_, value);
  }
  /// Nothing where it is not finite.
  void rounded(std::string_view name, double value) {
    if (!std::isfinite(value)) return;
    key(name);
    append_rounded(out_, value);
  }
  /// The shortest that reads back as the same number; nothing where it is not finite.
  void number(std::string_view name, double value) {
    if (!std::isfinite(value)) return;
    key(name);
    char text[32];
    out_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
  /// [1,2,3]
  void three(std::string_view name, const std::uint32_t (&of)[3]) {
    key(name);
    for (std::size_t i = 0; i < 3; ++i) {
      out_ += i == 0 ? '[' : ',';
      append_integer(out_, of[i]);
    }
    out_ += ']';
  }
  void key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
