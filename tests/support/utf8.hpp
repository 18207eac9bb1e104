// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_UTF8_HPP
#define KPROF_TESTS_UTF8_HPP

// Judges text by other means than kprof's own: the C library's decoder and its widths.

#include <clocale>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <wchar.h>

namespace kprof_test {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline bool use_utf8_locale() {
  return std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr ||
         std::setlocale(LC_CTYPE, "en_US.UTF-8") != nullptr;
}

inline bool is_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

/// Valid UTF-8 without control characters, C1 ones included; by the table of the Unicode standard
/// (3-7).
inline bool is_plain_text(std::string_view s) {
  const auto in = [&](std::size_t i, unsigned from, unsigned to) {
    return i < s.size() && static_cast<unsigned char>(s[i]) >= from &&
           static_cast<unsigned char>(s[i]) <= to;
  };
  for (std::size_t i = 0; i < s.size();) {
    if (in(i, 0x20, 0x7E)) i += 1;
    else if (in(i, 0xC2, 0xC2) && in(i + 1, 0xA0, 0xBF)) i += 2;
    else if (in(i, 0xC3, 0xDF) && in(i + 1, 0x80, 0xBF)) i += 2;
    else if (in(i, 0xE0, 0xE0) && in(i + 1, 0xA0, 0xBF) && in(i + 2, 0x80, 0xBF)) i += 3;
    else if (((in(i, 0xE1, 0xEC) || in(i, 0xEE, 0xEF)) && in(i + 1, 0x80, 0xBF)) &&
             in(i + 2, 0x80, 0xBF))
      i += 3;
    else if (in(i, 0xED, 0xED) && in(i + 1, 0x80, 0x9F) && in(i + 2, 0x80, 0xBF)) i += 3;
    else if (in(i, 0xF0, 0xF0) && in(i + 1, 0x90, 0xBF) && in(i + 2, 0x80, 0xBF) &&
             in(i + 3, 0x80, 0xBF))
      i += 4;
    else if (in(i, 0xF1, 0xF3) && in(i + 1, 0x80, 0xBF) && in(i + 2, 0x80, 0xBF) &&
             in(i + 3, 0x80, 0xBF))
      i += 4;
    else if (in(i, 0xF4, 0xF4) && in(i + 1, 0x80, 0x8F) && in(i + 2, 0x80, 0xBF) &&
             in(i + 3, 0x80, 0xBF))
      i += 4;
    else return false;
  }
  return true;
}

/// Columns of valid UTF-8 by the C library; needs use_utf8_locale().
inline std::size_t c_library_width(const std::string& text) {
  std::size_t width = 0;
  mbstate_t state{};
  for (const char* p = text.data(); p < text.data() + text.size();) {
    wchar_t c = 0;
    const std::size_t size =
        mbrtowc(&c, p, static_cast<std::size_t>(text.data() + text.size() - p), &state);
    if (size == 0 || size > 4) return SIZE_MAX;
    const int columns = wcwidth(c);
    width += columns < 0 ? 1 : static_cast<std::size_t>(columns);  // -1: not assigned yet
    p += size;
  }
  return width;
}

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace kprof_test

#endif
