// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_GRAPH_NODES_HPP
#define KPROF_MODEL_GRAPH_NODES_HPP

// Under which scope each node of a CUDA graph was captured. Copies of a graph, executable ones among them, have nodes of
// their own that stand for the same scopes. Filled by callbacks on the program's threads.

#include <kprof/config.hpp>
#include <kprof/record/thread_log.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

KPROF_DETAIL_BEGIN
namespace detail {

class graph_nodes {
 public:
  /// A node that a CUDA call made. One that is known as a copy stays so: instantiating reports its nodes both ways.
  void made(std::uint64_t node, captured_scope where) {
    const std::lock_guard lock(mutex_);
    entry& e = nodes_[node];
    if (!e.copied) e.where = where;
  }
  void copied(std::uint64_t node, std::uint64_t original) {
    const std::lock_guard lock(mutex_);
    const auto known = nodes_.find(original);
    if (known == nodes_.end()) {   // captured before the recording: an old node of that number is not meant
      nodes_.erase(node);
      return;
    }
    const captured_scope where = known->second.where;
    nodes_[node] = {where, true};
  }
  /// Its records may still be on their way: forgotten only once many others are gone too.
  void gone(std::uint64_t node) {
    const std::lock_guard lock(mutex_);
    if (nodes_.count(node) == 0) return;
    gone_.push_back(node);
    for (; gone_.size() > kept_gone; gone_.pop_front()) nodes_.erase(gone_.front());
  }
  bool find(std::uint64_t node, captured_scope& where) {
    const std::lock_guard lock(mutex_);
    const auto known = nodes_.find(node);
    if (known == nodes_.end()) return false;
    where = known->second.where;
    return true;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return nodes_.size();
  }
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::size_t kept_gone = 16384;
  struct entry {
    captured_scope where;
    bool copied = false;
  };

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, entry> nodes_;
  std::deque<std::uint64_t> gone_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
