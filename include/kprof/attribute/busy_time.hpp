// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_BUSY_TIME_HPP
#define KPROF_ATTRIBUTE_BUSY_TIME_HPP

// How long a device was busy: the length of the union of its intervals of work, which come in any
// order. Memory is bounded: only the sum is kept of the oldest intervals.

#include <kprof/build_options.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class busy_time {
 public:
  /// Makes room for one more interval.
  void make_room() {
    if (intervals_.size() < most_intervals) reserve_more(intervals_, 1);
  }
  /// Adds an interval, in ns; after make_room() it needs no memory. Intervals are gathered and
  /// sorted from time to time, since a tree of intervals takes three times as long.
  void add(std::uint64_t start, std::uint64_t end) {
    if (end <= start) return;
    sum_ += end - start;
    if (start < closed_) {  // it comes so late that a part of it may have been counted
      exact_ = false;
      start = closed_;
      if (end <= start) return;
    }
    if (!intervals_.empty() && start >= intervals_.back().start && start <= intervals_.back().end) {
      intervals_.back().end = std::max(intervals_.back().end, end);
      return;
    }
    if (intervals_.size() == most_intervals) {
      unite();
      if (intervals_.size() > most_intervals / 2) close_oldest();
      return add_again(start, end);
    }
    in_order_ = in_order_ && (intervals_.empty() || start >= intervals_.back().start);
    intervals_.push_back({start, end});
  }

  /// Nanoseconds in which there was work.
  std::uint64_t busy() {
    unite();
    std::uint64_t open = 0;
    for (const interval& i : intervals_) open += i.end - i.start;
    return over_ + open;
  }
  std::uint64_t sum() const noexcept { return sum_; }
  /// False: intervals came so far out of order that busy() is only a lower bound.
  bool exact() const noexcept { return exact_; }

 private:
  static constexpr std::size_t most_intervals = 32768;
  struct interval {
    std::uint64_t start, end;
  };

  void add_again(std::uint64_t start, std::uint64_t end) {
    sum_ -= end - start;
    add(start, end);
  }

  /// Makes the intervals disjoint and sorted.
  void unite() {
    const auto earlier = [](const interval& a, const interval& b) { return a.start < b.start; };
    const auto middle = intervals_.begin() + static_cast<std::ptrdiff_t>(united_);
    if (!in_order_) {
      std::sort(middle, intervals_.end(), earlier);
      std::inplace_merge(intervals_.begin(), middle, intervals_.end(), earlier);
    }
    in_order_ = true;
    std::size_t kept = 0;
    for (const interval& i : intervals_) {
      if (kept != 0 && i.start <= intervals_[kept - 1].end)
        intervals_[kept - 1].end = std::max(intervals_[kept - 1].end, i.end);
      else intervals_[kept++] = i;
    }
    intervals_.resize(kept);
    united_ = kept;
  }

  void close_oldest() {
    const std::size_t half = intervals_.size() / 2;
    for (std::size_t i = 0; i < half; ++i) over_ += intervals_[i].end - intervals_[i].start;
    closed_ = intervals_[half - 1].end;
    intervals_.erase(intervals_.begin(), intervals_.begin() + static_cast<std::ptrdiff_t>(half));
    united_ = intervals_.size();
  }

  std::vector<interval> intervals_;
  bool in_order_ = true;    // they begin one after the other
  std::size_t united_ = 0;  // how many of them, from the first on, are sorted and disjoint
  std::uint64_t over_ = 0;  // length of the intervals before closed_, which are not kept
  std::uint64_t closed_ = 0;
  std::uint64_t sum_ = 0;
  bool exact_ = true;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
