// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_GRAPH_SAVING_HPP
#define KPROF_MODEL_TIMELINE_GRAPH_SAVING_HPP

// What capturing launches into a CUDA graph would save at most: the time that a device waited for a
// launch while the host went from one launch to the next. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/idle_causes.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstdint>

KPROF_DETAIL_BEGIN

/// Of one device; its items that a graph launched already are not in it.
struct graph_saving {
  std::uint64_t gaps = 0;     ///< of the device, that ended with an item launched too late
  std::int64_t gap_ns = 0;    ///< their length
  std::int64_t saved_ns = 0;  ///< of it, what is longer than between the nodes of a graph
};
/// Taken for the time between two nodes of a graph that follow one another.
inline constexpr std::int64_t graph_gap_ns = 1000;

/// Gaps in which the host waited for the device do not count: it may need the result to go on.
[[gnu::cold]] inline graph_saving graph_saving_of(const profile& p, const run_times& times,
                                                  std::uint32_t device) {
  graph_saving out;
  const detail::idle_search search(p, times);
  search.each_gap(search.lasting(detail::items_of(times, device, all_streams)),
                  [&](interval gap, std::uint32_t next) {
                    const timed_item& item = times.items[next];
                    if (!item.launched || item.graph || item.call.begin <= gap.begin) return;
                    if (search.states().waits_in(item.thread, {gap.begin, item.call.begin})) return;
                    ++out.gaps;
                    out.gap_ns += gap.length();
                    out.saved_ns += std::max<std::int64_t>(0, gap.length() - graph_gap_ns);
                  });
  return out;
}

KPROF_DETAIL_END

#endif
