// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_MISSING_LAUNCHES_HPP
#define KPROF_RECORD_MISSING_LAUNCHES_HPP

// The launches of one thread whose work on a device has not come, or not all of it, by the node of
// the scope around them. What a device does for a scope is known only where there are none.
// Guarded by its thread_log's lock. It takes 20 bytes a node of the call tree, which is a tenth of
// what the node itself takes.

#include <kprof/build_options.hpp>
#include <kprof/record/log_words.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class missing_launches {
 public:
  /// Forgets all launches, and keeps the memory.
  void clear() noexcept { std::fill(by_node_.begin(), by_node_.end(), counts{}); }
  /// Makes room for so many nodes of the call tree.
  void widen_to(std::size_t nodes) {
    if (nodes > by_node_.size()) by_node_.resize(nodes);
  }

  /// A launch was made in the scope `node`.
  void add(std::uint32_t node, record_kind kind) {
    widen_to(node + std::size_t{1});
    counts& c = by_node_[node];
    ++(kind == record_kind::transfer_launch ? c.transfers[0]
       : kind == record_kind::graph_launch  ? c.graphs[0]
                                            : c.kernels);
  }
  /// Nobody tells of further launches of a call that is open in `node`.
  void cut(std::uint32_t node) {
    widen_to(node + std::size_t{1});
    by_node_[node].is_cut = true;
  }
  /// The first record of a launch has come. A graph's is one of many: whether all have come is
  /// known only after a flush. `before_flush`: the launch was made before the latest flush began.
  void found(std::uint32_t node, record_kind kind, bool before_flush) noexcept {
    if (kind == record_kind::graph_launch || node >= by_node_.size()) return;
    counts& c = by_node_[node];
    std::uint32_t& count =
        kind == record_kind::transfer_launch ? c.transfers[before_flush ? 1 : 0] : c.kernels;
    if (count != 0) --count;
  }

  /// The records of all launches so far are about to be fetched.
  void begin_flush() noexcept {
    for (counts& c : by_node_) {
      c.transfers[1] += c.transfers[0];
      c.graphs[1] += c.graphs[0];
      c.transfers[0] = c.graphs[0] = 0;
    }
  }
  /// They have all come. A copy or a memset from before the flush that has none did nothing, unless
  /// records were lost; a kernel always leaves one.
  void end_flush(bool records_were_lost) noexcept {
    for (counts& c : by_node_) {
      c.graphs[1] = 0;
      if (!records_were_lost) c.transfers[1] = 0;
    }
  }

  /// Kernels, copies and memsets of which there is no record.
  std::uint64_t without_record(std::uint32_t node) const noexcept {
    if (node >= by_node_.size()) return 0;
    const counts& c = by_node_[node];
    return std::uint64_t{c.kernels} + c.transfers[0] + c.transfers[1] +
           (c.is_cut ? unknown_many : 0);
  }
  /// Launches of graphs of which not all records may have come.
  std::uint64_t of_graphs(std::uint32_t node) const noexcept {
    if (node >= by_node_.size()) return 0;
    const counts& c = by_node_[node];
    return std::uint64_t{c.graphs[0]} + c.graphs[1];
  }

  /// Adds another thread's launches, whose nodes are here as `node_here` says. There is room for
  /// all of these.
  void merge(const missing_launches& other, const std::vector<std::uint32_t>& node_here) noexcept {
    const std::size_t nodes = std::min(other.by_node_.size(), node_here.size());
    for (std::size_t i = 0; i < nodes; ++i) {
      const counts& from = other.by_node_[i];
      counts& to = by_node_[node_here[i]];
      to.kernels += from.kernels;
      to.is_cut = to.is_cut || from.is_cut;
      for (int k = 0; k < 2; ++k) {
        to.transfers[k] += from.transfers[k];
        to.graphs[k] += from.graphs[k];
      }
    }
  }

 private:
  static constexpr std::uint64_t unknown_many = std::uint64_t{1} << 32U;
  struct counts {
    std::uint32_t kernels = 0;
    std::uint32_t transfers[2] =
        {};                        // copies and memsets: since the latest flush began, and before
    std::uint32_t graphs[2] = {};  // launches of graphs, the same
    bool is_cut = false;           // and launches that nobody told of
  };
  std::vector<counts> by_node_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
