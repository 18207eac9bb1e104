// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_STEP_PARTS_HPP
#define KPROF_MODEL_STEP_PARTS_HPP

// What single steps did, by node, and what stays of each node without them. Included by
// step_rows.hpp. Pure; linear in profile::nodes, the shares and the device's timeline, sorting
// aside.

#include <kprof/build_options.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/step_device.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What stays of a node when its shares are taken away.
struct step_rest {
  std::uint64_t calls = 0;
  double total_ns = 0;
  double self_ns = 0;
  std::uint64_t replays = 0;
  bool is_split = false;  // false: the whole node is the rest
};

/// How often graphs called a node's operator in one step.
struct step_replays {
  std::uint32_t node = step_share::none;
  std::uint32_t step = step_share::none;
  std::uint64_t replays = 0;
};

/// The shares that rows are made of, by node, and what they leave. A node is not split where its
/// shares say more than the node does, as in a damaged file, nor where calls are not the scopes
/// that the shares count: parts, calls that were captured, and calls of graphs that changed.
class step_parts {
 public:
  [[gnu::cold]] step_parts(const profile& p, const device_sums& sums)
      : rest(p.nodes.size()), device(p, sums, steps_with_shares(p)) {
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      rest[i] = {n.calls, not_negative(n.total_ns), not_negative(n.self_ns), n.replays,
                 n.kind != scope_kind::root && n.kind != scope_kind::graph && !is_part(n) &&
                     n.captured == 0 && n.replays == 0};
    }
    for (const step_share& s : p.stepping.shares) take(p, s);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (!rest[i].is_split)
        rest[i] = {n.calls, not_negative(n.total_ns), not_negative(n.self_ns), n.replays};
      // So much is rounding.
      const double nothing = 1e-3 + 1e-12 * not_negative(n.total_ns);
      if (rest[i].total_ns < nothing) rest[i].total_ns = 0;
      if (rest[i].self_ns < nothing) rest[i].self_ns = 0;
    }
    for (const step_share& s : p.stepping.shares)
      if (s.node < rest.size() && rest[s.node].is_split) shares_.push_back(s);
    sort_table(shares_, [](const step_share& a, const step_share& b) {
      return a.node != b.node ? a.node < b.node : a.step < b.step;
    });
    if (!device.works().empty()) split_replays(p);
  }

  /// Those of a node, by step.
  std::span<const step_share> shares_of(std::size_t node) const { return of(shares_, node); }
  std::span<const step_work> work_of(std::size_t node) const { return of(device.works(), node); }
  std::span<const step_replays> replays_of(std::size_t node) const { return of(replays_, node); }

  std::vector<step_rest> rest;  // by node
  const step_device device;

 private:
  [[gnu::cold]] static std::vector<char> steps_with_shares(const profile& p) {
    std::vector<char> out(p.steps.size());
    for (const step_share& s : p.stepping.shares)
      if (s.step < out.size()) out[s.step] = 1;
    return out;
  }
  template <class T>
  static std::span<const T> of(const std::vector<T>& all, std::size_t node) {
    const auto first =
        std::partition_point(all.begin(), all.end(), [node](const T& t) { return t.node < node; });
    auto last = first;
    while (last != all.end() && last->node == node) ++last;
    return {first, last};
  }

  [[gnu::cold]] void take(const profile& p, const step_share& s) {
    if (s.node >= rest.size()) return;
    step_rest& left = rest[s.node];
    // Sums of rounded times may be off by so much.
    const double rounding = 1 + 1e-9 * not_negative(p.nodes[s.node].total_ns);
    left.is_split = left.is_split && s.step < p.steps.size() && s.calls <= left.calls &&
                    not_negative(s.total_ns) <= left.total_ns + rounding &&
                    not_negative(s.self_ns) <= left.self_ns + rounding;
    if (!left.is_split) return;
    left.calls -= s.calls;
    left.total_ns -= not_negative(s.total_ns);
    left.self_ns -= not_negative(s.self_ns);
  }

  /// Each launch of a graph calls the operators in it as often as any other, or it is not known
  /// which called them how often.
  [[gnu::cold]] void split_replays(const profile& p) {
    const std::vector<std::uint32_t> graphs = graphs_around(p);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (n.kind != scope_kind::op || n.replays == 0 || n.calls != 0 || is_part(n)) continue;
      const std::uint64_t launches = graphs[i] == scope_node::none ? 0 : p.nodes[graphs[i]].replays;
      if (launches == 0 || n.replays % launches != 0) continue;
      const std::uint64_t each = n.replays / launches;
      std::uint64_t in_steps = 0;
      for (const step_work& w : work_of(i)) in_steps += w.launches;
      if (in_steps > launches) continue;
      rest[i].is_split = true;
      rest[i].replays -= in_steps * each;
      for (const step_work& w : work_of(i))
        if (w.launches > 0)
          replays_.push_back({static_cast<std::uint32_t>(i), w.step, w.launches * each});
    }
  }

  std::vector<step_share> shares_;  // of nodes that are split, by node and step
  std::vector<step_replays> replays_;
};

/// Whether the devices' work of any step is known, so that rows by step have their numbers.
[[gnu::cold]] inline bool knows_device_of_steps(const profile& p) {
  const device_sums sums(p);
  const step_parts parts(p, sums);
  for (std::uint32_t i = 0; i < p.steps.size(); ++i)
    if (parts.device.knows(i)) return true;
  return false;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
