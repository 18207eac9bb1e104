// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_CALL_TOTALS_HPP
#define KPROF_RECORD_CALL_TOTALS_HPP

// How often one thread called each function of a device's library, under which node of its call
// tree, and how long that took: exact for a run of any length. Guarded by its thread_log's lock.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Calls of one function under one node.
struct call_total {
  std::uint32_t node = 0;       // of the call tree
  std::uint32_t function = 0;   // a number of the collector's
  std::uint32_t successor = 0;  // which row came after it the time before
  std::uint64_t calls = 0;
  std::uint64_t total = 0;  // ticks
  std::uint64_t longest = 0;

  void add_call(std::uint64_t ticks) noexcept { add({0, 0, 0, 1, ticks, ticks}); }
  void add(const call_total& other) noexcept {
    calls += other.calls;
    total += other.total;
    if (other.longest > longest) longest = other.longest;
  }
};

class call_totals {
 public:
  explicit call_totals(tree_budget& budget) : budget_(&budget) {}
  ~call_totals() { clear(); }
  call_totals(const call_totals&) = delete;
  call_totals& operator=(const call_totals&) = delete;

  void clear() noexcept {
    budget_->remove(rows_.size() * charge);
    rows_.clear();
    last_ = 0;
    places_.clear();
    rows_.shrink_to_fit();
    places_.shrink_to_fit();
  }

  /// The row to count a call in; made when it is new. Where memory for totals is nearly spent, the
  /// root's stands for all nodes.
  call_total& row_of(std::uint32_t node, std::uint32_t function) {
    // Mostly the last one again, or the one that followed it the time before.
    if (last_ < rows_.size()) {
      if (rows_[last_].node == node && rows_[last_].function == function) return rows_[last_];
      const std::uint32_t next = rows_[last_].successor;
      if (rows_[next].node == node && rows_[next].function == function) return rows_[last_ = next];
    }
    const auto found = static_cast<std::uint32_t>(&row_of(node, function, false) - rows_.data());
    if (last_ < rows_.size()) rows_[last_].successor = found;
    return rows_[last_ = found];
  }

  /// Makes the rows that another thread has, whose nodes are here as `node_here` says.
  void make_room_for(const call_totals& other, const std::vector<std::uint32_t>& node_here) {
    for (const call_total& row : other.rows_) row_of(node_here[row.node], row.function, true);
  }
  /// Adds them, after make_room_for().
  void add(const call_totals& other, const std::vector<std::uint32_t>& node_here) noexcept {
    for (const call_total& row : other.rows_)
      rows_[places_[place_of(node_here[row.node], row.function)] - 1].add(row);
  }

  const std::vector<call_total>& rows() const noexcept { return rows_; }

 private:
  // vectors are up to half empty, and so are the places
  static constexpr std::uint64_t charge = 2 * sizeof(call_total) + 4 * sizeof(std::uint32_t);

  call_total& row_of(std::uint32_t node, std::uint32_t function, bool kept_anyway) {
    if (2 * (rows_.size() + 1) > places_.size()) widen();
    std::size_t at = place_of(node, function);
    if (places_[at] == 0 && !kept_anyway && node != call_tree::root && budget_->nearly_spent())
      at = place_of(call_tree::root, function), node = call_tree::root;
    if (places_[at] == 0) {
      reserve_more(rows_, 1);
      rows_.push_back({node, function, 0, 0, 0, 0});
      places_[at] = static_cast<std::uint32_t>(rows_.size());
      budget_->add(charge);
    }
    return rows_[places_[at] - 1];
  }
  /// Where the row's number stands, or would.
  std::size_t place_of(std::uint32_t node, std::uint32_t function) const noexcept {
    const std::size_t last = places_.size() - 1;
    std::size_t at = (std::uint64_t{node} << 16U ^ function) * 0x9E3779B97F4A7C15U >> 32U & last;
    while (places_[at] != 0 &&
           (rows_[places_[at] - 1].node != node || rows_[places_[at] - 1].function != function))
      at = (at + 1) & last;
    return at;
  }
  void widen() {
    std::vector<std::uint32_t> wider(std::max<std::size_t>(16, 2 * places_.size()));
    places_.swap(wider);
    for (std::uint32_t i = 0; i < rows_.size(); ++i)
      places_[place_of(rows_[i].node, rows_[i].function)] = i + 1;
  }

  tree_budget* budget_;
  std::uint32_t last_ = 0;
  std::vector<call_total> rows_;
  std::vector<std::uint32_t> places_;  // numbers of rows, from 1 on, by hash; a power of two
};

}  // namespace detail
KPROF_DETAIL_END

#endif
