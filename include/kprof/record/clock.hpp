// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_CLOCK_HPP
#define KPROF_RECORD_CLOCK_HPP

// The clock of the recorder: the CPU's invariant counter where there is one, else clock_gettime.
// Counter ticks become nanoseconds through calibration points, each the same moment on the counter,
// CLOCK_MONOTONIC (for durations, since nobody sets it) and CLOCK_REALTIME (for other tools'
// records). Reading is thread-safe, calibrating is not.

#include <kprof/build_options.hpp>

#include <time.h>

#include <atomic>
#include <cstdint>

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

/// The clock that this process records with, for what is timed beside scopes. The session sets it
/// before its first recording.
KPROF_DETAIL_LOCAL inline constinit std::atomic<std::uint64_t (*)() noexcept> recording_clock{
    &system_clock::now};

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

/// The line by which ticks become nanoseconds since the first calibration point. Its slope is that
/// of all stretches between points so far. CLOCK_MONOTONIC stands still or jumps where a machine is
/// suspended or a process moved to another: a stretch in which it has gone apart from the counter
/// says nothing of the slope, and is as long as the counter says.
class timebase {
 public:
  /// Begins anew. The slope that is known goes on to hold.
  void reset(calibration_point first) noexcept {
    points_[0] = first;
    size_ = 1;
    shift_ns_ = apart_ns_ = 0;
    apart_ = 0;
  }
  /// Learns the slope from a stretch outside the line.
  void learn(const calibration_point& from, const calibration_point& to) noexcept {
    const std::int64_t ticks = difference(to.ticks, from.ticks);
    const std::int64_t ns = difference(to.monotonic_ns, from.monotonic_ns);
    if (ticks <= 0 || ns < shortest_ns) return;
    ticks_ += static_cast<double>(ticks);
    ns_ += static_cast<double>(ns);
  }
  bool knows_slope() const noexcept { return ticks_ > 0; }

  /// Keeps at most `capacity` points, thinning out the older ones: a run of any length needs no
  /// more.
  void add(calibration_point point) noexcept {
    point.monotonic_ns -= static_cast<std::uint64_t>(shift_ns_);
    const std::int64_t off = distance(last(), point);
    if (off != 0) {
      ++apart_;
      apart_ns_ += off < 0 ? -off : off;
      shift_ns_ += off;
      point.monotonic_ns -= static_cast<std::uint64_t>(off);
    } else {
      learn(last(), point);
    }
    if (size_ == capacity) {
      size_ = 1;
      for (std::uint32_t i = 2; i < capacity; i += 2) points_[size_++] = points_[i];
    }
    points_[size_++] = point;
  }

  const calibration_point& first() const noexcept { return points_[0]; }
  const calibration_point& last() const noexcept { return points_[size_ - 1]; }

  double ns_per_tick() const noexcept { return knows_slope() ? ns_ / ticks_ : 1.0; }
  /// Nanoseconds from the first point to `ticks`; negative before it.
  double since_start_ns(std::uint64_t ticks) const noexcept {
    return static_cast<double>(difference(ticks, first().ticks)) * ns_per_tick();
  }
  /// Largest distance of a point from the line, but for stretches in which the clocks went apart;
  /// -1 with fewer than three points.
  double residual_ns() const noexcept {
    if (size_ < 3) return -1;
    double worst = 0;
    for (std::uint32_t i = 0; i < size_; ++i) {
      const calibration_point& p = points_[i];
      const double off = since_start_ns(p.ticks) -
                         static_cast<double>(difference(p.monotonic_ns, first().monotonic_ns));
      worst = off > worst ? off : -off > worst ? -off : worst;
    }
    return worst;
  }
  /// In how many stretches the counter and CLOCK_MONOTONIC went apart, and how far in all.
  std::uint64_t times_apart() const noexcept { return apart_; }
  double apart_ns() const noexcept { return static_cast<double>(apart_ns_); }

 private:
  static constexpr std::uint32_t capacity = 64;
  // A point is some 25 ns off: shorter stretches would make the slope worse than it is known.
  static constexpr std::int64_t shortest_ns = 2000;

  static std::int64_t difference(std::uint64_t a, std::uint64_t b) noexcept {
    return static_cast<std::int64_t>(a - b);
  }
  /// How much longer CLOCK_MONOTONIC says the stretch is than the counter; 0 where they agree but
  /// for readings that were interrupted and clocks that are being adjusted.
  std::int64_t distance(const calibration_point& from, const calibration_point& to) const noexcept {
    if (!knows_slope()) return 0;
    const std::int64_t ns = difference(to.monotonic_ns, from.monotonic_ns);
    const double by_counter = static_cast<double>(difference(to.ticks, from.ticks)) * ns_per_tick();
    const double off = static_cast<double>(ns) - by_counter;
    const double allowed = 20'000 + 0.01 * (by_counter < 0 ? -by_counter : by_counter);
    return off <= allowed && off >= -allowed ? 0 : static_cast<std::int64_t>(off);
  }

  calibration_point points_[capacity] = {};  // monotonic_ns: less all shifts before
  std::uint32_t size_ = 0;
  double ticks_ = 0;  // of the stretches that the slope is of
  double ns_ = 0;
  std::int64_t shift_ns_ = 0;
  std::int64_t apart_ns_ = 0;
  std::uint64_t apart_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
