// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_STEP_BREAKDOWN_HPP
#define KPROF_MODEL_TIMELINE_STEP_BREAKDOWN_HPP

// Where the time of steps goes: each nanosecond counts for one thing, so that the parts are the
// step. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// What time goes to; where several things happen at once, the one that comes first here.
enum class time_use : std::uint8_t {
  kernel,
  copy,
  set,
  communication,  ///< kernels of collectives, and collectives that the host does itself
  call,           ///< a call of CUDA's libraries
  input,          ///< scopes that bring the data of a step, see is_input()
  operators,      ///< operators on the host
  other,
};
inline constexpr std::size_t time_uses = 8;

/// The time of a step.
struct step_breakdown {
  interval step;
  std::int64_t part[time_uses] = {};  ///< by time_use; their sum is the step
  // What ran beside what: computation + communication - overlap + rest is the step.
  std::int64_t computation = 0;  ///< kernels; operators on the host where there are no kernels
  std::int64_t communication = 0;
  std::int64_t overlap = 0;  ///< both at once
  std::int64_t rest = 0;

  std::int64_t of(time_use use) const noexcept { return part[static_cast<std::size_t>(use)]; }
};

inline constexpr std::uint32_t all_devices = 0xFFFFFFFFU;

namespace detail {

/// When time went to each use.
struct used_times {
  interval_list list[time_uses];  // that of `other` is empty
};

/// Of each node, whether it or a scope around it is the input of a step.
[[gnu::cold]] inline std::vector<char> input_nodes(const profile& p) {
  std::vector<char> out(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const scope_node& n = p.nodes[i];
    if (n.kind == scope_kind::root) continue;
    const std::uint32_t parent = parent_of(p, i);
    out[i] = (parent != scope_node::none && out[parent] != 0) || is_input(n.name) ? 1 : 0;
  }
  return out;
}

/// Of each node, whether it belongs to a collective that put no work on a device.
[[gnu::cold]] inline std::vector<char> host_collectives(const profile& p, const run_times& times) {
  std::vector<char> launches(p.nodes.size()), out(p.nodes.size());
  for (const device_work& w : p.device.work)
    if (w.scope < p.nodes.size()) launches[w.scope] = 1;
  for (std::size_t i = p.nodes.size(); i-- > 0;)
    if (const std::uint32_t parent = parent_of(p, i); parent != scope_node::none)
      launches[parent] = static_cast<char>(launches[parent] | launches[i]);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::uint32_t op = times.operators[i];
    out[i] = op != scope_node::none && launches[op] == 0 && is_collective(p.nodes[op].name) ? 1 : 0;
  }
  return out;
}

[[gnu::cold]] inline used_times uses_of(const profile& p, const run_times& times,
                                        std::uint32_t device) {
  used_times out;
  const auto add = [&out](time_use use, interval span) {
    out.list[static_cast<std::size_t>(use)].push_back(span);
  };
  for (const timed_item& i : times.items) {
    if (i.launched) add(time_use::call, i.call);
    if (device != all_devices && i.device != device) continue;
    add(i.kind == item_kind::kernel ? time_use::kernel
        : i.kind == item_kind::copy ? time_use::copy
        : i.kind == item_kind::set  ? time_use::set
                                    : time_use::communication,
        i.span);
  }
  for (const timed_call& c : times.calls) add(time_use::call, c.span);
  const std::vector<char> input = input_nodes(p), collective = host_collectives(p, times);
  for (const std::vector<host_segment>& thread : times.threads)
    for (const host_segment& s : thread) {
      if (collective[s.node] != 0) add(time_use::communication, s.span);
      if (input[s.node] != 0) add(time_use::input, s.span);
      if (times.operators[s.node] != scope_node::none) add(time_use::operators, s.span);
    }
  for (interval_list& list : out.list) list = union_of(std::move(list));
  return out;
}

/// The breakdown of stretches that may overlap; each sums to its length.
[[gnu::cold]] inline std::vector<step_breakdown> break_down(const used_times& uses,
                                                            const std::vector<interval>& steps) {
  std::vector<step_breakdown> out;
  for (const interval& s : steps) out.emplace_back().step = s;
  interval_list rest = union_of(steps);
  for (std::size_t use = 0; use < time_uses; ++use) {
    const bool is_other = use + 1 == time_uses;
    const measured_intervals taken(is_other ? rest : common_of(rest, uses.list[use]));
    if (!is_other) rest = difference_of(rest, uses.list[use]);
    for (step_breakdown& row : out) row.part[use] = taken.within(row.step);
  }
  const auto list = [&uses](time_use use) { return uses.list[static_cast<std::size_t>(use)]; };
  const bool kernels = !list(time_use::kernel).empty();
  const measured_intervals computes(list(kernels ? time_use::kernel : time_use::operators)),
      communicates(list(time_use::communication)),
      both(common_of(computes.list(), communicates.list()));
  for (step_breakdown& row : out) {
    row.computation = computes.within(row.step);
    row.communication = communicates.within(row.step);
    row.overlap = both.within(row.step);
    row.rest = row.step.length() + row.overlap - row.computation - row.communication;
  }
  return out;
}

}  // namespace detail

/// Where the time of each stretch goes, on one device or on all together.
[[gnu::cold]] inline std::vector<step_breakdown> breakdown_of(const profile& p,
                                                              const run_times& times,
                                                              const std::vector<interval>& steps,
                                                              std::uint32_t device = all_devices) {
  return detail::break_down(detail::uses_of(p, times, device), steps);
}

KPROF_DETAIL_END

#endif
