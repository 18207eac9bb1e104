// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_LOCK_IN_TIME_HPP
#define KPROF_RECORD_LOCK_IN_TIME_HPP

// How a guard waits for locks: not for ever. A guard in a signal's handler may have interrupted the
// allocator, and the thread that holds the lock may be waiting for the allocator. Then the guard
// drops its scope, the handler returns, and both threads go on. A guard may need several locks, one
// after the other: it waits 10 s at most for all of them. A handler may have many guards: once a
// thread has waited in vain, each of its guards waits 1 s at most, until it gets a lock again.

#include <kprof/build_options.hpp>
#include <kprof/write/lock_within.hpp>

#include <time.h>

#include <algorithm>
#include <mutex>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Far longer than any thread holds such a lock that goes on.
KPROF_DETAIL_LOCAL inline constinit time_t longest_wait_s = 10;
/// The same after a wait in vain: still longer than a thread holds a lock that the system has
/// suspended for a few slices of time.
KPROF_DETAIL_LOCAL inline constinit time_t wait_after_failure_s = 1;
/// Whether this thread's latest wait was in vain.
KPROF_DETAIL_LOCAL inline thread_local constinit bool waited_in_vain = false;

/// How long one guard waits, for all the locks that it takes with this. Until one of them is held
/// by another thread it costs nothing and reads no clock.
class KPROF_DETAIL_LOCAL patience {
 public:
  /// The lock, or none where another thread does not let go of it.
  std::unique_lock<std::mutex> lock(std::mutex& mutex) noexcept {
    std::unique_lock out(mutex, std::try_to_lock);
    if (!out && wait_for(mutex)) out = std::unique_lock(mutex, std::adopt_lock);
    waited_in_vain = !out;
    return out;
  }

 private:
  bool wait_for(std::mutex& mutex) noexcept {
    if (!std::exchange(has_waited_, true)) {
      clock_gettime(lock_clock, &end_);
      end_.tv_sec +=
          waited_in_vain ? std::min(wait_after_failure_s, longest_wait_s) : longest_wait_s;
    }
    return lock_until(mutex, end_) == 0;
  }

  timespec end_{};
  bool has_waited_ = false;
};

/// The same for a guard that takes no other lock.
inline std::unique_lock<std::mutex> lock_in_time(std::mutex& mutex) noexcept {
  return patience{}.lock(mutex);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
