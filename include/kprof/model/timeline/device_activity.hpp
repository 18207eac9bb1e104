// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_DEVICE_ACTIVITY_HPP
#define KPROF_MODEL_TIMELINE_DEVICE_ACTIVITY_HPP

// How much of the time a device worked, at what, and what of it ran beside what. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN

inline constexpr std::uint32_t all_streams = 0xFFFFFFFFU;

/// What a device, or one of its streams, did in a stretch of time. wall = idle + compute +
/// not_compute, and busy = wall - idle.
struct device_activity {
  std::uint32_t device = 0;
  std::uint32_t stream = all_streams;
  interval window;
  std::uint64_t items = 0;  ///< that ran in it
  std::int64_t wall = 0;
  std::int64_t busy = 0;
  std::int64_t idle = 0;
  std::int64_t compute = 0;      ///< at least one kernel that computes ran
  std::int64_t not_compute = 0;  ///< only communication, copies or memsets
  std::int64_t kernels = 0;      ///< at least one kernel of either kind ran
  std::int64_t communication = 0;
  std::int64_t copies = 0;   ///< and memsets
  std::int64_t overlap = 0;  ///< of communication, beside computation
  std::int64_t exposed_communication = 0;
  std::int64_t exposed_copies = 0;  ///< beside no computation

  /// Of all communication, the share beside computation; negative: there is none.
  double overlap_share() const noexcept {
    return communication > 0 ? static_cast<double>(overlap) / static_cast<double>(communication)
                             : -1;
  }
};

namespace detail {

/// The items of a device or of one of its streams, as numbers of run_times::items in the order of
/// their starts.
[[gnu::cold]] inline std::vector<std::uint32_t> items_of(const run_times& times,
                                                         std::uint32_t device,
                                                         std::uint32_t stream) {
  std::vector<std::uint32_t> numbers;
  std::uint32_t streams = 0;
  for (const item_stream& s : times.streams) {
    if (s.device != device || (stream != all_streams && s.stream != stream)) continue;
    ++streams;
    for (std::size_t i = s.first; i < s.last; ++i) numbers.push_back(static_cast<std::uint32_t>(i));
  }
  if (streams > 1)
    sort_numbers(numbers, [&](std::uint32_t a, std::uint32_t b) {
      return times.items[a].span.begin < times.items[b].span.begin;
    });
  return numbers;
}

/// From the first start to the last end.
inline interval extent_of(const run_times& times, const std::vector<std::uint32_t>& items) {
  if (items.empty()) return {};
  interval out = times.items[items[0]].span;
  for (const std::uint32_t i : items) out.end = std::max(out.end, times.items[i].span.end);
  return out;
}

/// `items`: those of the device or of the stream, as items_of() has them.
[[gnu::cold]] inline device_activity activity_of(const run_times& times,
                                                 const std::vector<std::uint32_t>& items,
                                                 std::uint32_t device, std::uint32_t stream,
                                                 interval window) {
  device_activity out;
  out.device = device;
  out.stream = stream;
  out.window = window.length() > 0 ? window : extent_of(times, items);
  interval_list all, kinds[4];
  for (const std::uint32_t i : items) {
    const interval span{std::max(times.items[i].span.begin, out.window.begin),
                        std::min(times.items[i].span.end, out.window.end)};
    const bool runs =
        span.begin < span.end || (span.begin == span.end && times.items[i].span.length() == 0);
    if (!runs) continue;
    ++out.items;
    add_in_order(all, span);
    add_in_order(kinds[static_cast<std::size_t>(times.items[i].kind)], span);
  }
  const interval_list& computes = kinds[static_cast<std::size_t>(item_kind::kernel)];
  const interval_list& communicates = kinds[static_cast<std::size_t>(item_kind::communication)];
  const auto either = [](interval_list a, const interval_list& b) {
    a.insert(a.end(), b.begin(), b.end());
    return union_of(std::move(a));
  };
  const interval_list copies = either(kinds[static_cast<std::size_t>(item_kind::copy)],
                                      kinds[static_cast<std::size_t>(item_kind::set)]);
  out.wall = out.window.length();
  out.busy = length_of(all);
  out.idle = out.wall - out.busy;
  out.compute = length_of(computes);
  out.not_compute = out.busy - out.compute;
  out.kernels = length_of(either(computes, communicates));
  out.communication = length_of(communicates);
  out.copies = length_of(copies);
  out.overlap = length_of(common_of(communicates, computes));
  out.exposed_communication = out.communication - out.overlap;
  out.exposed_copies = out.copies - length_of(common_of(copies, computes));
  return out;
}

}  // namespace detail

/// `window`: where it is empty, from the first start to the last end.
[[gnu::cold]] inline device_activity activity_of(const run_times& times, std::uint32_t device,
                                                 std::uint32_t stream = all_streams,
                                                 interval window = {}) {
  return detail::activity_of(times, detail::items_of(times, device, stream), device, stream,
                             window);
}

KPROF_DETAIL_END

#endif
