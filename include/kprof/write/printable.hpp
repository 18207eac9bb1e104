// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_PRINTABLE_HPP
#define KPROF_WRITE_PRINTABLE_HPP

// Foreign text as a terminal can show it: names, paths and messages that kprof did not make itself.
// Included by reports and messages. Pure; no locale.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

struct code_point {
  char32_t value = 0;
  unsigned size = 0;  // bytes; 0: the next byte is not the beginning of valid UTF-8
};

/// The first character of `text`, which is not empty. Overlong forms, surrogates and numbers above
/// 10FFFF are not valid.
inline code_point first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const unsigned size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  char32_t value = lead & (0xFFU >> (size + 1));
  for (unsigned i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  static constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, size};
}

struct character_range {
  char32_t from, to;
};
template <std::size_t N>
constexpr bool is_in(const character_range (&ranges)[N], char32_t c) noexcept {
  for (const character_range& r : ranges)
    if (c <= r.to) return c >= r.from;
  return false;
}

/// Columns of a character: 0 for combining marks, 2 for wide East Asian characters and emoji. Where
/// terminals differ, and for rarer marks, the larger number: a line may come out short, never long.
constexpr unsigned width_of(char32_t c) noexcept {
  if (c < 0x300) return 1;  // nearly every character, before the tables are looked at
  constexpr character_range zero[] = {
      {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},   {0x64B, 0x65F},
      {0x6D6, 0x6DC},   {0x6DF, 0x6E4},   {0x941, 0x948},   {0x94D, 0x94D},   {0x951, 0x957},
      {0xE34, 0xE3A},   {0xE47, 0xE4E},   {0x1AB0, 0x1ABE}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20F0},
      {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE20, 0xFE2F}};
  constexpr character_range wide[] = {
      {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23F3},
      {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
      {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},
      {0x26C4, 0x26C5},   {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},
      {0x26F2, 0x26F5},   {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},
      {0x270A, 0x270B},   {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},
      {0x2753, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
      {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0xA4CF},
      {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE1F},
      {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x1B2FF},
      {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
      {0x1F1E6, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7F0}, {0x1F90C, 0x1FAFF},
      {0x20000, 0x3FFFD}};
  return is_in(zero, c) ? 0 : is_in(wide, c) ? 2 : 1;
}

/// Characters that a terminal obeys or hides instead of showing: controls, line separators, all of
/// Unicode's format characters (Cf: direction marks, joiners, tags, those of single scripts), those
/// that it calls ignorable by default, and letters that are blank.
constexpr bool is_unsafe(char32_t c) noexcept {
  constexpr character_range unsafe[] = {
      {0, 0x1F},          {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
      {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
      {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
      {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
      {0x2800, 0x2800},   {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
      {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
      {0x13430, 0x1343F}, {0x16FE4, 0x16FE4}, {0x1BCA0, 0x1BCA3}, {0x1D159, 0x1D159},
      {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  return is_in(unsafe, c);
}

[[gnu::cold]] inline std::string hexadecimal(std::uint32_t value, unsigned digits) {
  std::string out(digits, '0');
  for (; digits > 0; value >>= 4U) out[--digits] = "0123456789abcdef"[value & 0xFU];
  return out;
}

[[gnu::cold]] inline std::string escaped(char32_t c) {
  switch (c) {
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\\': return "\\\\";
    default: break;
  }
  if (c < 0x80) return "\\x" + hexadecimal(c, 2);
  return c < 0x10000 ? "\\u" + hexadecimal(c, 4) : "\\U" + hexadecimal(c, 8);
}

/// Foreign text made fit to print, and no wider than `width`: valid UTF-8 (or ASCII), with "\n",
/// "\x1b", "\u202e" for what a terminal would obey, "\xNN" for a byte that is not UTF-8, "\\" for a
/// backslash and "…" for what is cut off.
inline std::string printable(std::string_view text, std::size_t width, bool ascii = false) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '\\'; };
  // nearly every text
  if (text.size() <= width && std::all_of(text.begin(), text.end(), plain))
    return std::string{text};
  const std::string_view ellipsis = ascii ? "..." : "\u2026";
  const std::size_t ellipsis_width = ascii ? 3 : 1;
  std::string out;
  std::size_t used = 0, cut_size = 0;  // cut_size: bytes of `out` that leave room for the ellipsis
  // combining marks on the last character; none may go on a space, nor on what is before the text
  unsigned marks = 3;
  while (!text.empty()) {
    const code_point c = first_character(text);
    std::string piece;
    std::size_t piece_width = 0;
    if (c.size == 0) piece = "\\x" + hexadecimal(static_cast<unsigned char>(text[0]), 2);
    else if (is_unsafe(c.value) || c.value == '\\' || (ascii && c.value >= 0x80) ||
             (width_of(c.value) == 0 && marks >= 3))
      piece = escaped(c.value);
    else piece_width = width_of(c.value);
    marks = !piece.empty() ? 0 : piece_width == 0 ? marks + 1 : c.value == ' ' ? 3 : 0;
    if (piece.empty()) piece = text.substr(0, c.size);
    else piece_width = piece.size();
    if (used + piece_width > width) {
      out.resize(cut_size);
      return width >= ellipsis_width ? out.append(ellipsis) : std::string(width, '.');
    }
    out += piece;
    used += piece_width;
    if (used + ellipsis_width <= width) cut_size = out.size();
    text.remove_prefix(c.size == 0 ? 1 : c.size);
  }
  return out;
}

/// Calls add(piece) for each character; escapes bytes that are no UTF-8, and characters of which
/// is_refused() is true. Needs no memory: what it escapes fits into a std::string itself.
template <class IsRefused, class Add>
[[gnu::cold]] void each_escaped(std::string_view text, IsRefused is_refused, Add add) {
  while (!text.empty()) {
    const code_point c = first_character(text);
    if (c.size == 0) add("\\x" + hexadecimal(static_cast<unsigned char>(text[0]), 2));
    else if (is_refused(c.value)) add(escaped(c.value));
    else add(text.substr(0, c.size));
    text.remove_prefix(c.size == 0 ? 1 : c.size);
  }
}
/// The same of a message, made fit to print in one line. Unlike printable(), it leaves backslashes
/// alone: a message has its foreign parts escaped already, and this is for what was forgotten.
template <class Add>
[[gnu::cold]] void each_printable(std::string_view text, Add add) {
  each_escaped(
      text, [](char32_t c) { return is_unsafe(c); }, add);
}
[[gnu::cold]] inline std::string one_line(std::string_view text) {
  std::string out;
  each_printable(text, [&](std::string_view piece) { out += piece; });
  return out;
}

/// Columns of printable text.
inline std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    const code_point c = first_character(text);
    width += c.size == 0 ? 1 : width_of(c.value);
    text.remove_prefix(c.size == 0 ? 1 : c.size);
  }
  return width;
}

/// Text in the notation of brief() as ASCII has it: x for a multiplication sign, -> for an arrow,
/// ^T for a transposition, ... for what was cut off. All else stays as it is.
inline std::string ascii_notation(std::string_view text) {
  static constexpr struct {
    std::string_view sign, ascii;
  } signs[] = {{"\u00D7", "x"}, {"\u2192", "->"}, {"\u1D40", "^T"}, {"\u2026", "..."}};
  std::string out;
  while (!text.empty()) {
    std::string_view first = text.substr(0, 1), written = first;
    for (const auto& s : signs)
      if (text.starts_with(s.sign)) {
        first = s.sign;
        written = s.ascii;
      }
    out += written;
    text.remove_prefix(first.size());
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
