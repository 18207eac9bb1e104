// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_CLOCK_HPP
#define KPROF_RECORD_CLOCK_HPP

// The clock of the recorder: the CPU's invariant counter where there is one, else clock_gettime.
// Counter ticks become nanoseconds through calibration points, each the same moment on the counter,
// CLOCK_MONOTONIC (for durations, since it never steps) and CLOCK_REALTIME (for other tools'
// records). Reading is thread-safe, calibrating is not.

#include <kprof/build_options.hpp>

#include <time.h>

#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

KPROF_DETAIL_BEGIN
namespace detail {

inline std::uint64_t nanoseconds_of(clockid_t id) noexcept {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// The CPU's counter, by the compiler's builtin: <x86intrin.h> is 50,000 lines, an lfence would
/// double the cost.
struct counter_clock {
  static constexpr const char* name =
#if defined(__aarch64__)
      "cntvct";
#else
      "tsc";
#endif
  static std::uint64_t now() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return nanoseconds_of(CLOCK_MONOTONIC);
#endif
  }
  /// Whether the counter runs at one rate on all cores and through sleep states.
  static bool usable() noexcept {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & (1U << 8U)) != 0;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
  }
};

struct system_clock {
  static constexpr const char* name = "clock_gettime";
  static std::uint64_t now() noexcept { return nanoseconds_of(CLOCK_MONOTONIC); }
};

/// One moment on three clocks.
struct calibration_point {
  std::uint64_t ticks;
  std::uint64_t monotonic_ns;
  std::uint64_t realtime_ns;
};

/// The narrowest of a few readings of CLOCK_MONOTONIC between two of the counter.
template <class Clock>
calibration_point calibrate() noexcept {
  calibration_point best{};
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t before = Clock::now();
    const std::uint64_t monotonic = nanoseconds_of(CLOCK_MONOTONIC);
    const std::uint64_t after = Clock::now();
    const std::uint64_t realtime = nanoseconds_of(CLOCK_REALTIME);
    const std::uint64_t last = Clock::now();
    if (last - before < narrowest) {
      narrowest = last - before;
      // The realtime reading lies about as far behind `after` as the monotonic one behind `before`.
      best = {before + (after - before) / 2, monotonic, realtime};
    }
  }
  return best;
}

/// The line through the calibration points, by which ticks become nanoseconds since the first.
class timebase {
 public:
  /// Begins anew. The rate that is known goes on to hold until there is a second point.
  void reset(calibration_point first) {
    known_rate_ = points_.empty() ? 1.0 : ns_per_tick();
    points_.assign(1, first);
  }
  /// Keeps at most `capacity` points, thinning out the older ones: a run of any length needs no
  /// more.
  void add(calibration_point point) {
    if (points_.size() >= capacity) {
      std::size_t kept = 1;
      for (std::size_t i = 2; i < points_.size(); i += 2) points_[kept++] = points_[i];
      points_.resize(kept);
    }
    points_.push_back(point);
  }

  const calibration_point& first() const noexcept { return points_.front(); }
  const calibration_point& last() const noexcept { return points_.back(); }

  double ns_per_tick() const noexcept {
    const std::uint64_t ticks = last().ticks - first().ticks;
    return points_.size() < 2 || ticks == 0
               ? known_rate_
               : static_cast<double>(last().monotonic_ns - first().monotonic_ns) /
                     static_cast<double>(ticks);
  }
  /// Nanoseconds from the first point to `ticks`; negative before it.
  double since_start_ns(std::uint64_t ticks) const noexcept {
    return static_cast<double>(static_cast<std::int64_t>(ticks - first().ticks)) * ns_per_tick();
  }
  /// Largest distance of a point from the line; -1 with fewer than three points, which lie on it by
  /// construction.
  double residual_ns() const noexcept {
    if (points_.size() < 3) return -1;
    double worst = 0;
    for (const calibration_point& p : points_) {
      const double off =
          since_start_ns(p.ticks) - static_cast<double>(p.monotonic_ns - first().monotonic_ns);
      worst = off > worst ? off : -off > worst ? -off : worst;
    }
    return worst;
  }

 private:
  static constexpr std::size_t capacity = 64;
  std::vector<calibration_point> points_;
  double known_rate_ = 1.0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
