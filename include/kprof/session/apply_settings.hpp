// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_APPLY_SETTINGS_HPP
#define KPROF_SESSION_APPLY_SETTINGS_HPP

// What the settings say of the program, in its profile, and of the memory that recording may take.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/session/notes.hpp>
#include <kprof/session/settings_value.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

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

/// Bytes for the recording; a note where the settings have fewer.
[[gnu::cold]] inline std::size_t usable_memory(const settings& holding, session_notes& notes) {
  static_assert(settings::smallest_memory == recorder::smallest_memory);
  const std::size_t memory = std::max(holding.memory, recorder::smallest_memory);
  if (memory != holding.memory)
    notes.add("memory=" + std::to_string(holding.memory) +
              " is too small to work with; the smallest, 1 MiB, is used");
  return memory;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
