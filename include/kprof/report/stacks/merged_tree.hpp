// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_STACKS_MERGED_TREE_HPP
#define KPROF_REPORT_STACKS_MERGED_TREE_HPP

// The call tree with nodes of the same name under the same parent as one, whatever their threads
// and call sites, and with the work of devices as nodes below what launched it. Included by
// folded.hpp and hatchet.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/stacks/frame_names.hpp>
#include <kprof/report/stacks/node_costs.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The widths of types, in bits, by which FLOPs are told apart.
inline constexpr std::array<unsigned, 4> flops_widths = {8, 16, 32, 64};

/// The place of a type's width: complex types count for their component, narrow ones for the least
/// width. Of an unknown type it is past the last.
constexpr std::size_t flops_width(dtype type) noexcept {
  const bool is_complex = type == dtype::c64 || type == dtype::c128;
  const unsigned bits = is_complex ? bits_of(type) / 2 : bits_of(type);
  std::size_t i = bits == 0 ? flops_widths.size() : 0;
  while (i < flops_widths.size() && flops_widths[i] < bits) ++i;
  return i;
}

struct merged_node {
  static constexpr std::uint32_t none = 0xFFFFFFFFU, no_device = none;

  std::string name;  ///< as merged_tree_options::append_name spells it
  std::uint32_t parent = none;
  std::uint32_t depth = 0;
  std::uint64_t calls = 0;           ///< of scopes, finished or replayed
  std::uint64_t operator_calls = 0;  ///< of these, calls of operators
  std::uint64_t runs = 0;            ///< of a kernel, or of copies
  node_cost own;                     ///< time on a device is that of kernels and copies alone
  std::array<std::uint64_t, flops_widths.size()> flops_of{};  ///< of own.flops, by width
  /// Of an operator with a formula the one device that its work ran on, CUDA's ordinal. None where
  /// there were several, and where operators in it launched some of the work.
  std::uint32_t device = no_device;
};

struct merged_tree_options {
  bool parameters = true;  ///< operators are told apart by them
  bool threads = false;    ///< the first nodes are the threads
  bool work = true;        ///< work of devices has nodes
  /// Scopes deeper than that count to the one around them.
  std::uint32_t deepest = ~std::uint32_t{0};
  /// How names are written. Those that are written alike are one.
  void (*append_name)(std::string& to, std::string_view name) = nullptr;
};

class merged_tree {
 public:
  merged_tree(const profile& p, const merged_tree_options& options)
      : p_(p), options_(options), costs_(p), frames_(p), place_(p.nodes.size()) {
    nodes_.emplace_back().name = "ROOT";
    for (std::size_t i = 0; i < p.nodes.size(); ++i) add_scope(i);
    if (options.work) add_work();
    link();
  }

  /// The first is the root; parents come before their children.
  const std::vector<merged_node>& nodes() const noexcept { return nodes_; }

  /// Calls enter(node, is_first_child) and leave(node) for every node, as they nest. Depth costs no
  /// stack.
  template <class Enter, class Leave>
  void walk(Enter&& enter, Leave&& leave) const {
    std::uint32_t at = 0;
    enter(at, true);
    for (;;) {
      if (first_[at] != merged_node::none) {
        at = first_[at];
        enter(at, true);
        continue;
      }
      while (at != 0 && next_[at] == merged_node::none) {
        leave(at);
        at = nodes_[at].parent;
      }
      leave(at);
      if (at == 0) return;
      at = next_[at];
      enter(at, false);
    }
  }

 private:
  void add_scope(std::size_t node) {
    const scope_node& n = p_.nodes[node];
    const std::uint32_t parent = parent_of(p_, node);
    const std::uint32_t around = parent == scope_node::none ? 0 : place_[parent];
    const bool is_merged = n.kind == scope_kind::root && !options_.threads;
    place_[node] = is_merged || nodes_[around].depth >= options_.deepest
                       ? around
                       : child(around, frame_name(p_, node, options_.parameters));
    merged_node& to = nodes_[place_[node]];
    node_cost own = costs_.own(node);
    own.device_ns = 0;
    if (const std::size_t width = flops_width(n.work.type); width < to.flops_of.size())
      to.flops_of[width] += own.flops;
    to.own.add(own);
    const std::uint64_t calls = finished_calls(n) + n.replays;
    if (n.kind != scope_kind::root) to.calls += calls;
    if (n.kind == scope_kind::op) to.operator_calls += calls;
  }

  void add_work() {
    const std::vector<std::uint32_t> operators = operators_around(p_);
    std::vector<launches> seen(nodes_.size());
    for (const device_work& w : p_.device.work) {
      const bool is_known = w.scope < p_.nodes.size();
      const std::uint32_t around = is_known ? place_[w.scope] : child(0, "(launch not known)");
      if (is_known && operators[w.scope] != scope_node::none) note(seen, operators[w.scope], w);
      merged_node& to = nodes_[child(around, frames_.name(w))];
      to.runs += w.calls;
      to.own.device_ns += whole_cost(w.total_ns);
    }
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i].device != merged_node::no_device && !seen[i].by_others)
        nodes_[i].device = seen[i].device;
  }
  /// Where the work under a node of this tree ran.
  struct launches {
    std::uint32_t device = merged_node::no_device;
    bool by_others = false;  // on several devices, or by operators inside
  };
  void note(std::vector<launches>& seen, std::uint32_t op, const device_work& w) const {
    const scope_node& n = p_.nodes[op];
    launches& own = seen[place_[op]];
    if (says_flops(n) || says_bytes(n)) {
      own.by_others =
          own.by_others || (own.device != merged_node::no_device && own.device != w.device);
      own.device = w.device;
    }
    for (std::uint32_t at = nodes_[place_[op]].parent; at != merged_node::none;
         at = nodes_[at].parent) {
      if (seen[at].by_others) return;  // and so has all around it
      seen[at].by_others = true;
    }
  }

  std::uint32_t child(std::uint32_t parent, std::string_view of) {
    std::string name;
    options_.append_name(name, of);
    const std::uint32_t number = numbers_.of(
        std::hash<std::string>{}(name) ^ parent * 0x9E3779B97F4A7C15U, [&](std::uint32_t i) {
          return nodes_[i + 1].parent == parent && nodes_[i + 1].name == name;
        });
    if (number + 1 == nodes_.size()) {
      const std::uint32_t depth = nodes_[parent].depth + 1;
      merged_node& added = nodes_.emplace_back();
      added.name = std::move(name);
      added.parent = parent;
      added.depth = depth;
    }
    return number + 1;
  }

  void link() {
    first_.assign(nodes_.size(), merged_node::none);
    next_.assign(nodes_.size(), merged_node::none);
    for (std::size_t i = nodes_.size(); i-- > 1;) {
      next_[i] = first_[nodes_[i].parent];
      first_[nodes_[i].parent] = static_cast<std::uint32_t>(i);
    }
  }

  const profile& p_;
  merged_tree_options options_;
  node_costs costs_;
  work_frames frames_;
  std::vector<std::uint32_t> place_;  // of each node of the profile
  numbering numbers_{64};
  std::vector<merged_node> nodes_;
  std::vector<std::uint32_t> first_, next_;  // children and siblings
};

}  // namespace detail
KPROF_DETAIL_END

#endif
