// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CUPTI_SCHEDULES_TRUTH_HPP
#define KPROF_TESTS_CUPTI_SCHEDULES_TRUTH_HPP

// What a random program knows that it did, and how a profile differs from that.

#include "find.hpp"

#include <kprof/kprof.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

using counts = std::map<std::string, std::uint64_t>;

/// What happened, by the program's own account.
struct truth {
  counts runs;                   // "path: kernel" or "path: copy" or "path: set"
  counts replays;                // by path
  counts calls, captured, idle;  // calls by the host; those that captured, that launched nothing
  std::uint64_t launches = 0;
  std::uint64_t foreign = 0;  // runs of nodes of which nobody told kprof
  std::uint64_t older = 0;    // runs of nodes that may have been updated between recordings

  void add(const truth& other) {
    for (const auto& [what, n] : other.runs) runs[what] += n;
    for (const auto& [what, n] : other.replays) replays[what] += n;
    for (const auto& [what, n] : other.calls) calls[what] += n;
    for (const auto& [what, n] : other.captured) captured[what] += n;
    for (const auto& [what, n] : other.idle) idle[what] += n;
    launches += other.launches;
    foreign += other.foreign;
    older += other.older;
  }
};

inline counts runs_of(const kprof::profile& p) {
  counts out;
  for (const kprof::device_work& w : p.device.work) {
    const std::string where = w.scope == kprof::device_work::none ? "unknown" : path_of(p, w.scope);
    const std::string what = w.task == kprof::device_task::copy  ? "copy"
                             : w.task == kprof::device_task::set ? "set"
                             : w.merged                          ? "merged"
                                                                 : p.device.kernels[w.kernel];
    out[where + ": " + what] += w.calls;
  }
  return out;
}

/// Calls use(node) for a node of a graph and the others that were captured in the same call, right
/// in the same scope.
template <class Node, class Use>
void each_of_call(std::vector<Node>& all, std::size_t which, Use use) {
  const Node of = all[which];
  const auto is_of_call = [&](const Node& n) { return n.around == of.around; };
  std::size_t first = which, last = which;
  for (std::size_t i = which; all[first].started == 0 && i-- > 0;) {
    if (all[i].graph != of.graph) continue;
    if (!is_of_call(all[i])) break;
    first = i;
  }
  for (std::size_t i = which; ++i < all.size();) {
    if (all[i].graph != of.graph) continue;
    if (!is_of_call(all[i]) || all[i].started != 0) break;
    last = i;
  }
  for (std::size_t i = first; i <= last; ++i)
    if (all[i].graph == of.graph) use(all[i]);
}

/// What a member says of the nodes, by path.
inline counts of_nodes(const kprof::profile& p, std::uint64_t kprof::scope_node::*member) {
  counts out;
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].*member != 0) out[path_of(p, i)] += p.nodes[i].*member;
  return out;
}

inline int differences(const counts& found, const counts& expected, const char* what,
                       unsigned seed) {
  int wrong = 0;
  counts all = found;
  all.insert(expected.begin(), expected.end());
  for (const auto& [key, unused] : all) {
    const auto f = found.find(key), e = expected.find(key);
    const std::uint64_t have = f == found.end() ? 0 : f->second,
                        want = e == expected.end() ? 0 : e->second;
    if (have == want) continue;
    std::printf("seed %u: %s of \"%s\": %llu instead of %llu\n", seed, what, key.c_str(),
                static_cast<unsigned long long>(have), static_cast<unsigned long long>(want));
    ++wrong;
  }
  return wrong;
}
inline int difference(const char* what, std::uint64_t have, std::uint64_t want, unsigned seed) {
  if (have == want) return 0;
  std::printf("seed %u: %s: %llu instead of %llu\n", seed, what,
              static_cast<unsigned long long>(have), static_cast<unsigned long long>(want));
  return 1;
}

/// How many things the profile has otherwise than the program.
inline int differences(const kprof::profile& p, const truth& expected, unsigned seed) {
  using node = kprof::scope_node;
  const auto& c = p.device.complete;
  return differences(runs_of(p), expected.runs, "runs", seed) +
         differences(of_nodes(p, &node::replays), expected.replays, "replays", seed) +
         differences(of_nodes(p, &node::calls), expected.calls, "calls", seed) +
         differences(of_nodes(p, &node::captured), expected.captured, "captured calls", seed) +
         differences(of_nodes(p, &node::unlaunched), expected.idle, "idle calls", seed) +
         difference("launches", c.launches, expected.launches, seed) +
         difference("attributed, outside", c.attributed + c.outside, expected.launches, seed) +
         difference("open", c.open, 0, seed) + difference("unknown", c.unknown, 0, seed) +
         difference("dropped", c.dropped, 0, seed) +
         difference("foreign", c.foreign_graphs, expected.foreign, seed) +
         difference("older", c.older_graphs, expected.older, seed);
}

#endif
