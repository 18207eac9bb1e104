// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_NODE_PATHS_HPP
#define KPROF_RECORD_NODE_PATHS_HPP

// Between one thread's nodes and the process's paths: the path that names a node, the node of an
// adopted path, and the nodes of work that a CUDA graph replays. Guarded by the lock of the
// thread's log.

#include <kprof/build_options.hpp>
#include <kprof/record/call_tree.hpp>
#include <kprof/record/path_table.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class node_paths {
 public:
  node_paths(call_tree& tree, path_table& paths) : tree_(&tree), paths_(&paths) {}

  /// The tree has been cleared.
  void clear() {
    nodes_.clear();
    paths_of_nodes_.clear();
    replayed_.clear();
  }

  /// The path of a node; 0 for the root. It does not call itself: a context that goes on from task
  /// to task makes paths of any length, and the thread may have a small stack.
  std::uint32_t path_of(std::uint32_t node) {
    std::vector<std::uint32_t> unknown;  // from the node outwards
    std::uint32_t path = 0;
    for (; node != call_tree::root; node = (*tree_)[node].parent) {
      if (const auto known = paths_of_nodes_.find(node); known != paths_of_nodes_.end()) {
        path = known->second;
        break;
      }
      unknown.push_back(node);
    }
    for (; !unknown.empty(); unknown.pop_back())
      path = paths_of_nodes_[unknown.back()] = paths_->number_of(step_of(unknown.back(), path));
    return path;
  }
  /// Work is captured into a graph in the scope of a node: whether it is the first under its path.
  bool begin_in_graph(std::uint64_t graph, std::uint32_t node) {
    return paths_->captured().begin(graph, path_of(node));
  }
  /// The same of an adopted context's node: of how many of the scopes from it up.
  std::uint32_t begin_adopted_in_graph(std::uint64_t graph, std::uint32_t node) {
    std::uint32_t scopes = 0;
    for (; node != call_tree::root && begin_in_graph(graph, node); node = (*tree_)[node].parent)
      ++scopes;
    return scopes;
  }
  /// Keeps a path beyond this recording: whoever has the number may use it at any time.
  void keep(std::uint32_t path) { paths_->keep(path); }

  /// The node of a path under this thread's root; made when it is new. The root for a path that has
  /// been forgotten. It does not call itself, as path_of().
  std::uint32_t node_of(std::uint32_t path) {
    std::vector<std::uint32_t> unknown;  // from the innermost outwards
    std::uint32_t node = call_tree::root;
    while (path != 0) {
      if (const auto known = nodes_.find(path); known != nodes_.end()) {
        node = known->second;
        break;
      }
      unknown.push_back(path);
      path = (*paths_)[path].parent;
    }
    for (; !unknown.empty(); unknown.pop_back()) {
      const path_table::step s = (*paths_)[unknown.back()];
      if (s.site != 0) node = nodes_[unknown.back()] = child_of(node, s);
    }
    return node;
  }

  /// The node of what was captured under the path `captured` into graphs launched under the path
  /// `launch`: launch > graph > captured scopes, without those that are also around the launch.
  std::uint32_t replayed_node(std::uint32_t launch, std::uint32_t captured) {
    std::uint32_t& node = replayed_[std::uint64_t{launch} << 32U | captured];
    if (node == 0) node = inside_graph(launch, captured);
    return node;
  }
  /// The node of work whose capture was not seen.
  std::uint32_t foreign_graph_node(std::uint32_t launch) {
    static constexpr std::string_view name = "(graph captured before recording)";
    return tree_->child(replayed_node(launch, 0), site_table::graph_site,
                        {name.data(), name.size()}, false, work{});
  }

 private:
  /// What a node adds to the path of its parent.
  path_table::step step_of(std::uint32_t node, std::uint32_t parent) {
    const tree_node& n = (*tree_)[node];
    const payload p = tree_->payload_of(n);
    return {parent,   n.site,   std::string(p.bytes, p.size),
            n.merged, n.values, std::string(p.shown, p.shown_size)};
  }
  std::uint32_t child_of(std::uint32_t parent, const path_table::step& s) {
    return tree_->child(parent, s.site,
                        {s.bytes.data(), static_cast<std::uint32_t>(s.bytes.size()), s.shown.data(),
                         static_cast<std::uint32_t>(s.shown.size())},
                        s.merged, s.values);
  }

  std::uint32_t inside_graph(std::uint32_t launch, std::uint32_t captured) {
    std::vector<std::uint32_t> around;
    for (std::uint32_t p = launch; p != 0; p = (*paths_)[p].parent) around.push_back(p);
    std::vector<path_table::step> inside;
    for (std::uint32_t p = captured;
         p != 0 && std::find(around.begin(), around.end(), p) == around.end();) {
      path_table::step s = (*paths_)[p];
      if (s.site == 0) break;  // has been forgotten
      p = s.parent;
      inside.push_back(std::move(s));
    }
    std::uint32_t node =
        tree_->child(node_of(launch), site_table::graph_site, {"graph", 5}, false, work{});
    for (std::size_t i = inside.size(); i-- > 0;) node = child_of(node, inside[i]);
    return node;
  }

  call_tree* tree_;
  path_table* paths_;
  std::unordered_map<std::uint32_t, std::uint32_t> nodes_;           // by path
  std::unordered_map<std::uint32_t, std::uint32_t> paths_of_nodes_;  // by node
  std::unordered_map<std::uint64_t, std::uint32_t> replayed_;        // by launch and captured path
};

}  // namespace detail
KPROF_DETAIL_END

#endif
