// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TEXT_RANGE_HPP
#define KPROF_MODEL_TEXT_RANGE_HPP

// One text for several that differ in their numbers only: "Skv=1" to "Skv=900" are "Skv=1…900".
// Included by row_texts.hpp. Pure; no locale.

#include <kprof/build_options.hpp>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A text as what is around its numbers, and these. Digits behind a letter are part of a word, as
/// in "f32".
struct text_with_numbers {
  struct number {
    double value = 0;
    std::string_view text;
  };
  std::vector<std::string_view> around;  // one more than numbers
  std::vector<number> numbers;

  explicit text_with_numbers(std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t end = number_end(text, i);
      if (end == i) {
        ++i;
        continue;
      }
      around.push_back(text.substr(begin, i - begin));
      numbers.push_back({value_of(text.substr(i, end - i)), text.substr(i, end - i)});
      begin = i = end;
    }
    around.push_back(text.substr(begin));
  }

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  static bool is_word(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  }
  /// Behind the number that begins at `i`; `i` where none does.
  static std::size_t number_end(std::string_view text, std::size_t i) noexcept {
    if (!is_digit(text[i]) || (i > 0 && is_word(text[i - 1]))) return i;
    std::size_t end = i;
    const auto digits = [&] {
      while (end < text.size() && is_digit(text[end])) ++end;
    };
    digits();
    // "1,234,567", but not "1,2"
    while (end - i <= 24 && end + 4 <= text.size() && text[end] == ',' && is_digit(text[end + 1]) &&
           is_digit(text[end + 2]) && is_digit(text[end + 3]) &&
           (end + 4 == text.size() || !is_digit(text[end + 4])))
      end += 4;
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) ++end, digits();
    return end < text.size() && is_word(text[end]) ? i : end;
  }
  static double value_of(std::string_view digits) {
    std::string plain;
    for (const char c : digits)
      if (c != ',') plain += c;
    double value = 0;
    std::from_chars(plain.data(), plain.data() + plain.size(), value);
    return value;
  }
};

/// Texts that are alike but for their numbers, which are given from the least to the largest.
class text_range {
 public:
  explicit text_range(std::string first) : first_(std::move(first)) {}

  /// False where the text differs in more than its numbers: then there is no range.
  bool add(std::string_view text) {
    if (text == first_) return true;
    const text_with_numbers parts(text);
    if (least_.empty()) start();
    if (parts.around.size() != around_.size()) return false;
    for (std::size_t i = 0; i < around_.size(); ++i)
      if (parts.around[i] != around_[i]) return false;
    for (std::size_t i = 0; i < least_.size(); ++i) {
      const text_with_numbers::number& n = parts.numbers[i];
      if (n.value < least_[i].value) least_[i] = {n.value, std::string{n.text}};
      if (n.value > most_[i].value) most_[i] = {n.value, std::string{n.text}};
    }
    return !least_.empty();
  }

  bool is_range() const noexcept { return !least_.empty(); }  ///< texts differed
  std::string text() const {
    if (least_.empty()) return first_;
    std::string out = around_[0];
    for (std::size_t i = 0; i < least_.size(); ++i) {
      out += least_[i].text;
      if (most_[i].text != least_[i].text) out.append("\u2026").append(most_[i].text);
      out += around_[i + 1];
    }
    return out;
  }

 private:
  struct bound {
    double value = 0;
    std::string text;
  };
  void start() {
    const text_with_numbers parts(first_);
    around_.assign(parts.around.begin(), parts.around.end());
    for (const text_with_numbers::number& n : parts.numbers)
      least_.push_back({n.value, std::string{n.text}});
    most_ = least_;
  }

  std::string first_;
  std::vector<std::string> around_;
  std::vector<bound> least_, most_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
