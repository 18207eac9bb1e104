// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROW_TEXTS_HPP
#define KPROF_MODEL_ROW_TEXTS_HPP

// What is said of the rows of one operator, so that no two of them read the same: what they share
// is said once, and what is left tells them apart. Included by the text reports. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/parameter_parts.hpp>
#include <kprof/model/text_range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

using part_list = std::vector<parameter_part>;

inline std::string joined(const part_list& parts) {
  std::string out;
  for (const parameter_part& part : parts)
    out.append(out.empty() ? "" : part.after_comma ? ", " : " ").append(part.text);
  return out;
}

/// Takes away the parts that all rows have, but for those that stay with each, and returns them;
/// none of a single row.
inline part_list take_shared(std::vector<part_list>& rows) {
  part_list shared;
  if (rows.size() < 2) return shared;
  for (const parameter_part& part : rows[0])
    if (!part.stays && std::all_of(rows.begin() + 1, rows.end(), [&](const part_list& row) {
          return std::find(row.begin(), row.end(), part) != row.end();
        }))
      shared.push_back(part);
  for (part_list& row : rows)
    std::erase_if(row, [&](const parameter_part& part) {
      return std::find(shared.begin(), shared.end(), part) != shared.end();
    });
  return shared;
}

/// The parts of a row of several sets of parameters: those that all have, or that differ in numbers
/// only, which are given from the least to the largest.
class part_ranges {
 public:
  [[gnu::cold]] void add(const part_list& set) {
    if (sets_++ == 0) {
      for (const parameter_part& part : set) ranges_.push_back({part, text_range{part.text}, 0});
    }
    uneven_ = uneven_ || set.size() != ranges_.size();
    for (range& r : ranges_) {
      const auto same = std::find_if(set.begin(), set.end(), [&](const parameter_part& part) {
        return part.place == r.part.place;
      });
      if (same != set.end() && r.texts.add(same->text)) ++r.sets;
    }
  }
  /// Whether each set has each part.
  [[gnu::cold]] bool are_whole() const noexcept {
    return !uneven_ && std::all_of(ranges_.begin(), ranges_.end(),
                                   [&](const range& r) { return r.sets == sets_; });
  }
  /// Whether that is so, or a part that all have is a range.
  [[gnu::cold]] bool tell_what_differs() const noexcept {
    return are_whole() || std::any_of(ranges_.begin(), ranges_.end(), [&](const range& r) {
             return r.sets == sets_ && r.texts.is_range();
           });
  }
  /// `range_stays`: where there is one range, it stays.
  [[gnu::cold]] part_list parts(bool range_stays = false) const {
    part_list out;
    const auto is_whole_range = [&](const range& r) {
      return r.sets == sets_ && r.texts.is_range();
    };
    const bool stays =
        range_stays && std::count_if(ranges_.begin(), ranges_.end(), is_whole_range) == 1;
    for (const range& r : ranges_)
      if (r.sets == sets_)
        out.push_back(
            {r.part.place, r.texts.text(), r.part.after_comma, stays && r.texts.is_range()});
    return out;
  }

 private:
  struct range {
    parameter_part part;
    text_range texts;
    std::size_t sets;
  };
  std::vector<range> ranges_;
  std::size_t sets_ = 0;
  bool uneven_ = false;  // a set has more parts than the first, or fewer
};

/// Numbers the rows by their texts: rows of one number read the same.
inline std::vector<std::uint32_t> equal_texts(const std::vector<std::string>& texts) {
  text_numbers numbers(texts.size());
  std::vector<std::uint32_t> out;
  for (const std::string& text : texts) out.push_back(numbers.of(text));
  return out;
}

/// Which rows read the same as another.
inline std::vector<bool> ambiguous(const std::vector<std::string>& texts) {
  const std::vector<std::uint32_t> number = equal_texts(texts);
  std::vector<std::uint32_t> count(texts.size());
  for (const std::uint32_t n : number) ++count[n];
  std::vector<bool> out(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) out[i] = count[number[i]] > 1;
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
