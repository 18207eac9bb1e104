// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_GRAPH_NODES_HPP
#define KPROF_ATTRIBUTE_GRAPH_NODES_HPP

// Under which scope each node of a CUDA graph was captured. Copies of a graph, executable ones
// among them, have nodes of their own that stand for the same scopes. Filled by callbacks on the
// program's threads.
//
// Records come late: a graph may be destroyed, or its nodes be given to other scopes by an update,
// before those of its launches are read. So graphs that are gone are known for a while, and what a
// node stood for before an update too.

#include <kprof/build_options.hpp>
#include <kprof/record/thread_log.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class graph_nodes {
 public:
  /// `nodes`: of graphs that are gone. Of living ones four times as many are kept; beyond, those of
  /// the graphs that have not been used for longest are forgotten.
  void set_limit(std::size_t nodes) {
    const std::lock_guard lock(mutex_);
    kept_gone_ = std::max<std::size_t>(nodes, 4096);
  }

  /// A node that a CUDA call made. One that is known as a copy stays so: instantiating reports its
  /// nodes both ways.
  void made(std::uint64_t id, captured_scope where) {
    const std::lock_guard lock(mutex_);
    node& n = node_of(id);
    if (!n.copied) n.where = where;
  }
  /// `now`: from when on, in the clock of launches.
  void copied(std::uint64_t id, std::uint64_t original, std::uint64_t now) {
    const std::lock_guard lock(mutex_);
    const node* const from = used(original);
    // A copy of what was captured before the recording is not known, whatever a node of its number
    // was.
    const captured_scope where = from == nullptr ? captured_scope{unknown_path, 0} : from->where;
    node& n = node_of(id);
    if (n.copied && (n.where.path != where.path || n.where.leads != where.leads)) {
      std::deque<version>& older = updates_[id];
      older.push_back({now, n.where});
      if (older.size() > kept_versions) older.pop_front();
    }
    n.where = where;
    n.copied = true;
  }
  void gone(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto at = graphs_.find(graph_of(id));
    if (at == graphs_.end() || at->second.alive == 0 || --at->second.alive != 0) return;
    const bool runs = !at->second.nodes.empty() && at->second.nodes.front().copied;
    if (!runs) return forget(at->first);  // no records name it
    gone_nodes_ += at->second.nodes.size();
    at->second.is_gone = true;
    gone_.push_back(at->first);
    while (gone_nodes_ > kept_gone_ && gone_.size() > 1) {
      forget(gone_.front());
      gone_.pop_front();
    }
  }

  /// What the node stood for when a launch was made; false when that is not known.
  bool find(std::uint64_t id, std::uint64_t launched, captured_scope& where) {
    const std::lock_guard lock(mutex_);
    const node* const n = used(id);
    if (n == nullptr) return false;
    where = n->where;
    if (!updates_.empty()) {
      if (const auto at = updates_.find(id); at != updates_.end())
        for (std::size_t i = at->second.size(); i-- > 0 && launched < at->second[i].until;)
          where = at->second[i].where;
    }
    return where.path != unknown_path;
  }
  /// Nodes that are known.
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return nodes_;
  }
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    std::size_t sum =
        graphs_.size() * (sizeof(graph) + 4 * sizeof(void*)) + order_.size() * sizeof(order_[0]);
    for (const auto& [number, g] : graphs_) sum += g.nodes.capacity() * sizeof(node);
    // a deque holds 512 bytes at least
    for (const auto& [id, older] : updates_) sum += 512 + older.size() * sizeof(version);
    return sum;
  }
  /// Graphs that were not known to be gone and are forgotten.
  std::uint64_t forgotten() {
    const std::lock_guard lock(mutex_);
    return forgotten_;
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::uint32_t unknown_path = ~std::uint32_t{0};
  static constexpr std::size_t kept_versions = 64;

  struct node {
    std::uint32_t number = 0;  // in its graph
    bool copied = false;
    captured_scope where;
  };
  struct graph {
    std::vector<node> nodes;  // by rising number
    std::size_t alive = 0;
    bool is_gone = false;   // and in gone_
    bool was_used = false;  // since it was last asked whether to forget it
  };
  struct version {
    std::uint64_t until;
    captured_scope where;
  };

  // CUPTI's numbers of nodes are that of the graph and, in the lower half, one within it.
  static std::uint64_t graph_of(std::uint64_t id) noexcept { return id >> 32U; }
  static bool comes_before(const node& n, std::uint32_t number) noexcept {
    return n.number < number;
  }

  node& node_of(std::uint64_t id) {
    const auto [at, is_new] = graphs_.try_emplace(graph_of(id));
    if (is_new) forget_beyond(4 * kept_gone_, at->first);
    graph& g = graphs_[graph_of(id)];
    const auto number = static_cast<std::uint32_t>(id);
    const auto place = std::lower_bound(g.nodes.begin(), g.nodes.end(), number, comes_before);
    if (place != g.nodes.end() && place->number == number) return *place;
    ++nodes_;
    ++g.alive;
    return *g.nodes.insert(place, {number, false, {}});
  }
  const node* used(std::uint64_t id) {
    const auto at = graphs_.find(graph_of(id));
    if (at == graphs_.end()) return nullptr;
    at->second.was_used = true;
    const std::vector<node>& all = at->second.nodes;
    const auto number = static_cast<std::uint32_t>(id);
    const auto place = std::lower_bound(all.begin(), all.end(), number, comes_before);
    return place != all.end() && place->number == number ? &*place : nullptr;
  }

  void forget(std::uint64_t number) {
    const auto at = graphs_.find(number);
    if (at == graphs_.end()) return;
    nodes_ -= at->second.nodes.size();
    if (at->second.is_gone) gone_nodes_ -= at->second.nodes.size();
    if (!updates_.empty())
      for (const node& n : at->second.nodes) updates_.erase(number << 32U | n.number);
    graphs_.erase(at);
  }
  /// Graphs may go without a word of it: the least recently used are taken to be gone. Each is
  /// spared once for having been used.
  void forget_beyond(std::size_t most, std::uint64_t made) {
    order_.push_back(made);
    while (nodes_ > most && order_.size() > 1) {
      const std::uint64_t oldest = order_.front();
      order_.pop_front();
      const auto at = graphs_.find(oldest);
      if (at == graphs_.end()) continue;
      if (std::exchange(at->second.was_used, false) || oldest == made) {
        order_.push_back(oldest);
      } else {
        if (!at->second.is_gone) ++forgotten_;
        forget(oldest);
      }
    }
    if (order_.size() > 2 * graphs_.size() + 64)
      std::erase_if(order_, [this](std::uint64_t g) { return graphs_.count(g) == 0; });
  }

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, graph> graphs_;
  // what nodes stood for before, oldest first
  std::unordered_map<std::uint64_t, std::deque<version>> updates_;
  std::deque<std::uint64_t> order_;  // graphs as they were made, or were spared
  std::deque<std::uint64_t> gone_;
  std::uint64_t forgotten_ = 0;
  std::size_t nodes_ = 0;
  std::size_t gone_nodes_ = 0;
  std::size_t kept_gone_ = 65536;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
