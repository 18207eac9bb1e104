// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_DEVICE_ROWS_HPP
#define KPROF_ATTRIBUTE_DEVICE_ROWS_HPP

// From an activity to the row of the totals that counts it, and to what the row adds up. Pure.

#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/record/device_totals.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// The row for an activity that was launched in the scope `node`. `name`: the number of the
/// kernel's name, 0 for copies and memsets.
inline device_key device_key_of(std::uint32_t node, std::uint32_t name,
                                const activity& a) noexcept {
  device_key k;
  k.node = node;
  k.name = name;
  k.kind = static_cast<std::uint32_t>(a.kind);
  k.device = a.device;
  k.stream = a.stream;
  k.places = std::uint32_t{a.direction} | std::uint32_t{a.from} << 8U | std::uint32_t{a.to} << 16U;
  for (int i = 0; i < 3; ++i) k.grid[i] = a.grid[i], k.block[i] = a.block[i];
  k.static_shared = a.static_shared;
  k.dynamic_shared = a.dynamic_shared;
  k.registers = a.registers;
  k.launch = std::uint32_t{a.cluster[0]} | std::uint32_t{a.cluster[1]} << 8U |
             std::uint32_t{a.cluster[2]} << 16U | (a.cooperative ? 1U << 24U : 0U);
  return k;
}

/// What the row adds up. `launched`: when the call that launched the activity began, in the clock
/// of the records; 0 when that is not known.
inline device_run device_run_of(const activity& a, std::uint64_t launched) noexcept {
  device_run run{
      .timed = a.timed(), .bytes = a.bytes, .multiprocessor_shared = a.multiprocessor_shared};
  if (!run.timed) return run;
  run.ns = a.end - a.start;
  // Launch and start are read from two clocks: an activity may seem to start before its launch. By
  // more than a millisecond, nobody knows how long it waited.
  constexpr std::uint64_t clocks_differ = 1'000'000;
  run.launch_seen = launched != 0 && a.start + clocks_differ > launched;
  if (run.launch_seen && a.start > launched) run.gap_ns = a.start - launched;
  return run;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
