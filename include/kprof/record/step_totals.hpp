// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_STEP_TOTALS_HPP
#define KPROF_RECORD_STEP_TOTALS_HPP

// The steps of one thread: exact sums of all of them, and single ones as far as memory reaches.
// Beyond that the first, the latest and the slowest stay, and of the others each with the same
// chance. Guarded by the lock of the thread's log.

#include <kprof/build_options.hpp>
#include <kprof/record/histogram.hpp>
#include <kprof/record/step_windows.hpp>
#include <kprof/record/tree_node.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL step_totals {
 public:
  static constexpr std::size_t most_kept = 1024;  // drawn by chance; beside them:
  static constexpr std::size_t slowest_kept = 32;
  static constexpr std::size_t latest_kept = 32;

  explicit step_totals(tree_budget& budget) noexcept : budget_(&budget) {}
  ~step_totals() { clear(); }
  step_totals(const step_totals&) = delete;
  step_totals& operator=(const step_totals&) = delete;

  /// Tells `windows` of each step that ends in the log.
  void watch_by(step_windows& windows, thread_log& log) noexcept {
    windows_ = &windows, log_ = &log;
  }

  std::uint64_t count = 0;
  std::uint64_t total = 0;  // ticks
  std::uint64_t shortest = ~std::uint64_t{0};
  std::uint64_t longest = 0;
  step_span first;              // the one that ended first
  histogram durations;          // ticks
  std::uint64_t nested = 0;     // regions of the step's name inside one: no steps of their own
  bool runs = false;            // a step has begun and not ended
  step_span running;            // without an end
  std::uint64_t imprecise = 0;  // durations counted at the nearest one there was room for

  /// Ends the running step and begins the next one. `index`: its number; `counted_on`: one more
  /// than the last. `before`: where the first step began if none runs; `nothing_before`: there is
  /// none. Without memory it throws and changes nothing.
  void next(std::uint64_t index, std::uint64_t ticks, std::uint64_t before) {
    finish(ticks, index == counted_on ? before : nothing_before);
    next_index_ = index == counted_on ? next_index_ : index;
    running = {next_index_, ticks, 0};
    runs = true;
  }
  /// Ends the running step; none follows. `before`, and what it throws: as of next().
  void finish(std::uint64_t ticks, std::uint64_t before = nothing_before) {
    if (!runs && count == 0 && before != nothing_before) {
      running = {next_index_, before, 0};
      runs = true;
    }
    if (!runs) return;
    add({running.index, running.begin, ticks});
    runs = false;
  }
  /// Counts a step that has ended. Throws as next() does.
  void add(step_span step) {
    make_room();
    if (step.index == counted_on) step.index = next_index_;
    if (count == 0) first = step;
    ++count;
    total += step.ticks();
    shortest = std::min(shortest, step.ticks());
    longest = std::max(longest, step.ticks());
    imprecise += durations.add(step.ticks(), [this](std::size_t bytes) { return afford(bytes); });
    next_index_ = step.index + 1;
    keep(step, count);
    keep_slow(step);
    latest_[latest_at_++ % latest_kept] = step;
    if (windows_ != nullptr) tell_windows(step);
  }

  /// The steps that are known one by one, in the order of their ends.
  std::vector<step_span> kept() const {
    std::vector<step_span> all(drawn_);
    all.insert(all.end(), slow_.begin(), slow_.end());
    const std::uint64_t latest = std::min<std::uint64_t>(latest_at_, latest_kept);
    for (std::uint64_t i = 0; i < latest; ++i) all.push_back(latest_[i]);
    if (count != 0) all.push_back(first);
    if (windows_ != nullptr)
      for (const step_window& w : windows_->all_of(this)) all.push_back(w.step);
    const auto sooner = [](const step_span& a, const step_span& b) {
      return a.end != b.end ? a.end < b.end : a.begin < b.begin;
    };
    std::sort(all.begin(), all.end(), sooner);
    const auto same = [](const step_span& a, const step_span& b) {
      return a.index == b.index && a.begin == b.begin && a.end == b.end;
    };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    return all;
  }

  void clear() noexcept {
    if (windows_ != nullptr) windows_->forget(this);
    usual_ = usual_until_ = 0;
    budget_->remove(std::exchange(charged_, 0));
    drawn_ = {};
    slow_ = {};
    count = total = longest = nested = imprecise = next_index_ = latest_at_ = 0;
    shortest = ~std::uint64_t{0};
    runs = false;
    durations = {};
  }

  /// Makes room for what merge() adds. Without memory it throws and changes nothing.
  void make_room_for(const step_totals& other) {
    if (other.count == 0) return;
    reserve(drawn_, most_kept);
    reserve(slow_, slowest_kept);
  }
  /// Adds the steps of a thread that has ended; its running step never ended. After
  /// make_room_for().
  void merge(const step_totals& other) noexcept {
    if (other.count == 0) return;
    if (count == 0 || other.first.end < first.end) first = other.first;
    // Each step of either thread stays with about the same chance.
    std::uint64_t seen = count;
    for (const step_span& s : other.drawn_) {
      seen += std::max<std::uint64_t>(1, other.count / other.drawn_.size());
      keep(s, seen);
    }
    for (const step_span& s : other.slow_) keep_slow(s);
    count += other.count;
    total += other.total;
    shortest = std::min(shortest, other.shortest);
    longest = std::max(longest, other.longest);
    nested += other.nested;
    const auto moved =
        durations.merge(other.durations, [this](std::size_t bytes) { return afford(bytes); });
    imprecise += std::min(other.count, other.imprecise + moved);  // some both there and here
  }

  static constexpr std::uint64_t counted_on = ~std::uint64_t{0};
  static constexpr std::uint64_t nothing_before = ~std::uint64_t{0};

 private:
  /// Computes the median once there are an eighth more steps, since it looks at all durations.
  void tell_windows(const step_span& step) noexcept {
    if (count > usual_until_) {
      usual_ = static_cast<std::uint64_t>(durations.quantile(0.5));
      usual_until_ = count + count / 8;
    }
    windows_->note(log_, this, step, total, usual_);
  }
  bool afford(std::size_t bytes) noexcept {
    if (budget_->now() + bytes > budget_->limit()) return false;
    charge(bytes);
    return true;
  }
  void charge(std::size_t bytes) noexcept {
    charged_ += bytes;
    budget_->add(bytes);
  }
  void reserve(std::vector<step_span>& of, std::size_t size) {
    if (of.capacity() >= size) return;
    const std::size_t before = of.capacity();
    of.reserve(size);
    charge((of.capacity() - before) * sizeof(step_span));
  }
  /// Room for one more step, as far as the memory for totals allows: a few are always kept.
  void make_room() {
    reserve(slow_, slowest_kept);
    if (drawn_.size() < drawn_.capacity() || drawn_.size() == most_kept) return;
    const std::size_t more = drawn_.empty() ? slowest_kept : 2 * drawn_.size();
    if (drawn_.empty() || !budget_->nearly_spent()) reserve(drawn_, std::min(more, most_kept));
  }

  /// Keeps a step with the chance that each of `seen` steps has. A sequence of its own, the same in
  /// every run.
  void keep(const step_span& step, std::uint64_t seen) noexcept {
    if (drawn_.size() < std::min(drawn_.capacity(), most_kept)) return drawn_.push_back(step);
    random_ ^= random_ << 13U;
    random_ ^= random_ >> 7U;
    random_ ^= random_ << 17U;
    const std::uint64_t place = random_ % seen;
    if (place < drawn_.size()) drawn_[place] = step;
  }
  void keep_slow(const step_span& step) noexcept {
    if (slow_.size() < slowest_kept) return slow_.push_back(step);
    step_span* fastest = &slow_.front();
    for (step_span& s : slow_)
      if (s.ticks() < fastest->ticks()) fastest = &s;
    if (step.ticks() > fastest->ticks()) *fastest = step;
  }

  tree_budget* budget_;
  step_windows* windows_ = nullptr;
  thread_log* log_ = nullptr;
  std::uint64_t usual_ = 0;        // ticks: the median when there were fewer steps
  std::uint64_t usual_until_ = 0;  // count of steps
  std::uint64_t charged_ = 0;
  std::uint64_t next_index_ = 0;
  std::uint64_t random_ = 0x9E3779B97F4A7C15U;
  std::vector<step_span> drawn_;
  std::vector<step_span> slow_;
  step_span latest_[latest_kept] = {};
  std::uint64_t latest_at_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
