// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_LOCK_WITHIN_HPP
#define KPROF_COLLECT_LOCK_WITHIN_HPP

// Waiting that ends after a while. It polls instead of using std::timed_mutex, since g++ 12's
// thread sanitizer does not intercept pthread_mutex_clocklock.

#include <kprof/build_options.hpp>

#include <unistd.h>

#include <chrono>
#include <mutex>

KPROF_DETAIL_BEGIN
namespace detail {

/// Polls until condition() holds; false if it did not within that time.
template <class Condition>
bool holds_within(int milliseconds, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    usleep(100);
  }
  return true;
}

/// Locks the mutex; the result owns no lock if that took longer.
inline std::unique_lock<std::mutex> lock_within(int milliseconds, std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  static_cast<void>(holds_within(milliseconds, [&] { return lock.try_lock(); }));
  return lock;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
