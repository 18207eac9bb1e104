// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_EVENT_WAITS_HPP
#define KPROF_MODEL_TIMELINE_EVENT_WAITS_HPP

// Which item waited for which by an event: one thread records an event on a stream, another stream
// is told to wait for it. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// `item` could start when `awaited` had ended; numbers of run_times::items.
struct item_wait {
  std::uint32_t item = 0;
  std::uint32_t awaited = 0;
};

/// The items of each stream in the order of their launches, and the events recorded.
class launch_order {
 public:
  [[gnu::cold]] explicit launch_order(const run_times& times) : times_(times) {
    for (std::size_t i = 0; i < times.items.size(); ++i)
      if (times.items[i].launched) order_.push_back(static_cast<std::uint32_t>(i));
    sort_numbers(order_, [&](std::uint32_t a, std::uint32_t b) {
      const timed_item &x = times.items[a], &y = times.items[b];
      if (x.device != y.device) return x.device < y.device;
      if (x.stream != y.stream) return x.stream < y.stream;
      return x.call.begin < y.call.begin;
    });
    for (std::size_t i = 0; i < times.calls.size(); ++i)
      if (times.calls[i].kind == call_kind::event_record && times.calls[i].event != 0)
        records_.push_back(static_cast<std::uint32_t>(i));
    sort_numbers(records_, [&](std::uint32_t a, std::uint32_t b) {
      const timed_call &x = times.calls[a], &y = times.calls[b];
      if (x.event != y.event) return x.event < y.event;
      return x.span.begin < y.span.begin;
    });
  }

  /// The last item that a stream was given before `t`, or none.
  std::uint32_t last_before(std::uint32_t device, std::uint32_t stream, std::int64_t t) const {
    const std::size_t at = first_from(device, stream, t);
    return at > 0 && is_of(at - 1, device, stream) ? order_[at - 1] : timed_item::none;
  }
  /// The first one from `t` on, or none.
  std::uint32_t first_after(std::uint32_t device, std::uint32_t stream, std::int64_t t) const {
    const std::size_t at = first_from(device, stream, t);
    return at < order_.size() && is_of(at, device, stream) ? order_[at] : timed_item::none;
  }

  /// What the event stands for at `t`: the last item given to its stream before it was recorded the
  /// last time; or none.
  [[gnu::cold]] std::uint32_t item_of_event(std::uint64_t event, std::int64_t t) const {
    const auto after = std::partition_point(records_.begin(), records_.end(), [&](std::uint32_t i) {
      const timed_call& c = times_.calls[i];
      return c.event != event ? c.event < event : c.span.begin < t;
    });
    if (after == records_.begin()) return timed_item::none;
    const timed_call& record = times_.calls[*(after - 1)];
    if (record.event != event) return timed_item::none;
    return last_before(record.device, record.stream, record.span.begin);
  }

 private:
  [[gnu::cold]] std::size_t first_from(std::uint32_t device, std::uint32_t stream,
                                       std::int64_t t) const {
    const auto at = std::partition_point(order_.begin(), order_.end(), [&](std::uint32_t i) {
      const timed_item& item = times_.items[i];
      if (item.device != device) return item.device < device;
      if (item.stream != stream) return item.stream < stream;
      return item.call.begin < t;
    });
    return static_cast<std::size_t>(at - order_.begin());
  }
  bool is_of(std::size_t at, std::uint32_t device, std::uint32_t stream) const {
    const timed_item& item = times_.items[order_[at]];
    return item.device == device && item.stream == stream;
  }

  const run_times& times_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> records_;  // by event and time
};

/// By the item that waited.
[[gnu::cold]] inline std::vector<item_wait> event_waits(const run_times& times,
                                                        const launch_order& order) {
  std::vector<item_wait> out;
  for (const timed_call& c : times.calls) {
    if (c.kind != call_kind::stream_wait || c.event == 0) continue;
    const std::uint32_t awaited = order.item_of_event(c.event, c.span.begin);
    const std::uint32_t item = order.first_after(c.device, c.stream, c.span.begin);
    if (awaited != timed_item::none && item != timed_item::none && awaited != item)
      out.push_back({item, awaited});
  }
  sort_plain(out, [](const item_wait& a, const item_wait& b) { return a.item < b.item; });
  return out;
}

/// The waits of one item.
[[gnu::cold]] inline std::pair<const item_wait*, const item_wait*> waits_of(
    const std::vector<item_wait>& all, std::uint32_t item) {
  const auto is_before = [item](const item_wait& w) { return w.item < item; };
  const auto is_not_after = [item](const item_wait& w) { return w.item <= item; };
  const auto first = std::partition_point(all.begin(), all.end(), is_before);
  const auto last = std::partition_point(first, all.end(), is_not_after);
  return {all.data() + (first - all.begin()), all.data() + (last - all.begin())};
}

}  // namespace detail
KPROF_DETAIL_END

#endif
