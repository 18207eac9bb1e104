// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_GRAPH_SCOPES_HPP
#define KPROF_RECORD_GRAPH_SCOPES_HPP

// Which scopes work has been captured under, by graph: a scope that several threads capture in, as
// its context is handed on, is called once a replay and not once for each of them.

#include <kprof/build_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

KPROF_DETAIL_BEGIN
namespace detail {

class graph_scopes {
 public:
  /// Whether nothing had been captured into the graph under this path before. Of many graphs the
  /// latest are known: a graph is captured for a while and then no more.
  bool begin(std::uint64_t graph, std::uint32_t path) {
    constexpr std::size_t most = 16'384;
    const entry wanted{graph, path};
    const std::lock_guard lock(mutex_);
    // The graph that is being captured is one of the last.
    if (std::find(entries_.rbegin(), entries_.rend(), wanted) != entries_.rend()) return false;
    entries_.push_back(wanted);
    if (entries_.size() > most) entries_.pop_front();
    return true;
  }

 private:
  struct entry {
    std::uint64_t graph;
    std::uint32_t path;
    bool operator==(const entry&) const = default;
  };
  std::mutex mutex_;  // guards what is below
  std::deque<entry> entries_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
