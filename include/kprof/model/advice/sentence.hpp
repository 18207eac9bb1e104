// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_SENTENCE_HPP
#define KPROF_MODEL_ADVICE_SENTENCE_HPP

// Puts numbers into the sentences of advice. Included by the rules. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/number_text.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN

/// A number or a word of a sentence, see sentence().
struct sentence_part {
  enum class kind : std::uint8_t { text, time, share, count, bytes, rate };
  kind as = kind::text;
  double value = 0;
  std::string_view text{};
};

/// Parts of a sentence: a text, which must outlive it, a time, a share of 1, bytes, bytes a second,
/// a number of things.
inline sentence_part as_text(std::string_view text) { return {sentence_part::kind::text, 0, text}; }
inline sentence_part as_time(double ns) { return {sentence_part::kind::time, ns}; }
inline sentence_part as_share(double share) { return {sentence_part::kind::share, share}; }
inline sentence_part as_bytes(double bytes) { return {sentence_part::kind::bytes, bytes}; }
inline sentence_part as_rate(double bytes_per_s) {
  return {sentence_part::kind::rate, bytes_per_s};
}
template <class Number>
sentence_part as_number(Number n) {
  return {sentence_part::kind::count, static_cast<double>(n)};
}

namespace detail {

/// 0.39 as "39%", 0.004 as "0.4%".
[[gnu::cold]] inline std::string whole_percent(double share) {
  if (!(share >= 0) || share > 1e9) return "n/a";
  if (share > 0 && share < 0.0005) return "<0.1%";
  return format_fixed(share * 100, share > 0 && share < 0.0095 ? 1 : 0) + '%';
}

[[gnu::cold, gnu::noinline]] inline std::string text_of_part(const sentence_part& part) {
  switch (part.as) {
    case sentence_part::kind::time: return format_time(part.value);
    case sentence_part::kind::share: return whole_percent(part.value);
    case sentence_part::kind::bytes: return format_si(part.value, "B");
    case sentence_part::kind::rate: return format_si(part.value, "B/s");
    case sentence_part::kind::count:
      return part.value >= 0 && part.value < 1e15
                 ? format_count(static_cast<std::uint64_t>(part.value))
                 : format_si(part.value);
    case sentence_part::kind::text: break;
  }
  return std::string{part.text};
}

}  // namespace detail

/// The pattern with the parts in the places of its signs #, in their order.
///     sentence("takes # in # calls", {as_time(1e9), as_number(4)}) == "takes 1.00 s in 4 calls"
[[gnu::cold, gnu::noinline]] inline std::string sentence(
    std::string_view pattern, std::initializer_list<sentence_part> parts) {
  std::string out;
  const sentence_part* next = parts.begin();
  for (const char c : pattern)
    if (c == '#' && next != parts.end()) out += detail::text_of_part(*next++);
    else out += c;
  return out;
}

KPROF_DETAIL_END

#endif
