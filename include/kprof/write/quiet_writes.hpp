// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_QUIET_WRITES_HPP
#define KPROF_WRITE_QUIET_WRITES_HPP

// Keeps a write from harming the thread that makes it. Included by whatever writes.

#include <kprof/build_options.hpp>

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <initializer_list>

KPROF_DETAIL_BEGIN
namespace detail {

/// While it lives, this thread's writes do not kill the program: a closed pipe raises SIGPIPE and a
/// file-size limit SIGXFSZ, in the writing thread. Both are held back, and those raised meanwhile
/// are taken away, but not those that were pending before. Nor does a cancellation of the thread
/// take effect, which would unwind functions of kprof that do not throw. Handlers are not touched;
/// errno is afterwards as before.
class quiet_writes {
 public:
  [[gnu::cold]] quiet_writes() noexcept : error_(errno) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation_);
    sigset_t pending;
    sigpending(&pending);
    sigemptyset(&ours_);
    for (const int signal : {SIGPIPE, SIGXFSZ})
      if (sigismember(&pending, signal) == 0) sigaddset(&ours_, signal);
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  quiet_writes(const quiet_writes&) = delete;
  quiet_writes& operator=(const quiet_writes&) = delete;
  [[gnu::cold]] ~quiet_writes() {
    const timespec at_once{};
    while (sigtimedwait(&ours_, nullptr, &at_once) > 0 || errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    int disabled = 0;
    pthread_setcancelstate(cancellation_, &disabled);
    errno = error_;
  }

 private:
  sigset_t ours_{}, before_{};
  int cancellation_ = PTHREAD_CANCEL_ENABLE;
  int error_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
