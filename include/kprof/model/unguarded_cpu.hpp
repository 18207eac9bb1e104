// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_UNGUARDED_CPU_HPP
#define KPROF_MODEL_UNGUARDED_CPU_HPP

// How long threads without guards ran. Included by the report and by advice. Pure; linear in the
// profile.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>

#include <algorithm>

KPROF_DETAIL_BEGIN
namespace detail {

/// The CPU time that threads without guards took at the least: that of the process, less all that
/// threads with guards may have taken since the recording began (of those kept together: since
/// their first scopes). 0 where the process's is not known.
[[gnu::cold]] inline double helpers_cpu_ns(const profile& p) {
  double left = not_negative(p.cpu_ns);
  for (const thread_info& t : p.threads)
    left -= not_negative(t.begin_ns) + not_negative(t.wall_ns - not_negative(t.off_cpu_ns));
  return std::max(0.0, left);
}

/// The same without what operators say of their threads: nobody knows what it was for.
[[gnu::cold]] inline double unguarded_cpu_ns(const profile& p) {
  double left = helpers_cpu_ns(p);
  for (const scope_node& n : p.nodes)
    if (n.work.valid && n.work.threads > 1)
      left -= (not_negative(n.total_ns) + not_negative(n.open_ns)) *
              (static_cast<double>(n.work.threads) - 1);
  return std::max(0.0, left);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
