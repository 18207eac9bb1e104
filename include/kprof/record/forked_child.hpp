// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_FORKED_CHILD_HPP
#define KPROF_RECORD_FORKED_CHILD_HPP

// What the recorder knows of a fork in the child.

#include <kprof/build_options.hpp>
#include <kprof/record/thread_log.hpp>

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Set in the child of a fork by a signal's handler that has interrupted kprof: its locks and what
/// they guard are in the middle of something. Such a process takes none of them and has no profile.
KPROF_DETAIL_LOCAL inline constinit std::atomic<bool> recorder_is_lost{false};

/// The child of a fork, until it has started over.
struct KPROF_DETAIL_LOCAL forked_child {
  std::atomic<bool> pending{false};
  // Guarded by the lock of the list of threads.
  thread_log* log = nullptr;  // of the thread that forked
  char* at = nullptr;         // where its log was
  std::uint64_t since = 0;    // ticks
};

}  // namespace detail
KPROF_DETAIL_END

#endif
