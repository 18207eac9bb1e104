// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_CRITICAL_PATH_HPP
#define KPROF_MODEL_TIMELINE_CRITICAL_PATH_HPP

// The chain of host work, launches and device work that the end of a run had to wait for, walked
// backwards from there. Its parts follow one another without a gap: they sum to the time between
// its ends. Pure, n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/device_steps.hpp>
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

/// What a part of the critical path is.
enum class path_kind : std::uint8_t {
  host,         ///< a thread worked, or waited for something that is no device
  launch,       ///< from the begin of a launch to the start of its item
  kernel_wait,  ///< from the end of an item to the start of the next of its stream
  event_wait,   ///< from the end of an item to the start of one that waited for it by an event
  sync_return,  ///< from the end of an item to the return of the call that waited for it
  compute,      ///< a kernel that computes
  communication,
  copy,
  set,
};
inline constexpr std::size_t path_kinds = 9;

struct path_part {
  interval span;
  path_kind kind = path_kind::host;
  std::uint32_t item = timed_item::none;    ///< that ran, or that was waited for; of run_times
  std::uint32_t thread = timed_item::none;  ///< of the host
};

struct critical_path {
  interval window;               ///< where the path begins and ends
  std::vector<path_part> parts;  ///< in order; each begins where the one before ends
  std::int64_t part_of[path_kinds] = {};
  std::vector<named_time> by;  ///< by operator or region; host time by the innermost scope

  std::int64_t of(path_kind kind) const noexcept { return part_of[static_cast<std::size_t>(kind)]; }
};

/// What the run would gain at most, were something that is `ns` long on the path `factor` times as
/// fast. At most: another path may become the longest.
inline double saves_at_most(std::int64_t ns, double factor) noexcept {
  return factor > 1 ? static_cast<double>(ns) * (1 - 1 / factor) : 0;
}

namespace detail {

/// Calls that waited for an item, by thread and end.
struct waited_call {
  interval span;
  std::uint32_t thread = 0;
  std::uint32_t item = 0;  // that it waited for, which ended last
};

class path_walk {
 public:
  [[gnu::cold]] path_walk(const run_times& times, critical_path& out)
      : times_(times), out_(out), order_(times), waits_(event_waits(times, order_)) {
    for (std::uint32_t i = 0; i < times.items.size(); ++i) by_end_.push_back(i);
    sort_by_end(by_end_, false);
    by_stream_end_ = by_end_;
    sort_by_end(by_stream_end_, true);
    find_waited_calls();
    seen_.resize(times.items.size());
    next_call_.assign(times.threads.size(), 0);
    for (std::size_t t = 0; t < next_call_.size(); ++t) next_call_[t] = calls_of(t).second;
  }

  /// `thread`: where the path is on the host and nothing says on which thread.
  [[gnu::cold]] void walk(std::uint32_t thread, std::int64_t host_end) {
    t_ = out_.window.end;
    main_ = thread;
    std::uint32_t item = last_end_until(by_end_.begin(), by_end_.end(), t_);
    if (item != none && (times_.items[item].span.end < t_ || host_end >= t_)) item = none;
    while (t_ > out_.window.begin)
      if (item != none) walk_item(item, thread);
      else walk_host(item, thread);
    std::reverse(out_.parts.begin(), out_.parts.end());
    for (const path_part& p : out_.parts)
      out_.part_of[static_cast<std::size_t>(p.kind)] += p.span.length();
  }

 private:
  static constexpr std::uint32_t none = timed_item::none;
  using numbers = std::vector<std::uint32_t>;

  void sort_by_end(numbers& items, bool by_stream) const {
    sort_numbers(items, [&](std::uint32_t a, std::uint32_t b) {
      const timed_item &x = times_.items[a], &y = times_.items[b];
      if (by_stream && x.device != y.device) return x.device < y.device;
      if (by_stream && x.stream != y.stream) return x.stream < y.stream;
      return x.span.end < y.span.end;
    });
  }

  /// The item that ended last, no later than `t`; `first` to `last` are in the order of ends.
  [[gnu::cold]] std::uint32_t last_end_until(numbers::const_iterator first,
                                             numbers::const_iterator last, std::int64_t t) const {
    const auto after = std::partition_point(
        first, last, [&](std::uint32_t i) { return times_.items[i].span.end <= t; });
    return after == first ? none : *(after - 1);
  }
  [[gnu::cold]] std::uint32_t last_end_on(std::uint32_t device, std::uint32_t stream,
                                          bool any_stream, std::int64_t t) const {
    std::uint32_t found = none;
    for (const item_stream& s : times_.streams) {
      if (s.device != device || (!any_stream && s.stream != stream)) continue;
      const auto first = by_stream_end_.begin() + static_cast<std::ptrdiff_t>(s.first);
      const std::uint32_t i =
          last_end_until(first, by_stream_end_.begin() + static_cast<std::ptrdiff_t>(s.last), t);
      if (i != none && (found == none || times_.items[i].span.end > times_.items[found].span.end))
        found = i;
    }
    return found;
  }

  /// The item that the call waited for, which ended while it did; or none.
  [[gnu::cold]] std::uint32_t awaited_by(const timed_call& c) const {
    std::uint32_t item = none;
    // Another thread may record the event anew meanwhile; the call waits for what it stood for.
    if (c.waits_for == awaited::event) item = order_.item_of_event(c.event, c.span.begin);
    else item = last_end_on(c.device, c.stream, c.waits_for == awaited::device, c.span.end);
    if (item == none) return none;
    const std::int64_t end = times_.items[item].span.end;
    return end > c.span.begin && end <= c.span.end ? item : none;
  }

  [[gnu::cold]] void find_waited_calls() {
    for (const timed_call& c : times_.calls)
      if (blocks(c) && c.thread < times_.threads.size())
        if (const std::uint32_t item = awaited_by(c); item != none)
          calls_.push_back({c.span, c.thread, item});
    sort_plain(calls_, [](const waited_call& a, const waited_call& b) {
      if (a.thread != b.thread) return a.thread < b.thread;
      return a.span.end < b.span.end;
    });
  }
  [[gnu::cold]] std::pair<std::size_t, std::size_t> calls_of(std::size_t thread) const {
    const auto first = std::partition_point(
        calls_.begin(), calls_.end(), [&](const waited_call& c) { return c.thread < thread; });
    const auto last = std::partition_point(
        first, calls_.end(), [&](const waited_call& c) { return c.thread == thread; });
    return {static_cast<std::size_t>(first - calls_.begin()),
            static_cast<std::size_t>(last - calls_.begin())};
  }

  /// Goes back to `to`, or to where the path begins.
  [[gnu::cold]] void add(std::int64_t to, path_kind kind, std::uint32_t item,
                         std::uint32_t thread) {
    to = std::max(to, out_.window.begin);
    if (to >= t_) return;
    out_.parts.push_back({{to, t_}, kind, item, thread});
    t_ = to;
  }

  [[gnu::cold]] void walk_item(std::uint32_t& item, std::uint32_t& thread) {
    const timed_item& here = times_.items[item];
    seen_[item] = 1;
    constexpr path_kind kinds[] = {path_kind::compute, path_kind::communication, path_kind::copy,
                                   path_kind::set};
    add(here.span.begin, kinds[static_cast<std::size_t>(here.kind)], item, none);

    // What it waited for: the latest of these; at the same time an event first, then the stream.
    std::int64_t latest = -latest_time;
    path_kind kind = path_kind::launch;
    std::uint32_t next = none;
    const auto offer = [&](std::uint32_t other, path_kind how) {
      const std::int64_t end = std::min(times_.items[other].span.end, here.span.begin);
      if (seen_[other] != 0 || (next != none && end <= latest)) return;
      latest = end;
      kind = how;
      next = other;
    };
    const auto [first, last] = waits_of(waits_, item);
    for (const item_wait* w = first; w != last; ++w) offer(w->awaited, path_kind::event_wait);
    if (const std::uint32_t before = before_on_stream(item); before != none)
      offer(before, path_kind::kernel_wait);
    const bool by_launch = here.launched && (next == none || here.call.begin > latest);
    if (by_launch) add(here.call.begin, path_kind::launch, item, none);
    else if (next != none) add(latest, kind, item, none);
    item = by_launch ? none : next;
    thread = by_launch && here.thread < times_.threads.size() ? here.thread : main_;
  }

  /// The item before in its stream; times_.items has each stream in order.
  std::uint32_t before_on_stream(std::uint32_t item) const noexcept {
    if (item == 0) return none;
    const timed_item &here = times_.items[item], &before = times_.items[item - 1];
    return before.device == here.device && before.stream == here.stream ? item - 1 : none;
  }

  [[gnu::cold]] void walk_host(std::uint32_t& item, std::uint32_t& thread) {
    if (thread < next_call_.size()) {
      const std::size_t first = calls_of(thread).first;
      std::size_t& next = next_call_[thread];
      while (next > first) {
        const waited_call& call = calls_[--next];
        if (call.span.end > t_ || seen_[call.item] != 0) continue;
        add(call.span.end, path_kind::host, none, thread);
        add(times_.items[call.item].span.end, path_kind::sync_return, call.item, thread);
        item = call.item;
        return;
      }
    }
    // Who began the thread is not recorded: the path goes on where the program began.
    const bool is_other = thread != main_ && thread < times_.thread_begins.size();
    add(is_other ? times_.thread_begins[thread] : out_.window.begin, path_kind::host, none, thread);
    thread = main_;
  }

  const run_times& times_;
  critical_path& out_;
  launch_order order_;
  std::vector<item_wait> waits_;
  numbers by_end_;         // all items
  numbers by_stream_end_;  // those of each stream, at the same places as in run_times::items
  std::vector<waited_call> calls_;
  std::vector<std::size_t> next_call_;  // of each thread: behind the next call to look at
  std::vector<char> seen_;
  std::int64_t t_ = 0;
  std::uint32_t main_ = none;
};

/// Charges every part of the path to a scope.
[[gnu::cold]] inline std::vector<named_time> names_on_path(const profile& p, const run_times& times,
                                                           const critical_path& path) {
  scope_times scopes(p.nodes.size());
  const thread_states states(times);
  for (const path_part& part : path.parts) {
    if (part.thread >= times.threads.size())
      scopes.add(part.item == timed_item::none ? part.item : times.items[part.item].scope,
                 part.span.length());
    else
      states.each(part.thread, part.span,
                  [&](std::uint32_t node, host_state, std::int64_t ns) { scopes.add(node, ns); });
  }
  return scopes.by_name(p, times.operators);
}

}  // namespace detail

/// The path to the end of `window`, whose host part ends at `host_end`, on `thread`.
[[gnu::cold]] inline critical_path critical_path_of(const profile& p, const run_times& times,
                                                    interval window, std::int64_t host_end,
                                                    std::uint32_t thread) {
  critical_path out;
  out.window = window.length() > 0 ? window : interval{window.begin, window.begin};
  detail::path_walk(times, out).walk(thread, host_end);
  out.by = detail::names_on_path(p, times, out);
  return out;
}

/// The thread on which the path of a run ends: whose steps take most time; without steps the first.
[[gnu::cold]] inline std::uint32_t path_thread_of(const profile& p) {
  return p.steps.empty() ? 0 : stepping_thread_of(p);
}

/// The path of the whole run: from the session's start to the end of the host or of the last item.
[[gnu::cold]] inline critical_path critical_path_of(const profile& p, const run_times& times) {
  interval window = times.host;
  for (const timed_item& i : times.items) window.end = std::max(window.end, i.span.end);
  return critical_path_of(p, times, window, times.host.end, path_thread_of(p));
}

KPROF_DETAIL_END

#endif
