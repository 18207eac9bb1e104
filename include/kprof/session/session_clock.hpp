// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SESSION_CLOCK_HPP
#define KPROF_SESSION_SESSION_CLOCK_HPP

// The clock that scopes and launches are timed with: the CPU's counter or clock_gettime, and the
// line that turns its ticks into nanoseconds. Its owner's lock guards it, but for now().

#include <kprof/attribute/tick_line.hpp>
#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/cpu_clock.hpp>
#include <kprof/record/scope_functions.hpp>
#include <kprof/session/notes.hpp>
#include <kprof/session/settings_value.hpp>

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// CPU time that kprof's own measuring of the machine has taken, of all threads.
KPROF_DETAIL_LOCAL inline constinit std::atomic<std::int64_t> measuring_cpu_ns{0};

/// How long all threads of the process run on CPUs while it counts, without that.
class process_cpu_time {
 public:
  void restart() noexcept { spent_ns_ = 0, counts_ = false, count(true); }
  void count(bool on) noexcept {
    if (on == counts_) return;
    if (on) is_told_ = read(since_ns_);
    else spent_ns_ = ns();
    counts_ = on;
  }
  /// Negative: the system does not tell it.
  double ns() const noexcept {
    if (!is_told_ || !counts_) return is_told_ ? spent_ns_ : -1;
    double now = 0;
    return read(now) ? spent_ns_ + std::max(0.0, now - since_ns_) : -1;
  }

 private:
  static bool read(double& ns) noexcept {
    std::uint64_t all_ns = 0;
    if (!read_cpu_time(all_ns, CLOCK_PROCESS_CPUTIME_ID)) return false;
    ns = static_cast<double>(all_ns) -
         static_cast<double>(measuring_cpu_ns.load(std::memory_order_relaxed));
    return true;
  }

  bool counts_ = false;
  bool is_told_ = false;
  double since_ns_ = 0;
  double spent_ns_ = 0;  // until it last began to count
};

class session_clock {
 public:
  void use_counter(bool on) noexcept { uses_counter_.store(on, std::memory_order_relaxed); }
  /// What a recording is timed with. All recordings of a process have the same: what one thread has
  /// written may be read with another's.
  void choose(clock_choice wanted, bool has_recorded, session_notes& notes) {
    const bool counter = wanted == clock_choice::automatic && counter_clock::usable();
    if (!has_recorded) use_counter(counter);
    else if (counter != uses_counter())
      notes.add("the clock cannot change between recordings of a process; it stays " +
                std::string(name()));
    recording_clock = uses_counter() ? &counter_clock::now : &system_clock::now;
  }
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
  void restart(calibration_point first) noexcept {
    if (!time_.knows_slope()) learn_slope(first);
    if (cpu_cost_ns_ == unknown_cost) cpu_cost_ns_ = cost_of_cpu_time();
    time_.reset(first);
    set_cpu_clock();
    process_cpu_.restart();
    cpu_ns_ = process_cpu_.ns();
  }
  /// The recording ends.
  void stop() {
    process_cpu_.count(false);
    calibrate_again();
  }
  void count_cpu(bool on) noexcept { process_cpu_.count(on); }
  /// Adds a calibration point that is read now.
  void calibrate_again() {
    time_.add(read());
    cpu_ns_ = process_cpu_.ns();
    set_cpu_clock();
  }

  const timebase& time() const noexcept { return time_; }
  /// By the latest reading of CLOCK_REALTIME, since it may have been set meanwhile.
  tick_line line() const noexcept {
    return {time_.last().ticks, time_.last().realtime_ns, time_.ns_per_tick()};
  }

  /// The same with a reading of now.
  std::uint64_t calibrated_realtime_of(std::uint64_t ticks) {
    calibrate_again();
    return line().realtime_of(ticks);
  }

  /// Since the recording began, by the counter.
  std::uint64_t elapsed_ns() const noexcept {
    const double ns = time_.since_start_ns(now());
    return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
  }
  /// The clock and what it cost, of a profile that has its counts. `now`: in ticks, when it was
  /// taken.
  void describe(profile& out, std::uint64_t now) const {
    out.wall_ns = time_.since_start_ns(now);
    out.cpu_ns = cpu_ns_;
    out.clock = {name(), time_.ns_per_tick(), time_.residual_ns(), time_.first().realtime_ns,
                 static_cast<double>(cpu_interval_ns())};
    describe_cost(out.cost, out.complete.recorded + out.complete.open);
    describe_disagreement(out.notes);
  }

 private:
  /// What one scope costs, in ns, and what `scopes` and the readings of CPU time have taken.
  void describe_cost(own_cost& out, std::uint64_t scopes) const {
    const scope_cost cost =
        uses_counter() ? measure_scope<counter_clock>() : measure_scope<system_clock>();
    out.scope_ns = cost.scope * time_.ns_per_tick();
    out.empty_scope_ns = cost.empty * time_.ns_per_tick();
    out.cpu_reading_ns = static_cast<double>(cpu_cost_ns_);
    out.recording_ns = out.scope_ns * static_cast<double>(scopes) +
                       out.cpu_reading_ns * static_cast<double>(out.cpu_readings);
  }
  /// Where the counter and CLOCK_MONOTONIC went apart, a line that says so.
  void describe_disagreement(std::vector<std::string>& notes) const {
    if (time_.times_apart() == 0) return;
    notes.push_back("CLOCK_MONOTONIC and the counter went apart " +
                    std::to_string(time_.times_apart()) + " times, by " +
                    std::to_string(static_cast<std::uint64_t>(time_.apart_ns() / 1e6)) +
                    " ms in all: the machine was suspended, or the process or its virtual machine "
                    "moved. Times are by the counter, " +
                    name());
  }
  /// Once a process, for 50 microseconds: so that a clock that jumps in the first recording is not
  /// taken for a slow counter.
  void learn_slope(const calibration_point& from) noexcept {
    calibration_point to = from;
    // a clock that stands still ends it too
    for (int i = 0; i < 2000 && to.monotonic_ns - from.monotonic_ns < 50'000; ++i) to = read();
    if (to.monotonic_ns - from.monotonic_ns >= 50'000) time_.learn(from, to);
  }

  /// Reading CPU times is to take no more than a hundredth of a thread's time. 0: the system does
  /// not tell them.
  std::uint64_t cpu_interval_ns() const noexcept {
    return cpu_cost_ns_ == 0 ? 0
                             : std::max(cpu_clock_rate::shortest_interval_ns, 100 * cpu_cost_ns_);
  }
  void set_cpu_clock() const noexcept {
    const double ticks_per_ns = 1 / time_.ns_per_tick();
    cpu_clock.ticks_per_ns = ticks_per_ns;
    if (cpu_interval_ns() != 0)
      cpu_clock.interval_ticks =
          static_cast<std::uint64_t>(static_cast<double>(cpu_interval_ns()) * ticks_per_ns);
  }

  static constexpr std::uint64_t unknown_cost = ~std::uint64_t{0};

  std::atomic<bool> uses_counter_{false};
  timebase time_;
  process_cpu_time process_cpu_;
  double cpu_ns_ = -1;                        // at the latest calibration point
  std::uint64_t cpu_cost_ns_ = unknown_cost;  // of a reading of CPU time
};

}  // namespace detail
KPROF_DETAIL_END

#endif
