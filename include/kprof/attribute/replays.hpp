// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_REPLAYS_HPP
#define KPROF_ATTRIBUTE_REPLAYS_HPP

// What a replay of a graph counts: the graph, and each scope that was captured into it, once.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/record/op_info.hpp>
#include <kprof/record/part_payload.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

inline bool is_graph(call_tree& tree, std::uint32_t node) noexcept {
  return tree[node].site == site_table::graph_site;
}
/// A call that threads share is called by its part 0.
inline bool is_further_part(call_tree& tree, const site_table& sites, std::uint32_t node) {
  const tree_node& n = tree[node];
  return n.is_part && part_number_of(*sites[n.site].op, tree.payload_of(n), n.merged).part != 0;
}
/// A graph's node has run: each scope that this node is the first work of was called once more.
inline void count_replayed_scopes(call_tree& tree, const site_table& sites, std::uint32_t node,
                                  std::uint32_t scopes_started_here) {
  for (; scopes_started_here != 0 && node != call_tree::root && !is_graph(tree, node);
       --scopes_started_here, node = tree[node].parent)
    if (!is_further_part(tree, sites, node)) ++tree[node].device_calls;
}
/// The first record of a graph's launch has come: the outermost graph around `node` was called
/// once more.
inline void count_replayed_graph(call_tree& tree, std::uint32_t node) noexcept {
  while (node != call_tree::root && !(is_graph(tree, node) && !is_graph(tree, tree[node].parent)))
    node = tree[node].parent;
  if (node != call_tree::root) ++tree[node].device_calls;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
