// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_LOCK_IN_TIME_HPP
#define KPROF_RECORD_LOCK_IN_TIME_HPP

// How a guard waits for a lock: not for ever. A guard in a signal's handler may have interrupted
// the allocator, and whoever holds the lock may be waiting for that. Then the scope is dropped, the
// handler returns, and all go on.

#include <kprof/build_options.hpp>

#include <pthread.h>
#include <time.h>

#include <mutex>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Far longer than any thread holds such a lock that goes on.
KPROF_DETAIL_LOCAL inline constinit time_t longest_wait_s = 10;

/// The lock, or none where another thread does not let go of it.
inline std::unique_lock<std::mutex> lock_in_time(std::mutex& mutex) noexcept {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (lock) return lock;
  timespec until{};
#if defined(__GLIBC__) && !defined(__SANITIZE_THREAD__)
  // Not the time of day, which may be set meanwhile. The thread sanitizer does not know it.
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += longest_wait_s;
  const int failed = pthread_mutex_clocklock(mutex.native_handle(), CLOCK_MONOTONIC, &until);
#else
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += longest_wait_s;
  const int failed = pthread_mutex_timedlock(mutex.native_handle(), &until);
#endif
  return failed != 0 ? std::move(lock) : std::unique_lock(mutex, std::adopt_lock);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
