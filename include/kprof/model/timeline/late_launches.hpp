// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_TIMELINE_LATE_LAUNCHES_HPP
#define KPROF_MODEL_TIMELINE_LATE_LAUNCHES_HPP

// What the host did while a device was idle since the next launch was late: what advice rests on.
// Each nanosecond counts for one thing, so that what two pieces of advice save adds up. Pure,
// n log n.

#include <kprof/build_options.hpp>
#include <kprof/model/timeline/device_activity.hpp>
#include <kprof/model/timeline/graph_saving.hpp>
#include <kprof/model/timeline/idle_causes.hpp>
#include <kprof/model/timeline/intervals.hpp>
#include <kprof/model/timeline/launches.hpp>
#include <kprof/model/timeline/run_times.hpp>
#include <kprof/model/timeline/scope_times.hpp>
#include <kprof/model/timeline/step_breakdown.hpp>
#include <kprof/model/timeline/thread_states.hpp>
#include <kprof/profile.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// Idle time of a device before items that were launched late, by what the launching thread did.
/// The first that applies counts; no time is in two of them.
struct late_launches {
  /// Allocated or freed memory of the device, not of a pool; not in the first step or to warm up.
  std::int64_t allocating = 0;
  /// Was in a copy or memset that blocks, also in one whose own launch was in time; not in copies
  /// of 64 KiB or less to the device.
  std::int64_t copying = 0;
  /// Such copies and memsets of the threads that launched what the device idled for, all of them.
  std::int64_t held = 0;
  std::uint64_t holds = 0;       ///< how many they are
  std::int64_t input = 0;        ///< was in a scope that brings the data of a step
  std::int64_t after_waits = 0;  ///< had waited for the device, from the return of the call on
  std::int64_t launching = 0;    ///< went from one launch to the next, in at most late_start_ns
  std::int64_t saved_ns = 0;     ///< of `launching`, what is longer than between nodes of a graph
  std::uint64_t waits = 0;       ///< calls behind which after_waits lies
  std::uint64_t launches = 0;    ///< that `launching` was for
  std::int64_t apart = 0;        ///< from each of them to the launch before, summed
  std::vector<named_time> waited_in;  ///< after_waits by the scope of the call
  std::vector<named_time> input_in;   ///< `input` by scope
};

namespace detail {

/// Whether a call allocates or frees memory and may wait for the device to do so.
[[gnu::cold]] inline bool allocates(const profile& p, const timed_call& c) noexcept {
  if (c.kind != call_kind::allocate && c.kind != call_kind::free) return false;
  return c.name == timed_item::none ||
         p.device.functions[c.name].find("Async") == std::string::npos;
}
/// Whether a copy or memset holds the thread until it is done.
inline bool is_blocking_copy(const timed_call& c) noexcept {
  return (c.kind == call_kind::copy || c.kind == call_kind::set) && blocks(c);
}
/// A copy to the device of at most 64 KiB: its bytes go along with the command.
[[gnu::cold]] inline bool is_slight_copy(const profile& p, const timed_item& i) noexcept {
  return i.kind == item_kind::copy && i.bytes <= 65536 &&
         p.device.work[i.work].direction == copy_direction::host_to_device;
}

class late_launch_search {
 public:
  [[gnu::cold]] late_launch_search(const profile& p, const run_times& times) : times_(times) {
    threads_.resize(times.threads.size());
    std::vector<std::vector<std::int64_t>> slight(threads_.size());  // begins of calls
    for (const timed_item& i : times.items) {
      if (!i.launched || i.thread >= threads_.size()) continue;
      threads_[i.thread].launches.push_back(i.call.begin);
      if (is_slight_copy(p, i)) slight[i.thread].push_back(i.call.begin);
    }
    const auto is_less = [](std::int64_t a, std::int64_t b) { return a < b; };
    for (std::vector<std::int64_t>& begins : slight) sort_plain(begins, is_less);
    for (std::uint32_t n = 0; n < times.calls.size(); ++n) {
      const timed_call& c = times.calls[n];
      if (c.thread >= threads_.size()) continue;
      of_thread& t = threads_[c.thread];
      if (allocates(p, c)) t.allocates.push_back(c.span);
      else if (is_blocking_copy(c) &&
               !std::binary_search(slight[c.thread].begin(), slight[c.thread].end(), c.span.begin))
        t.copies.push_back(c.span);
      if (allocates(p, c) || !blocks(c)) continue;
      t.waits.push_back(c.span);
      t.waits_by_end.push_back(n);
    }
    const step_mark* first = nullptr;
    for (const step_mark& m : p.steps) {
      if (!m.counts) warm_until_ = std::max(warm_until_, bounded_time(m.end));
      if (first == nullptr || m.begin < first->begin) first = &m;
    }
    if (first != nullptr) warm_until_ = std::max(warm_until_, bounded_time(first->end));
    const std::vector<char> input = input_nodes(p);
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      of_thread& t = threads_[i];
      sort_plain(t.launches, is_less);
      sort_numbers(t.waits_by_end, [&](std::uint32_t a, std::uint32_t b) {
        return times.calls[a].span.end < times.calls[b].span.end;
      });
      for (interval_list* list : {&t.allocates, &t.copies, &t.waits})
        *list = union_of(std::move(*list));
      for (const host_segment& s : times.threads[i])
        if (input[s.node] != 0) t.inputs.push_back(s);
    }
  }

  /// `items`: as idle_search::lasting() has them.
  [[gnu::cold]] late_launches of(const profile& p, const idle_search& search,
                                 const std::vector<std::uint32_t>& items, interval window) const {
    std::vector<gaps> found(threads_.size());
    late_launches out;
    search.each_gap(items, [&](interval gap, std::uint32_t next) {
      const timed_item& item = times_.items[next];
      const interval clipped{std::max(gap.begin, window.begin), std::min(gap.end, window.end)};
      if (!item.launched || item.thread >= found.size() || clipped.length() == 0) return;
      found[item.thread].all.push_back(clipped);
      if (item.call.begin <= gap.begin) return;
      found[item.thread].late.push_back(clipped);
      sort_gap(clipped, item, found[item.thread]);
    });
    scope_times waited(p.nodes.size()), input(p.nodes.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].all.empty()) continue;
      add(threads_[i], found[i], out, waited, input);
      for (const interval& copy : common_of({window}, threads_[i].copies))
        out.held += copy.length(), ++out.holds;
    }
    out.waited_in = waited.by_name(p, times_.operators);
    out.input_in = input.by_name(p, times_.operators);
    return out;
  }

 private:
  struct of_thread {
    std::vector<std::int64_t> launches;       // begins of calls, in order
    std::vector<std::uint32_t> waits_by_end;  // of run_times::calls
    interval_list allocates, copies, waits;
    std::vector<host_segment> inputs;
  };
  struct after_wait {
    interval span;  // from the return to the end of the gap
    std::uint32_t scope = 0;
  };
  struct in_row {
    interval gap;
    std::int64_t apart = 0;  // from the launch before
  };
  /// Gaps that end with a launch of one thread.
  struct gaps {
    interval_list all;
    interval_list late;  // those in which the launch had not begun
    std::vector<after_wait> waited;
    std::vector<in_row> in_a_row;
  };

  /// Behind which call that waited a gap lies, or else behind which launch.
  [[gnu::cold]] void sort_gap(interval gap, const timed_item& item, gaps& to) const {
    const of_thread& t = threads_[item.thread];
    const auto after = std::partition_point(
        t.waits_by_end.begin(), t.waits_by_end.end(),
        [&](std::uint32_t c) { return times_.calls[c].span.end <= item.call.begin; });
    if (after != t.waits_by_end.begin()) {
      const timed_call& wait = times_.calls[*(after - 1)];
      if (wait.span.end > gap.begin) {
        to.waited.push_back({{wait.span.end, gap.end}, wait.scope});
        return;
      }
    }
    const auto here = std::lower_bound(t.launches.begin(), t.launches.end(), item.call.begin);
    if (item.graph || here == t.launches.begin()) return;
    const std::int64_t apart = item.call.begin - *(here - 1);
    if (apart <= late_start_ns) to.in_a_row.push_back({gap, apart});
  }

  [[gnu::cold]] void add(const of_thread& t, const gaps& found, late_launches& out,
                         scope_times& waited, scope_times& input) const {
    const measured_intervals allocating(common_of(found.late, t.allocates));
    out.allocating += allocating.within({warm_until_, latest_time});
    out.copying += length_of(common_of(difference_of(found.all, t.allocates), t.copies));
    const interval_list rest = difference_of(difference_of(found.late, t.allocates), t.waits);
    const measured_intervals open(rest);
    interval_list inputs;
    for (const host_segment& s : t.inputs) {
      const std::int64_t ns = open.within(s.span);
      out.input += ns;
      input.add(s.node, ns);
      inputs.push_back(s.span);
    }
    const measured_intervals left(difference_of(rest, inputs));
    for (const after_wait& w : found.waited) {
      const std::int64_t ns = left.within(w.span);
      if (ns == 0) continue;
      out.after_waits += ns;
      ++out.waits;
      waited.add(w.scope, ns);
    }
    for (const in_row& r : found.in_a_row) {
      const std::int64_t ns = left.within(r.gap);
      if (ns == 0) continue;
      out.launching += ns;
      out.saved_ns += std::max<std::int64_t>(0, ns - graph_gap_ns);
      ++out.launches;
      out.apart += r.apart;
    }
  }

  const run_times& times_;
  std::vector<of_thread> threads_;
  std::int64_t warm_until_ = -latest_time;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
