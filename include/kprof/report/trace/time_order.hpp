// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_TIME_ORDER_HPP
#define KPROF_REPORT_TRACE_TIME_ORDER_HPP

// All that happened in a run, in the order of its begins, whatever the order in the profile.
// Included by trace.hpp. Memory does not grow with the timeline: time is cut into windows that hold
// so many events, and the profile is gone through once a window. Pure.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/trace/held_call.hpp>
#include <kprof/report/trace/step_borders.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What begins first at a time is written first: what is around comes before what is inside.
enum class trace_kind : std::uint8_t { step, scope, call, launch, item };

/// An event: `index` is its place in the profile's list of its kind; of a launch that of the item
/// that it launched. Times are whole nanoseconds since the session's start, not negative.
struct trace_event {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t index = 0;
  trace_kind kind = trace_kind::scope;
};

/// Viewers have microseconds as floating numbers, which tell nanoseconds apart up to here: 26 days.
inline constexpr std::int64_t longest_trace = std::int64_t{1} << 51U;

/// What a trace lacks of the profile: it has no place or no time.
struct trace_gaps {
  std::uint64_t untimed = 0;   ///< ends before it begins
  std::uint64_t unplaced = 0;  ///< its thread, scope or device is not known
  std::uint64_t crowded = 0;   ///< more ran at a time in one place than there are rows for
};

class time_order {
 public:
  /// `most`: events in a window, of 24 bytes each.
  explicit time_order(const profile& p, std::size_t most = std::size_t{1} << 18U)
      : p_(p), most_(most), borders_(p) {
    first_ = latest_time;
    visit(0, latest_time + 1, [&](const trace_event& e) {
      ++count_;
      first_ = std::min(first_, e.begin);
      last_ = std::max({last_, e.begin, e.end});
    });
    if (count_ == 0) first_ = 0;
    if (first_ > longest_trace / 2) origin_ = first_;
    latest_ = origin_ + longest_trace;
    first_ = std::min(first_, latest_);
    last_ = std::min(last_, latest_);
  }

  /// Of the times in the file: the session's start, or the first event where that was long ago.
  std::int64_t origin() const noexcept { return origin_; }
  std::uint64_t count() const noexcept { return count_; }
  std::int64_t first() const noexcept { return first_; }  ///< begin of the first event
  std::int64_t last() const noexcept { return last_; }    ///< the latest end
  const trace_gaps& gaps() const noexcept { return gaps_; }

  /// Calls use(event) for each.
  template <class Use>
  void each(const Use& use) {
    cut(first_, last_ + 1, count_, use);
  }

  /// A time as the trace has it.
  std::int64_t time(std::int64_t t) const noexcept {
    return std::clamp<std::int64_t>(t, 0, latest_);
  }

 private:
  static constexpr std::int64_t pieces = 4096;

  /// Of events that begin in [from, to).
  template <class Use>
  void cut(std::int64_t from, std::int64_t to, std::uint64_t count, const Use& use) {
    if (count == 0) return;
    if (count <= most_ || to - from <= 1) return use_window(from, to, count, use);
    const std::int64_t width = (to - from + pieces - 1) / pieces;
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(pieces));
    visit(from, to, [&](const trace_event& e) {
      if (e.begin >= from && e.begin < to)
        ++counts[static_cast<std::size_t>((e.begin - from) / width)];
    });
    std::int64_t begin = from;
    std::uint64_t in_window = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::int64_t at = from + static_cast<std::int64_t>(i) * width;
      if (in_window > 0 && in_window + counts[i] > most_) {
        cut(begin, at, in_window, use);
        in_window = 0;
      }
      if (in_window == 0) begin = at;
      in_window += counts[i];
    }
    cut(begin, to, in_window, use);
  }

  template <class Use>
  void use_window(std::int64_t from, std::int64_t to, std::uint64_t count, const Use& use) {
    // Never two at a time: they are most of the memory that a trace takes.
    if (window_.capacity() < count) std::vector<trace_event>{}.swap(window_);
    window_.clear();
    window_.reserve(std::max(static_cast<std::size_t>(count), std::min(most_, count_)));
    visit(from, to, [&](const trace_event& e) {
      if (e.begin >= from && e.begin < to) window_.push_back(e);
    });
    std::sort(window_.begin(), window_.end(),
              [this](const trace_event& a, const trace_event& b) { return comes_before(a, b); });
    for (const trace_event& e : window_) use(e);
  }

  bool comes_before(const trace_event& a, const trace_event& b) const noexcept {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.kind == trace_kind::launch) {
      const device_item &x = items()[a.index], &y = items()[b.index];
      if (x.thread != y.thread) return x.thread < y.thread;
      if (x.correlation != y.correlation) return x.correlation < y.correlation;
    }
    if (a.end != b.end) return a.end > b.end;
    if (a.kind == trace_kind::scope) {
      const std::uint32_t x = p_.timeline[a.index].node, y = p_.timeline[b.index].node;
      if (x != y) return x < y;  // parents have the lower numbers
    }
    return a.index < b.index;
  }

  const std::vector<device_item>& items() const noexcept { return p_.device.timeline.items; }
  /// In the order of the profile: all that begins in [from, to), and some of the rest. Counts what
  /// it leaves out.
  template <class Visit>
  void visit(std::int64_t from, std::int64_t to, const Visit& use) {
    // Times that are beyond the first or the last that a trace has are that one.
    constexpr double beyond = std::numeric_limits<double>::infinity();
    const double least = from <= 0 ? -beyond : static_cast<double>(from - 1),
                 most = to > latest_ ? beyond : static_cast<double>(to);
    trace_gaps gaps;
    for (std::size_t i = 0; i < p_.steps.size(); ++i) {
      const step_mark& s = p_.steps[i];
      if (s.thread >= p_.threads.size()) ++gaps.unplaced;
      else if (s.end < s.begin) ++gaps.untimed;
      else if (s.counts)
        use(make(borders_.place_of(s.thread, s.begin), borders_.place_of(s.thread, s.end), i,
                 trace_kind::step));
    }
    for (std::size_t i = 0; i < p_.timeline.size(); ++i) {
      const timeline_scope& s = p_.timeline[i];
      if (s.node >= p_.nodes.size() || p_.nodes[s.node].kind == scope_kind::root ||
          p_.nodes[s.node].thread >= p_.threads.size()) {
        ++gaps.unplaced;
        continue;
      }
      // Begins and ends are rounded alike, so that the scopes nest as they did.
      const double begin = static_cast<double>(s.start), at = begin * p_.clock.ns_per_tick;
      if (at < least || at > most) continue;
      use(make(whole_ns(at),
               whole_ns((begin + static_cast<double>(s.duration)) * p_.clock.ns_per_tick), i,
               trace_kind::scope));
    }
    for (std::size_t i = 0; i < p_.device.timeline.calls.size(); ++i) {
      const host_call& c = p_.device.timeline.calls[i];
      if (c.thread >= p_.threads.size()) ++gaps.unplaced;
      else if (c.end < c.begin) ++gaps.untimed;
      else use(make(c.begin, c.end, i, trace_kind::call));
    }
    for (std::size_t i = 0; i < items().size(); ++i) {
      const device_item& item = items()[i];
      if (has_launch(p_, item)) use(make(item.call_begin, item.call_end, i, trace_kind::launch));
      if (item.work >= p_.device.work.size()) ++gaps.unplaced;
      else if (item.end < item.start) ++gaps.untimed;
      else use(make(item.start, item.end, i, trace_kind::item));
    }
    gaps_ = gaps;
  }
  trace_event make(std::int64_t begin, std::int64_t end, std::size_t index,
                   trace_kind kind) const noexcept {
    const std::int64_t from = time(begin);
    return {from, std::max(from, time(end)), static_cast<std::uint32_t>(index), kind};
  }

  const profile& p_;
  std::size_t most_;
  step_borders borders_;
  std::uint64_t count_ = 0;
  std::int64_t origin_ = 0, latest_ = latest_time, first_ = 0, last_ = 0;
  trace_gaps gaps_;
  std::vector<trace_event> window_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
