// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_SLOW_CALLS_HPP
#define KPROF_MODEL_SLOW_CALLS_HPP

// The calls that took far longer than others of their row: when, in which step, and what ran beside
// them. Included by kprof/timeline.hpp and by the report's section. Pure; linear in profile::nodes,
// profile::timeline, the devices' items and profile::steps.

#include <kprof/build_options.hpp>
#include <kprof/model/sorted_order.hpp>
#include <kprof/model/telling_kernel_names.hpp>
#include <kprof/model/timeline/kept_steps.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// What other threads and the devices did during a call.
struct call_neighbour {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  std::string name;             ///< of an operator, of a kernel (short), "copy" or "memset"
  std::uint32_t thread = none;  ///< index in profile::threads; none: a device
  std::int32_t device = -1;     ///< number of the device; -1: a thread
  double ns = 0;                ///< during the call; of several of that name, summed
};

/// A call that took at least 1.5 times the median of its node.
struct slow_call_details {
  std::uint32_t node = 0;  ///< index in profile::nodes: operator, parameters and thread
  double begin_ns = 0;     ///< since the session's start
  double ns = 0;
  double median_ns = 0;  ///< of the node's calls
  bool is_first = false;
  std::optional<std::uint64_t> step{};       ///< profile::steps has its number
  std::vector<call_neighbour> neighbours{};  ///< most time first
  /// Whether profile::timeline reaches back to its begin: else `neighbours` lacks what threads did.
  bool threads_known = false;
};

namespace detail {

/// Adds up what overlaps some calls.
class neighbours_of_calls {
 public:
  neighbours_of_calls(const profile& p, std::vector<slow_call_details>& calls)
      : p_(p), calls_(calls), in_operator_(p.nodes.size()) {
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const std::uint32_t parent = p.nodes[i].parent;
      in_operator_[i] = parent < i && (in_operator_[parent] || is_op(parent));
    }
    const completeness& c = p.complete;
    // A profile without single scopes knows of none, however many the program's timeline had.
    if (!p.timeline.empty())
      threads_known_from_ = c.in_timeline >= c.recorded ? 0 : p.wall_ns - c.timeline_ns;
  }

  void find() {
    for (slow_call_details& c : calls_)
      c.threads_known = threads_known_from_ && (c.begin_ns >= *threads_known_from_ ||
                                                is_in_kept_step(p_, c.begin_ns, c.begin_ns + c.ns));
    for (const timeline_scope& s : p_.timeline)
      if (s.node < p_.nodes.size() && is_op(s.node) && !in_operator_[s.node]) {
        const double begin = p_.clock.to_ns(s.start);
        add(begin, begin + p_.clock.to_ns(s.duration), p_.nodes[s.node].thread, -1,
            p_.nodes[s.node].name);
      }
    for (const device_item& item : p_.device.timeline.items)
      if (item.work < p_.device.work.size() && item.end > item.start) add(item);
    for (slow_call_details& c : calls_) {
      for (call_neighbour& n : c.neighbours)
        if (n.device >= 0) n.name = short_kernel_name(n.name);
      sort_table(c.neighbours,
                 [](const call_neighbour& a, const call_neighbour& b) { return a.ns > b.ns; });
    }
  }

 private:
  bool is_op(std::uint32_t node) const noexcept { return p_.nodes[node].kind == scope_kind::op; }

  void add(const device_item& item) {
    const device_work& work = p_.device.work[item.work];
    const auto device = static_cast<std::int32_t>(work.device);
    switch (work.task) {
      case device_task::kernel:
        if (work.kernel < p_.device.kernels.size())
          add(item, device, p_.device.kernels[work.kernel]);
        break;
      case device_task::copy: add(item, device, "copy"); break;
      case device_task::set: add(item, device, "memset"); break;
    }
  }
  void add(const device_item& item, std::int32_t device, const std::string& name) {
    add(static_cast<double>(item.start), static_cast<double>(item.end), call_neighbour::none,
        device, name);
  }
  void add(double begin, double end, std::uint32_t thread, std::int32_t device,
           const std::string& name) {
    for (slow_call_details& c : calls_) {
      const double ns = std::min(end, c.begin_ns + c.ns) - std::max(begin, c.begin_ns);
      if (!(ns > 0) || (device < 0 && thread == p_.nodes[c.node].thread)) continue;
      const auto known =
          std::find_if(c.neighbours.begin(), c.neighbours.end(), [&](const call_neighbour& n) {
            return n.thread == thread && n.device == device && n.name == name;
          });
      if (known != c.neighbours.end()) known->ns += ns;
      else if (c.neighbours.size() < most_neighbours)
        c.neighbours.push_back({name, thread, device, ns});
    }
  }

  static constexpr std::size_t most_neighbours = 64;

  const profile& p_;
  std::vector<slow_call_details>& calls_;
  std::vector<bool> in_operator_;  // by node
  std::optional<double> threads_known_from_;
};

}  // namespace detail

/// The calls of operators that lost most time against the median of their node, of the three
/// slowest ones of each: at most `most`, the one that lost most first. Replays of graphs have no
/// host time of their own and are not among them.
[[gnu::cold]] inline std::vector<slow_call_details> slowest_calls(const profile& p,
                                                                  std::size_t most = 10) {
  std::vector<slow_call_details> found;
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    const bool is_shared = n.shared.parts != 0;
    const std::uint64_t calls = is_shared ? n.shared.calls : n.calls;
    if (n.kind != scope_kind::op || n.merged || calls < 3) continue;
    const histogram& durations = is_shared ? n.shared.durations : n.durations;
    const double median = durations.quantile(0.5) * p.clock.ns_per_tick;
    const double first_end = is_shared ? n.shared.first_end_ns : n.first_end_ns;
    for (const single_call& c : n.slowest)
      if (median > 0 && c.ns >= 1.5 * median)
        found.push_back({.node = i,
                         .begin_ns = c.begin_ns,
                         .ns = c.ns,
                         .median_ns = median,
                         .is_first = c.begin_ns + c.ns <= first_end});
  }
  detail::sort_table(found, [](const slow_call_details& a, const slow_call_details& b) {
    return a.ns - a.median_ns > b.ns - b.median_ns;
  });
  if (found.size() > most)
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(most), found.end());
  for (slow_call_details& c : found)
    for (const step_mark& s : p.steps)
      if (s.thread == p.nodes[c.node].thread && static_cast<double>(s.begin) <= c.begin_ns &&
          c.begin_ns < static_cast<double>(s.end))
        c.step = s.index;
  detail::neighbours_of_calls(p, found).find();
  return found;
}

KPROF_DETAIL_END

#endif
