// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_OWN_THREAD_HPP
#define KPROF_COLLECT_OWN_THREAD_HPP

// Starts threads of kprof's own. Every such thread is started here: none of them may run a handler
// of the program, which may expect a thread of the program. Allocates nothing.

#include <kprof/build_options.hpp>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstddef>

KPROF_DETAIL_BEGIN
namespace detail {

/// How many threads of kprof's own this process has; those of other sessions in it do not count.
KPROF_DETAIL_LOCAL inline constinit std::atomic<int> own_thread_count{0};
/// In a function that such a thread runs and that returns.
struct own_thread_ends {
  own_thread_ends() noexcept = default;
  ~own_thread_ends() { --own_thread_count; }
  own_thread_ends(const own_thread_ends&) = delete;
  own_thread_ends& operator=(const own_thread_ends&) = delete;
};

/// Has a thread call run(of), with every signal blocked: detached, or to be joined where
/// there is a place for its handle. False where the system gives no thread.
inline bool start_own_thread(void* (*run)(void* of), void* of,
                             pthread_t* handle = nullptr) noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  if (handle == nullptr) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, std::size_t{4} << 20U);  // also under a small `ulimit -s`
  // The thread inherits the mask: the program's signals go to the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t detached{};
  ++own_thread_count;
  const bool is_started =
      pthread_create(handle != nullptr ? handle : &detached, &attributes, run, of) == 0;
  if (!is_started) --own_thread_count;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return is_started;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
