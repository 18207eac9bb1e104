// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_STACKS_NODE_COSTS_HPP
#define KPROF_REPORT_STACKS_NODE_COSTS_HPP

// What each node of the call tree cost, itself and with all below it. Included by the outputs that
// write stacks. Pure; linear in the nodes.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Whole numbers, so that sums of parts are sums.
struct node_cost {
  std::uint64_t ns = 0;         ///< of the host
  std::uint64_t device_ns = 0;  ///< of kernels, copies and memsets: concurrent ones count each
  std::uint64_t flops = 0;      ///< by the formulas
  std::uint64_t bytes = 0;      ///< by the formulas

  void add(const node_cost& more) noexcept {
    ns += more.ns;
    device_ns += more.device_ns;
    flops += more.flops;
    bytes += more.bytes;
  }
  bool any() const noexcept { return ns != 0 || device_ns != 0 || flops != 0 || bytes != 0; }
};

/// Sums of 1,000 of them stay below 2^63, which readers take.
inline std::uint64_t whole_cost(double x) noexcept {
  return x > 0 ? static_cast<std::uint64_t>(std::llround(std::min(x, 9e15))) : 0;
}

/// Work of an operator in another one is the inner one's: the outer one has what is left.
class node_costs {
 public:
  explicit node_costs(const profile& p) : own_(p.nodes.size()), whole_(p.nodes.size()) {
    const device_sums device(p);
    for (std::size_t i = p.nodes.size(); i-- > 0;) {  // a parent comes before its children
      const scope_node& n = p.nodes[i];
      node_cost& own = own_[i];
      node_cost& whole = whole_[i];  // so far: of what is below
      if (n.kind != scope_kind::root) own.ns = whole_cost(n.self_ns);
      if (!device.own.empty()) own.device_ns = whole_cost(device.own[i].ns);
      if (n.kind == scope_kind::op) {
        if (says_flops(n)) own.flops = rest(whole_cost(all_flops(n)), whole.flops);
        if (says_bytes(n)) own.bytes = rest(whole_cost(all_bytes(n)), whole.bytes);
      }
      whole.add(own);
      if (const std::uint32_t parent = parent_of(p, i); parent != scope_node::none)
        whole_[parent].add(whole);
    }
  }

  const node_cost& own(std::size_t node) const noexcept { return own_[node]; }
  const node_cost& whole(std::size_t node) const noexcept { return whole_[node]; }

 private:
  static std::uint64_t rest(std::uint64_t all, std::uint64_t inside) noexcept {
    return all > inside ? all - inside : 0;
  }

  std::vector<node_cost> own_, whole_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
