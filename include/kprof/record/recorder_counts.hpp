// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_RECORDER_COUNTS_HPP
#define KPROF_RECORD_RECORDER_COUNTS_HPP

// What the recorder counts that belongs to no thread's log. Any thread, without a lock.

#include <kprof/build_options.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/folded.hpp>

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// What the recorder has counted since the recording began, beside what the logs count.
struct recorder_counts {
  std::atomic<std::uint64_t> closed_elsewhere{0};  // ends of scopes that are not open on the thread
  std::atomic<std::uint64_t> dropped{0};           // scopes without room or a number of their site
  // Without room: launches, ends of steps, what the program says of calls.
  std::atomic<std::uint64_t> launches_lost{0}, steps_lost{0}, links_lost{0};
  std::atomic<std::uint64_t> dropped_inside{0};  // scopes opened while their thread was in kprof
  std::atomic<std::uint64_t> recycled_until{0};  // ticks; 0: the timeline is whole
  // In scopes, whose chunk was full; and for snapshots, which wait for it alone.
  std::atomic<std::uint64_t> folding_ns{0}, snapshot_folding_ns{0};

  /// Counts what there was no room for; always false.
  bool lose(std::atomic<std::uint64_t> recorder_counts::*what) noexcept {
    (this->*what).fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  /// Single scopes up to then are not all in the timeline any more.
  void recycle_until(std::uint64_t ticks) noexcept {
    std::uint64_t until = recycled_until.load(std::memory_order_relaxed);
    while (until < ticks &&
           !recycled_until.compare_exchange_weak(until, ticks, std::memory_order_relaxed)) {}
  }
  /// Calls fold() and counts how long it takes: while scopes are recorded, or for a snapshot.
  template <class Fold>
  void time_folding(Fold fold) {
    add_time(fold, folding_ns);
  }
  template <class Fold>
  void time_snapshot_folding(Fold fold) {
    add_time(fold, snapshot_folding_ns);
  }
  void reset() noexcept {
    for (auto* count : {&closed_elsewhere, &dropped, &launches_lost, &steps_lost, &links_lost,
                        &dropped_inside, &recycled_until, &folding_ns, &snapshot_folding_ns})
      count->store(0, std::memory_order_relaxed);
  }

 private:
  template <class Fold>
  static void add_time(Fold& fold, std::atomic<std::uint64_t>& to) {
    const std::uint64_t before = nanoseconds_of(CLOCK_MONOTONIC);
    fold();
    to += nanoseconds_of(CLOCK_MONOTONIC) - before;
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
