// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_RUN_TIMES_HPP
#define KPROF_MODEL_TIMELINE_RUN_TIMES_HPP

// The times of a profile in one form for all analyses: what the devices ran, stream by stream, the
// calls of CUDA, and which scope was the innermost on each thread. What has no usable time is left
// out and counted. Included by the analyses of timelines. n log n in the timeline.

#include <kprof/build_options.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/item_kinds.hpp>
#include <kprof/model/timeline/kept_steps.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN

/// A kernel, copy or memset with its time.
struct timed_item {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  interval span;
  interval call;  ///< that launched it; it began no later than the item. Only where `launched`.
  std::int64_t called = 0;  ///< when that call began as recorded: the same for all that it launched
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t thread = none;  ///< that launched it
  std::uint32_t scope = none;   ///< index in profile::nodes
  std::uint32_t work = none;    ///< index in device_profile::work
  std::uint64_t bytes = 0;      ///< copied or set
  item_kind kind = item_kind::kernel;
  bool launched = false;  ///< the call is known
  bool graph = false;
};

/// A call of CUDA's libraries that is told by itself.
struct timed_call {
  interval span;
  std::uint32_t name = timed_item::none;  ///< index in device_profile::functions
  std::uint32_t thread = timed_item::none;
  std::uint32_t scope = timed_item::none;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint64_t event = 0;
  call_kind kind = call_kind::other;
  awaited waits_for = awaited::nothing;
};

/// A stretch in which `node` was the innermost scope of its thread.
struct host_segment {
  interval span;
  std::uint32_t node = 0;
};

/// The items of one stream: those from `first` to before `last` in run_times::items.
struct item_stream {
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

/// See times_of().
struct run_times {
  std::vector<timed_item> items;     ///< by device, stream, start and end
  std::vector<item_stream> streams;  ///< in the same order
  std::vector<timed_call> calls;     ///< in the order of their begins
  /// Of each thread, in order and disjoint.
  std::vector<std::vector<host_segment>> threads;
  std::vector<std::int64_t> thread_begins;  ///< when each thread opened its first scope
  std::vector<std::uint32_t> operators;     ///< of each node: the innermost operator around it
  interval host;                            ///< from the session's start to the profile
  std::uint64_t untimed = 0;                ///< items and calls that end before they begin
  std::uint64_t unplaced = 0;               ///< items whose device is not known
  std::uint64_t unlaunched = 0;             ///< of `items`, those whose launch is not known
  std::uint64_t dropped = 0;                ///< items and calls that the profile lacks

  /// The devices, in order.
  std::vector<std::uint32_t> devices() const {
    std::vector<std::uint32_t> found;
    for (const item_stream& s : streams)
      if (found.empty() || found.back() != s.device) found.push_back(s.device);
    return found;
  }
};

namespace detail {

/// Sums of times within it do not overflow: 104 days.
inline constexpr std::int64_t latest_time = std::int64_t{1} << 53U;

inline std::int64_t bounded_time(std::int64_t t) noexcept {
  return std::clamp(t, -latest_time, latest_time);
}
/// 0 for what is not a number.
inline std::int64_t whole_ns(double ns) noexcept {
  if (!(std::fabs(ns) <= static_cast<double>(latest_time)))
    return std::isnan(ns) ? 0 : ns > 0 ? latest_time : -latest_time;
  return std::llround(ns);
}

[[gnu::cold]] inline item_kind kind_of(const profile& p,
                                       const std::vector<std::uint32_t>& operators,
                                       const device_work& w) {
  if (w.task == device_task::copy) return item_kind::copy;
  if (w.task == device_task::set) return item_kind::set;
  const std::uint32_t op = w.scope < operators.size() ? operators[w.scope] : timed_item::none;
  const bool communicates =
      (w.kernel < p.device.kernels.size() && is_communication_kernel(p.device.kernels[w.kernel])) ||
      (op != timed_item::none && is_collective(p.nodes[op].name));
  return communicates ? item_kind::communication : item_kind::kernel;
}

[[gnu::cold]] inline void add_items(const profile& p, run_times& out) {
  std::vector<item_kind> kinds;
  for (const device_work& w : p.device.work) kinds.push_back(kind_of(p, out.operators, w));
  const std::int64_t unbroken = unbroken_devices_from(p);
  for (const device_item& i : p.device.timeline.items) {
    if (std::max(i.start, i.end) < unbroken) continue;
    if (i.end < i.start) {
      ++out.untimed;
      continue;
    }
    if (i.work >= p.device.work.size()) {
      ++out.unplaced;
      continue;
    }
    const device_work& w = p.device.work[i.work];
    timed_item& made = out.items.emplace_back();
    made.span = {bounded_time(i.start), bounded_time(i.end)};
    made.device = w.device;
    made.stream = i.stream;
    made.thread = i.thread < p.threads.size() ? i.thread : timed_item::none;
    made.scope = w.scope < p.nodes.size() ? w.scope : timed_item::none;
    made.work = i.work;
    made.bytes = i.bytes;
    made.kind = kinds[i.work];
    made.graph = i.graph;
    made.launched = i.call_begin >= 0;
    if (!made.launched) {
      ++out.unlaunched;
      continue;
    }
    made.called = bounded_time(i.call_begin);
    // Launch and start are read from two clocks: an item may seem to start before its launch.
    made.call.begin = std::min(bounded_time(i.call_begin), made.span.begin);
    made.call.end = std::max(made.call.begin, bounded_time(i.call_end));
  }
  sort_plain(out.items, [](const timed_item& a, const timed_item& b) {
    if (a.device != b.device) return a.device < b.device;
    if (a.stream != b.stream) return a.stream < b.stream;
    if (a.span.begin != b.span.begin) return a.span.begin < b.span.begin;
    return a.span.end < b.span.end;
  });
  for (std::size_t i = 0; i < out.items.size(); ++i) {
    const timed_item& item = out.items[i];
    if (out.streams.empty() || out.streams.back().device != item.device ||
        out.streams.back().stream != item.stream)
      out.streams.push_back({item.device, item.stream, i, i});
    ++out.streams.back().last;
  }
}

[[gnu::cold]] inline void add_calls(const profile& p, run_times& out) {
  const std::int64_t unbroken = unbroken_devices_from(p);
  for (const host_call& c : p.device.timeline.calls) {
    if (std::max(c.begin, c.end) < unbroken) continue;
    if (c.end < c.begin) {
      ++out.untimed;
      continue;
    }
    timed_call& made = out.calls.emplace_back();
    made.span = {bounded_time(c.begin), bounded_time(c.end)};
    made.name = c.name < p.device.functions.size() ? c.name : timed_item::none;
    made.thread = c.thread < p.threads.size() ? c.thread : timed_item::none;
    made.scope = c.scope < p.nodes.size() ? c.scope : timed_item::none;
    made.device = c.device;
    made.stream = c.stream;
    made.event = c.event;
    made.kind = c.kind;
    made.waits_for = c.waits_for;
  }
  sort_plain(out.calls,
             [](const timed_call& a, const timed_call& b) { return a.span.begin < b.span.begin; });
}

/// Scopes of one thread become stretches of the innermost one: the one that began last of those
/// that are open. Scopes nest, but those of threads that the profile keeps together do not.
class innermost_scopes {
 public:
  explicit innermost_scopes(std::vector<host_segment>& out) : out_(out) {}

  /// In the order of begins; of equal ones, the outer scope first.
  [[gnu::cold]] void open(const host_segment& scope) {
    until(scope.span.begin);
    open_.push_back(scope);
    at_ = scope.span.begin;
  }
  [[gnu::cold]] void until(std::int64_t t) {
    while (!open_.empty() && at_ < t) {
      const host_segment& top = open_.back();
      const std::int64_t stop = std::min(top.span.end, t);
      if (at_ < stop) out_.push_back({{at_, stop}, top.node});
      at_ = std::max(at_, stop);
      if (top.span.end <= t) open_.pop_back();
    }
    at_ = std::max(at_, t);
  }

 private:
  std::vector<host_segment>& out_;
  std::vector<host_segment> open_;
  std::int64_t at_ = -latest_time;
};

[[gnu::cold]] inline void add_scopes(const profile& p, run_times& out) {
  std::vector<std::uint32_t> depth(p.nodes.size());
  for (std::size_t i = 0; i < p.nodes.size(); ++i)
    if (const std::uint32_t parent = parent_of(p, i); parent != scope_node::none)
      depth[i] = depth[parent] + 1;
  std::vector<host_segment> scopes;
  const double unbroken = unbroken_from(p);
  for (const timeline_scope& s : p.timeline) {
    const std::int64_t begin = whole_ns(p.clock.to_ns(s.start));
    // Begins and ends are rounded alike, so that the scopes nest as they did.
    const std::int64_t end =
        std::max(begin, whole_ns((static_cast<double>(s.start) + static_cast<double>(s.duration)) *
                                 p.clock.ns_per_tick));
    if (static_cast<double>(end) < unbroken) continue;
    if (s.node < p.nodes.size() && p.nodes[s.node].kind != scope_kind::root && begin < end)
      scopes.push_back({{begin, end}, s.node});
  }
  sort_plain(scopes, [&](const host_segment& a, const host_segment& b) {
    const std::uint32_t x = p.nodes[a.node].thread, y = p.nodes[b.node].thread;
    if (x != y) return x < y;
    if (a.span.begin != b.span.begin) return a.span.begin < b.span.begin;
    if (a.span.end != b.span.end) return a.span.end > b.span.end;
    return depth[a.node] < depth[b.node];
  });
  out.threads.resize(p.threads.size());
  for (std::size_t i = 0; i < scopes.size();) {
    const std::uint32_t thread = p.nodes[scopes[i].node].thread;
    std::vector<host_segment> unknown;
    innermost_scopes here(thread < out.threads.size() ? out.threads[thread] : unknown);
    for (; i < scopes.size() && p.nodes[scopes[i].node].thread == thread; ++i) here.open(scopes[i]);
    here.until(latest_time);
  }
}

}  // namespace detail

/// The times of a run, as far as its timeline reaches back without a gap: not those of the single
/// steps before that. A profile whose timeline was not asked for has no scopes in it.
[[gnu::cold]] inline run_times times_of(const profile& p) {
  run_times out;
  out.operators = detail::operators_around(p);
  out.dropped = p.device.timeline.dropped_items + p.device.timeline.dropped_calls;
  detail::add_items(p, out);
  detail::add_calls(p, out);
  detail::add_scopes(p, out);
  for (const thread_info& t : p.threads) out.thread_begins.push_back(detail::whole_ns(t.begin_ns));
  out.host.end = std::max(std::int64_t{0}, detail::whole_ns(p.wall_ns));
  return out;
}

KPROF_DETAIL_END

#endif
