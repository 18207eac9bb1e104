// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_RECORDER_COUNTS_HPP
#define KPROF_RECORD_RECORDER_COUNTS_HPP

// What the recorder counts that belongs to no thread's log. Any thread, without a lock.

#include <kprof/build_options.hpp>
#include <kprof/record/folded.hpp>

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// What the recorder has counted since the recording began, beside what the logs count.
struct recorder_counts {
  std::atomic<std::uint64_t> closed_elsewhere{0};  // ends of scopes that are not open on the thread
  std::atomic<std::uint64_t> dropped{0};           // scopes without a log or a number of their site
  std::atomic<std::uint64_t> launches_lost{0};     // of threads without a log
  std::atomic<std::uint64_t> steps_lost{0};        // ends of steps of threads without a log
  std::atomic<std::uint64_t> links_lost{0};        // of such threads, too
  std::atomic<std::uint64_t> dropped_inside{0};    // scopes opened while their thread was in kprof
  std::atomic<std::uint64_t> recycled_until{0};    // ticks; 0: the timeline is whole
  std::atomic<std::uint64_t> folding_ns{0};

  /// What a log would count as `lost`, of threads without one.
  std::atomic<std::uint64_t>& of(std::uint64_t log_counts::*lost) noexcept {
    if (lost == &log_counts::dropped) return dropped;
    if (lost == &log_counts::links_lost) return links_lost;
    return lost == &log_counts::steps_lost ? steps_lost : launches_lost;
  }
  void reset() noexcept {
    for (auto* count : {&closed_elsewhere, &dropped, &launches_lost, &steps_lost, &links_lost,
                        &dropped_inside, &recycled_until, &folding_ns})
      count->store(0, std::memory_order_relaxed);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
