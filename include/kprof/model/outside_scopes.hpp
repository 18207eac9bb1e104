// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_OUTSIDE_SCOPES_HPP
#define KPROF_MODEL_OUTSIDE_SCOPES_HPP

// How long threads ran outside all scopes. Included by the outputs and by `kprof query`. Pure;
// linear in the threads.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// Sums over all threads, in ns.
struct time_of_threads {
  double wall_ns = 0;
  double outside_ns = 0;  // of it, outside all scopes
};
[[gnu::cold]] inline time_of_threads time_of_threads_in(const profile& p) noexcept {
  time_of_threads out;
  for (const thread_info& t : p.threads) {
    out.wall_ns += not_negative(t.wall_ns);
    out.outside_ns += not_negative(t.wall_ns - not_negative(t.in_scopes_ns));
  }
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
