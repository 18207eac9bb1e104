// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SESSION_CLOCK_HPP
#define KPROF_SESSION_SESSION_CLOCK_HPP

// The clock that scopes and launches are timed with: the CPU's counter or clock_gettime, and the
// line that turns its ticks into nanoseconds. Its owner's lock guards it, but for now().

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/scope_functions.hpp>

#include <atomic>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

class session_clock {
 public:
  void use_counter(bool on) noexcept { uses_counter_.store(on, std::memory_order_relaxed); }
  bool uses_counter() const noexcept { return uses_counter_.load(std::memory_order_relaxed); }

  /// Ticks. Any thread, without a lock.
  std::uint64_t now() const noexcept {
    return uses_counter() ? counter_clock::now() : system_clock::now();
  }
  const char* name() const noexcept {
    return uses_counter() ? counter_clock::name : system_clock::name;
  }

  calibration_point read() const noexcept {
    return uses_counter() ? calibrate<counter_clock>() : calibrate<system_clock>();
  }
  void restart(calibration_point first) { time_.reset(first); }
  /// Adds a calibration point that is read now.
  void calibrate_again() { time_.add(read()); }

  const timebase& time() const noexcept { return time_; }
  /// CLOCK_REALTIME ns, by its latest reading, since it may have been set meanwhile.
  /// `ns_per_tick`: time().ns_per_tick(), which callers with many ticks ask for once.
  std::uint64_t realtime_of(std::uint64_t ticks, double ns_per_tick) const noexcept {
    const auto ago = static_cast<std::int64_t>(time_.last().ticks - ticks);
    const auto ago_ns = static_cast<std::int64_t>(static_cast<double>(ago) * ns_per_tick);
    return time_.last().realtime_ns - static_cast<std::uint64_t>(ago_ns);
  }

  void describe(clock_info& out) const {
    out = {name(), time_.ns_per_tick(), time_.residual_ns(), time_.first().realtime_ns};
  }
  /// What one scope costs, in ns.
  void describe_cost(own_cost& out) const {
    const scope_cost cost =
        uses_counter() ? measure_scope<counter_clock>() : measure_scope<system_clock>();
    out.scope_ns = cost.scope * time_.ns_per_tick();
    out.empty_scope_ns = cost.empty * time_.ns_per_tick();
  }

 private:
  std::atomic<bool> uses_counter_{false};
  timebase time_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
