// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_TICK_LINE_HPP
#define KPROF_ATTRIBUTE_TICK_LINE_HPP

// How ticks, which order what threads did, become CLOCK_REALTIME, in which devices tell theirs.

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// The line through one reading of both clocks. CLOCK_REALTIME may be set or slewed, so that times
/// by two lines may come in another order than their ticks.
struct tick_line {
  std::uint64_t ticks = 0;
  std::uint64_t realtime_ns = 0;
  double ns_per_tick = 1;

  std::uint64_t realtime_of(std::uint64_t at) const noexcept {
    if (ns_per_tick == 1) return realtime_ns - (ticks - at);  // exact, however long ago
    const auto ago = static_cast<std::int64_t>(ticks - at);
    const auto ago_ns = static_cast<std::int64_t>(static_cast<double>(ago) * ns_per_tick);
    return realtime_ns - static_cast<std::uint64_t>(ago_ns);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
