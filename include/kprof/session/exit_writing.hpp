// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_EXIT_WRITING_HPP
#define KPROF_SESSION_EXIT_WRITING_HPP

// The outputs at the end of the program are written once, although exit(), a signal and
// std::terminate() may end it at the same time.

#include <kprof/build_options.hpp>
#include <kprof/record/this_thread.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <mutex>

KPROF_DETAIL_BEGIN
namespace detail {

/// Why exit() writes nothing where it would wait for ever for a lock of its own thread's.
inline constexpr const char* exit_inside_kprof =
    "nothing is written at the end: exit() was called by a thread inside kprof: from a signal's "
    "handler, or after a jump out of one";

class exit_writing {
 public:
  /// Calls write() unless it has been called, then end(signal) where a signal ends the program. A
  /// process that the signal spares writes again at its end. Does nothing in a child of vfork(),
  /// which has its parent's memory, nor in one of clone(), which has its parent's profile.
  template <class Write>
  void run(int signal, void (*end)(int) noexcept, Write write) {
    if (process_ != getpid()) return;
    const mark_inside_kprof mark;  // so that a handler that calls exit() meanwhile does not wait
    const std::lock_guard turn(mutex_);
    if (!has_written_) write();
    has_written_ = has_written_ || signal == 0;
    if (end != nullptr) end(signal);
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void in_child() {
    process_ = getpid();
    has_written_ = false;
    mutex_.unlock();
  }

 private:
  pid_t process_ = getpid();  // whose outputs they are
  std::mutex mutex_;          // guards has_written_; locked before the session's
  bool has_written_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
