// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_INTERVALS_HPP
#define KPROF_MODEL_TIMELINE_INTERVALS_HPP

// Stretches of time and what they have in common. Whole nanoseconds; a stretch has its begin and
// not its end. A list of stretches is in order, disjoint, and has none that is empty. Included by
// the analyses of timelines. Linear, but for putting stretches in order.

#include <kprof/build_options.hpp>
#include <kprof/model/sorted_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// A stretch of time: [begin, end).
struct interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t length() const noexcept { return end > begin ? end - begin : 0; }
  friend bool operator==(const interval&, const interval&) = default;
};

namespace detail {

using interval_list = std::vector<interval>;

/// Puts numbers of rows in the order that comes_before(a, b) gives; equal ones in that of numbers.
template <class ComesBefore>
[[gnu::cold]] void sort_numbers(std::vector<std::uint32_t>& numbers,
                                const ComesBefore& comes_before) {
  sort_rows(
      numbers,
      [](const void* order, std::uint32_t a, std::uint32_t b) {
        return (*static_cast<const ComesBefore*>(order))(a, b);
      },
      &comes_before);
}

/// Puts `rows` of so many bytes into the order of `numbers`, which takes each once.
[[gnu::cold]] inline void reorder_rows(void* rows, std::size_t row_bytes,
                                       const std::vector<std::uint32_t>& numbers) {
  const std::string before(static_cast<const char*>(rows), numbers.size() * row_bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(static_cast<char*>(rows) + i * row_bytes, before.data() + numbers[i] * row_bytes,
                row_bytes);
}

/// sort_table() for rows that may be copied as bytes: a tenth of its code.
template <class Row, class ComesBefore>
[[gnu::cold]] void sort_plain(std::vector<Row>& rows, const ComesBefore& comes_before) {
  static_assert(std::is_trivially_copyable_v<Row>);
  std::vector<std::uint32_t> numbers(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  sort_numbers(numbers,
               [&](std::uint32_t a, std::uint32_t b) { return comes_before(rows[a], rows[b]); });
  reorder_rows(rows.data(), sizeof(Row), numbers);
}

/// Adds a stretch that begins no earlier than the last one of the list.
inline void add_in_order(interval_list& list, interval i) {
  if (i.begin >= i.end) return;
  if (list.empty() || list.back().end < i.begin) list.push_back(i);
  else list.back().end = std::max(list.back().end, i.end);
}

/// The list of the stretches that are given in any order.
[[gnu::cold]] inline interval_list union_of(interval_list any) {
  const auto is_earlier = [](const interval& a, const interval& b) { return a.begin < b.begin; };
  if (!std::is_sorted(any.begin(), any.end(), is_earlier)) sort_plain(any, is_earlier);
  interval_list list;
  for (const interval& i : any) add_in_order(list, i);
  return list;
}

/// What is in both lists.
[[gnu::cold]] inline interval_list common_of(const interval_list& a, const interval_list& b) {
  interval_list list;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const interval both{std::max(a[i].begin, b[k].begin), std::min(a[i].end, b[k].end)};
    if (both.begin < both.end) list.push_back(both);
    if (a[i].end < b[k].end) ++i;
    else ++k;
  }
  return list;
}

/// What is in the first list and not in the second.
[[gnu::cold]] inline interval_list difference_of(const interval_list& a, const interval_list& b) {
  interval_list list;
  std::size_t k = 0;
  for (interval i : a) {
    while (k < b.size() && b[k].end <= i.begin) ++k;
    for (std::size_t at = k; at < b.size() && i.end > b[at].begin; ++at) {
      if (i.begin < b[at].begin) list.push_back({i.begin, b[at].begin});
      i.begin = b[at].end;
    }
    if (i.begin < i.end) list.push_back(i);
  }
  return list;
}

inline std::int64_t length_of(const interval_list& list) noexcept {
  std::int64_t sum = 0;
  for (const interval& i : list) sum += i.length();
  return sum;
}

/// A list that says how much of it lies in a stretch, in the time of a binary search.
class measured_intervals {
 public:
  [[gnu::cold]] explicit measured_intervals(interval_list list) : list_(std::move(list)) {
    before_.reserve(list_.size() + 1);
    before_.push_back(0);
    for (const interval& i : list_) before_.push_back(before_.back() + i.length());
  }
  [[gnu::cold]] std::int64_t within(interval w) const noexcept {
    return w.begin < w.end ? until(w.end) - until(w.begin) : 0;
  }
  std::int64_t length() const noexcept { return before_.back(); }
  const interval_list& list() const noexcept { return list_; }

 private:
  [[gnu::cold]] std::int64_t until(std::int64_t t) const noexcept {
    const auto after = std::partition_point(list_.begin(), list_.end(),
                                            [t](const interval& i) { return i.begin < t; });
    if (after == list_.begin()) return 0;
    const auto last = static_cast<std::size_t>(after - list_.begin()) - 1;
    return before_[last] + (std::min(list_[last].end, t) - list_[last].begin);
  }

  interval_list list_;
  std::vector<std::int64_t> before_;  // of each stretch: the length of those before it
};

}  // namespace detail
KPROF_DETAIL_END

#endif
