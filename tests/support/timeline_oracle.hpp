// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_TIMELINE_ORACLE_HPP
#define KPROF_TESTS_TIMELINE_ORACLE_HPP

// Small random timelines, and what happened in them, found by looking at every nanosecond.

#include "timeline_builder.hpp"

#include <kprof/profile.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kprof_test {

/// All that happens does so in [0, last_ns).
inline constexpr std::int64_t last_ns = 100;
/// How many random timelines a test looks at.
#ifdef KPROF_TEST_SHORT
inline constexpr std::uint32_t seeds = 500;
#else
inline constexpr std::uint32_t seeds = 10'000;
#endif

/// Items on two devices and five streams, calls, scopes on two threads. A few of the items have
/// an end before their start, no launch, or a launch after their start.
class random_timeline : public timeline_builder {
 public:
  explicit random_timeline(std::uint32_t seed) : random_(seed) {
    const std::uint32_t roots[] = {thread("main", 1), thread("worker", 2)};
    for (const std::uint32_t root : roots) {
      const auto input = region(root, "load_batch"), step = region(root, "step");
      nodes_.push_back({input, step, op(step, "Gemm"), op(input, "Decode"), op(root, "Relu"),
                        op(root, "AllReduce")});
    }
    for (std::uint32_t t = 0; t < 2; ++t) add_scopes(t, 0, last_ns, 0, roots[t]);
    const std::uint32_t items = below(14);
    for (std::uint32_t i = 0; i < items; ++i) add_item();
    const std::uint32_t calls = below(7);
    for (std::uint32_t i = 0; i < calls; ++i) add_call();
    if (one_of(4)) add_event_wait();
    if (one_of(3)) add_replay();
    while (one_of(2)) {
      const std::int64_t recorded = below(60), waited = recorded + below(10);
      event_at(below(3), 7 + below(3), recorded, 7 + below(3), waited);
    }
    for (std::int64_t t = below(20); t < last_ns && p.steps.size() < 4;) {
      const std::int64_t end = t + below(50);
      step_at(t, end);
      t = end + below(5);
    }
    p.wall_ns = static_cast<double>(below(120));
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool one_of(std::uint32_t n) { return below(n) == 0; }

  /// Scopes of `parent` one after another, some with scopes inside.
  void add_scopes(std::uint32_t t, std::int64_t from, std::int64_t to, int depth,
                  std::uint32_t parent) {
    while (from < to && !one_of(3)) {
      const std::int64_t begin = from + below(12), end = begin + below(40);
      if (end > to) return;
      std::vector<std::uint32_t> children;
      for (const std::uint32_t n : nodes_[t])
        if (p.nodes[n].parent == parent) children.push_back(n);
      if (children.empty()) return;
      const std::uint32_t node = children[below(static_cast<std::uint32_t>(children.size()))];
      if (depth < 2) add_scopes(t, begin, end, depth + 1, node);
      scope_at(node, begin, end);
      from = end;
    }
  }

  void add_item() {
    const std::int64_t start = below(90);
    std::int64_t launch = start - below(30);
    item_time t{launch, launch + below(12), start, start + below(25)};
    if (one_of(10)) t.end = start - 1 - below(5);
    if (one_of(10)) t.call_begin = t.call_end = -1;
    if (one_of(20)) t.call_begin = start + 1 + below(5);
    if (one_of(20)) t.call_end = t.call_begin - 3;
    const std::uint32_t place = below(5), of_thread = one_of(12) ? 9 : below(2);
    const auto& nodes = nodes_[of_thread % 2];
    const item_place at{.stream = 7 + place % 3,
                        .device = place / 3,
                        .scope = one_of(10)
                                     ? kprof::scope_node::none
                                     : nodes[below(static_cast<std::uint32_t>(nodes.size()))],
                        .thread = of_thread,
                        .graph = one_of(8)};
    switch (below(6)) {
      case 0: copy_at(t, at); break;
      case 1: set_at(t, at); break;
      case 2: communication_at(t, at); break;
      default: kernel_at(t, at);
    }
  }

  /// An item that starts when one of another stream has ended.
  void add_event_wait() {
    const std::int64_t t = below(20), end = t + 20 + below(30);
    const std::uint32_t other = 8 + below(2), event = 1 + below(2);
    kernel_at({t, t + 1, t + 2, end});
    kernel_at({t + 1, t + 2, t + 3, t + 5}, {.stream = other});
    event_at(event, 7, t + 3, other, t + 4);
    const std::int64_t start = end + below(3);
    kernel_at({t + 6, t + 7, start, start + 10}, {.stream = other});
  }

  /// Nodes of a graph on two streams, launched by one call; some may seem to start before it.
  void add_replay() {
    const std::int64_t called = 10 + below(40), returned = called + below(6);
    const std::uint32_t thread = below(2), nodes = 2 + below(4);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const std::int64_t start = called - 3 + below(30);
      kernel_at({called, returned, start, start + 1 + below(6)},
                {.stream = 7 + below(2), .thread = thread, .graph = true});
    }
  }

  void add_call() {
    const std::int64_t begin = below(90);
    kprof::host_call& c =
        call_at(static_cast<kprof::call_kind>(below(9)), begin, begin + below(30), 7 + below(3));
    if (one_of(20)) c.end = begin - 1;
    c.thread = one_of(12) ? kprof::host_call::none : below(2);
    c.device = below(2);
    c.event = below(3);
    if (c.kind == kprof::call_kind::synchronize || one_of(5))
      c.waits_for = static_cast<kprof::awaited>(below(4));
  }

  std::mt19937 random_;
  std::vector<std::vector<std::uint32_t>> nodes_;
};

/// Looks at every nanosecond of a profile, item by item.
class timeline_oracle {
 public:
  explicit timeline_oracle(const kprof::profile& p) : p_(p) {
    for (const kprof::device_item& i : p.device.timeline.items) {
      if (i.end < i.start) continue;
      item made{&i, &p.device.work[i.work], i.start, i.end, i.call_begin >= 0, 0, 0};
      if (made.launched) {
        made.call_begin = std::min(i.call_begin, i.start);
        made.call_end = std::max(made.call_begin, i.call_end);
      }
      items_.push_back(made);
    }
  }

  struct item {
    const kprof::device_item* from;
    const kprof::device_work* work;
    std::int64_t start, end;
    bool launched;
    std::int64_t call_begin, call_end;
    bool runs(std::int64_t t) const { return start <= t && t < end; }
  };
  const std::vector<item>& items() const { return items_; }

  /// In the order of time_use.
  int kind_of(const item& i) const {
    if (i.work->task == kprof::device_task::copy) return 1;
    if (i.work->task == kprof::device_task::set) return 2;
    const bool nccl = p_.device.kernels[i.work->kernel].rfind("nccl", 0) == 0;
    return nccl || is_under(i.work->scope, "AllReduce") ? 3 : 0;
  }

  /// 7 is nothing of all these.
  int use_at(std::int64_t t, std::uint32_t device) const {
    for (int use = 0; use < 7; ++use)
      if (is_used(t, use, device)) return use;
    return 7;
  }
  bool is_used(std::int64_t t, int use, std::uint32_t device) const {
    for (const item& i : items_) {
      if (use < 4 && i.runs(t) && kind_of(i) == use && (device > 1 || i.work->device == device))
        return true;
      if (use == 4 && i.launched && i.call_begin <= t && t < i.call_end) return true;
    }
    if (use == 4)
      for (const kprof::host_call& c : p_.device.timeline.calls)
        if (c.begin <= t && t < c.end) return true;
    for (std::uint32_t thread = 0; use >= 3 && thread < p_.threads.size(); ++thread) {
      const std::uint32_t node = innermost(thread, t);
      if (use == 3 && is_under(node, "AllReduce") && !launches_below(operator_of(node)))
        return true;
      if (use == 5 && is_under(node, "load_batch")) return true;
      if (use == 6 && operator_of(node) != kprof::scope_node::none) return true;
    }
    return false;
  }

  /// The scope that began last; of those that began together, the inner one.
  std::uint32_t innermost(std::uint32_t thread, std::int64_t t) const {
    const kprof::timeline_scope* found = nullptr;
    const auto depth = [&](std::uint32_t n) {
      int levels = 0;
      for (; n != kprof::scope_node::none; n = p_.nodes[n].parent) ++levels;
      return levels;
    };
    for (const kprof::timeline_scope& s : p_.timeline) {
      const auto end = s.start + static_cast<std::int64_t>(s.duration);
      if (p_.nodes[s.node].thread != thread || t < s.start || t >= end) continue;
      if (found == nullptr || s.start > found->start ||
          (s.start == found->start && depth(s.node) > depth(found->node)))
        found = &s;
    }
    return found == nullptr ? kprof::scope_node::none : found->node;
  }
  std::uint32_t operator_of(std::uint32_t n) const {
    for (; n != kprof::scope_node::none; n = p_.nodes[n].parent)
      if (p_.nodes[n].kind == kprof::scope_kind::op) return n;
    return n;
  }
  bool waits(std::uint32_t thread, std::int64_t t) const {
    for (const kprof::host_call& c : p_.device.timeline.calls)
      if (c.thread == thread && c.begin <= t && t < c.end &&
          c.waits_for != kprof::awaited::nothing && c.kind != kprof::call_kind::stream_wait)
        return true;
    return false;
  }
  bool calls(std::uint32_t thread, std::int64_t t) const {
    for (const kprof::host_call& c : p_.device.timeline.calls)
      if (c.thread == thread && c.begin <= t && t < c.end) return true;
    for (const item& i : items_)
      if (i.launched && i.from->thread == thread && i.call_begin <= t && t < i.call_end)
        return true;
    return false;
  }

  /// Calls under way of which nothing has started on the stream: of the items that one thread's
  /// call at one moment replayed none may have, and a kernel launched alone counts by itself.
  std::uint64_t queued_at(std::int64_t t, std::uint32_t device, std::uint32_t stream) const {
    std::uint64_t queued = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto is_of_call = [&](const item& other) {
        return other.launched && other.work->device == device && other.from->stream == stream &&
               (&other == &items_[i] || (other.from->graph && items_[i].from->graph &&
                                         thread_of(other) == thread_of(items_[i]) &&
                                         other.from->call_begin == items_[i].from->call_begin));
      };
      if (!is_of_call(items_[i])) continue;
      // Each call is looked at once, by its first item here.
      bool first = true, begun = false, started = false;
      for (std::size_t k = 0; k < items_.size(); ++k) {
        if (!is_of_call(items_[k])) continue;
        first = first && k >= i;
        begun = begun || items_[k].call_begin <= t;
        started = started || items_[k].start <= t;
      }
      queued += first && begun && !started ? 1 : 0;
    }
    return queued;
  }

  /// The ends of the items that this one had to wait for by an event.
  std::vector<std::int64_t> awaited_ends(const item& waiting) const {
    std::vector<std::int64_t> ends;
    for (const kprof::host_call& w : p_.device.timeline.calls) {
      if (w.kind != kprof::call_kind::stream_wait || w.event == 0 || w.end < w.begin ||
          first_from(w.device, w.stream, w.begin) != &waiting)
        continue;
      const kprof::host_call* record = nullptr;
      for (const kprof::host_call& r : p_.device.timeline.calls)
        if (r.kind == kprof::call_kind::event_record && r.event == w.event && r.end >= r.begin &&
            r.begin < w.begin && (record == nullptr || r.begin >= record->begin))
          record = &r;
      if (record == nullptr) continue;
      const item* before = last_before(record->device, record->stream, record->begin);
      if (before != nullptr && before != &waiting) ends.push_back(before->end);
    }
    return ends;
  }

  bool is_under(std::uint32_t n, const std::string& name) const {
    const bool op = name == "AllReduce";
    if (op) n = operator_of(n);
    for (; n != kprof::scope_node::none; n = op ? kprof::scope_node::none : p_.nodes[n].parent)
      if (p_.nodes[n].name == name) return true;
    return false;
  }

 private:
  std::uint32_t thread_of(const item& i) const {
    return i.from->thread < p_.threads.size() ? i.from->thread : kprof::device_item::none;
  }
  bool launches_below(std::uint32_t op) const {
    for (const kprof::device_work& w : p_.device.work)
      for (std::uint32_t n = w.scope; n != kprof::scope_node::none; n = p_.nodes[n].parent)
        if (n == op) return true;
    return false;
  }
  // Of items launched at once, the one that the order by stream, start and end has later or
  // earlier.
  static bool is_later(const item& a, const item& b) {
    if (a.call_begin != b.call_begin) return a.call_begin > b.call_begin;
    if (a.start != b.start) return a.start > b.start;
    return a.end >= b.end;
  }
  const item* first_from(std::uint32_t device, std::uint32_t stream, std::int64_t t) const {
    const item* found = nullptr;
    for (const item& i : items_)
      if (i.launched && i.work->device == device && i.from->stream == stream && i.call_begin >= t &&
          (found == nullptr || !is_later(i, *found)))
        found = &i;
    return found;
  }
  const item* last_before(std::uint32_t device, std::uint32_t stream, std::int64_t t) const {
    const item* found = nullptr;
    for (const item& i : items_)
      if (i.launched && i.work->device == device && i.from->stream == stream && i.call_begin < t &&
          (found == nullptr || is_later(i, *found)))
        found = &i;
    return found;
  }

  const kprof::profile& p_;
  std::vector<item> items_;
};

}  // namespace kprof_test

#endif
