// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_HOST_TIMES_HPP
#define KPROF_MODEL_TIMELINE_HOST_TIMES_HPP

// Where the time of a thread's steps goes, and how many threads are in scopes at a time: for
// programs with a GPU and without. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/model/timeline/scope_times.hpp>
#include <kprof/model/timeline/thread_states.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN

/// A stretch of a thread's time; the states sum to it.
struct host_step {
  interval span;
  std::int64_t in[host_states] = {};  ///< by host_state

  std::int64_t of(host_state state) const noexcept { return in[static_cast<std::size_t>(state)]; }
};

struct host_breakdown {
  std::vector<host_step> steps;
  std::vector<named_time> by;  ///< of all steps, by the innermost operator or region
};

/// Of stretches of one thread. One that the profile does not know has no steps.
[[gnu::cold]] inline host_breakdown host_breakdown_of(const profile& p, const run_times& times,
                                                      const std::vector<interval>& steps,
                                                      std::uint32_t thread) {
  host_breakdown out;
  if (thread >= times.threads.size()) return out;
  const detail::thread_states states(times);
  detail::scope_times scopes(p.nodes.size());
  for (const interval& span : steps) {
    host_step& step = out.steps.emplace_back();
    step.span = span;
    states.each(thread, span, [&](std::uint32_t node, host_state state, std::int64_t ns) {
      step.in[static_cast<std::size_t>(state)] += ns;
      scopes.add(node, ns);
    });
  }
  out.by = scopes.by_name(p, times.operators);
  return out;
}

/// How many threads were in scopes at a time.
struct thread_use {
  interval window;
  /// Time with 0, 1, 2, ... threads in scopes; they sum to the window.
  std::vector<std::int64_t> ns_with;
  std::uint32_t cpus = 0;     ///< that the program may use; 0: not known
  double mean = 0;            ///< threads at a time, while there is at least one
  std::int64_t too_many = 0;  ///< time with more threads than CPUs; 0 where these are not known

  std::int64_t with(std::size_t threads) const noexcept {
    return threads < ns_with.size() ? ns_with[threads] : 0;
  }
};

[[gnu::cold]] inline thread_use thread_use_of(const profile& p, const run_times& times,
                                              interval window) {
  struct change {
    std::int64_t at = 0;
    int threads = 0;
  };
  std::vector<change> changes;
  for (const std::vector<host_segment>& thread : times.threads) {
    detail::interval_list busy;
    for (const host_segment& s : thread)
      detail::add_in_order(
          busy, {std::max(s.span.begin, window.begin), std::min(s.span.end, window.end)});
    for (const interval& i : busy) {
      changes.push_back({i.begin, 1});
      changes.push_back({i.end, -1});
    }
  }
  detail::sort_plain(changes, [](const change& a, const change& b) { return a.at < b.at; });
  changes.push_back({window.end, 0});

  thread_use out;
  out.window = window;
  out.cpus = p.cpus;
  out.ns_with.resize(1);
  std::int64_t at = window.begin, busy = 0;
  std::int64_t threads = 0;
  double sum = 0;
  for (const change& c : changes) {
    const std::int64_t ns = std::max<std::int64_t>(0, c.at - at);
    const auto n = static_cast<std::size_t>(std::max<std::int64_t>(0, threads));
    if (n >= out.ns_with.size()) out.ns_with.resize(n + 1);
    out.ns_with[n] += ns;
    sum += static_cast<double>(n) * static_cast<double>(ns);
    if (n > 0) busy += ns;
    if (p.cpus != 0 && n > p.cpus) out.too_many += ns;
    at = std::max(at, c.at);
    threads += c.threads;
  }
  if (busy > 0) out.mean = sum / static_cast<double>(busy);
  return out;
}

KPROF_DETAIL_END

#endif
