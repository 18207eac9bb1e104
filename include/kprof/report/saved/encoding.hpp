// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_ENCODING_HPP
#define KPROF_REPORT_SAVED_ENCODING_HPP

// How bytes become text in a saved profile and back: UTF-8 as it is, other text byte by byte, the
// compact timeline as variable-length numbers in base64. Included by save.hpp and load.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The length of the UTF-8 character that `text` begins with; 0 where it begins with none.
inline std::size_t utf8_character(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const std::uint32_t lead = at(0);
  if (lead < 0x80U) return 1;
  const std::size_t size = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  std::uint32_t code = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return 0;
    code = code << 6U | (at(i) & 0x3FU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80U, 0x800U, 0x10000U};
  const bool surrogate = code >= 0xD800U && code < 0xE000U;
  return lead < 0xC2U || code < smallest[size] || code > 0x10FFFFU || surrogate ? 0 : size;
}

inline bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t size = utf8_character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

/// Each byte as the character of its number, U+0000 to U+00FF.
inline std::string bytes_to_utf8(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80U) {
      out += c;
    } else {
      out += static_cast<char>(0xC0U | byte >> 6U);
      out += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return out;
}

/// The inverse; false where a character is above U+00FF.
inline bool utf8_to_bytes(std::string_view text, std::string& bytes) {
  bytes.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80U) {
      bytes += text[i];
      continue;
    }
    if (byte > 0xC3U || i + 1 == text.size()) return false;
    bytes +=
        static_cast<char>((byte & 0x03U) << 6U | (static_cast<unsigned char>(text[++i]) & 0x3FU));
  }
  return true;
}

inline constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends `bytes` in base64, without padding.
inline void append_base64(std::string& out, std::string_view bytes) {
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : bytes) {
    held = held << 8U | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) out += base64_digits[held >> (bits - 6) & 0x3FU];
  }
  if (bits > 0) out += base64_digits[held << (6 - bits) & 0x3FU];
}

/// The inverse; false where `text` has another character.
inline bool from_base64(std::string_view text, std::string& bytes) {
  static const std::array<std::uint8_t, 256> values = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(0xFFU);
    for (std::size_t i = 0; i < base64_digits.size(); ++i)
      table[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::uint8_t>(i);
    return table;
  }();
  bytes.clear();
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    const std::uint8_t value = values[static_cast<unsigned char>(c)];
    if (value == 0xFFU) return false;
    held = held << 6U | value;
    bits += 6;
    if (bits >= 8) bytes += static_cast<char>(held >> (bits -= 8));
  }
  return true;
}

/// Appends seven bits a byte, the lowest first; the highest bit says that more follow (LEB128).
inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) out += static_cast<char>(value | 0x80U);
  out += static_cast<char>(value);
}

/// Takes a number off the front; false where there is none, or one of more than 64 bits.
inline bool take_varint(std::string_view& from, std::uint64_t& value) noexcept {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from[0]);
    from.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80U) return true;
  }
  return false;
}

/// Small numbers of either sign become small ones without: 0, -1, 1, -2, ...
inline std::uint64_t zigzag(std::uint64_t difference) noexcept {
  return difference << 1U ^ (difference >> 63U != 0 ? ~std::uint64_t{0} : 0U);
}
inline std::uint64_t from_zigzag(std::uint64_t value) noexcept {
  return value >> 1U ^ ((value & 1U) != 0 ? ~std::uint64_t{0} : 0U);
}

/// Scopes as bytes: of each the difference of node and start from the one before, and the duration.
inline std::string pack_timeline(const timeline_scope* first, const timeline_scope* last) {
  std::string out;
  std::uint64_t node = 0, start = 0;
  for (; first != last; ++first) {
    append_varint(out, zigzag(first->node - node));
    append_varint(out, zigzag(static_cast<std::uint64_t>(first->start) - start));
    append_varint(out, first->duration);
    node = first->node;
    start = static_cast<std::uint64_t>(first->start);
  }
  return out;
}

/// The inverse, behind what is in `scopes`; false where the bytes are none of a timeline.
inline bool unpack_timeline(std::string_view bytes, std::vector<timeline_scope>& scopes) {
  std::uint64_t node = 0, start = 0;
  while (!bytes.empty()) {
    std::uint64_t node_step = 0, start_step = 0, duration = 0;
    if (!take_varint(bytes, node_step) || !take_varint(bytes, start_step) ||
        !take_varint(bytes, duration))
      return false;
    node += from_zigzag(node_step);
    start += from_zigzag(start_step);
    if (node >= scope_node::none) return false;
    scopes.push_back(
        {static_cast<std::uint32_t>(node), static_cast<std::int64_t>(start), duration});
  }
  return true;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
