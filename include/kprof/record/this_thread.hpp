// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_THIS_THREAD_HPP
#define KPROF_RECORD_THIS_THREAD_HPP

// What the recorder keeps of the calling thread: its log, and whether it is inside kprof.

#include <kprof/build_options.hpp>
#include <kprof/record/hold_cancellation.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/write/default_arithmetic.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

/// The log of a thread that has recorded nothing. It has no room, so that the first scope takes the
/// slow path, and its innermost token is one that no scope ever has.
KPROF_DETAIL_LOCAL inline constinit log_head empty_log{
    nullptr, nullptr, 0, 0, 0, open_scopes{open_scopes::changing}};

// No initial-exec model: it would put all thread-local data of a shared library, its own too, into
// the few hundred bytes that the loader keeps for libraries that are opened later. It would save 42
// instructions a scope in a library and 16 in a program that links a compiled session, but no more
// than 0.3 ns of 29.
KPROF_DETAIL_LOCAL inline thread_local constinit log_head* this_log = &empty_log;

/// Bytes that a record takes inside the scope `around`, with the ends of all scopes that are open
/// then: an end never has to look for room.
constexpr std::size_t room_for(scope_token around, std::size_t record) noexcept {
  return record + 8 + 8 * std::size_t{depth_of(around)};
}
/// Whether a record of this size has room at `at`, where the next record goes.
inline bool has_room(const log_head& log, const char* at, scope_token around,
                     std::size_t record) noexcept {
  // In a forked child the limit may lie behind the cursor.
  return log.limit - at >= static_cast<std::ptrdiff_t>(room_for(around, record));
}
inline bool has_room(const log_head& log, std::size_t record) noexcept {
  return has_room(log, log.next_record(), log.scopes.innermost(), record);
}

/// Whether this thread is in kprof's own code, which locks and allocates: a guard in the program's
/// allocator must not come back to it.
KPROF_DETAIL_LOCAL inline thread_local constinit bool inside_kprof = false;

/// Whether this thread has ended for the recorder: it gets no other log.
KPROF_DETAIL_LOCAL inline thread_local constinit bool has_left_recorder = false;

/// Marks this thread as inside kprof until the end of the block. Leaves errno and the flags of
/// <cfenv> as they were: the program may open a scope before it reads them.
class KPROF_DETAIL_LOCAL mark_inside_kprof {
 public:
  mark_inside_kprof() noexcept : error_(errno), before_(inside_kprof) { inside_kprof = true; }
  ~mark_inside_kprof() {
    inside_kprof = before_;
    errno = error_;
  }
  /// Around a call of the program's own code.
  void leave() noexcept { inside_kprof = before_, arithmetic_.leave(); }
  void enter() noexcept { inside_kprof = true, arithmetic_.enter(); }
  mark_inside_kprof(const mark_inside_kprof&) = delete;
  mark_inside_kprof& operator=(const mark_inside_kprof&) = delete;

 private:
  hold_cancellation hold_;
  default_arithmetic arithmetic_;
  int error_;
  bool before_;
};

/// Appends a record that opens and closes nothing, where there is room. By the log's own thread.
inline bool append_record(log_head& log, std::uint64_t word, std::uint64_t ticks,
                          const void* payload, std::uint32_t bytes) noexcept {
  const scope_token around = log.scopes.innermost();
  log.scopes.begin_change();
  char* const at = log.next_record();
  const bool fits = has_room(log, at, around, record_size(word));
  if (fits) {
    put(at, word);
    put(at + 8, ticks);
    if (bytes != 0) std::memcpy(at + record_header, payload, bytes);
    log.publish(at + record_size(word));
  }
  log.scopes.set_innermost(around);
  return fits;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
