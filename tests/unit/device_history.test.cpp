// SPDX-License-Identifier: MIT
// needs: guards
#include "attribution_engine.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

using namespace kprof_test;

namespace {

constexpr std::uint16_t launch_kernel = 1, synchronize = 2 | observed_call::blocks,
                        copy_and_wait = 3 | observed_call::blocks, record_event = 4;

function_description describe(std::uint16_t number) noexcept {
  constexpr auto kind = [](kprof::call_kind k) { return static_cast<std::uint8_t>(k); };
  constexpr auto waits = [](kprof::awaited a) { return static_cast<std::uint8_t>(a); };
  switch (number) {
    case launch_kernel: return {"cudaLaunchKernel", kind(kprof::call_kind::launch), 0, false};
    case synchronize:
      return {"cudaStreamSynchronize", kind(kprof::call_kind::synchronize),
              waits(kprof::awaited::stream), true};
    case copy_and_wait:
      return {"cudaMemcpy", kind(kprof::call_kind::copy), waits(kprof::awaited::stream), true};
    case record_event: return {"cudaEventRecord", kind(kprof::call_kind::event_record), 0, false};
    default: return {};
  }
}

struct [[gnu::visibility("hidden")]] timed_engine
    : engine{explicit timed_engine(std::size_t memory = std::size_t{16} << 20U) :
                 engine(memory){devices.history().describe_function = &describe;
}  // namespace
void call(std::vector<std::uint32_t> ids, std::uint64_t began, std::uint64_t took,
          std::uint16_t function, record_kind kind = record_kind::host_call) {
  threads.note_launch(ids.data(), static_cast<std::uint32_t>(ids.size()), began, kind,
                      call_word(function, took));
}
void launch_taking(std::vector<std::uint32_t> ids, std::uint64_t began, std::uint64_t took) {
  call(std::move(ids), began, took, launch_kernel, record_kind::kernel_launch);
}
}
;

activity on(activity a, std::uint32_t device, std::uint32_t stream, std::uint32_t context = 0) {
  a.device = device, a.stream = stream, a.context = context;
  return a;
}
activity wait_record(std::uint32_t correlation, waiting what, std::uint32_t context,
                     std::uint32_t stream, std::uint32_t event = 0) {
  activity a;
  a.kind = activity_kind::synchronization;
  a.direction = static_cast<std::uint8_t>(what);
  a.correlation = correlation, a.context = context, a.stream = stream, a.event = event;
  a.start = 1, a.end = 2;
  return a;
}

/// The items in the order of their correlation ids.
std::vector<kprof::device_item> items_of(const kprof::profile& p) {
  auto all = p.device.timeline.items;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.start < b.start;
  });
  return all;
}
std::string name_of(const kprof::profile& p, const kprof::device_item& i) {
  const kprof::device_work& w = p.device.work[i.work];
  const std::string where = w.scope == kprof::device_work::none ? "unknown" : path_of(p, w.scope);
  return where + ": " +
         (w.kernel == kprof::device_work::none ? "copy" : p.device.kernels[w.kernel]);
}

}  // namespace

TEST_CASE("device_history.an_item_has_its_times_its_call_and_its_row") {
  timed_engine e;
  const scope_token t = begin_op(3);
  e.launch_taking({0x12345678, 0x7FFF0001}, 1000, 40);
  e.call({2}, 1100, 5'000'000'000, copy_and_wait, record_kind::transfer_launch);
  end(t);
  e.launch({3}, 1200);  // of no known function
  e.take_launches();
  activity big = on(copy(2, (std::uint64_t{1} << 40U) + 7), 1, 0x00030005);
  big.start = 1150, big.end = 1150 + 6'000'000'000;
  e.read({on(kernel(0x7FFF0001, "k", 1030, 500), 0, 7), big, on(kernel(3, "x", 1190, 9), 0, 8)});
  const kprof::profile p = e.profile();
  const auto items = items_of(p);
  REQUIRE(items.size() == 3);
  CHECK(items[0].correlation == 2);
  CHECK(items[0].start == 1150);
  CHECK(items[0].end == 6'000'001'150);
  CHECK(items[0].call_begin == 1100);
  // from 2 s on to 4 microseconds
  CHECK(items[0].call_end > 5'000'001'100 - 4096);
  CHECK(items[0].call_end <= 5'000'001'100);
  CHECK(items[0].bytes == std::uint64_t{1} << 40U);  // of many bytes, the leading bits
  CHECK(items[0].stream == 0x00030005);
  CHECK(p.device.work[items[0].work].device == 1);
  CHECK(name_of(p, items[0]) == "Op n=3: copy");
  CHECK(items[1].correlation == 3);
  CHECK(items[1].start == 1190);  // before its call, by clocks that differ
  CHECK(items[1].call_begin == 1200);
  CHECK(items[1].call_end == -1);
  CHECK(name_of(p, items[1]) == ": x");
  CHECK(items[2].correlation == 0x7FFF0001);
  CHECK(items[2].call_begin == 1000);
  CHECK(items[2].call_end == 1040);
  CHECK(items[2].end - items[2].start == 500);
  CHECK(items[2].thread < p.threads.size());
  CHECK_FALSE(items[2].graph);
  CHECK(p.device.timeline.dropped_items == 0);
  CHECK(p.device.timeline.windows.empty());
}

TEST_CASE("device_history.an_item_without_launch_or_time_says_so") {
  timed_engine e;
  e.launch_taking({1}, 500, 10);
  e.launch_taking({2}, 600, 10);
  e.take_launches();
  activity reversed = kernel(1, "k", 900);
  reversed.end = 850;
  activity empty = kernel(2);
  empty.start = empty.end = 0;
  e.read({reversed, empty, kernel(77, "lost", 5000, 30)});
  const auto check = [](const kprof::profile& p) {
    const auto items = items_of(p);
    REQUIRE(items.size() == 3);
    CHECK(items[0].start == 900);
    CHECK(items[0].end < items[0].start);
    CHECK(items[0].call_end == 510);
    CHECK(items[1].start == 600);  // where its call began
    CHECK(items[1].end < items[1].start);
    CHECK(items[2].start == 5000);
    CHECK(items[2].end == 5030);
    CHECK(items[2].call_begin == -1);
    CHECK(items[2].thread == kprof::device_item::none);
    CHECK(name_of(p, items[2]) == "unknown: lost");
  };
  check(e.profile());  // its launch may still come
  e.devices.count_pending_as_unknown();
  check(e.profile());
}

TEST_CASE("device_history.items_of_a_replay_have_the_call_of_the_graph") {
  timed_engine e;
  const scope_token inner = begin_op(1);
  e.node((std::uint64_t{5} << 32U) | 1);
  end(inner);
  e.devices.graphs().copied((std::uint64_t{6} << 32U) | 1, (std::uint64_t{5} << 32U) | 1);
  const scope_token t = begin_region("replay");
  e.call({9}, 700, 20, launch_kernel, record_kind::graph_launch);
  end(t);
  e.take_launches();
  activity first = of_graph(9, (std::uint64_t{6} << 32U) | 1, "a"), second = first;
  second.start = 300, second.end = 330;
  e.read({first, second});
  const kprof::profile p = e.profile();
  const auto items = items_of(p);
  REQUIRE(items.size() == 2);
  for (const kprof::device_item& i : items) {
    CHECK(i.graph);
    CHECK(i.call_begin == 700);
    CHECK(i.call_end == 720);
    CHECK(name_of(p, i) == "replay/graph/Op n=1: a");
  }
}

TEST_CASE("device_history.the_oldest_items_make_room_and_are_counted") {
  constexpr std::size_t memory = std::size_t{1} << 20U, room = memory / 16 / 48;
  timed_engine e(memory);
  constexpr std::uint32_t all = 3 * room;
  for (std::uint32_t i = 1; i <= all; ++i) {
    e.launch_taking({i}, 10 * i, 3);
    e.take_launches();
    e.read({kernel(i, i % 2 == 0 ? "even" : "odd", 100 * i, 50)});
  }
  const kprof::profile p = e.profile();
  const auto items = items_of(p);
  REQUIRE(items.size() == room);
  CHECK(p.device.timeline.dropped_items == all - room);
  for (std::size_t i = 0; i < room; ++i) {
    const std::uint32_t id =
        all - static_cast<std::uint32_t>(room) + 1 + static_cast<std::uint32_t>(i);
    REQUIRE(items[i].correlation == id);
    REQUIRE(items[i].start == std::int64_t{100} * id);
    REQUIRE(items[i].call_begin == std::int64_t{10} * id);
    REQUIRE(name_of(p, items[i]) == (id % 2 == 0 ? ": even" : ": odd"));
  }
  REQUIRE(p.device.timeline.windows.size() == 1);
  CHECK(p.device.timeline.windows[0].begin == std::int64_t{100} * (all - room) + 50);
  double total = 0;
  for (const auto& w : p.device.work) total += w.total_ns;
  CHECK(total == 50.0 * all);
  CHECK(p.device.complete.attributed + p.device.complete.outside == all);
}

TEST_CASE("device_history.calls_are_summed_by_function_and_scope") {
  timed_engine e;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const scope_token t = begin_op(1);
    e.launch_taking({10 * i + 1}, 100, 20 + i);
    e.call({10 * i + 2}, 200, 1000 * (i + 1), synchronize);
    end(t);
  }
  e.call({50}, 900, 7, synchronize);
  kprof::profile p = e.profile();
  REQUIRE(p.device.calls.size() == 3);
  const auto sum_of = [&](const std::string& scope, const std::string& name) {
    for (const kprof::host_call_sum& c : p.device.calls)
      if (path_of(p, c.scope) == scope && p.device.functions[c.name] == name) return c;
    return kprof::host_call_sum{};
  };
  const auto launches = sum_of("Op n=1", "cudaLaunchKernel");
  CHECK(launches.calls == 3);
  CHECK(launches.kind == kprof::call_kind::launch);
  CHECK(launches.waited_ns == 0);
  const auto waits = sum_of("Op n=1", "cudaStreamSynchronize");
  CHECK(waits.calls == 3);
  CHECK(waits.waited_ns == waits.total_ns);
  CHECK(waits.max_ns * 2 == waits.total_ns);
  CHECK(sum_of("", "cudaStreamSynchronize").calls == 1);
  // Those that launch are told by their items, unless they block.
  CHECK(p.device.timeline.calls.size() == 4);
  e.threads.restart(0);
  e.devices.restart(0, std::size_t{16} << 20U);
  p = e.profile();
  CHECK(p.device.calls.empty());
  CHECK(p.device.timeline.empty());
}

TEST_CASE("device_history.a_call_has_its_stream_event_and_device_by_the_collectors_records") {
  timed_engine e;
  const scope_token t = begin_op(4);
  e.launch_taking({1}, 10, 5);
  e.call({2, 3}, 20, 100, synchronize);
  e.call({4}, 130, 1, record_event);
  e.call({5, 6}, 140, 50, copy_and_wait, record_kind::transfer_launch);
  end(t);
  e.take_launches();
  e.read({on(kernel(1), 0, 7, 11), on(copy(6, 64), 1, 9, 12),
          wait_record(3, waiting::stream, 12, 21)});
  activity event;
  event.kind = activity_kind::event_record;
  event.correlation = 4, event.context = 11, event.stream = 7, event.event = 33;
  e.read({event});
  const kprof::profile p = e.profile();
  auto calls = p.device.timeline.calls;
  REQUIRE(calls.size() == 3);
  std::sort(calls.begin(), calls.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  CHECK(p.device.functions[calls[0].name] == "cudaStreamSynchronize");
  CHECK(calls[0].waits_for == kprof::awaited::stream);
  CHECK(calls[0].stream == 21);
  CHECK(calls[0].device == 1);
  CHECK(calls[0].begin == 20);
  CHECK(calls[0].end == 120);
  CHECK(path_of(p, calls[0].scope) == "Op n=4");
  CHECK(calls[1].kind == kprof::call_kind::event_record);
  CHECK(calls[1].event == 33);
  CHECK(calls[1].stream == 7);
  CHECK(calls[1].device == 0);
  CHECK(calls[2].kind == kprof::call_kind::copy);
  CHECK(calls[2].stream == 9);  // of its own copy
  CHECK(calls[2].device == 1);
  CHECK(p.device.complete.launches == 2);
  CHECK(p.device.complete.synchronizations == 1);
}

TEST_CASE("device_history.items_of_threads_that_ended_keep_their_rows") {
  timed_engine e;
  std::uint32_t id = 0;
  const auto work = [&](int kernels) {
    std::thread([&] {
      for (int k = 0; k < kernels; ++k) {
        const scope_token t = begin_op(k);
        e.launch_taking({++id}, 5, 2);
        e.call({++id}, 10, 4, synchronize);
        end(t);
        e.take_launches();
        e.read({kernel(id - 1, ("k" + std::to_string(k)).c_str(), 100 * id, 10)});
      }
    }).join();
  };
  // More than are kept apart: the totals of the first are moved, with other numbers of rows.
  for (int thread = 0; thread < 100; ++thread) work(1 + thread % 3);
  const kprof::profile p = e.profile();
  REQUIRE(p.threads.size() < 100);
  const auto items = items_of(p);
  REQUIRE(items.size() == id / 2);
  std::vector<std::uint64_t> seen(p.device.work.size());
  for (const kprof::device_item& i : items) {
    REQUIRE(i.work < p.device.work.size());
    ++seen[i.work];
    const std::string name = name_of(p, i);
    CHECK(name.substr(5, 1) == name.substr(name.size() - 1));  // Op n=2: k2
    CHECK(p.nodes[p.device.work[i.work].scope].thread == i.thread);
  }
  for (std::size_t w = 0; w < seen.size(); ++w) CHECK(seen[w] == p.device.work[w].calls);
  std::uint64_t in_ops = 0;
  for (const kprof::host_call& c : p.device.timeline.calls) {
    REQUIRE(c.scope < p.nodes.size());
    CHECK(c.thread == p.nodes[c.scope].thread);
    in_ops += p.nodes[c.scope].name == "Op" ? 1 : 0;
  }
  CHECK(in_ops == items.size());
  std::uint64_t summed = 0;
  for (const kprof::host_call_sum& c : p.device.calls)
    if (c.kind == kprof::call_kind::synchronize) summed += c.calls;
  CHECK(summed == items.size());
}

TEST_CASE("device_history.nothing_is_kept_where_it_is_not_wanted") {
  timed_engine e;
  e.devices.restart(0, std::size_t{16} << 20U, false);
  e.launch({1});
  e.take_launches();
  e.read({kernel(1)});
  e.read({kernel(99)});
  const kprof::profile p = e.profile();
  CHECK(p.device.timeline.empty());
  CHECK(p.device.timeline.calls.empty());
  CHECK(p.device.complete.outside == 1);
}

TEST_CASE("device_history.a_ring_of_one_keeps_the_latest") {
  latest_ring<int> ring;
  ring.restart(1);
  CHECK(ring.size() == 0);
  CHECK_FALSE(ring.is_full());
  for (int i = 1; i <= 3; ++i) {
    ring.add(i);
    CHECK(ring.is_full());
    CHECK(ring.latest() == i);
    CHECK(*ring.begin() == i);
  }
  CHECK(ring.dropped() == 2);
  ring.restart(2);
  ring.add(4), ring.add(5), ring.add(6);
  CHECK(ring.next() == 5);
  CHECK(ring.latest() == 6);
  CHECK(ring.dropped() == 1);
  ring.restart(0);
  ring.drop();
  CHECK(ring.dropped() == 0);
}
