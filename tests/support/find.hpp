// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_FIND_HPP
#define KPROF_TESTS_FIND_HPP

// Looks up what a test recorded.

#include <kprof/profile.hpp>

#include <string>
#include <vector>

/// "inner n=1": name and parameters of a node.
inline std::string label_of(const kprof::profile& p, const kprof::scope_node& n) {
  const std::string parameters = parameter_text(p, n);
  return n.name + (parameters.empty() ? "" : " " + parameters);
}

/// "outer/inner n=1" for a node: names and parameters from the thread's root down.
inline std::string path_of(const kprof::profile& p, std::uint32_t node) {
  if (p.nodes[node].kind == kprof::scope_kind::root) return {};
  const std::string above = path_of(p, p.nodes[node].parent);
  return above + (above.empty() ? "" : "/") + label_of(p, p.nodes[node]);
}

/// All nodes with this path, one a thread and call site.
inline std::vector<const kprof::scope_node*> find_all(const kprof::profile& p,
                                                      const std::string& path) {
  std::vector<const kprof::scope_node*> out;
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i) {
    const kprof::scope_node& n = p.nodes[i];
    // The end first: whole paths of deep recursions are long.
    const std::string last = label_of(p, n);
    if (n.kind == kprof::scope_kind::root || path.size() < last.size() ||
        path.compare(path.size() - last.size(), last.size(), last) != 0)
      continue;
    if (path_of(p, i) == path) out.push_back(&n);
  }
  return out;
}

/// Finished calls on this path, on all threads.
inline std::uint64_t calls(const kprof::profile& p, const std::string& path) {
  std::uint64_t n = 0;
  for (const auto* node : find_all(p, path)) n += node->calls;
  return n;
}

/// The one node on this path; an empty one with calls == ~0 when there is none or more than one.
inline kprof::scope_node only(const kprof::profile& p, const std::string& path) {
  const auto all = find_all(p, path);
  if (all.size() == 1) return *all[0];
  kprof::scope_node none;
  none.calls = ~std::uint64_t{0};
  return none;
}

/// Every path that was recorded, for messages.
inline std::string all_paths(const kprof::profile& p) {
  std::string out;
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    out += path_of(p, i) + " calls=" + std::to_string(p.nodes[i].calls) + "\n";
  return out;
}

#endif
