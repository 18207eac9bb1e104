// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_NOTE_CALL_HPP
#define KPROF_SESSION_NOTE_CALL_HPP

// From what a collector tells of a call to the record in the calling thread's log.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/record/recorder.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

KPROF_DETAIL_LOCAL inline thread_local constinit std::uint32_t calls_noted = 0;

constexpr record_kind record_kind_of(launch_kind what, bool ignored) noexcept {
  if (ignored) return record_kind::ignored_launch;
  return what == launch_kind::kernel     ? record_kind::kernel_launch
         : what == launch_kind::transfer ? record_kind::transfer_launch
                                         : record_kind::graph_launch;
}

/// `timed`: false leaves out which function it was and how long it took, and calls that are nothing
/// but that. True where it is time to take what the logs have of calls: launches without records,
/// such as of empty copies, would never make kprof do that.
inline bool note_call(recorder& threads, const observed_call& call, record_kind kind,
                      bool timed) noexcept {
  const std::uint16_t function = timed ? call.function : std::uint16_t{0};
  if (function == 0 && kind == record_kind::host_call) return false;
  const std::uint64_t took = function != 0 && call.ended > call.began ? call.ended - call.began : 0;
  threads.note_launch(call.ids, call.count, call.began, kind, call_word(function, took));
  return (++calls_noted & 0xFFFU) == 0;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
