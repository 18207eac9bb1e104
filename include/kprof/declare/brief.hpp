// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_BRIEF_HPP
#define KPROF_DECLARE_BRIEF_HPP

// What an operator may say about how a call of it is shown: its parameters in the notation of the
// field, and the fields that have no meaning in it. Included by op.hpp. Everything is constexpr,
// nothing allocates.

#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>
#include <kprof/declare/extent.hpp>

#include <cstdint>
#include <type_traits>

KPROF_DETAIL_BEGIN

/// The name of a field, as an operator's shows() is asked about it; compares with text.
///     constexpr bool shows(kprof::field_name field) const {
///       return field != "backward" || pass == kprof::pass_kind::bprop;
///     }
class field_name {
 public:
  constexpr explicit field_name(text_view name) noexcept : name_(name) {}
  constexpr text_view text() const noexcept { return name_; }
  friend constexpr bool operator==(field_name a, const char* b) noexcept {
    std::uint32_t i = 0;
    while (i < a.name_.size && b[i] != '\0' && a.name_.data[i] == b[i]) ++i;
    return i == a.name_.size && b[i] == '\0';
  }

 private:
  text_view name_;
};

/// The parameters of one call in the notation that people use, as the operator's brief() writes
/// them. The text is UTF-8, and what is longer than 120 bytes ends with "…".
///     constexpr void brief(kprof::brief_text& out) const {   // 32×3×224×224 → 64, 7×7, bias
///       out.put(N).by(C).by(H).by(W).to(K).item(R).by(S);
///       if (bias) out.item("bias");
///     }
/// Two calls whose parameters differ should read differently; dtype and pass are known apart from
/// it. Reports show it instead of the fields. Of calls that read the same they show the fields too.
class brief_text {
 public:
  /// `fields`: what beside() looks names up in.
  constexpr explicit brief_text(const detail::struct_desc* fields = nullptr) noexcept
      : fields_(fields) {}

  constexpr brief_text& put(const char* text) noexcept {
    for (; *text != '\0'; ++text) add(*text);
    return *this;
  }
  template <class T>
    requires std::is_integral_v<T>
  constexpr brief_text& put(T number) noexcept {
    const auto bits = static_cast<std::uint64_t>(number);
    const bool negative = std::is_signed_v<T> && static_cast<std::int64_t>(number) < 0;
    return put(negative ? "-" : "").digits(negative ? ~bits + 1 : bits);
  }
  constexpr brief_text& put(extent number) noexcept { return put(std::int64_t{number}); }
  /// Four significant digits or more: 0.125, 1.5e-6, 50304.
  constexpr brief_text& put(double number) noexcept {
    if (number < 0) return put("-").put(-number);
    if (!(number <= 1.7976931348623157e308)) return put(number != number ? "nan" : "inf");
    if (number == 0 || (number >= 1000 && number < 1e15))
      return digits(static_cast<std::uint64_t>(number + 0.5));
    int exponent = 0;
    std::uint64_t unit = 1000;  // of the last decimal
    if (number < 1e-4)
      for (; number < 1; number *= 10) --exponent;
    for (; number >= 1e15 || (exponent > 0 && number >= 10); number /= 10) ++exponent;
    for (double x = number; x < 1; x *= 10) unit *= 10;
    auto units = static_cast<std::uint64_t>(number * static_cast<double>(unit) + 0.5);
    for (; unit > 1 && units % 10 == 0; unit /= 10) units /= 10;
    digits(units / unit).put(unit > 1 ? "." : "");
    for (; unit > 1; add(static_cast<char>('0' + units / unit % 10))) unit /= 10;
    return exponent == 0 ? *this : put("e").put(exponent);
  }

  /// "×" and a number: put(3).by(224) is "3×224".
  constexpr brief_text& by(auto size) noexcept { return put("\u00D7").put(size); }
  /// " → " and what follows: put(384).to(1536) is "384 → 1536".
  constexpr brief_text& to(auto what) noexcept { return put(" \u2192 ").put(what); }
  /// Text or a number, after ", " where something stands before it.
  constexpr brief_text& item(auto what) noexcept { return after(", ").put(what); }
  /// The same after a blank.
  constexpr brief_text& word(auto what) noexcept { return after(" ").put(what); }
  /// "name=value", after a blank.
  constexpr brief_text& named(const char* name, auto value) noexcept {
    return word(name).put("=").put(value);
  }

  /// The text leaves this field out: reports show it as "name=value" beside it.
  constexpr brief_text& beside(const char* name) noexcept {
    for (std::uint32_t i = 0; fields_ != nullptr && i < fields_->field_count && i < 64; ++i)
      if (field_name{fields_->fields[i].name} == name) said_.beside |= std::uint64_t{1} << i;
    return *this;
  }

  constexpr text_view text() const noexcept { return {said_.text, said_.size}; }
  constexpr const detail::struct_desc* fields() const noexcept { return fields_; }
  constexpr const detail::presentation& said() const noexcept { return said_; }

 private:
  constexpr brief_text& after(const char* gap) noexcept { return put(said_.size == 0 ? "" : gap); }
  constexpr void add(char c) noexcept {
    if (cut_) return;
    cut_ = said_.size == detail::brief_capacity;
    if (!cut_) said_.text[said_.size++] = c;
    else cut();
  }
  /// Makes room for the three bytes of "…", and leaves no character in half.
  constexpr void cut() noexcept {
    said_.size -= 3;
    while (said_.size > 0 && (said_.text[said_.size] & 0xC0) == 0x80) --said_.size;
    for (const char* c = "\u2026"; *c != '\0'; ++c) said_.text[said_.size++] = *c;
  }
  constexpr brief_text& digits(std::uint64_t number) noexcept {
    char reversed[20] = {};
    int n = 0;
    do reversed[n++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (n > 0) add(reversed[--n]);
    return *this;
  }
  detail::presentation said_{};
  const detail::struct_desc* fields_;
  bool cut_ = false;
};

KPROF_DETAIL_END

#endif
