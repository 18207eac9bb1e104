// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_STEP_HPP
#define KPROF_ATTACH_STEP_HPP

// KPROF_STEP() and kprof::step(): the program says where a step of its main loop ends. Included by
// guard.hpp.

#include <kprof/attach/hub.hpp>
#include <kprof/build_options.hpp>

#if KPROF_ENABLE

/// Ends the calling thread's step and begins the next: at the end of a training loop's body, for
/// instance. What the thread has recorded before its first one is a step as well.
///     for (const batch& b : batches) {
///       train(b);
///       KPROF_STEP();
///     }
#define KPROF_STEP() ::kprof::step()

KPROF_DETAIL_BEGIN

/// What KPROF_STEP() says. Costs two loads and a branch where the process has no session, else 0.1
/// microseconds, and more where a schedule begins or ends a cycle here. Never throws.
KPROF_DETAIL_LOCAL inline void step() noexcept {
  const detail::hub_record* const hub = __atomic_load_n(&detail::this_module.hub, __ATOMIC_ACQUIRE);
  if (hub == nullptr) return;
  void (*const next)() noexcept = __atomic_load_n(&hub->step, __ATOMIC_ACQUIRE);
  if (next != nullptr) next();
}

KPROF_DETAIL_END

#endif

#endif
