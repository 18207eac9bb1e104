// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_SHARED_TOTALS_HPP
#define KPROF_RECORD_SHARED_TOTALS_HPP

// Totals of the calls that several threads share, by the node of their part 0. Guarded by the lock
// of the list of threads.

#include <kprof/build_options.hpp>
#include <kprof/record/histogram.hpp>
#include <kprof/record/part_joining.hpp>
#include <kprof/record/sampled_calls.hpp>
#include <kprof/record/slow_calls.hpp>
#include <kprof/record/tree_node.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Of joined calls, in ticks.
struct shared_sums {
  std::uint64_t calls = 0;
  std::uint64_t wall = 0;     // from the first begin to the last end
  std::uint64_t elapsed = 0;  // the same where calls that overlap count once
  std::uint64_t busy = 0;     // of all parts
  std::uint64_t longest = 0;  // of the longest part of each call
  std::uint64_t min_wall = ~std::uint64_t{0};
  std::uint64_t slow = 0;  // a call whose `wall` is longer is one of the slowest
  slow_calls slowest;      // by `wall`
  std::uint64_t next_sample = 0;
  sampled_calls samples;         // of `wall`
  std::uint64_t first_wall = 0;  // of the call that ended first
  std::uint64_t first_end = ~std::uint64_t{0};
  std::uint64_t imprecise = 0;  // durations counted at the nearest one there was room for
  histogram durations;          // of `wall`

  /// Keeps a call that is about to be counted.
  [[gnu::noinline]] void sample(const joined_call& call) noexcept {
    next_sample = samples.put({call.wall, call.end}, calls);
  }
  template <class MayGrow>
  void add(const joined_call& call, MayGrow may_grow) {
    if (calls >= next_sample) [[unlikely]]
      sample(call);
    ++calls;
    wall += call.wall;
    elapsed += call.elapsed;
    busy += call.busy;
    longest += call.longest;
    min_wall = std::min(min_wall, call.wall);
    if (call.wall > slow) [[unlikely]]
      slow = slowest.put(call.wall, call.end);
    if (call.end < first_end) first_wall = call.wall, first_end = call.end;
    imprecise += durations.add(call.wall, may_grow);
  }
  template <class MayGrow>
  void add(const shared_sums& other, MayGrow may_grow) {
    calls += other.calls;
    next_sample = samples.put_all(other.samples, calls);
    wall += other.wall;
    elapsed += other.elapsed;
    busy += other.busy;
    longest += other.longest;
    min_wall = std::min(min_wall, other.min_wall);
    slow = slowest.put_all(other.slowest);
    if (other.first_end < first_end) first_wall = other.first_wall, first_end = other.first_end;
    // Some have been moved there and here.
    imprecise +=
        std::min(other.calls, other.imprecise + durations.merge(other.durations, may_grow));
  }
};

/// Of one thread.
class shared_totals {
 public:
  explicit shared_totals(tree_budget& budget) : budget_(&budget) {}
  ~shared_totals() { clear(); }
  shared_totals(const shared_totals&) = delete;
  shared_totals& operator=(const shared_totals&) = delete;

  void clear() noexcept {
    sums_.clear();
    budget_->remove(std::exchange(charged_, 0));
  }

  /// Nothing, where no call of the node's has been joined.
  const shared_sums* find(std::uint32_t node) const {
    const auto known = sums_.find(node);
    return known == sums_.end() ? nullptr : &known->second;
  }
  /// Those of a node, which stay where they are until clear(). Without memory it throws and changes
  /// nothing.
  shared_sums& of(std::uint32_t node) {
    const auto [at, is_new] = sums_.try_emplace(node);
    if (is_new) charge(sizeof *at + 4 * sizeof(void*));
    return at->second;
  }
  /// Counts a call. `sums`: of a node.
  void add(shared_sums& sums, const joined_call& call) noexcept {
    sums.add(call, [this](std::size_t bytes) { return afford(bytes); });
  }

  /// Makes room for what another thread's totals hold. `nodes`: where its nodes are here.
  void make_room_for(const shared_totals& other, const std::vector<std::uint32_t>& nodes) {
    for (const auto& [node, sums] : other.sums_) static_cast<void>(of(nodes[node]));
  }
  /// After make_room_for().
  void add(const shared_totals& other, const std::vector<std::uint32_t>& nodes) noexcept {
    for (const auto& [node, sums] : other.sums_)
      of(nodes[node]).add(sums, [this](std::size_t bytes) { return afford(bytes); });
  }

 private:
  void charge(std::size_t bytes) noexcept {
    charged_ += bytes;
    budget_->add(bytes);
  }
  bool afford(std::size_t bytes) noexcept {
    if (budget_->spent()) return false;
    charge(bytes);
    return true;
  }

  tree_budget* budget_;
  std::uint64_t charged_ = 0;
  std::unordered_map<std::uint32_t, shared_sums> sums_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
