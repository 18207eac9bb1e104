// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_APPLY_SETTINGS_HPP
#define KPROF_SESSION_APPLY_SETTINGS_HPP

// What the settings say of the program, in its profile.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>
#include <kprof/session/settings_value.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// The region that is a step, and how many threads work in the calls of operators that do not say.
[[gnu::cold]] inline void apply_settings(profile& run, const settings& holding) {
  run.stepping.region = holding.step;
  if (holding.threads == 0) return;
  for (scope_node& n : run.nodes)
    if (n.kind == scope_kind::op && n.work.threads == 0 && !is_part(n))
      n.work.threads = holding.threads;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
