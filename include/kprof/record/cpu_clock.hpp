// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_CPU_CLOCK_HPP
#define KPROF_RECORD_CPU_CLOCK_HPP

// How long a thread has run on a CPU, which tells a scope's work from waiting. The system is asked,
// which takes 0.2 to 2 microseconds, and a scope takes 0.03: so a thread reads that clock at the
// begin or end of a scope only when its last reading is an interval old. A reading is a record of
// its log. It also tells how many page faults the thread has had, and whether it has met denormal
// numbers, which are slow, since the reading before.

#include <kprof/build_options.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/log_words.hpp>
#include <kprof/record/this_thread.hpp>

#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::uint64_t denormals_met = std::uint64_t{1} << 63U;  // with the time
/// What a thread reads: payload of its record.
struct cpu_payload {
  std::uint64_t ns = 0;      // that the thread has run; denormals_met
  std::uint64_t faults = 0;  // page faults of the thread for which nothing was read from a disk
};
inline constexpr std::uint64_t never = ~std::uint64_t{0};

/// How often threads read their CPU time, and what makes ticks of it. The session keeps both up to
/// date; a recorder without one reads once a thread.
struct cpu_clock_rate {
  static constexpr std::uint64_t shortest_interval_ns = 200'000;

  std::atomic<std::uint64_t> interval_ticks{std::uint64_t{1} << 62U};
  std::atomic<double> ticks_per_ns{1};
};
KPROF_DETAIL_LOCAL inline constinit cpu_clock_rate cpu_clock;

/// The CPU time of this thread, or of what another clock is of; false where the system does not
/// tell it. Leaves errno as it was.
inline bool read_cpu_time(std::uint64_t& ns, clockid_t of = CLOCK_THREAD_CPUTIME_ID) noexcept {
  const int error = errno;
  timespec t{};
  const bool told = clock_gettime(of, &t) == 0;
  errno = error;
  ns =
      static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
  return told;
}

/// Whether this thread has computed with a denormal operand since this was asked last; false where
/// the processor does not say, or takes such operands as zeros. Clears that flag of MXCSR, which no
/// function of <cfenv> tells: unless the program has the processor trap, where it belongs to it.
inline bool take_denormals() noexcept {
#if defined(__x86_64__)
  constexpr std::uint32_t denormal = 2, denormal_masked = 0x100;
  std::uint32_t status = 0;
  asm volatile("stmxcsr %0" : "=m"(status));
  if ((status & denormal) == 0 || (status & denormal_masked) == 0) return false;
  status &= ~denormal;
  asm volatile("ldmxcsr %0" : : "m"(status));
  return true;
#else
  return false;
#endif
}

/// The page faults of this thread, without those that wait for a disk; 0 where the system does not
/// tell. Leaves errno as it was.
inline std::uint64_t read_page_faults() noexcept {
  const int error = errno;
  rusage used{};
  if (getrusage(RUSAGE_THREAD, &used) != 0) used.ru_minflt = 0;
  errno = error;
  return static_cast<std::uint64_t>(used.ru_minflt);
}

/// What a reading costs, the least of a few; 0 where the system tells no CPU time.
inline std::uint64_t cost_of_cpu_time() noexcept {
  std::uint64_t least = never;
  for (int i = 0; i < 5; ++i) {
    std::uint64_t ns = 0;
    const std::uint64_t before = nanoseconds_of(CLOCK_MONOTONIC);
    if (!read_cpu_time(ns)) return 0;
    static_cast<void>(read_page_faults());
    const std::uint64_t took = nanoseconds_of(CLOCK_MONOTONIC) - before;
    if (took < least) least = took;
  }
  return least == 0 ? 1 : least;
}

/// Notes this thread's CPU time in its log, which takes one percent of its time at most. `now`: the
/// time in ticks. False where the log has no room. A guard in a signal's handler that comes
/// meanwhile reads nothing.
[[gnu::noinline, gnu::cold]] inline bool note_cpu_time(log_head& log, std::uint64_t now) noexcept {
  const std::uint64_t word = record_word(record_kind::cpu_time, 0, sizeof(cpu_payload));
  if (!has_room(log, record_size(word))) return false;
  cpu_payload read;
  log.cpu_due = now + cpu_clock.interval_ticks.load(std::memory_order_relaxed);
  if (!read_cpu_time(read.ns)) {
    log.cpu_due = never;
    return true;
  }
  if (take_denormals()) read.ns |= denormals_met;
  read.faults = read_page_faults();
  // Where a handler has taken the room, the next reading tells of this time too.
  static_cast<void>(append_record(log, word, now, &read, sizeof read));
  return true;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
