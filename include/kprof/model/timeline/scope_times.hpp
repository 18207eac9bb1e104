// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_SCOPE_TIMES_HPP
#define KPROF_MODEL_TIMELINE_SCOPE_TIMES_HPP

// Time charged to scopes, and the same by the name of the operator or region. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// Time of an operator, or outside operators of a region.
struct named_time {
  std::string name;  ///< empty: outside all scopes
  scope_kind kind = scope_kind::root;
  std::int64_t ns = 0;
};

namespace detail {

/// Whole nanoseconds of each node; those that are of none come last.
class scope_times {
 public:
  explicit scope_times(std::size_t nodes) : ns_(nodes + 1) {}
  void add(std::uint32_t node, std::int64_t ns) noexcept {
    ns_[node < ns_.size() - 1 ? node : ns_.size() - 1] += ns;
  }
  std::int64_t of(std::uint32_t node) const noexcept { return ns_[node]; }

  /// By name, the largest first: of the innermost operator around, where there is one, else of the
  /// region. Nothing for those without time.
  [[gnu::cold]] std::vector<named_time> by_name(const profile& p,
                                                const std::vector<std::uint32_t>& operators) const {
    // Of each name, which is an operator's or a region's: a node that has it, and the time.
    std::vector<std::uint32_t> node = {scope_node::none};
    std::vector<std::int64_t> ns = {ns_.back()};
    text_numbers names;
    key_numbers rows(16);
    static_cast<void>(rows.of({}));
    for (std::size_t i = 0; i + 1 < ns_.size(); ++i) {
      if (ns_[i] == 0) continue;
      const std::uint32_t at =
          operators[i] != scope_node::none ? operators[i] : static_cast<std::uint32_t>(i);
      const scope_node& n = p.nodes[at];
      const bool is_root = n.kind == scope_kind::root;
      const auto [row, is_new] =
          is_root ? rows.of({}) : rows.of({{1, n.kind == scope_kind::op, names.of(n.name)}});
      if (is_new) {
        node.push_back(at);
        ns.push_back(0);
      }
      ns[row] += ns_[i];
    }
    std::vector<named_time> out;
    for (const std::uint32_t row :
         sorted_order(ns.size(), [&](std::uint32_t a, std::uint32_t b) { return ns[a] > ns[b]; })) {
      if (ns[row] == 0) continue;
      named_time& made = out.emplace_back();
      made.ns = ns[row];
      if (node[row] == scope_node::none) continue;
      made.name = p.nodes[node[row]].name;
      made.kind = p.nodes[node[row]].kind;
    }
    return out;
  }

 private:
  std::vector<std::int64_t> ns_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
