// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_NUMBERED_TEXT_HPP
#define KPROF_MODEL_NUMBERED_TEXT_HPP

// Texts that differ in a number. Included by tree_folding.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/row_keys.hpp>
#include <kprof/model/sorted_order.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A text cut into its numbers and what is around them.
struct numbered_text {
  std::vector<std::string_view> between;  // one more than the numbers
  std::vector<std::uint64_t> numbers;

  explicit numbered_text(std::string_view text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      std::uint64_t value = 0;
      while (end < text.size() && is_digit(text[end]))
        value = value * 10 + static_cast<std::uint64_t>(text[end++] - '0');
      // No number that anybody counts with: too long, or digits behind a point, as of 0.05.
      const bool is_fraction = end > at + 1 && text[at] == '0' && at > 0 && text[at - 1] == '.';
      if (end == at) {
        ++at;
      } else if (end - at > 18 || is_fraction) {
        at = end;
      } else {
        between.push_back(text.substr(begin, at - begin));
        numbers.push_back(value);
        begin = at = end;
      }
    }
    between.push_back(text.substr(begin));
  }

  void hash(key_hash& out) const {
    out.add(between.size());
    for (const std::string_view text : between) out.add(text);
  }

  /// The text with all these values of each number: "layer 0…5", "res2,5", "x 1.5,1.25".
  [[gnu::cold]] std::string with_values(const std::vector<std::set<std::uint64_t>>& values) const {
    std::string out{between[0]};
    for (std::size_t i = 0; i < values.size(); ++i) {
      // What a point joins is read as one number.
      const bool is_joined = i > 0 && between[i] == "." && values[i - 1].size() == 1;
      out.append(values_text(values[i], is_joined ? std::to_string(numbers[i - 1]) + '.' : ""))
          .append(between[i + 1]);
    }
    return out;
  }

 private:
  /// "3", "0…5", or "2,5" of a few numbers with others between them. `before`: what each but the
  /// first has before it; such may be fractions, whose order is another.
  static std::string values_text(const std::set<std::uint64_t>& values, const std::string& before) {
    const std::uint64_t least = *values.begin(), most = *values.rbegin();
    std::string out = std::to_string(least);
    if ((values.size() > 3 && before.empty()) ||
        (values.size() > 1 && most - least == values.size() - 1))
      return out.append("\u2026").append(before).append(std::to_string(most));
    for (const std::uint64_t value : values)
      if (value != least) out.append(",").append(before).append(std::to_string(value));
    return out;
  }
};

/// Numbers of texts that are alike up to them, as many of each: which of them differ in one number
/// only. For each text the first of its group, itself where it has none; a group has at least
/// `least` texts. The number with the most values is looked at first.
[[gnu::cold]] inline std::vector<std::size_t> alike_but_for_one(
    const std::vector<std::vector<std::uint64_t>>& texts, std::size_t least) {
  std::vector<std::size_t> first(texts.size());
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = i;
  std::vector<std::size_t> values;  // of each number
  for (std::size_t at = 0; !texts.empty() && at < texts[0].size(); ++at) {
    std::set<std::uint64_t> different;
    for (const auto& text : texts) different.insert(text[at]);
    values.push_back(different.size());
  }
  std::vector<bool> grouped(texts.size());
  for (const std::uint32_t at : sorted_order(values.size(), [&](std::uint32_t a, std::uint32_t b) {
         return values[a] > values[b];
       })) {
    std::map<std::vector<std::uint64_t>, std::vector<std::size_t>> groups;  // by the other numbers
    for (std::size_t i = 0; i < texts.size() && values[at] > 1; ++i) {
      if (grouped[i]) continue;
      std::vector<std::uint64_t> others = texts[i];
      others[at] = 0;
      groups[std::move(others)].push_back(i);
    }
    for (const auto& [others, members] : groups) {
      if (members.size() < least) continue;
      for (const std::size_t i : members) first[i] = members[0], grouped[i] = true;
    }
  }
  return first;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
