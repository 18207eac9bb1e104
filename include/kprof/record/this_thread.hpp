// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_THIS_THREAD_HPP
#define KPROF_RECORD_THIS_THREAD_HPP

// What the recorder keeps of the calling thread: its log, and whether it is inside kprof.

#include <kprof/build_options.hpp>
#include <kprof/record/log_words.hpp>

#include <cstddef>

KPROF_DETAIL_BEGIN
namespace detail {

/// The log of a thread that has recorded nothing. It has no room, so that the first scope takes the
/// slow path, and its innermost token is one that no scope ever has.
KPROF_DETAIL_LOCAL inline constinit log_head empty_log{nullptr, nullptr, 0, 0,
                                                       open_scopes{~scope_token{0}}};

// initial-exec: in a shared library the general model costs 5 ns a scope. One pointer always fits
// the loader's reserve.
#if defined(__CUDACC__)
#pragma nv_diagnostic push
// nvcc does not know the attribute; the host compiler that it passes it on to does.
#pragma nv_diag_suppress 1835
#endif
KPROF_DETAIL_LOCAL inline thread_local constinit log_head* this_log
    [[gnu::tls_model("initial-exec")]] = &empty_log;
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

/// Bytes that a record takes, with the ends of all scopes that are open then: an end never has to
/// look for room.
inline std::size_t room_for(const log_head& log, std::size_t record) noexcept {
  return record + 8 + 8 * std::size_t{log.scopes.depth()};
}
/// Whether a record of this size has room at `at`, where the next record goes.
inline bool has_room(const log_head& log, const char* at, std::size_t record) noexcept {
  // In a forked child the limit may lie behind the cursor.
  return log.limit - at >= static_cast<std::ptrdiff_t>(room_for(log, record));
}
inline bool has_room(const log_head& log, std::size_t record) noexcept {
  return has_room(log, log.next_record(), record);
}

/// Whether this thread is in kprof's own code, which locks and allocates: a guard in the program's
/// allocator must not come back to it.
KPROF_DETAIL_LOCAL inline thread_local constinit bool inside_kprof = false;

/// Marks this thread as inside kprof until the end of the block.
class KPROF_DETAIL_LOCAL mark_inside_kprof {
 public:
  mark_inside_kprof() noexcept : before_(inside_kprof) { inside_kprof = true; }
  ~mark_inside_kprof() { inside_kprof = before_; }
  mark_inside_kprof(const mark_inside_kprof&) = delete;
  mark_inside_kprof& operator=(const mark_inside_kprof&) = delete;

 private:
  bool before_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
