// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_COUNTERS_HPP
#define KPROF_REPORT_TRACE_COUNTERS_HPP

// Curves over the time of a trace: rates of work, and how many launches wait. Included by
// trace.hpp. A curve has a fixed number of points, however long the run. Pure.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The time of a trace in equal pieces.
class time_grid {
 public:
  static constexpr std::int64_t most_pieces = 1000;

  time_grid(std::int64_t begin, std::int64_t end)
      : begin_(begin), width_(std::max<std::int64_t>(1, (end - begin) / most_pieces + 1)) {}

  std::size_t pieces() const noexcept { return static_cast<std::size_t>(most_pieces); }
  std::size_t piece_of(std::int64_t t) const noexcept {
    const std::int64_t at = std::max<std::int64_t>(0, t - begin_) / width_;
    return static_cast<std::size_t>(std::min(at, most_pieces - 1));
  }
  std::int64_t begin_of(std::size_t piece) const noexcept {
    return begin_ + static_cast<std::int64_t>(piece) * width_;
  }
  double width() const noexcept { return static_cast<double>(width_); }

 private:
  std::int64_t begin_, width_;
};

/// An amount of work spread over time.
class work_curve {
 public:
  explicit work_curve(const time_grid& grid) : grid_(&grid), amounts_(grid.pieces()) {}

  /// `amount` was done evenly in [begin, end).
  void add(std::int64_t begin, std::int64_t end, double amount) noexcept {
    if (!(amount > 0)) return;
    any_ = true;
    const std::size_t first = grid_->piece_of(begin), last = grid_->piece_of(end);
    if (first == last) {
      amounts_[first] += amount;
      return;
    }
    const double per_ns = amount / static_cast<double>(end - begin);
    for (std::size_t i = first; i <= last; ++i) {
      const std::int64_t from = std::max(begin, grid_->begin_of(i)),
                         to = i == last ? end : std::min(end, grid_->begin_of(i + 1));
      amounts_[i] += per_ns * static_cast<double>(to - from);
    }
  }
  bool any() const noexcept { return any_; }
  /// In 10^9 a second.
  double giga_per_s(std::size_t piece) const noexcept { return amounts_[piece] / grid_->width(); }

 private:
  const time_grid* grid_;
  std::vector<double> amounts_;
  bool any_ = false;
};

/// How many of something there were at a time; of each piece of time the most.
class level_curve {
 public:
  explicit level_curve(const time_grid& grid) : grid_(&grid), most_(grid.pieces()) {}

  /// In the order of time.
  void change(std::int64_t at, std::int64_t by) noexcept {
    any_ = true;
    const std::size_t piece = grid_->piece_of(at);
    for (; at_ < piece; ++at_) most_[at_ + 1] = level_;
    level_ = std::max<std::int64_t>(0, level_ + by);
    most_[at_] = std::max(most_[at_], level_);
  }
  bool any() const noexcept { return any_; }
  std::int64_t most(std::size_t piece) const noexcept {
    return piece <= at_ ? most_[piece] : level_;
  }

 private:
  const time_grid* grid_;
  std::vector<std::int64_t> most_;
  std::size_t at_ = 0;
  std::int64_t level_ = 0;
  bool any_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
