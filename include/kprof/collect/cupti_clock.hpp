// SPDX-License-Identifier: MIT
#ifndef KPROF_COLLECT_CUPTI_CLOCK_HPP
#define KPROF_COLLECT_CUPTI_CLOCK_HPP

// How far CUPTI's clock is from CLOCK_REALTIME, which kprof's times are of. On Linux it is that
// clock; on WSL, since CUPTI 13.0, it is CLOCK_MONOTONIC_RAW, which begins at 0 with the machine
// and is not kept in step with the time of day.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/cupti_abi.hpp>

#include <time.h>

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail::cupti {

class clock_offset {
 public:
  /// Compares the two clocks. To be repeated now and then, since they drift apart.
  result measure(const functions& f) noexcept {
    if (f.get_timestamp == nullptr) return success;
    std::uint64_t shortest = ~std::uint64_t{0};
    std::int64_t offset = 0;
    for (int i = 0; i < 5; ++i) {
      std::uint64_t theirs = 0;
      const std::uint64_t before = realtime();
      if (const result r = f.get_timestamp(&theirs); r != success) return r;
      const std::uint64_t after = realtime();
      if (after < before || after - before >= shortest) continue;
      shortest = after - before;
      offset = static_cast<std::int64_t>(before + shortest / 2 - theirs);
    }
    // The same clock: what is left is the time between the calls.
    if (shortest == ~std::uint64_t{0} || (offset < a_second && offset > -a_second)) offset = 0;
    offset_.store(offset, std::memory_order_relaxed);
    return success;
  }

  /// Moves the activity's times to CLOCK_REALTIME.
  void apply(activity& a) const noexcept {
    const std::int64_t by = offset_.load(std::memory_order_relaxed);
    if (by == 0) return;
    if (a.start != 0) a.start += static_cast<std::uint64_t>(by);
    if (a.end != 0) a.end += static_cast<std::uint64_t>(by);
  }

  static std::uint64_t realtime() noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
  }

 private:
  static constexpr std::int64_t a_second = 1'000'000'000;

  std::atomic<std::int64_t> offset_{0};  // ns, to be added to CUPTI's times
};

/// Takes away what cannot be, since a few of these would wrap sums around and hide all else: the
/// times of an activity that ended more than a day after `now` or began more than a month before
/// it, and of one that moved more bytes than an address can tell, those too. A day, since the time
/// of day may be set back.
inline void keep_possible(activity& a, std::uint64_t now) noexcept {
  constexpr std::uint64_t day = 86'400'000'000'000, month = 2'592'000'000'000'000;
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 48U;
  const bool is_late = a.end > now + day || a.start > now + day;
  const bool is_early = a.start != 0 && now > month && a.start < now - month;
  const bool is_huge = a.bytes > most_bytes;
  if (is_huge) a.bytes = 0;
  if (is_late || is_early || is_huge) a.start = a.end = 0;
}

}  // namespace detail::cupti
KPROF_DETAIL_END

#endif
