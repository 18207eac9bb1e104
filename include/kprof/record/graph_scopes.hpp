// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_GRAPH_SCOPES_HPP
#define KPROF_RECORD_GRAPH_SCOPES_HPP

// Which scopes work has been captured under, by graph: a scope that several threads capture in, as
// its context is handed on, is called once a replay and not once for each of them.

#include <kprof/build_options.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_set>

KPROF_DETAIL_BEGIN
namespace detail {

class graph_scopes {
 public:
  /// Whether nothing had been captured into the graph under this path before. Of many graphs the
  /// latest are known: a graph is captured for a while and then no more. `graph`: its number, of
  /// 32 bits.
  bool begin(std::uint64_t graph, std::uint32_t path) {
    constexpr std::size_t most = 16'384;
    const std::uint64_t key = graph << 32U | path;
    const std::lock_guard lock(mutex_);
    if (known_.count(key) != 0) return false;
    order_.push_back(key);
    known_.insert(key);
    if (order_.size() > most) {
      known_.erase(order_.front());
      order_.pop_front();
    }
    return true;
  }

 private:
  std::mutex mutex_;  // guards what is below
  std::unordered_set<std::uint64_t> known_;
  std::deque<std::uint64_t> order_;  // oldest first
};

}  // namespace detail
KPROF_DETAIL_END

#endif
