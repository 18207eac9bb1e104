// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_NODE_FACTS_HPP
#define KPROF_REPORT_TRACE_NODE_FACTS_HPP

// What a trace says of the calls of a node: its work, its roof, and whose scope launched work on a
// device. Included by trace.hpp. Pure; linear in the nodes.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Work of one slice by the formulas.
struct slice_work {
  double flops = 0;
  double bytes = 0;
};

class node_facts {
 public:
  explicit node_facts(const profile& p)
      : p_(p),
        sums_(p),
        roofs_(p, sums_),
        launchers_(operators_around(p)),
        formulas_(p.nodes.size(), scope_node::none),
        is_inner_(p.nodes.size(), true) {
    std::vector<std::uint32_t> graph_launchers(p.nodes.size(), scope_node::none);
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      const std::uint32_t parent = parent_of(p, i);
      // What is below a graph was launched by the scope around the graph.
      if (parent != scope_node::none) {
        graph_launchers[i] = graph_launchers[parent];
        if (n.kind == scope_kind::graph && graph_launchers[i] == scope_node::none)
          graph_launchers[i] = launchers_[parent];
        formulas_[i] = formulas_[parent];
      }
      if (n.kind == scope_kind::op && (says_flops(n) || says_bytes(n))) {
        if (formulas_[i] != scope_node::none) is_inner_[formulas_[i]] = false;
        formulas_[i] = static_cast<std::uint32_t>(i);
      }
    }
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      if (graph_launchers[i] != scope_node::none) launchers_[i] = graph_launchers[i];
  }

  /// The operator whose scope was open when work of a scope was launched; none: no operator's.
  std::uint32_t launcher(std::uint32_t scope) const noexcept {
    return scope < launchers_.size() ? launchers_[scope] : scope_node::none;
  }
  bool runs_on_device(std::size_t node) const noexcept {
    return !sums_.whole.empty() && sums_.whole[node].runs() > 0;
  }

  /// Not where calls were captured into a graph either: they did no work.
  bool works_on_host(std::size_t node) const noexcept {
    return !runs_on_device(node) && p_.nodes[node].captured == 0;
  }

  /// Of one scope of a node: a part of a call has its share.
  slice_work work_of_slice(std::size_t node) const noexcept {
    const scope_node& n = p_.nodes[node];
    const double parts = is_part(n) ? n.shared.parts : 1;
    return {says_flops(n) ? static_cast<double>(n.work.flops) / parts : 0,
            says_bytes(n) ? bytes_of(n) / parts : 0};
  }
  /// The same, where it counts in sums over time: on the host, and in no operator inside it.
  slice_work host_work(std::size_t node) const noexcept {
    const bool counts = formulas_[node] == node && is_inner_[node] && works_on_host(node);
    return counts ? work_of_slice(node) : slice_work{};
  }
  /// Of a nanosecond that a device spends on work of a scope, as the mean of its operator.
  slice_work device_work_per_ns(std::uint32_t scope) const noexcept {
    if (scope >= formulas_.size() || sums_.whole.empty()) return {};
    const std::uint32_t node = formulas_[scope];
    if (node == scope_node::none || !is_inner_[node] || !(sums_.whole[node].ns > 0)) return {};
    const scope_node& n = p_.nodes[node];
    return {says_flops(n) ? all_flops(n) / sums_.whole[node].ns : 0,
            says_bytes(n) ? all_bytes(n) / sums_.whole[node].ns : 0};
  }

  /// The least time that a call takes; 0: not known, or the node's scopes are no whole calls.
  double ideal_ns(std::size_t node) const noexcept {
    const call_roof& roof = roofs_.of(node);
    const bool known = p_.nodes[node].kind == scope_kind::op && roof.why == absence::none;
    return known && !is_part(p_.nodes[node]) ? roof.ideal_ns() : 0;
  }
  bool is_bound_by_compute(std::size_t node) const noexcept {
    return roofs_.of(node).compute_ns >= roofs_.of(node).memory_ns;
  }
  /// Time that calls took on a device, on average; 0 where they did nothing there.
  double device_ns(std::size_t node) const noexcept {
    if (!runs_on_device(node)) return 0;
    return sums_.whole[node].ns / std::max(1.0, static_cast<double>(executions(p_.nodes[node])));
  }

 private:
  const profile& p_;
  device_sums sums_;
  roofline roofs_;
  std::vector<std::uint32_t> launchers_;
  std::vector<std::uint32_t> formulas_;  // of each node: the innermost operator around with any
  std::vector<bool> is_inner_;           // no operator with formulas is inside
};

}  // namespace detail
KPROF_DETAIL_END

#endif
