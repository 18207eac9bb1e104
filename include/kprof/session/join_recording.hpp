// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_JOIN_RECORDING_HPP
#define KPROF_SESSION_JOIN_RECORDING_HPP

// A thread that opened CUPTI finds that another has begun the recording meanwhile, since it did not
// wait for ever: the recording goes on with CUPTI. Included by session_state.hpp.

#include <kprof/build_options.hpp>
#include <kprof/record/folded.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/session/device_session.hpp>
#include <kprof/session/session_clock.hpp>
#include <kprof/session/settings_value.hpp>

#include <algorithm>
#include <cstddef>

KPROF_DETAIL_BEGIN
namespace detail {

/// `clock`, `of`: the recording's clock and settings. The caller holds the session's lock.
inline void join_recording(device_session& devices, recorder& threads, const session_clock& clock,
                           const settings& of) {
  if (of.cupti == cupti_choice::off) return;
  const attribution_lock lock = devices.lock_attribution();
  if (!devices.join(lock, clock.elapsed_ns())) return;
  const std::size_t memory = std::max(of.memory, recorder::smallest_memory);
  threads.set_memory(memory - device_session::share(memory));
  // Nobody has told what the calls that are open launched before.
  threads.each_thread([](thread_log& log) {
    for (open_frame& f : log.stack) f.launched |= launched_bits::maybe;
  });
}

}  // namespace detail
KPROF_DETAIL_END

#endif
