// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_NEAREST_WORD_HPP
#define KPROF_MODEL_NEAREST_WORD_HPP

// Which known word somebody meant who wrote another. Pure.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Twice how many letters must be put in, left out, replaced or exchanged with the next to make one
/// word of the other; once for letters that differ in case only.
[[gnu::cold]] inline std::size_t word_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> least((a.size() + 1) * width);  // for the first i and j letters
  for (std::size_t j = 0; j < width; ++j) least[j] = 2 * j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t* const row = least.data() + i * width;
    const std::size_t* const above = row - width;
    row[0] = 2 * i;
    for (std::size_t j = 1; j < width; ++j) {
      const char x = a[i - 1], y = b[j - 1];
      const std::size_t differ = x == y ? 0 : lower(x) == lower(y) ? 1 : 2;
      row[j] = std::min({above[j] + 2, row[j - 1] + 2, above[j - 1] + differ});
      if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y)
        row[j] = std::min(row[j], (above - width)[j - 2] + 2);
    }
  }
  return least.back();
}

/// That of `known` which differs least from what was written; empty where none is near.
[[gnu::cold]] inline std::string nearest_word(std::string_view written,
                                              const std::vector<std::string>& known) {
  constexpr std::size_t longest = 100;
  std::string nearest;
  if (written.size() > longest) return nearest;
  std::size_t least = std::max<std::size_t>(2, written.size() / 3 * 2) + 1;
  for (const std::string& word : known)
    if (const std::size_t d = word_distance(written, word); d < least) least = d, nearest = word;
  return nearest;
}
/// "did you mean report? Valid: ", or "valid: " where no word is near.
[[gnu::cold]] inline std::string before_valid_words(std::string_view written,
                                                    const std::vector<std::string>& known,
                                                    std::string_view valid = "valid") {
  const std::string nearest = nearest_word(written, known);
  std::string text{valid};
  text += ": ";
  if (nearest.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return "did you mean " + nearest + "? " + text;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
