// SPDX-License-Identifier: MIT
// Prints for every character of Unicode whether kprof prints it as it is: '.', or escapes it: 'x'.
// '-' is no character of UTF-8.

#include <kprof/write/printable.hpp>

#include <cstdio>
#include <string>

namespace {

std::string utf8(char32_t c) {
  const auto byte = [](char32_t bits) {
    return static_cast<char>(static_cast<unsigned char>(bits));
  };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0U | c >> 6U), byte(0x80U | (c & 0x3FU))};
  if (c < 0x10000)
    return {byte(0xE0U | c >> 12U), byte(0x80U | (c >> 6U & 0x3FU)), byte(0x80U | (c & 0x3FU))};
  return {byte(0xF0U | c >> 18U), byte(0x80U | (c >> 12U & 0x3FU)), byte(0x80U | (c >> 6U & 0x3FU)),
          byte(0x80U | (c & 0x3FU))};
}

}  // namespace

int main() {
  for (char32_t c = 0; c < 0x110000; ++c) {
    const std::string text = 'a' + utf8(c);
    const bool is_surrogate = c >= 0xD800 && c < 0xE000;
    const bool both =
        kprof::detail::printable(text, 80) == text && kprof::detail::one_line(text) == text;
    const bool neither =
        kprof::detail::printable(text, 80) != text && kprof::detail::one_line(text) != text;
    std::putchar(is_surrogate ? '-' : both || (c == '\\' && !neither) ? '.' : neither ? 'x' : '?');
  }
  return 0;
}
