// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_EXIT_HANDLERS_HPP
#define KPROF_SESSION_EXIT_HANDLERS_HPP

// Has the last report written before CUDA shuts down. Handlers run in the opposite order of their
// registration, and CUDA registers its own when it makes a context and when it first launches
// something: one that is registered after that runs before CUDA's. Included by device_session.hpp.

#include <kprof/build_options.hpp>

#include <atomic>
#include <cstdlib>

KPROF_DETAIL_BEGIN
namespace detail {

/// Any thread.
class exit_handlers {
 public:
  void add(void (*handler)()) noexcept {
    if (count_++ < most) std::atexit(handler);
  }
  /// Something was launched.
  void launched(void (*handler)()) noexcept {
    if (saw_launch_.load(std::memory_order_relaxed) || saw_launch_.exchange(true)) return;
    std::atexit(handler);
  }

 private:
  static constexpr int most = 4;  // a context for each device, and processes that make many

  std::atomic<int> count_{0};
  std::atomic<bool> saw_launch_{false};
};

}  // namespace detail
KPROF_DETAIL_END

#endif
