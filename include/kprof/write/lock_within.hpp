// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_LOCK_WITHIN_HPP
#define KPROF_WRITE_LOCK_WITHIN_HPP

// Waiting for a lock that ends after a while. Not std::timed_mutex: the thread sanitizer does not
// know what that waits by.

#include <kprof/build_options.hpp>

#include <pthread.h>
#include <time.h>

#include <mutex>

KPROF_DETAIL_BEGIN
namespace detail {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KPROF_DETAIL_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define KPROF_DETAIL_THREAD_SANITIZER
#endif

#if defined(__GLIBC__) && !defined(KPROF_DETAIL_THREAD_SANITIZER)
// Not the time of day, which may be set meanwhile.
inline constexpr clockid_t lock_clock = CLOCK_MONOTONIC;
inline int lock_until(std::mutex& mutex, const timespec& end) noexcept {
  return pthread_mutex_clocklock(mutex.native_handle(), lock_clock, &end);
}
#else
inline constexpr clockid_t lock_clock = CLOCK_REALTIME;
inline int lock_until(std::mutex& mutex, const timespec& end) noexcept {
  return pthread_mutex_timedlock(mutex.native_handle(), &end);
}
#endif

/// Locks the mutex; the result owns no lock if that took longer.
inline std::unique_lock<std::mutex> lock_within(int milliseconds, std::mutex& mutex) noexcept {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (lock) return lock;
  timespec end{};
  clock_gettime(lock_clock, &end);
  end.tv_sec += milliseconds / 1000;
  end.tv_nsec += milliseconds % 1000 * 1'000'000L;
  if (end.tv_nsec >= 1'000'000'000) ++end.tv_sec, end.tv_nsec -= 1'000'000'000;
  return lock_until(mutex, end) == 0 ? std::unique_lock(mutex, std::adopt_lock)
                                     : std::unique_lock<std::mutex>{};
}

}  // namespace detail
KPROF_DETAIL_END

#endif
