// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_OFF_CPU_HPP
#define KPROF_MODEL_OFF_CPU_HPP

// Where the threads of a run were off the CPU. Included by the summaries. Pure; linear in
// profile::nodes.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The share of the measured time on a CPU, at most. `why_none`: no call has finished, or none.
inline figure cpu_share(double measured_ns, double off_ns, absence why_none,
                        const clock_info& clock) noexcept {
  if (measured_ns > 0) return {std::clamp(1 - off_ns / measured_ns, 0.0, 1.0)};
  if (why_none == absence::none)
    why_none = clock.cpu_interval_ns > 0   ? absence::too_short
               : clock.cpu_interval_ns < 0 ? absence::not_noted
                                           : absence::no_cpu_time;
  return {0, why_none};
}

/// For each node whether its path was handed to another thread.
inline std::vector<bool> handed_over(const profile& p) {
  std::vector<bool> out(p.nodes.size());
  const auto leads_elsewhere = [](const scope_node& n) {
    return n.kind != scope_kind::root && is_placeholder(n);
  };
  if (std::none_of(p.nodes.begin(), p.nodes.end(), leads_elsewhere)) return out;
  const std::vector<std::uint32_t> paths = path_numbers(p);
  std::vector<bool> taken(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    if (leads_elsewhere(p.nodes[i])) taken[paths[i]] = true;
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    out[i] = paths[i] != scope_node::none && taken[paths[i]];
  return out;
}

/// For each node the time off the CPU that no scope inside it accounts for; 0 where its path was
/// handed to other threads, for whose work it may well wait.
inline std::vector<double> off_cpu_self(const profile& p) {
  std::vector<double> out(p.nodes.size());
  for (std::size_t i = p.nodes.size(); i-- > 0;) {  // children before their parents
    const double off = not_negative(p.nodes[i].off_cpu_ns);
    out[i] = not_negative(out[i] + off);
    if (const std::uint32_t parent = parent_of(p, i); parent != scope_node::none)
      out[parent] -= off;
  }
  const std::vector<bool> waits_for_others = handed_over(p);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (waits_for_others[i]) out[i] = 0;
  return out;
}

/// The time of an operator's row, or of a region.
struct off_cpu_time {
  std::string name;
  double total_ns = 0;
  double measured_ns = 0;  // of the calls whose CPU time is known
  double self_ns = 0;      // off the CPU, at least, less that of scopes inside
};

/// The regions outside all operators, by name.
inline std::vector<off_cpu_time> regions_off_cpu(const profile& p) {
  std::vector<off_cpu_time> out;
  const std::vector<double> self = off_cpu_self(p);
  const std::vector<std::uint32_t> operators = operators_around(p);
  text_numbers names;
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    if (n.kind != scope_kind::region || operators[i] != scope_node::none) continue;
    const std::uint32_t number = names.of(n.name);
    if (number == out.size()) out.push_back({n.name});
    out[number].total_ns += not_negative(n.total_ns);
    out[number].measured_ns += not_negative(n.measured_ns);
    out[number].self_ns += self[i];
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
