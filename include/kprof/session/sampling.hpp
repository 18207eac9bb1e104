// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SAMPLING_HPP
#define KPROF_SESSION_SAMPLING_HPP

// Times one piece of work again and again until its median is known. Included by kprof/measure.hpp.
// The clock is given, so that tests have one of their own. Used by one thread.

#include <kprof/build_options.hpp>
#include <kprof/model/median_interval.hpp>
#include <kprof/record/clock.hpp>

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What runs, `times` times on end. It may throw.
struct repeated_call {
  void (*run)(void* of, std::uint64_t times);
  void* of;
};

/// The time, and how often this thread has lost its CPU to another one.
struct sampling_clock {
  std::uint64_t (*now_ns)() noexcept;
  std::uint64_t (*interruptions)() noexcept;
};

/// A thread that waits of its own accord, for others that share its work, is not interrupted.
[[gnu::cold]] inline std::uint64_t interruptions_of_thread() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nivcsw);
}
[[gnu::cold]] inline std::uint64_t monotonic_ns() noexcept {
  return nanoseconds_of(CLOCK_MONOTONIC);
}
inline constexpr sampling_clock clock_of_system{&monotonic_ns, &interruptions_of_thread};

struct sampling_limits {
  double precision = 0.01;
  double time_ns = 1e9;
  std::uint64_t calls = 0;  // 0: no limit
};

/// Times of a call. Of calls that are shorter than the clock tells apart, the mean of a batch.
struct call_samples {
  std::vector<double> ns;
  std::uint64_t batch = 1;        // calls a sample
  std::uint64_t interrupted = 0;  // samples in which the thread lost its CPU
  bool took_interrupted = false;  // all were, and `ns` holds them
  double elapsed_ns = 0;          // with all that is not timed
  double clock_ns = 0;            // what reading the clock takes, which is not in the samples
  median_interval median;
};

class sampling {
 public:
  sampling(const sampling_clock& clock, const repeated_call& call,
           const sampling_limits& limits) noexcept
      : clock_(clock), call_(call), limits_(limits) {}

  /// `between`: what is done before each sample and is not timed; run is null where there is none.
  [[gnu::cold]] call_samples take(const repeated_call& between) {
    begin_ns_ = clock_.now_ns();
    out_.clock_ns = cost_of_clock();
    call_.run(call_.of, 1);  // touches memory and loads code for the first time
    const bool is_cold = between.run != nullptr;
    if (!is_cold) settle_batch();
    std::vector<double> interrupted;
    std::uint64_t calls = 0;
    for (std::size_t next_look = fewest;;) {
      if (is_cold) between.run(between.of, 1);
      const std::uint64_t before = clock_.interruptions();
      const double ns = time_of_batch() / static_cast<double>(out_.batch);
      (clock_.interruptions() == before ? out_.ns : interrupted).push_back(ns);
      calls += out_.batch;
      if (out_.ns.size() >= next_look) {
        out_.median = interval_of(out_.ns);
        if (out_.median.precision() <= limits_.precision) break;
        next_look = out_.ns.size() + out_.ns.size() / 4;
      }
      if (elapsed_ns() >= limits_.time_ns || (limits_.calls != 0 && calls >= limits_.calls)) break;
    }
    out_.interrupted = interrupted.size();
    // A few that are right are better than many that are not, though they give no interval.
    out_.took_interrupted = out_.ns.empty();
    if (out_.took_interrupted) out_.ns = std::move(interrupted);
    out_.median = interval_of(out_.ns);
    out_.elapsed_ns = elapsed_ns();
    return std::move(out_);
  }

 private:
  static constexpr std::size_t fewest = 20;
  static constexpr double shortest_sample_ns = 20'000;
  static constexpr std::uint64_t largest_batch = std::uint64_t{1} << 30U;

  double elapsed_ns() const noexcept { return static_cast<double>(clock_.now_ns() - begin_ns_); }

  double cost_of_clock() const noexcept {
    std::uint64_t least = ~std::uint64_t{0};
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t before = clock_.now_ns(), after = clock_.now_ns();
      least = std::min(least, after - before);
    }
    return static_cast<double>(least);
  }

  double time_of_batch() {
    const std::uint64_t begin = clock_.now_ns();
    call_.run(call_.of, out_.batch);
    return std::max(0.0, static_cast<double>(clock_.now_ns() - begin) - out_.clock_ns);
  }

  /// So many calls that the clock's reading is no thousandth of them.
  void settle_batch() {
    const double wanted = std::max(shortest_sample_ns, 1000 * out_.clock_ns);
    while (out_.batch < largest_batch && elapsed_ns() < limits_.time_ns) {
      const double ns = time_of_batch();
      if (ns >= wanted) break;
      const double times = std::clamp(1.2 * wanted / std::max(ns, 1.0), 2.0, 100.0);
      const double scaled = static_cast<double>(out_.batch) * times;
      out_.batch = static_cast<std::uint64_t>(std::min(scaled, static_cast<double>(largest_batch)));
    }
  }

  const sampling_clock& clock_;
  const repeated_call& call_;
  const sampling_limits& limits_;
  call_samples out_;
  std::uint64_t begin_ns_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
