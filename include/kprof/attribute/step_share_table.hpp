// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_STEP_SHARE_TABLE_HPP
#define KPROF_ATTRIBUTE_STEP_SHARE_TABLE_HPP

// What the scopes of each node did in each of some steps: a cell for each node that had a scope in
// a step, at most so many for all threads. Where there would be more, the earliest steps are given
// up. Included by step_shares.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile/stepping.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL step_share_table {
 public:
  struct cell {
    std::uint32_t node = 0;
    std::uint64_t calls = 0;
    std::uint64_t ticks = 0;
    std::uint64_t inside = 0;  // in child scopes
  };

  step_share_table() = default;
  /// `older`: so many of the steps, the first, are given up after the others.
  step_share_table(std::size_t steps, std::size_t older)
      : counts_(steps), by_step_(steps), older_(older), later_gone_(older) {}

  /// The cells from here on are of another thread, with so many nodes.
  void begin_thread(std::size_t nodes) {
    latest_.assign(nodes, {});
    for (std::vector<cell>& cells : by_step_) cells.clear();
  }
  /// The node's cell in this step; nullptr where the step is given up. For each scope the steps
  /// come from the earliest to the latest, and from scope to scope the latest ones never go back.
  cell* at(std::size_t step, std::uint32_t node) {
    if (is_given_up(step)) return nullptr;
    std::vector<cell>& cells = by_step_[step];
    place& latest = latest_[node];
    if (latest.step == step + 1) return &cells[latest.cell];
    if (latest.step > step + 1) {
      const auto known = std::find_if(cells.begin(), cells.end(),
                                      [node](const cell& c) { return c.node == node; });
      if (known != cells.end()) return &*known;
    } else {
      latest = {step + 1, cells.size()};
    }
    cells.push_back({node});
    ++counts_[step];
    ++count_;
    give_up_earliest();
    return is_given_up(step) ? nullptr : &cells.back();
  }
  /// Those of the thread in this step, by node.
  std::vector<cell>& sorted(std::size_t step) {
    std::vector<cell>& cells = by_step_[step];
    std::sort(cells.begin(), cells.end(),
              [](const cell& a, const cell& b) { return a.node < b.node; });
    return cells;
  }

  bool is_given_up(std::size_t step) const noexcept {
    return step < older_ ? step < older_gone_ : step < later_gone_;
  }
  /// Steps that are given up.
  std::size_t given_up() const noexcept { return older_gone_ + later_gone_ - older_; }

 private:
  struct place {
    std::size_t step = 0;  // 1 more; 0: in none
    std::size_t cell = 0;
  };

  void give_up_earliest() {
    while (count_ > most_step_shares) {
      const std::size_t step = later_gone_ < by_step_.size() ? later_gone_++ : older_gone_++;
      count_ -= counts_[step];
      by_step_[step] = {};
    }
  }

  std::vector<std::size_t> counts_;         // of all threads, by step
  std::vector<std::vector<cell>> by_step_;  // of one thread
  std::vector<place> latest_;               // the latest step in which the node has a cell
  std::size_t older_ = 0;
  std::size_t older_gone_ = 0, later_gone_ = 0;  // each before them is given up
  std::size_t count_ = 0;                        // of all threads
};

}  // namespace detail
KPROF_DETAIL_END

#endif
