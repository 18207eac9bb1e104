// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_EXIT_WRITING_HPP
#define KPROF_SESSION_EXIT_WRITING_HPP

// The outputs at the end of the program are written once, although exit(), a signal and
// std::terminate() may end it at the same time.

#include <kprof/build_options.hpp>
#include <kprof/record/this_thread.hpp>

#include <mutex>

KPROF_DETAIL_BEGIN
namespace detail {

class exit_writing {
 public:
  /// Calls write() unless it has been called, then end(signal) where a signal ends the program. A
  /// process that the signal spares writes again at its end.
  template <class Write>
  void run(int signal, void (*end)(int) noexcept, Write write) {
    const mark_inside_kprof mark;  // so that a handler that calls exit() meanwhile does not wait
    const std::lock_guard turn(mutex_);
    if (!has_written_) write();
    has_written_ = has_written_ || signal == 0;
    if (end != nullptr) end(signal);
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void in_child() {
    has_written_ = false;
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;  // guards has_written_; locked before the session's
  bool has_written_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
