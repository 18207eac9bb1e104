// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_TRACE_TRACE_WALK_HPP
#define KPROF_REPORT_TRACE_TRACE_WALK_HPP

// Goes through what a trace shows, in the order of time: it gives each slice its row, keeps calls
// in the scopes that made them, and sums up the curves. A format writes them: json_trace or
// packet_trace. Included by trace.hpp. Memory does not grow with the timeline.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/trace/call_arrows.hpp>
#include <kprof/report/trace/held_call.hpp>
#include <kprof/report/trace/node_facts.hpp>
#include <kprof/report/trace/places.hpp>
#include <kprof/report/trace/slice_facts.hpp>
#include <kprof/report/trace/time_order.hpp>
#include <kprof/report/trace/trace_curves.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// What the formats of a trace know of the profile.
struct trace_source {
  explicit trace_source(const profile& p)
      : run(p), events(p), places(p), facts(p), slices(p, facts) {}
  trace_source(const trace_source&) = delete;
  trace_source& operator=(const trace_source&) = delete;

  const profile& run;
  time_order events;
  trace_places places;
  node_facts facts;
  slice_facts slices;
};

/// A call of CUDA's libraries, and what it launched.
struct traced_call {
  std::string_view name;
  std::uint64_t id = 0;  ///< "External id" of its operator; 0: none
  std::uint64_t correlation = 0;
  /// Indices of items to which an arrow leads from here.
  std::span<const std::uint32_t> arrows;
};

/// Format is a json_trace or a packet_trace. Slices of one row come to it in the order of their
/// begins, and what is around before what is inside.
template <class Format>
class trace_walk {
  static constexpr std::size_t no_row = most_trace_rows;

 public:
  trace_walk(trace_source& source, Format& format)
      : p_(source.run),
        format_(format),
        events_(source.events),
        places_(source.places),
        facts_(source.facts),
        curves_(places_.devices(), events_.first(), events_.last()),
        links_(p_),
        held_(p_.threads.size()),
        has_launches_(!p_.device.timeline.items.empty()) {}

  void write() {
    format_.begin();
    events_.each([this](const trace_event& e) { add(e); });
    for (std::uint32_t thread = 0; thread < held_.size(); ++thread) release(thread);
    curves_.each_point(places_, [this](const curve_point& point) { format_.point(point); });
    trace_gaps gaps = events_.gaps();
    gaps.crowded = crowded_;
    format_.finish(gaps);
  }

 private:
  void add(const trace_event& e) {
    switch (e.kind) {
      case trace_kind::step: return add_step(e);
      case trace_kind::scope: return add_scope(e);
      case trace_kind::call: return add_call(e);
      case trace_kind::launch: return add_launch(e);
      case trace_kind::item: return add_item(e);
    }
  }

  // ---- the host

  /// Writes the call that the thread holds, unless it lies in what is to come.
  void make_way(std::uint32_t thread, std::int64_t begin, std::int64_t end) {
    held_call& held = held_[thread];
    if (!held.holds) return;
    if (begin < held.end && end >= held.end) return;
    release(thread);
  }
  /// What has just been written around the call that the thread holds began then.
  void keep_inside(std::uint32_t thread, std::int64_t begin) {
    held_call& held = held_[thread];
    if (held.holds) held.begin = std::max(held.begin, begin);
  }

  void add_step(const trace_event& e) {
    const std::uint32_t thread = p_.steps[e.index].thread;
    const std::int64_t end = format_.end_of_step(e.begin, e.end);
    make_way(thread, e.begin, end);
    slice_place at{};
    if (find_row(thread, e.begin, {end, scope_node::none, 0}, at)) format_.step(at, e.index);
    keep_inside(thread, e.begin);
  }

  void add_scope(const trace_event& e) {
    const std::uint32_t node = p_.timeline[e.index].node;
    const std::uint32_t thread = p_.nodes[node].thread;
    make_way(thread, e.begin, e.end);
    const slice_figures& figures = format_.figures_of_scope(node);
    const bool is_op = p_.nodes[node].kind == scope_kind::op;
    const std::uint64_t id = is_op && has_launches_ ? std::uint64_t{e.index} + 1 : 0;
    const auto ns = static_cast<double>(e.end - e.begin);
    const double share = figures.ideal_ns > 0 && ns > 0 ? 100 * figures.ideal_ns / ns : 0;
    curves_.add_host(e.begin, e.end, figures.host);
    slice_place at{};
    if (find_row(thread, e.begin, {e.end, node, id}, at))
      format_.scope(at, node, id, share, links_.of(e.index, at));
    keep_inside(thread, e.begin);
  }

  void add_call(const trace_event& e) {
    const host_call& call = p_.device.timeline.calls[e.index];
    release(call.thread);
    held_call& held = held_[call.thread];
    held.holds = true;
    held.begin = held.called = e.begin;
    held.end = e.end;
    held.function = call.name;
    held.scope = call.scope;
    // Profiles do not have it. HTA wants different ones.
    held.correlation = (std::uint64_t{1} << 32U) + e.index;
    held.items.clear();
    held.may_launch = may_launch(call);
  }

  void add_launch(const trace_event& e) {
    const device_item& item = p_.device.timeline.items[e.index];
    const device_work& work = p_.device.work[item.work];
    held_call& held = held_[item.thread];
    const bool same_call =
        held.holds && held.called == e.begin &&
        (held.launched() ? held.correlation == item.correlation : held.may_launch);
    if (!same_call) {
      release(item.thread);
      held.holds = true;
      held.begin = held.called = e.begin;
      held.end = e.end;
      held.function = held_call::none;
      held.items.clear();
    }
    if (!held.launched()) held.scope = work.scope;
    held.correlation = item.correlation;
    held.items.push_back(e.index);
    if (is_queued(item)) curves_.add_queued(work.device, e.begin, 1);
  }
  /// Whether the launch waited at all, by clocks that may differ.
  static bool is_queued(const device_item& item) noexcept {
    return item.end >= item.start && item.start > item.call_begin;
  }

  /// Writes the call that the thread holds, within what is around it.
  void release(std::uint32_t thread) {
    held_call& held = held_[thread];
    if (!held.holds) return;
    held.holds = false;
    thread_rows& rows = places_.rows(thread);
    const std::uint64_t id =
        held.launched() ? rows.find(facts_.launcher(held.scope), held.begin) : 0;
    if (const std::int64_t around = rows.innermost_end(held.begin); around > held.begin)
      held.end = std::min(held.end, around);
    slice_place at{};
    const bool is_there = find_row(thread, held.begin, {held.end, scope_node::none, 0}, at);
    arrows_.clear();
    for (const std::uint32_t index : held.items) {
      const device_item& item = p_.device.timeline.items[index];
      const std::int64_t end = events_.time(item.end);
      if (is_there && held.end > held.begin && end > events_.time(item.start) && end > held.begin)
        arrows_.push_back(index);
    }
    const std::string name = name_of(held);
    if (is_there) format_.call(at, {name, id, held.correlation, arrows_});
    std::size_t arrow = 0;
    for (const std::uint32_t index : held.items) {
      const bool has_arrow = arrow < arrows_.size() && arrows_[arrow] == index;
      if (has_arrow) ++arrow;
      const device_item& item = p_.device.timeline.items[index];
      if (item.end >= item.start) format_.launched(index, id, has_arrow ? held.begin : -1);
    }
  }

  /// As clients know it: without CUDA's suffixes, "cudaGraphLaunch_v10000".
  std::string name_of(const held_call& held) const {
    if (held.function < p_.device.functions.size()) {
      const std::string& name = p_.device.functions[held.function];
      const std::size_t version = name.rfind("_v");
      const bool has_version =
          version != std::string::npos && version + 2 < name.size() &&
          name.find_first_not_of("0123456789", version + 2) == std::string::npos;
      return has_version ? name.substr(0, version) : name;
    }
    if (!held.launched()) return "(unknown function)";
    const device_item& item = p_.device.timeline.items[held.items.front()];
    if (item.graph) return "cudaGraphLaunch";
    const device_task task = p_.device.work[item.work].task;
    return task == device_task::kernel ? "cudaLaunchKernel"
           : task == device_task::copy ? "cudaMemcpyAsync"
                                       : "cudaMemsetAsync";
  }

  /// Whether there is a row for a slice of a thread; `at` is its place then.
  bool find_row(std::uint32_t thread, std::int64_t begin, const open_slice& slice,
                slice_place& at) {
    const std::size_t row = places_.rows(thread).place(begin, slice);
    if (row == no_row) {
      ++crowded_;
      return false;
    }
    const row_number number = places_.number_of_row(thread, row);
    if (number.is_new) format_.further_row(thread, row, number.tid);
    at = {places_.pid(), number.tid, begin, slice.end};
    return true;
  }

  // ---- devices

  void add_item(const trace_event& e) {
    const device_item& item = p_.device.timeline.items[e.index];
    const device_work& work = p_.device.work[item.work];
    traced_stream& stream = places_.stream(work.device, item.stream);
    const bool is_launched = has_launch(p_, item);
    if (is_launched && is_queued(item)) curves_.add_queued(work.device, e.begin, -1);
    curves_.add_device(work.device, e.begin, e.end, format_.figures_of_item(item.work).per_ns);
    const std::size_t row = stream.rows.place(e.begin, e.end);
    if (row == no_row) {
      ++crowded_;
      return format_.item_without_row(e.index, is_launched);
    }
    const row_number number = places_.number_of_row(stream, row);
    if (number.is_new) format_.further_row(stream, row, number.tid);
    format_.item({stream.pid, number.tid, e.begin, e.end}, e.index, is_launched);
  }

  const profile& p_;
  Format& format_;
  time_order& events_;
  trace_places& places_;
  const node_facts& facts_;
  trace_curves curves_;
  call_arrows links_;
  std::vector<held_call> held_;        // by thread
  std::vector<std::uint32_t> arrows_;  // of the call that is being written
  bool has_launches_;
  std::uint64_t crowded_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
