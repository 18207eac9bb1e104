// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_MOVED_NODES_HPP
#define KPROF_COLLECT_MOVED_NODES_HPP

// Nodes of graphs that get other ids. A graph that is instantiated takes the nodes of the graphs in
// it for its own: they are copied with ids of the inner graph's copy, and run with ids of the
// executable graph. CUPTI tells of the former only, so the ids are asked for again when the call
// ends.

#include <kprof/build_options.hpp>
#include <kprof/write/attempt.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

/// The nodes that calls under way have copied. `call`: the same for all in one call. Any thread.
class moved_nodes {
 public:
  /// What the call copied is of no interest, or older than it.
  void forget(const void* call) noexcept { static_cast<void>(take(call)); }
  /// Nobody listened for a while.
  void clear() noexcept {
    const std::lock_guard lock(mutex_);
    calls_.clear();
  }

  /// The call copied a node; without memory it is not looked at again.
  void copied(const void* call, void* node, std::uint64_t id) noexcept {
    const std::lock_guard lock(mutex_);
    static_cast<void>(attempt([&] { of(call).copied.push_back({node, id}); }));
  }
  /// The call destroyed a node, which may not be touched from here on.
  void destroyed(const void* call, void* node) noexcept {
    const std::lock_guard lock(mutex_);
    nodes_of_call* const its = find(call);
    if (its == nullptr) return;
    if (!attempt([&] { its->destroyed.push_back({node, its->copied.size()}); }))
      its->copied.clear();
  }
  /// The call has ended. Calls moved(id, before) for each node that `id_of`(node, id) has another
  /// id for.
  template <class IdOf, class Moved>
  void end(const void* call, IdOf id_of, Moved moved) noexcept {
    nodes_of_call its = take(call);
    // What moves leaves a node behind that stood for its graph, and is destroyed.
    if (its.destroyed.empty()) return;
    const auto is_of_first = [&](const copy& c) { return c.id >> 32U == its.copied[0].id >> 32U; };
    if (std::all_of(its.copied.begin(), its.copied.end(), is_of_first)) return;
    std::sort(its.destroyed.begin(), its.destroyed.end());
    for (std::size_t i = 0; i < its.copied.size(); ++i) {
      const copy& c = its.copied[i];
      const auto gone =
          std::upper_bound(its.destroyed.begin(), its.destroyed.end(), std::pair{c.node, i});
      if (gone != its.destroyed.end() && gone->first == c.node) continue;
      std::uint64_t id = 0;
      if (id_of(c.node, id) && id != c.id) moved(id, c.id);
    }
  }

 private:
  struct copy {
    void* node;
    std::uint64_t id;
  };
  struct nodes_of_call {
    const void* call = nullptr;
    std::vector<copy> copied;
    std::vector<std::pair<void*, std::size_t>> destroyed;  // and how many were copied before
  };

  nodes_of_call* find(const void* call) noexcept {
    for (nodes_of_call& n : calls_)
      if (n.call == call) return &n;
    return nullptr;
  }
  nodes_of_call& of(const void* call) {
    if (nodes_of_call* const found = find(call)) return *found;
    nodes_of_call& made = calls_.emplace_back();
    made.call = call;
    return made;
  }
  nodes_of_call take(const void* call) noexcept {
    const std::lock_guard lock(mutex_);
    nodes_of_call taken;
    nodes_of_call* const its = find(call);
    if (its == nullptr) return taken;
    taken = std::move(*its);
    *its = std::move(calls_.back());
    calls_.pop_back();
    return taken;
  }

  std::mutex mutex_;
  std::vector<nodes_of_call> calls_;  // those that have copied a node
};

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
