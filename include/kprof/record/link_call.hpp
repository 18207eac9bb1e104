// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_LINK_CALL_HPP
#define KPROF_RECORD_LINK_CALL_HPP

// Writes into the calling thread's log how the program names the innermost open scope, or to which
// call that scope belongs. No lock, but where the thread needs a chunk.

#include <kprof/build_options.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/record/this_thread.hpp>

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// The latest number that current_call() has given out, in all recordings of the process.
KPROF_DETAIL_LOCAL inline constinit std::atomic<std::uint32_t> latest_call_number{0};

/// `of`: the call that the innermost scope belongs to; 0: the scope gets a number. Returns the
/// number; 0: nothing was written.
KPROF_DETAIL_LOCAL inline std::uint32_t link_call(std::uint32_t of, std::uint64_t ticks) noexcept {
  if (inside_kprof || this_log == &empty_log) return 0;
  const mark_inside_kprof mark;
  if (this_log->scopes.is_changing() || this_log->scopes.depth() == 0) return 0;
  if (!has_room(*this_log, record_header) &&
      !own_recorder->more_room(record_header, &recorder_counts::links_lost))
    return 0;
  if (this_log->scopes.depth() == 0) return 0;  // a child of fork() has begun a log of its own
  const bool names = of == 0;
  while (of == 0) of = latest_call_number.fetch_add(1, std::memory_order_relaxed) + 1;
  const record_kind kind = names ? record_kind::call_number : record_kind::belongs_to;
  return append_record(*this_log, record_word(kind, of, 0), ticks, nullptr, 0) ? of : 0;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
