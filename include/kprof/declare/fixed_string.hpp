// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_FIXED_STRING_HPP
#define KPROF_DECLARE_FIXED_STRING_HPP

// A string of bounded length that lives inside a parameter struct, so that the struct stays
// trivially copyable. Included by op.hpp. Nothing allocates; any thread may use it.

#include <kprof/build_options.hpp>

#include <cstddef>

KPROF_DETAIL_BEGIN

/// Text of at most `Capacity` bytes, zero-terminated and zero-filled, so that equal texts are equal
/// bytes. Longer text is cut at the last whole UTF-8 character that fits; truncated text is not an
/// error.
template <std::size_t Capacity>
struct fixed_string {
  static_assert(Capacity >= 1 && Capacity <= 255,
                "kprof: fixed_string holds 1 to 255 bytes; choose a capacity in that range");

  char bytes[Capacity + 1] = {};

  constexpr fixed_string() noexcept = default;
  /// Copies zero-terminated `text`; nullptr is the empty text.
  constexpr fixed_string(const char* text) noexcept {
    std::size_t n = 0;
    if (text != nullptr)
      while (n <= Capacity && text[n] != '\0') ++n;
    assign(text, n);
  }
  /// Copies anything with data() and size(), such as a std::string or a std::string_view.
  template <class Text>
    requires requires(const Text& t) {
      static_cast<const char*>(t.data());
      static_cast<std::size_t>(t.size());
    }
  constexpr fixed_string(const Text& text) noexcept {
    assign(text.data(), static_cast<std::size_t>(text.size()));
  }

  constexpr const char* c_str() const noexcept { return bytes; }
  constexpr std::size_t size() const noexcept {
    std::size_t n = 0;
    while (bytes[n] != '\0') ++n;
    return n;
  }
  friend constexpr bool operator==(const fixed_string&, const fixed_string&) noexcept = default;

 private:
  constexpr void assign(const char* text, std::size_t n) noexcept {
    if (n > Capacity) {
      n = Capacity;
      while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0U) == 0x80U) --n;
    }
    for (std::size_t i = 0; i < n && text[i] != '\0'; ++i) bytes[i] = text[i];
  }
};

KPROF_DETAIL_END

#endif
