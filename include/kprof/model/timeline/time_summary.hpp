// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_TIME_SUMMARY_HPP
#define KPROF_MODEL_TIMELINE_TIME_SUMMARY_HPP

// What the report and the rules of advice say of the devices' timeline, worked out once for both.
// Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/timeline/device_activity.hpp>
#include <kprof/model/timeline/idle_causes.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/late_launches.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/model/timeline/thread_states.hpp>
#include <kprof/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN

/// Copies to the host behind which the next copy, in the same call of an operator, takes as many
/// bytes back.
struct copy_round_trips {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< to the host
  std::int64_t ns = 0;      ///< both ways
};

/// How one device spent its time.
struct device_time {
  device_activity activity;
  idle_causes idle;
  late_launches late;
  copy_round_trips round_trips;
};

struct time_summary {
  run_times times;
  /// The stretch that is looked at: the latest of those of which the timeline has all; empty: of
  /// each device, from its first start to its last end.
  interval window;
  std::vector<device_time> devices;
  /// Nothing is missing in the stretch, and of all but one item in a thousand the device, the time
  /// and the launch are known.
  bool complete = false;
};

namespace detail {

inline interval latest_window(const profile& p) noexcept {
  const std::vector<timeline_window>& windows = p.device.timeline.windows;
  if (windows.empty()) return {};
  return {bounded_time(windows.back().begin), bounded_time(windows.back().end)};
}

/// Whether the thread that launched `a` was in one call of an operator from there to the launch of
/// `b`: between two calls it would be outside for a moment.
[[gnu::cold]] inline bool is_one_call(const profile& p, const run_times& times,
                                      const thread_states& states, const timed_item& a,
                                      const timed_item& b) {
  const std::uint32_t op =
      a.scope == timed_item::none ? timed_item::none : times.operators[a.scope];
  if (op == timed_item::none || !a.launched || !b.launched || a.thread != b.thread ||
      b.scope == timed_item::none || times.operators[b.scope] != op)
    return false;
  std::int64_t outside = b.call.begin - a.call.begin;
  states.each(a.thread, {a.call.begin, b.call.begin},
              [&](std::uint32_t node, host_state, std::int64_t ns) {
                while (node != scope_node::none && node != op) node = parent_of(p, node);
                if (node == op) outside -= ns;
              });
  return outside == 0;
}

/// `items` in the order of their starts.
[[gnu::cold]] inline copy_round_trips round_trips_of(const profile& p, const run_times& times,
                                                     const thread_states& states,
                                                     const std::vector<std::uint32_t>& items,
                                                     interval window) {
  copy_round_trips out;
  const timed_item* before = nullptr;
  for (const std::uint32_t i : items) {
    const timed_item& item = times.items[i];
    if (item.kind != item_kind::copy || item.span.begin < window.begin ||
        item.span.end > window.end)
      continue;
    const copy_direction way = p.device.work[item.work].direction;
    if (way == copy_direction::host_to_device && before != nullptr && before->bytes == item.bytes &&
        before->span.end <= item.span.begin && is_one_call(p, times, states, *before, item)) {
      ++out.count;
      out.bytes += item.bytes;
      out.ns += before->span.length() + item.span.length();
    }
    before = way == copy_direction::device_to_host ? &item : nullptr;
  }
  return out;
}

}  // namespace detail

/// Of the first `most_devices`; of none where the profile has no timeline of a device.
[[gnu::cold]] inline time_summary time_summary_of(const profile& p, std::size_t most_devices = 4) {
  time_summary out;
  if (p.device.timeline.items.empty()) return out;
  out.times = times_of(p);
  out.window = detail::latest_window(p);
  const std::uint64_t unsure = out.times.untimed + out.times.unplaced + out.times.unlaunched;
  out.complete = unsure <= p.device.timeline.items.size() / 1000 &&
                 (out.times.dropped == 0 || out.window.length() > 0);
  const detail::idle_search search(p, out.times);
  const detail::late_launch_search late(p, out.times);
  for (const std::uint32_t device : out.times.devices()) {
    if (out.devices.size() == most_devices) break;
    device_time& made = out.devices.emplace_back();
    const std::vector<std::uint32_t> all = detail::items_of(out.times, device, all_streams),
                                     items = search.lasting(all);
    made.activity = detail::activity_of(out.times, all, device, all_streams, out.window);
    made.idle = search.of(all, device, all_streams, out.window, short_gap_ns);
    made.late = late.of(p, search, items, made.activity.window);
    made.round_trips =
        detail::round_trips_of(p, out.times, search.states(), items, made.activity.window);
  }
  return out;
}

KPROF_DETAIL_END

#endif
