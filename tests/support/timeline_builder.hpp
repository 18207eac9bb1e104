// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_TIMELINE_BUILDER_HPP
#define KPROF_TESTS_TIMELINE_BUILDER_HPP

// Builds profiles with a timeline by hand; a tick is a nanosecond.

#include "device_builder.hpp"

#include <kprof/profile.hpp>

#include <cstdint>
#include <string>

namespace kprof_test {

/// Launched by [call_begin, call_end), ran on [start, end).
struct item_time {
  std::int64_t call_begin = -1;
  std::int64_t call_end = -1;
  std::int64_t start = 0;
  std::int64_t end = 0;
};
struct item_place {
  std::uint32_t stream = 7;
  std::uint32_t device = 0;
  std::uint32_t scope = 0;
  std::uint32_t thread = 0;
  bool graph = false;
};

/// A device_builder that says when.
class timeline_builder : public device_builder {
 public:
  timeline_builder() : device_builder(1.0) {}

  void kernel_at(item_time t, item_place at = {}, const std::string& name = "gemm") {
    kprof::device_work w;
    w.kernel = kernel_name(name);
    add_item(w, t, at);
  }
  void communication_at(item_time t, item_place at = {}) {
    kernel_at(t, at, "ncclDevKernel_AllReduce");
  }
  void copy_at(item_time t, item_place at = {}, std::uint64_t bytes = 1024) {
    kprof::device_work w;
    w.task = kprof::device_task::copy;
    add_item(w, t, at);
    p.device.timeline.items.back().bytes = bytes;
  }
  void set_at(item_time t, item_place at = {}) {
    kprof::device_work w;
    w.task = kprof::device_task::set;
    add_item(w, t, at);
  }

  kprof::host_call& call_at(kprof::call_kind kind, std::int64_t begin, std::int64_t end,
                            std::uint32_t stream = 7) {
    kprof::host_call c;
    c.kind = kind;
    c.begin = begin;
    c.end = end;
    c.stream = stream;
    c.thread = 0;
    p.device.timeline.calls.push_back(c);
    return p.device.timeline.calls.back();
  }
  kprof::host_call& sync_at(std::int64_t begin, std::int64_t end, std::uint32_t stream = 7) {
    kprof::host_call& c = call_at(kprof::call_kind::synchronize, begin, end, stream);
    c.waits_for = kprof::awaited::stream;
    return c;
  }
  /// `on` records the event, `waits` waits for it.
  void event_at(std::uint64_t event, std::uint32_t on, std::int64_t recorded, std::uint32_t waits,
                std::int64_t waited) {
    call_at(kprof::call_kind::event_record, recorded, recorded + 1, on).event = event;
    call_at(kprof::call_kind::stream_wait, waited, waited + 1, waits).event = event;
  }

  void scope_at(std::uint32_t node, std::int64_t begin, std::int64_t end) {
    p.timeline.push_back({node, begin, static_cast<std::uint64_t>(end - begin)});
  }
  void step_at(std::int64_t begin, std::int64_t end) {
    p.steps.push_back({p.steps.size(), 0, true, begin, end});
  }

 private:
  void add_item(kprof::device_work w, item_time t, item_place at) {
    w.device = at.device;
    w.stream = at.stream;
    w.scope = at.scope;
    kprof::device_item i;
    i.work = static_cast<std::uint32_t>(p.device.work.size());
    for (std::uint32_t known = 0; known < i.work; ++known) {
      const kprof::device_work& k = p.device.work[known];
      if (k.device == w.device && k.stream == w.stream && k.scope == w.scope && k.task == w.task &&
          k.kernel == w.kernel)
        i.work = known;
    }
    if (i.work == p.device.work.size()) p.device.work.push_back(w);
    ++p.device.work[i.work].calls;
    i.stream = at.stream;
    i.thread = at.thread;
    i.start = t.start;
    i.end = t.end;
    i.call_begin = t.call_begin;
    i.call_end = t.call_end;
    i.graph = at.graph;
    p.device.timeline.items.push_back(i);
  }
};

}  // namespace kprof_test

#endif
