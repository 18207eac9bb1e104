// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_JSON_WRITER_HPP
#define KPROF_REPORT_SAVED_JSON_WRITER_HPP

// Writes JSON as it comes: numbers exactly, text reversibly. Included by save.hpp.

#include <kprof/build_options.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/saved/encoding.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

class json_writer {
 public:
  explicit json_writer(text_sink& out) noexcept : out_(out) {}

  void raw(std::string_view text) { out_.put(text); }
  void value(bool b) { raw(b ? "true" : "false"); }
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
  void value(T number) {
    char text[24];
    const char* const end = std::to_chars(text, text + sizeof text, number).ptr;
    raw(std::string_view(text, static_cast<std::size_t>(end - text)));
  }
  /// The shortest decimal that reads back the same; what JSON has no number for is a text.
  template <std::floating_point T>
  void value(T number) {
    char text[64];
    const char* const end = std::to_chars(text, text + sizeof text, number).ptr;
    const std::string_view written(text, static_cast<std::size_t>(end - text));
    if (std::isfinite(number)) raw(written);
    else raw('"' + std::string{written} + '"');
  }
  /// Text that is not UTF-8 becomes {"bytes": TEXT}, each byte the character of its number.
  void value(std::string_view text) {
    if (is_utf8(text)) {
      quoted(text);
      return;
    }
    raw("{\"bytes\":");
    quoted(bytes_to_utf8(text));
    raw("}");
  }

  /// "name":
  void key(std::string_view name) {
    quoted(name);
    raw(":");
  }

 private:
  void quoted(std::string_view text) {
    raw("\"");
    std::size_t plain = 0;  // where what needs no escape begins
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto code = static_cast<unsigned char>(text[i]);
      if (code >= 0x20U && code != '"' && code != '\\') continue;
      constexpr std::string_view digits = "0123456789abcdef";
      const char control[] = {'\\', 'u', '0', '0', digits[code >> 4U], digits[code & 0xFU]};
      const char escaped[] = {'\\', text[i]};
      raw(text.substr(plain, i - plain));
      raw(code < 0x20U ? std::string_view{control, 6} : std::string_view{escaped, 2});
      plain = i + 1;
    }
    raw(text.substr(plain));
    raw("\"");
  }

  text_sink& out_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
