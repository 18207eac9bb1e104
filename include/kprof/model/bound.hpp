// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_BOUND_HPP
#define KPROF_MODEL_BOUND_HPP

// What holds the work of a row back. Included by the summaries and by the outputs. Pure.

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN

/// What holds the work of a row back, by its times and formulas alone. "Near" is 80 % of the roof,
/// "far" below 60 %: the limits of Nsight Compute.
enum class bound_by : std::uint8_t {
  unknown,     ///< no formula, no ceiling, or no time
  compute,     ///< arithmetic: near that roof, or nearer to it than to that of memory
  memory,      ///< the bandwidth of memory, the same
  cache,       ///< faster than memory: its data stay in a cache
  balanced,    ///< as near to the roof of arithmetic as to that of memory, and to neither very near
  latency,     ///< far from both roofs
  launch,      ///< far from both, and too short to be anything but set-up
  small_grid,  ///< far from both, since its blocks do not fill the device
  impossible,  ///< above every roof: a formula or a ceiling is wrong, or work was skipped
};

/// As tables print it.
constexpr const char* bound_name(bound_by bound) noexcept {
  switch (bound) {
    case bound_by::compute: return "compute";
    case bound_by::memory: return "memory";
    case bound_by::cache: return "cache";
    case bound_by::balanced: return "balanced";
    case bound_by::latency: return "latency";
    case bound_by::launch: return "launch";
    case bound_by::small_grid: return "small grid";
    case bound_by::impossible: return "impossible";
    case bound_by::unknown: break;
  }
  return "n/a";
}

KPROF_DETAIL_END

#endif
