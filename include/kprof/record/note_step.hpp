// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_NOTE_STEP_HPP
#define KPROF_RECORD_NOTE_STEP_HPP

// Writes into the calling thread's log that a step ends and the next begins. No lock, but where the
// thread needs a log or a chunk.

#include <kprof/build_options.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/record/this_thread.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// `which`: the number of the step that begins, or a step_number. Without room the running step
/// goes on. The thread was not inside kprof when the program ended the step.
KPROF_DETAIL_LOCAL inline void append_step(std::uint32_t which, std::uint64_t ticks) noexcept {
  if (!has_room(*this_log, record_header)) {
    const mark_inside_kprof mark;
    if (!own_recorder->more_room(record_header, &recorder_counts::steps_lost)) return;
  }
  static_cast<void>(
      append_record(*this_log, record_word(record_kind::step, which, 0), ticks, nullptr, 0));
  step_windows& windows = own_recorder->windows();
  if (!windows.wants_log(this_log)) return;
  const mark_inside_kprof mark;  // a signal's handler must not wait for the lock
  windows.expect(*static_cast<thread_log*>(this_log));
}

}  // namespace detail
KPROF_DETAIL_END

#endif
