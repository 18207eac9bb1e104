// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_FACTS_CLOCKS_CUH
#define KPROF_TESTS_GPU_FACTS_CLOCKS_CUH

// Questions of facts.cu: CUPTI's clock, and how clocks move against each other.

#include "facts.hpp"
#include "kernels.cuh"

#include <chrono>
#include <cstdint>
#include <string>

namespace {

using namespace std::chrono_literals;

std::int64_t realtime_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void cupti_clock() {
  constexpr int reads = 100'000;
  const auto now = CUPTI_FUNCTION(cuptiGetTimestamp);
  std::size_t within = 0;
  for (int i = 0; i < reads; ++i) {
    std::uint64_t cupti = 0;
    const std::int64_t before = realtime_ns();
    now(&cupti);
    const std::int64_t after = realtime_ns(), at = static_cast<std::int64_t>(cupti);
    within += at >= before && at <= after ? 1 : 0;
  }
  fact("clock.cupti_is_realtime", how_many(within, reads));
  CHECK_WITHIN("times of CUPTI that are of CLOCK_REALTIME, save where that is set",
               static_cast<double>(within), 0.999 * reads, reads);
}

/// The processor's counter and CLOCK_REALTIME at one moment: the closest of some reads.
struct moment {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};
moment now_by_both() {
  moment found;
#if defined(__x86_64__)
  std::int64_t best = INT64_MAX;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t before = realtime_ns();
    const std::uint64_t ticks = __builtin_ia32_rdtsc();
    const std::int64_t after = realtime_ns();
    if (after - before < best)
      best = after - before, found = {ticks, before + (after - before) / 2};
  }
#endif
  return found;
}
/// How far a line through the first two moments is off at the last.
void tell_counter(const moment& begin, const moment& second, const moment& end) {
  if (begin.ticks == 0) return fact("clock.counter_drift", "not measured on this processor");
  const double ns_a_tick =
      static_cast<double>(second.ns - begin.ns) / static_cast<double>(second.ticks - begin.ticks);
  const double off = static_cast<double>(end.ns - begin.ns) -
                     ns_a_tick * static_cast<double>(end.ticks - begin.ticks);
  const double seconds = static_cast<double>(end.ns - begin.ns) / 1e9,
               us_a_second = std::fabs(off) / 1e3 / seconds;
  note("the counter, set by one second, is off by " + std::to_string(off / 1e3) + " us after " +
       std::to_string(seconds) + " s");
  fact("clock.counter_drift", us_a_second < 10 ? "less than 10 us a second"
                                               : std::to_string(us_a_second) + " us a second");
}

/// us from a kernel's launch to its start, and from its end to that of the wait for it, by
/// CLOCK_REALTIME: the shortest of many.
struct lag {
  double to_start = INFINITY, from_end = INFINITY;
};
std::size_t late_records = 0;  // flushes after the wait for a kernel that did not bring its record
lag shortest_lag(float* x, cudaStream_t s) {
  lag shortest;
  for (int i = 0; i < 50; ++i) {
    activity_log::forget();
    const std::int64_t launch = realtime_ns();
    launch_touch(x, 256, s);
    CUDA(cudaStreamSynchronize(s));
    const std::int64_t waited = realtime_ns();
    std::vector<record> work;
    for (int flushes = 0; work.empty() && flushes < 100; ++flushes) {
      if (flushes > 0) ++late_records, std::this_thread::sleep_for(1ms);
      CUPTI(cuptiActivityFlushAll, 0);
      work = activity_log::work();
    }
    if (work.size() != 1) {
      CHECK_EQUAL("records of a kernel, after 100 flushes in as many ms", work.size(), 1U);
      std::exit(1);
    }
    shortest.to_start =
        std::min(shortest.to_start,
                 static_cast<double>(static_cast<std::int64_t>(work[0].start) - launch) / 1e3);
    shortest.from_end =
        std::min(shortest.from_end,
                 static_cast<double>(waited - static_cast<std::int64_t>(work[0].end)) / 1e3);
  }
  return shortest;
}

/// Where records lie against the host's clock, and whether that moves meanwhile; and so the
/// processor's counter.
void clocks() {
  const int rounds = kernels_compute() ? (long_run ? 60 : 15) : 2;  // of a second
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  launch_touch(x.data(), 256, s);
  CUDA(cudaDeviceSynchronize());
  activity_log::begin();
  enable_work();
  const moment begin = now_by_both();
  moment second;
  std::vector<lag> lags;
  for (int round = 0; round < rounds; ++round) {
    lags.push_back(shortest_lag(x.data(), s));
    std::this_thread::sleep_for(1s);
    if (round == 0) second = now_by_both();
  }
  const moment end = now_by_both();
  const auto outside = static_cast<std::size_t>(std::count_if(
      lags.begin(), lags.end(), [](const lag& l) { return l.to_start < 0 || l.from_end < 0; }));
  fact("clock.records_between_launch_and_wait", how_many(lags.size() - outside, lags.size()));
  const auto far = std::count_if(lags.begin(), lags.end(),
                                 [](const lag& l) { return l.to_start < -50 || l.from_end < -50; });
  CHECK_EQUAL(
      "seconds in which a kernel began 50 us before its launch, or ended so long after the wait "
      "for it",
      far, 0);
  note(std::to_string(late_records) + " flushes did not bring a record that was due");
  if (!kernels_compute()) return;  // there, the device's clock is the host's
  const auto [first_start, last_start] = std::minmax_element(
      lags.begin(), lags.end(), [](const lag& a, const lag& b) { return a.to_start < b.to_start; });
  const auto [first_end, last_end] = std::minmax_element(
      lags.begin(), lags.end(), [](const lag& a, const lag& b) { return a.from_end < b.from_end; });
  const double moved = std::max(last_start->to_start - first_start->to_start,
                                last_end->from_end - first_end->from_end);
  note("us from launch to start: " + std::to_string(first_start->to_start) + " to " +
       std::to_string(last_start->to_start) +
       ", the shortest of each second; from end to that of the wait: " +
       std::to_string(first_end->from_end) + " to " + std::to_string(last_end->from_end));
  fact("clock.records_drift", moved < 20 ? "less than 20 us" : std::to_string(moved) + " us");
  tell_counter(begin, second, end);
}

}  // namespace

#endif
