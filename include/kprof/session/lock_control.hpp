// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_LOCK_CONTROL_HPP
#define KPROF_SESSION_LOCK_CONTROL_HPP

// Taking the lock of a collector, which another thread may hold for long. Included by
// device_session.hpp.

#include <kprof/build_options.hpp>
#include <kprof/record/clock.hpp>

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

KPROF_DETAIL_BEGIN
namespace detail {

/// Waits as long as another thread starts, flushes or stops the collector, which may be as long as
/// the devices work. But a thread that is opening CUPTI may be waiting for a library that this
/// thread is loading: then returns without the lock after 2 s. In the child of a fork too, where
/// the collector is abandoned.
inline std::unique_lock<std::mutex> lock_control(std::mutex& control,
                                                 const std::atomic<bool>& abandoned,
                                                 const std::atomic<bool>& opening) {
  std::unique_lock lock(control, std::defer_lock);
  std::uint64_t opening_since = nanoseconds_of(CLOCK_MONOTONIC);
  while (!abandoned && !lock.try_lock()) {
    static_cast<void>(usleep(100));
    const std::uint64_t now = nanoseconds_of(CLOCK_MONOTONIC);
    if (!opening) opening_since = now;
    else if (now - opening_since > 2'000'000'000) break;
  }
  return lock;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
