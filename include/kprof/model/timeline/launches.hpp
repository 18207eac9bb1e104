// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_LAUNCHES_HPP
#define KPROF_MODEL_TIMELINE_LAUNCHES_HPP

// How far the host runs ahead of a stream, and what launches cost. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/device_activity.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

KPROF_DETAIL_BEGIN

/// So many launches a stream holds; the next one blocks the host.
inline constexpr std::uint64_t full_queue = 1024;

/// Launches of a stream of which nothing has started there. A launch is queued from the begin of
/// its call to the start of its first item: a replay of a graph is one call, however many of its
/// nodes run on the stream.
struct queue_length {
  interval window;  ///< from the first launch to the last start of a launch's first item
  std::uint64_t longest = 0;
  double mean = 0;            ///< over the window; 0 where that is empty
  std::int64_t full = 0;      ///< time with `full_queue` or more
  std::uint64_t unknown = 0;  ///< items left out, whose launch is not known
};

namespace detail {

/// From the begins of the launches of `items` to the starts of their first items.
[[gnu::cold]] inline std::vector<interval> queued_launches(const run_times& times,
                                                           std::vector<std::uint32_t> items) {
  std::vector<interval> out;
  sort_numbers(items, [&](std::uint32_t a, std::uint32_t b) {
    const timed_item &x = times.items[a], &y = times.items[b];
    if (x.graph != y.graph) return y.graph;
    if (x.thread != y.thread) return x.thread < y.thread;
    return x.called < y.called;
  });
  const timed_item* before = nullptr;
  for (const std::uint32_t i : items) {
    const timed_item& item = times.items[i];
    if (!item.launched) continue;
    const bool is_same_replay = before != nullptr && item.graph && before->graph &&
                                before->thread == item.thread && before->called == item.called;
    before = &item;
    if (!is_same_replay) {
      out.push_back({item.call.begin, item.span.begin});
      continue;
    }
    out.back().begin = std::min(out.back().begin, item.call.begin);
    out.back().end = std::min(out.back().end, item.span.begin);
  }
  return out;
}

}  // namespace detail

[[gnu::cold]] inline queue_length queue_length_of(const run_times& times, std::uint32_t device,
                                                  std::uint32_t stream) {
  queue_length out;
  const std::vector<std::uint32_t> items = detail::items_of(times, device, stream);
  for (const std::uint32_t i : items) out.unknown += times.items[i].launched ? 0U : 1U;
  std::vector<std::int64_t> launches, starts;
  for (const interval& queued : detail::queued_launches(times, items)) {
    launches.push_back(queued.begin);
    starts.push_back(queued.end);
  }
  if (launches.empty()) return out;
  const auto in_order = [](std::int64_t a, std::int64_t b) { return a < b; };
  detail::sort_plain(launches, in_order);
  detail::sort_plain(starts, in_order);
  out.window = {launches.front(), starts.back()};
  double area = 0;
  std::uint64_t queued = 0;
  std::int64_t t = out.window.begin;
  for (std::size_t l = 0, s = 0; s < starts.size();) {
    const std::int64_t next = l < launches.size() ? std::min(launches[l], starts[s]) : starts[s];
    area += static_cast<double>(queued) * static_cast<double>(next - t);
    if (queued >= full_queue) out.full += next - t;
    t = next;
    // What starts at the very moment of its launch was never queued.
    while (l < launches.size() && launches[l] == t) ++l, ++queued;
    while (s < starts.size() && starts[s] == t) ++s, --queued;
    out.longest = std::max(out.longest, queued);
  }
  if (out.window.length() > 0) out.mean = area / static_cast<double>(out.window.length());
  return out;
}

/// What launching took, of all items that were not launched by a graph.
struct launch_statistics {
  std::uint64_t launches = 0;
  double call_ns = 0;   ///< in the calls
  double delay_ns = 0;  ///< from the return of the call to the start, summed
  std::int64_t longest_delay = 0;
  std::uint64_t short_items = 0;  ///< shorter than their call, of those up to slow_call_ns
  double short_ns = 0;            ///< they ran
  double short_call_ns = 0;       ///< in their calls
  std::uint64_t slow_calls = 0;   ///< above slow_call_ns
  std::uint64_t late = 0;         ///< delays above late_start_ns
  std::uint64_t from_graphs = 0;  ///< items left out, that a graph launched
  std::uint64_t unknown = 0;      ///< items left out, whose launch is not known
};
inline constexpr std::int64_t slow_call_ns = 50'000;
inline constexpr std::int64_t late_start_ns = 100'000;

/// `stream` may be all_streams.
[[gnu::cold]] inline launch_statistics launch_statistics_of(const run_times& times,
                                                            std::uint32_t device,
                                                            std::uint32_t stream = all_streams) {
  launch_statistics out;
  for (const std::uint32_t i : detail::items_of(times, device, stream)) {
    const timed_item& item = times.items[i];
    if (item.graph || !item.launched) {
      ++(item.graph ? out.from_graphs : out.unknown);
      continue;
    }
    const std::int64_t call = item.call.length(),
                       delay = std::max<std::int64_t>(0, item.span.begin - item.call.end);
    ++out.launches;
    out.call_ns += static_cast<double>(call);
    out.delay_ns += static_cast<double>(delay);
    out.longest_delay = std::max(out.longest_delay, delay);
    if (delay > late_start_ns) ++out.late;
    if (call > slow_call_ns) {
      ++out.slow_calls;
    } else if (item.span.length() < call) {
      ++out.short_items;
      out.short_ns += static_cast<double>(item.span.length());
      out.short_call_ns += static_cast<double>(call);
    }
  }
  return out;
}

KPROF_DETAIL_END

#endif
