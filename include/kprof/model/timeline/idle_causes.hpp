// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_IDLE_CAUSES_HPP
#define KPROF_MODEL_TIMELINE_IDLE_CAUSES_HPP

// Why a device, or one of its streams, had nothing to do. A gap ends with the start of an item, and
// when that was launched tells the cause. A stream's gap costs nothing while another one works: the
// device's own gaps are what counts. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/device_activity.hpp>
#include <kprof/model/timeline/event_waits.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/model/timeline/scope_times.hpp>
#include <kprof/model/timeline/thread_states.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN

/// A gap shorter than that, before an item launched in time, is between one kernel and the next.
inline constexpr std::int64_t short_gap_ns = 5000;

/// The time in which nothing ran, by cause: host + kernel + event + other + unknown + edges = idle.
struct idle_causes {
  std::uint32_t device = 0;
  std::uint32_t stream = all_streams;
  interval window;
  std::int64_t idle = 0;
  std::int64_t host = 0;     ///< the launch began after the item before had ended
  std::int64_t kernel = 0;   ///< it was launched in time, and the gap is short
  std::int64_t event = 0;    ///< it had to wait for an item of another stream
  std::int64_t other = 0;    ///< launched in time, and for no reason that is known
  std::int64_t unknown = 0;  ///< the launch is not known
  std::int64_t edges = 0;    ///< before the first item and after the last one
  /// Of `host`, by what the launching thread did meanwhile; until the start of the item, a launch
  /// that has returned is still under way. With unknown_thread they sum to `host`.
  std::int64_t host_in[host_states] = {};
  std::int64_t unknown_thread = 0;
  /// `host` by the operator or region that the launching thread was in.
  std::vector<named_time> host_by;

  std::int64_t in(host_state state) const noexcept {
    return host_in[static_cast<std::size_t>(state)];
  }
};

namespace detail {

class idle_search {
 public:
  [[gnu::cold]] idle_search(const profile& p, const run_times& times)
      : p_(p), times_(times), order_(times), waits_(event_waits(times, order_)), states_(times) {}

  /// `all`: the items of the device or of the stream, as items_of() has them.
  [[gnu::cold]] idle_causes of(const std::vector<std::uint32_t>& all, std::uint32_t device,
                               std::uint32_t stream, interval window,
                               std::int64_t short_gap) const {
    idle_causes out;
    out.device = device;
    out.stream = stream;
    const std::vector<std::uint32_t> items = lasting(all);
    out.window = window.length() > 0 ? window : extent_of(times_, all);
    scope_times scopes(p_.nodes.size());
    const auto clipped = [&](std::int64_t from, std::int64_t to) {
      return interval{std::max(from, out.window.begin), std::min(to, out.window.end)};
    };
    if (items.empty()) {
      out.idle = out.edges = out.window.length();
      return out;
    }
    out.edges = clipped(out.window.begin, times_.items[items[0]].span.begin).length();
    const std::int64_t last = each_gap(items, [&](interval gap, std::uint32_t next) {
      add_gap(gap, next, clipped, short_gap, out, scopes);
    });
    out.edges += clipped(last, out.window.end).length();
    out.idle = out.host + out.kernel + out.event + out.other + out.unknown + out.edges;
    out.host_by = scopes.by_name(p_, times_.operators);
    return out;
  }

  /// The items that take time, in the order of their starts.
  [[gnu::cold]] std::vector<std::uint32_t> lasting(std::vector<std::uint32_t> items) const {
    std::erase_if(items, [&](std::uint32_t i) { return times_.items[i].span.length() == 0; });
    return items;
  }

  /// Calls visit(gap, next) for each stretch between `items` in which none ran. Of several items
  /// that start at its end, `next` is the one launched first. Returns the last end.
  template <class Visit>
  [[gnu::cold]] std::int64_t each_gap(const std::vector<std::uint32_t>& items,
                                      const Visit& visit) const {
    std::int64_t busy_until = items.empty() ? 0 : times_.items[items[0]].span.begin;
    for (std::size_t i = 0; i < items.size();) {
      const std::int64_t start = times_.items[items[i]].span.begin;
      std::uint32_t next = items[i];
      std::int64_t until = busy_until;
      for (; i < items.size() && times_.items[items[i]].span.begin == start; ++i) {
        if (is_launched_before(items[i], next)) next = items[i];
        until = std::max(until, times_.items[items[i]].span.end);
      }
      if (start > busy_until) visit(interval{busy_until, start}, next);
      busy_until = until;
    }
    return busy_until;
  }

  const thread_states& states() const noexcept { return states_; }

 private:
  bool is_launched_before(std::uint32_t a, std::uint32_t b) const noexcept {
    const timed_item &x = times_.items[a], &y = times_.items[b];
    return x.launched && (!y.launched || x.call.begin < y.call.begin);
  }

  [[gnu::cold]] bool waited_for_event(std::uint32_t item, interval gap) const {
    const auto [first, last] = waits_of(waits_, item);
    return std::any_of(first, last, [&](const item_wait& w) {
      const std::int64_t end = times_.items[w.awaited].span.end;
      return end > gap.begin && end <= gap.end;
    });
  }

  template <class Clip>
  [[gnu::cold]] void add_gap(interval gap, std::uint32_t next, const Clip& clipped,
                             std::int64_t short_gap, idle_causes& out, scope_times& scopes) const {
    const timed_item& item = times_.items[next];
    const std::int64_t ns = clipped(gap.begin, gap.end).length();
    if (!item.launched) out.unknown += ns;
    else if (item.call.begin > gap.begin) add_host_wait(gap, item, clipped, out, scopes);
    else if (gap.length() < short_gap) out.kernel += ns;
    else if (waited_for_event(next, gap)) out.event += ns;
    else out.other += ns;
  }

  template <class Clip>
  [[gnu::cold]] void add_host_wait(interval gap, const timed_item& item, const Clip& clipped,
                                   idle_causes& out, scope_times& scopes) const {
    const interval before = clipped(gap.begin, item.call.begin),
                   launch = clipped(item.call.begin, gap.end);
    out.host += before.length() + launch.length();
    scopes.add(item.scope, launch.length());
    out.host_in[static_cast<std::size_t>(host_state::calling)] += launch.length();
    if (item.thread >= times_.threads.size()) {
      out.unknown_thread += before.length();
      scopes.add(timed_item::none, before.length());
      return;
    }
    if (before.length() == 0) return;
    states_.each(item.thread, before, [&](std::uint32_t node, host_state state, std::int64_t ns) {
      out.host_in[static_cast<std::size_t>(state)] += ns;
      scopes.add(node, ns);
    });
  }

  const profile& p_;
  const run_times& times_;
  launch_order order_;
  std::vector<item_wait> waits_;
  thread_states states_;
};

}  // namespace detail

/// `stream`: one of them, or all_streams for the device as a whole. `window`: where it is empty,
/// from the first start to the last end.
[[gnu::cold]] inline idle_causes idle_causes_of(const profile& p, const run_times& times,
                                                std::uint32_t device,
                                                std::uint32_t stream = all_streams,
                                                interval window = {},
                                                std::int64_t short_gap = short_gap_ns) {
  return detail::idle_search(p, times).of(detail::items_of(times, device, stream), device, stream,
                                          window, short_gap);
}

KPROF_DETAIL_END

#endif
