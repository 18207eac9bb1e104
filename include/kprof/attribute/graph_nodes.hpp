// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_GRAPH_NODES_HPP
#define KPROF_ATTRIBUTE_GRAPH_NODES_HPP

// Under which scope each node of a CUDA graph was captured. A copy of a graph, such as an
// executable one, has nodes of its own, which belong to the scopes of the original's nodes. The
// collector's callbacks fill this on the program's threads.
//
// Records come late: before the records of a launch are read, the program may have destroyed the
// graph, or an update may have given its nodes to other scopes. So destroyed graphs are remembered
// for a while, and so are the scopes that a node belonged to before an update.

#include <kprof/attribute/node_versions.hpp>
#include <kprof/build_options.hpp>
#include <kprof/record/thread_log.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class graph_nodes {
 public:
  /// Keeps so many nodes of destroyed graphs, and four times as many in all. Beyond that, the
  /// graphs that have not been used for longest are forgotten.
  void set_limit(std::size_t nodes) {
    const std::lock_guard lock(mutex_);
    kept_destroyed_ = std::max<std::size_t>(nodes, 4096);
  }

  /// Nobody tells of graphs any more, or until somebody does again: what is known now may have been
  /// updated by then.
  void stop_listening() {
    const std::lock_guard lock(mutex_);
    ++round_;
  }

  /// A CUDA call made the node. A node that is known as a copy stays one, since instantiating a
  /// graph reports its nodes both ways.
  void made(std::uint64_t id, captured_scope where) {
    const std::lock_guard lock(mutex_);
    node& n = node_of(id);
    if (!n.copied) n.where = where;
  }
  /// The node was made as a copy of `original`.
  void copied(std::uint64_t id, std::uint64_t original) {
    const std::lock_guard lock(mutex_);
    become_copy(id, original, scope_of(original));
  }
  /// The copy `before` has another number from now on.
  void moved(std::uint64_t id, std::uint64_t before) {
    {
      const std::lock_guard lock(mutex_);
      const node* const from = used(before);
      become_copy(id, from == nullptr ? 0 : from->original, scope_of(before));
    }
    destroyed(before);
  }
  /// The node, of an executable graph, became a copy of `original` at `now`, in the ticks of
  /// launches. Launches before that ran what it was until then, which is not known where nobody
  /// told how the node came to be.
  void updated(std::uint64_t id, std::uint64_t original, std::uint64_t now) {
    const std::lock_guard lock(mutex_);
    become(id, scope_of(original), now);
  }
  /// The node, of an executable graph, became the work of another call at `now`, and with it the
  /// others that were captured in the same call: what a replay takes and what it counts stay with
  /// one call. A replay counts the scopes around it where it did before.
  void set(std::uint64_t id, std::uint32_t path, std::uint64_t now) {
    const std::lock_guard lock(mutex_);
    const node* const set = used(id);
    if (set == nullptr) return;
    const std::uint64_t from = graph_of(set->original);
    const std::uint32_t before = set->where.path;
    // 0: it lies between the call's nodes, and is of a graph in the graph.
    const auto beside = [&](const node& n) {
      if (n.is_gone || graph_of(n.original) != from) return 0;
      return n.copied && n.where.path == before ? 1 : -1;
    };
    std::vector<node>& all = graphs_.find(graph_of(id))->second.nodes;
    const node *first = set, *last = set;
    for (const node* n = set; first->where.scopes_started_here == 0 && n != all.data();) {
      const int is = beside(*--n);
      if (is < 0) break;
      if (is > 0) first = n;
    }
    for (const node* n = set; ++n != all.data() + all.size();) {
      const int is = beside(*n);
      if (is < 0 || (is > 0 && n->where.scopes_started_here != 0)) break;
      if (is > 0) last = n;
    }
    for (const node* n = first; n <= last; ++n)
      if (beside(*n) > 0)
        become(graph_of(id) << 32U | n->number, {path, n->where.scopes_started_here}, now);
  }
  /// The executable graph's copy of a node, and where it belongs now; false where that is not
  /// known.
  bool find_copy(std::uint32_t exec, std::uint64_t original, std::uint64_t& id,
                 captured_scope& where) {
    const std::lock_guard lock(mutex_);
    const auto at = graphs_.find(exec);
    if (at == graphs_.end()) return false;
    const std::vector<node>& all = at->second.nodes;
    std::size_t& next = at->second.next_copy;
    const auto is_copy = [original](const node& n) {
      return n.copied && !n.is_gone && n.original == original;
    };
    // It has mostly the same number as the original, or stands behind the copy that was last found.
    auto found = std::lower_bound(all.begin(), all.end(), static_cast<std::uint32_t>(original),
                                  comes_before);
    if ((found == all.end() || !is_copy(*found)) && next < all.size())
      found = all.begin() + static_cast<std::ptrdiff_t>(next);
    if (found == all.end() || !is_copy(*found))
      found = std::find_if(all.begin(), all.end(), is_copy);
    next = static_cast<std::size_t>(found - all.begin()) + 1;
    if (found == all.end() || found->where.path == unknown_path) return false;
    id = std::uint64_t{exec} << 32U | found->number;
    where = found->where;
    return true;
  }
  /// The node was destroyed. A graph counts as destroyed once none of its nodes is left.
  void destroyed(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto at = graphs_.find(graph_of(id));
    // CUDA puts nodes of its own into executable graphs.
    node* const n = at == graphs_.end() ? nullptr : find_in(at->second, id);
    if (n == nullptr || std::exchange(n->is_gone, true)) return;
    if (at->second.alive == 0 || --at->second.alive != 0) return;
    const bool runs = !at->second.nodes.empty() && at->second.nodes.front().copied;
    if (!runs) return forget(at->first);  // no records name it
    destroyed_nodes_ += at->second.nodes.size();
    at->second.is_destroyed = true;
    destroyed_.push_back(at->first);
    while (destroyed_nodes_ > kept_destroyed_ && destroyed_.size() > 1) {
      forget(destroyed_.front());
      destroyed_.pop_front();
    }
  }

  /// The scope that the node belonged to when a launch was made; false when that is not known.
  /// `is_older`: set where the node may have been updated since, while nobody told of it.
  bool find(std::uint64_t id, std::uint64_t launched, captured_scope& where,
            bool* is_older = nullptr) {
    const std::lock_guard lock(mutex_);
    const node* const n = used(id);
    if (n == nullptr) return false;
    node_version then{launched, n->where, n->copied ? n->round : round_};
    if (const auto at = updates_.find(id); at != updates_.end())
      then = at->second.at(launched, then);
    where = then.where;
    if (is_older != nullptr) *is_older = then.round != round_;
    return where.path != unknown_path;
  }
  /// Nodes that are remembered.
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return nodes_;
  }
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    std::size_t sum =
        graphs_.size() * (sizeof(graph) + 4 * sizeof(void*)) + order_.size() * sizeof(order_[0]);
    for (const auto& [number, g] : graphs_) sum += g.nodes.capacity() * sizeof(node);
    for (const auto& [id, older] : updates_)
      sum += sizeof(older) + 4 * sizeof(void*) + older.bytes();
    return sum;
  }
  /// How many graphs were forgotten though their destruction was not seen.
  std::uint64_t forgotten() {
    const std::lock_guard lock(mutex_);
    return forgotten_;
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::uint32_t unknown_path = captured_scope::unknown_path;

  struct node {
    std::uint32_t number = 0;  // in its graph
    bool copied = false;
    std::uint16_t round = 0;     // when it became a copy
    bool is_gone = false;        // destroyed; records of earlier launches may come
    std::uint64_t original = 0;  // that it was copied from
    captured_scope where;
  };
  struct graph {
    std::vector<node> nodes;  // by rising number
    std::size_t alive = 0;
    std::size_t next_copy = 0;  // where find_copy() goes on
    bool is_destroyed = false;  // and in destroyed_
    bool was_used = false;      // since forget_beyond last considered it
  };
  // The caller of these two holds the lock.

  void become_copy(std::uint64_t id, std::uint64_t original, captured_scope where) {
    node& n = node_of(id);
    n.where = where;
    n.original = original;
    n.copied = true;
    n.round = round_;
  }
  void become(std::uint64_t id, captured_scope where, std::uint64_t now) {
    node& n = node_of(id);
    const captured_scope before = n.copied ? n.where : captured_scope{unknown_path, 0};
    const bool differs = before.path != where.path || n.round != round_ ||
                         before.scopes_started_here != where.scopes_started_here;
    // Without memory for what it was, what it is must not be told of earlier launches.
    const bool kept = !differs || attempt([&] { keep_version(id, {now, before, n.round}); });
    n.where = kept ? where : captured_scope{unknown_path, 0};
    n.copied = true;
    n.round = round_;
  }
  // CUPTI's numbers of nodes are that of the graph and, in the lower half, one within it.
  static std::uint64_t graph_of(std::uint64_t id) noexcept { return id >> 32U; }
  static bool comes_before(const node& n, std::uint32_t number) noexcept {
    return n.number < number;
  }

  /// Of a node that is copied. It may have been captured before the recording: then the copy's
  /// scope is not known either, even if an earlier node had the same number.
  captured_scope scope_of(std::uint64_t original) {
    const node* const from = used(original);
    return from == nullptr ? captured_scope{unknown_path, 0} : from->where;
  }
  /// The node, alive: the id of one that is gone is that of a new one.
  node& node_of(std::uint64_t id) {
    const auto [at, is_new] = graphs_.try_emplace(graph_of(id));
    if (is_new) forget_beyond(4 * kept_destroyed_, at->first);
    graph& g = graphs_[graph_of(id)];
    const auto number = static_cast<std::uint32_t>(id);
    const auto place = std::lower_bound(g.nodes.begin(), g.nodes.end(), number, comes_before);
    const bool is_known = place != g.nodes.end() && place->number == number;
    if (is_known && !place->is_gone) return *place;
    // An executable graph loses the nodes that stand for graphs in it before it gets theirs.
    if (std::exchange(g.is_destroyed, false)) {
      destroyed_nodes_ -= g.nodes.size();
      const auto last = std::find(destroyed_.rbegin(), destroyed_.rend(), graph_of(id));
      if (last != destroyed_.rend()) destroyed_.erase(std::next(last).base());
    }
    const node fresh{number, false, round_, false, 0, {}};
    if (is_known) *place = fresh;
    node& made = is_known ? *place : *g.nodes.insert(place, fresh);
    nodes_ += is_known ? 0 : 1;
    ++g.alive;
    return made;
  }
  const node* used(std::uint64_t id) {
    const auto at = graphs_.find(graph_of(id));
    if (at == graphs_.end()) return nullptr;
    at->second.was_used = true;
    return find_in(at->second, id);
  }
  static node* find_in(graph& g, std::uint64_t id) noexcept {
    const auto number = static_cast<std::uint32_t>(id);
    const auto place = std::lower_bound(g.nodes.begin(), g.nodes.end(), number, comes_before);
    return place != g.nodes.end() && place->number == number ? &*place : nullptr;
  }

  void keep_version(std::uint64_t id, const node_version& v) {
    node_versions& older = updates_[id];
    older.add(v);
    ++version_count_;
    version_count_ -= older.drop_read();
    if (version_count_ <= most_versions()) return;
    // Seldom: it looks at all.
    if (++over_limit_ % (most_versions() / 4) == 1)
      for (auto& [other, of] : updates_) version_count_ -= of.drop_read();
    // Launches before that are of unknown scopes then.
    if (version_count_ > most_versions()) version_count_ -= older.drop_until(v.until, 0);
  }
  std::size_t most_versions() const noexcept { return 2 * kept_destroyed_; }
  void forget_versions(std::uint64_t id) {
    const auto at = updates_.find(id);
    if (at == updates_.end()) return;
    version_count_ -= at->second.drop_until(~std::uint64_t{0}, 0);
    updates_.erase(at);
  }
  void forget(std::uint64_t number) {
    const auto at = graphs_.find(number);
    if (at == graphs_.end()) return;
    nodes_ -= at->second.nodes.size();
    if (at->second.is_destroyed) destroyed_nodes_ -= at->second.nodes.size();
    if (!updates_.empty())
      for (const node& n : at->second.nodes) forget_versions(number << 32U | n.number);
    graphs_.erase(at);
  }
  /// CUPTI does not report the destruction of every graph: the least recently used ones are assumed
  /// to be destroyed. A graph that was used since the last time is kept once more.
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
        if (!at->second.is_destroyed) ++forgotten_;
        forget(oldest);
      }
    }
    if (order_.size() > 2 * graphs_.size() + 64)
      std::erase_if(order_, [this](std::uint64_t g) { return graphs_.count(g) == 0; });
  }

  std::mutex mutex_;         // guards all of it
  std::uint16_t round_ = 0;  // how often listening has stopped
  std::unordered_map<std::uint64_t, graph> graphs_;
  // the scopes that nodes belonged to before updates, oldest first
  std::unordered_map<std::uint64_t, node_versions> updates_;
  std::size_t version_count_ = 0;  // of all nodes
  std::size_t over_limit_ = 0;     // how often there were more than the most
  std::deque<std::uint64_t>
      order_;  // graphs, in the order in which they were made or kept once more
  std::deque<std::uint64_t> destroyed_;
  std::uint64_t forgotten_ = 0;
  std::size_t nodes_ = 0;
  std::size_t destroyed_nodes_ = 0;
  std::size_t kept_destroyed_ = 65536;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
