// SPDX-License-Identifier: MIT
// Where the time of a run went: examples worked by hand.

#include <kprof/timeline.hpp>

#include "catch.hpp"
#include "timeline_builder.hpp"

#include <cstdint>
#include <string>
#include <vector>

using kprof::host_state;
using kprof::interval;
using kprof::path_kind;
using kprof::run_times;
using kprof::time_use;
using kprof::times_of;
using kprof_test::timeline_builder;

namespace {

/// One thread "main" with the root 0 and the operator 1.
struct builder : timeline_builder {
  std::uint32_t root = thread("main", 1);
  std::uint32_t op = op_of("Gemm");
  std::uint32_t op_of(const std::string& name) { return timeline_builder::op(root, name); }
};

std::int64_t sum_of(const kprof::step_breakdown& row) {
  std::int64_t sum = 0;
  for (const std::int64_t part : row.part) sum += part;
  return sum;
}
std::int64_t sum_of(const std::vector<kprof::named_time>& times) {
  std::int64_t sum = 0;
  for (const kprof::named_time& t : times) sum += t.ns;
  return sum;
}

}  // namespace

TEST_CASE("timeline.a_step_ends_when_its_work_on_the_device_has_ended") {
  builder b;
  b.step_at(0, 100);
  b.step_at(100, 200);
  b.step_at(200, 300);
  b.kernel_at({10, 15, 40, 130});
  b.kernel_at({110, 115, 140, 210});
  b.kernel_at({120, 125, 215, 240});
  b.kernel_at({210, 215, 250, 260});
  const kprof::device_steps found = kprof::steps_of(b.p, times_of(b.p));
  REQUIRE(found.steps.size() == 2);
  CHECK(found.steps[0].span == interval{0, 130});
  CHECK(found.steps[1].span == interval{130, 240});
  CHECK(found.steps[1].items == 2);
  CHECK(found.cut == 1);
  CHECK(found.idle == 0);
}

TEST_CASE("timeline.steps_without_device_work_are_as_marked") {
  builder b;
  b.step_at(100, 200);
  b.step_at(0, 100);
  b.step_at(20, 80);    // in the first
  b.step_at(150, 250);  // overlaps the second
  b.step_at(400, 300);
  const kprof::device_steps found = kprof::steps_of(b.p, times_of(b.p));
  REQUIRE(found.steps.size() == 2);
  CHECK(found.steps[0].index == 1);
  CHECK(found.steps[0].span == interval{0, 100});
  CHECK(found.steps[1].span == interval{100, 200});
  CHECK(found.nested == 2);
  CHECK(found.odd == 1);
  CHECK(kprof::steps_of({}, {}).steps.empty());
}

TEST_CASE("timeline.work_from_before_the_first_step_delays_its_begin") {
  builder b;
  b.step_at(100, 200);
  b.step_at(200, 300);
  b.kernel_at({10, 15, 20, 120});    // before
  b.kernel_at({95, 105, 120, 125});  // over the border
  b.kernel_at({-1, -1, 190, 195});   // launch unknown, after the first work
  b.kernel_at({110, 112, 130, 150});
  b.kernel_at({195, 205, 206, 210});  // over the next border: of neither step
  b.kernel_at({210, 212, 230, 320});
  const kprof::device_steps found = kprof::steps_of(b.p, times_of(b.p));
  REQUIRE(found.steps.size() == 2);
  CHECK(found.steps[0].span == interval{125, 200});
  CHECK(found.steps[0].items == 1);
  CHECK(found.steps[1].span == interval{200, 320});
}

TEST_CASE("timeline.each_nanosecond_of_a_step_counts_once") {
  builder b;
  const auto input = b.region(b.root, "load_batch");
  b.kernel_at({-1, -1, 10, 40});
  b.kernel_at({-1, -1, 30, 60}, {.stream = 8});
  b.copy_at({-1, -1, 50, 70}, {.stream = 9});
  b.communication_at({-1, -1, 65, 120}, {.stream = 20});
  b.call_at(kprof::call_kind::other, 5, 12);
  b.call_at(kprof::call_kind::allocate, 90, 130);
  b.scope_at(input, 200, 240);
  b.scope_at(b.op, 0, 200);
  b.scope_at(b.timeline_builder::op(input, "Decode"), 200, 230);
  const auto rows = kprof::breakdown_of(b.p, times_of(b.p), {interval{0, 100}, interval{100, 250}});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].of(time_use::kernel) == 50);
  CHECK(rows[0].of(time_use::copy) == 10);
  CHECK(rows[0].of(time_use::set) == 0);
  CHECK(rows[0].of(time_use::communication) == 30);
  CHECK(rows[0].of(time_use::call) == 5);
  CHECK(rows[0].of(time_use::input) == 0);
  CHECK(rows[0].of(time_use::operators) == 5);
  CHECK(rows[0].of(time_use::other) == 0);
  CHECK(rows[1].of(time_use::kernel) == 0);
  CHECK(rows[1].of(time_use::communication) == 20);
  CHECK(rows[1].of(time_use::call) == 10);
  CHECK(rows[1].of(time_use::input) == 40);
  CHECK(rows[1].of(time_use::operators) == 70);
  CHECK(rows[1].of(time_use::other) == 10);
  CHECK(sum_of(rows[0]) == 100);
  CHECK(sum_of(rows[1]) == 150);
  CHECK(rows[0].computation == 50);
  CHECK(rows[0].communication == 35);
  CHECK(rows[0].overlap == 0);
  CHECK(rows[0].rest == 15);
}

TEST_CASE("timeline.a_class_that_takes_a_whole_step_leaves_nothing") {
  builder b;
  b.kernel_at({-1, -1, 0, 100});
  b.copy_at({-1, -1, 0, 50}, {.stream = 8});
  const auto rows = kprof::breakdown_of(b.p, times_of(b.p), {interval{0, 100}});
  CHECK(rows[0].of(time_use::kernel) == 100);
  CHECK(rows[0].of(time_use::copy) == 0);
  CHECK(rows[0].of(time_use::other) == 0);
}

TEST_CASE("timeline.one_device_can_be_broken_down_alone") {
  builder b;
  b.kernel_at({-1, -1, 0, 50});
  b.kernel_at({-1, -1, 40, 90}, {.device = 1});
  const run_times times = times_of(b.p);
  CHECK(times.devices() == std::vector<std::uint32_t>{0, 1});
  const std::vector<interval> step = {interval{0, 100}};
  CHECK(kprof::breakdown_of(b.p, times, step)[0].of(time_use::kernel) == 90);
  CHECK(kprof::breakdown_of(b.p, times, step, 0)[0].of(time_use::kernel) == 50);
  CHECK(kprof::breakdown_of(b.p, times, step, 1)[0].of(time_use::kernel) == 50);
}

TEST_CASE("timeline.a_collective_without_device_work_is_communication") {
  builder b;
  const auto on_host = b.op_of("AllReduce"), on_device = b.op_of("AllGather");
  b.scope_at(on_host, 0, 10);
  b.scope_at(on_device, 20, 30);
  b.kernel_at({22, 23, 40, 45}, {.scope = on_device}, "a_kernel_of_its_own");
  const auto row = kprof::breakdown_of(b.p, times_of(b.p), {interval{0, 50}})[0];
  CHECK(row.of(time_use::communication) == 15);
  CHECK(row.of(time_use::call) == 1);
  CHECK(row.of(time_use::operators) == 9);
}

TEST_CASE("timeline.what_a_device_did") {
  builder b;
  b.kernel_at({-1, -1, 0, 100});
  b.kernel_at({-1, -1, 150, 250});
  b.communication_at({-1, -1, 90, 160}, {.stream = 8});
  b.communication_at({-1, -1, 300, 320}, {.stream = 8});
  const run_times times = times_of(b.p);
  kprof::device_activity a = kprof::activity_of(times, 0);
  CHECK(a.wall == 320);
  CHECK(a.idle == 50);
  CHECK(a.compute == 200);
  CHECK(a.not_compute == 70);
  CHECK(a.busy == 270);
  CHECK(a.communication == 90);
  CHECK(a.overlap == 20);
  CHECK(a.overlap_share() == Approx(0.2222).epsilon(1e-3));
  CHECK(a.exposed_communication == 70);
  a = kprof::activity_of(times, 0, 8, {100, 310});
  CHECK(a.wall == 210);
  CHECK(a.busy == 70);
  CHECK(a.exposed_communication == 70);
  CHECK(kprof::activity_of(times, 1).wall == 0);
}

TEST_CASE("timeline.why_a_stream_was_idle") {
  builder b;
  for (const kprof_test::item_time t : std::vector<kprof_test::item_time>{
           {0, 1, 10, 20}, {2, 3, 20, 30}, {40, 41, 55, 60}, {41, 42, 75, 90}, {42, 43, 200, 210}})
    b.kernel_at(t);
  const run_times times = times_of(b.p);
  const kprof::idle_causes why = kprof::idle_causes_of(b.p, times, 0, 7, {}, 30);
  CHECK(why.host == 25);
  CHECK(why.kernel == 15);
  CHECK(why.other == 110);
  CHECK(why.idle == 150);
  const kprof::queue_length queue = kprof::queue_length_of(times, 0, 7);
  CHECK(queue.longest == 3);
  CHECK(queue.mean == 1.175);
  CHECK(queue.full == 0);
}

TEST_CASE("timeline.what_the_host_did_while_a_device_waited") {
  builder b;
  const auto region = b.region(b.root, "data");
  b.kernel_at({0, 5, 10, 100});
  b.kernel_at({200, 210, 215, 300}, {.scope = b.op});
  b.sync_at(50, 110);  // returns 10 after
  b.call_at(kprof::call_kind::allocate, 120, 125);
  b.scope_at(region, 110, 150);  // 40, 5 of it in the call
  b.scope_at(b.op, 180, 230);    // 20 before the launch
  const kprof::idle_causes why = kprof::idle_causes_of(b.p, times_of(b.p), 0);
  CHECK(why.idle == 115);
  CHECK(why.host == 115);
  CHECK(why.in(host_state::synchronising) == 10);
  CHECK(why.in(host_state::calling) == 5 + 15);
  CHECK(why.in(host_state::in_region) == 35);
  CHECK(why.in(host_state::in_operator) == 20);
  CHECK(why.in(host_state::outside) == 30);
  REQUIRE(why.host_by.size() == 3);
  CHECK(why.host_by[0].name == "");
  CHECK(why.host_by[0].ns == 40);
  CHECK(why.host_by[1].name == "data");
  CHECK(why.host_by[1].ns == 40);
  CHECK(why.host_by[2].kind == kprof::scope_kind::op);
  CHECK(sum_of(why.host_by) == 115);
  // The part of a gap that is in a window.
  const kprof::idle_causes part = kprof::idle_causes_of(b.p, times_of(b.p), 0, 7, {105, 310});
  CHECK(part.host == 110);
  CHECK(part.edges == 10);
  CHECK(part.in(host_state::synchronising) == 5);
}

TEST_CASE("timeline.a_gap_on_one_stream_costs_nothing_while_another_works") {
  builder b;
  b.kernel_at({0, 1, 10, 20});
  b.kernel_at({50, 51, 60, 70});
  b.kernel_at({0, 1, 15, 65}, {.stream = 8});
  const run_times times = times_of(b.p);
  CHECK(kprof::idle_causes_of(b.p, times, 0, 7).host == 40);
  CHECK(kprof::idle_causes_of(b.p, times, 0).idle == 0);
}

TEST_CASE("timeline.a_gap_until_another_streams_item_has_ended_is_an_event_wait") {
  builder b;
  b.kernel_at({0, 1, 10, 20'000});
  b.kernel_at({2, 3, 10, 100}, {.stream = 20});
  b.event_at(5, 7, 4, 20, 6);
  b.kernel_at({8, 9, 20'005, 30'000}, {.stream = 20});
  kprof::idle_causes why = kprof::idle_causes_of(b.p, times_of(b.p), 0, 20);
  CHECK(why.event == 19'905);
  CHECK(why.idle == 19'905);
  b.p.device.timeline.calls[1].event = 6;  // of which no record is known
  why = kprof::idle_causes_of(b.p, times_of(b.p), 0, 20);
  CHECK(why.event == 0);
  CHECK(why.other == 19'905);
  b.p.device.timeline.items.back().call_begin = -1;
  why = kprof::idle_causes_of(b.p, times_of(b.p), 0, 20);
  CHECK(why.unknown == 19'905);
}

TEST_CASE("timeline.launches") {
  builder b;
  b.kernel_at({0, 10, 15, 20});                 // 5 after the call, shorter than it
  b.kernel_at({100, 110, 105, 200});            // starts in the call
  b.kernel_at({1000, 61'001, 61'001, 61'002});  // a slow call
  b.kernel_at({70'000, 70'001, 170'002, 170'100});
  b.kernel_at({-1, -1, 200'000, 200'001});
  b.kernel_at({180'000, 180'001, 200'001, 200'002}, {.graph = true});
  const kprof::launch_statistics all = kprof::launch_statistics_of(times_of(b.p), 0);
  CHECK(all.launches == 4);
  CHECK(all.call_ns == 10 + 10 + 60'001 + 1);
  CHECK(all.delay_ns == 5 + 0 + 0 + 100'001);
  CHECK(all.longest_delay == 100'001);
  CHECK(all.late == 1);
  CHECK(all.slow_calls == 1);
  CHECK(all.short_items == 1);
  CHECK(all.short_ns == 5);
  CHECK(all.short_call_ns == 10);
  CHECK(all.from_graphs == 1);
  CHECK(all.unknown == 1);
}

TEST_CASE("timeline.a_full_queue") {
  builder b;
  for (int i = 0; i < 1100; ++i) b.kernel_at({i, i + 1, 2000 + i, 2001 + i});
  const kprof::queue_length queue = kprof::queue_length_of(times_of(b.p), 0, 7);
  CHECK(queue.longest == 1100);
  // From the 1024th launch to the start that leaves 1023.
  CHECK(queue.full == 2076 - 1023);
}

TEST_CASE("timeline.what_a_graph_would_save") {
  builder b;
  b.kernel_at({0, 4, 5, 10});
  b.kernel_at({3000, 3004, 3010, 3020});  // 3000 late
  b.kernel_at({3500, 3504, 3505, 3510});  // 485 late, less than a graph's gap
  b.sync_at(3508, 3520);
  b.kernel_at({9000, 9004, 9010, 9020});  // after the host waited
  b.kernel_at({20'000, 20'004, 20'010, 20'020}, {.graph = true});
  const kprof::graph_saving saving = kprof::graph_saving_of(b.p, times_of(b.p), 0);
  CHECK(saving.gaps == 2);
  CHECK(saving.gap_ns == 3000 + 485);
  CHECK(saving.saved_ns == 2000);
}

TEST_CASE("timeline.estimated_use_of_multiprocessors") {
  builder b;
  kprof_test::add_device(b.p);
  b.p.device.devices[0].multiprocessors = 100;
  b.kernel_at({-1, -1, 0, 100}, {}, "half");
  b.kernel_at({-1, -1, 50, 100}, {.stream = 8}, "more");
  b.kernel_at({-1, -1, 100, 150}, {}, "unknown");
  b.copy_at({-1, -1, 150, 200}, {});
  kprof::device_work &half = b.p.device.work[0], &more = b.p.device.work[1];
  half.grid[0] = 50, half.grid[1] = half.grid[2] = 1;
  half.block[0] = 256, half.block[1] = half.block[2] = 1;
  half.registers = 32;
  more = half;
  more.stream = 8;
  more.kernel = b.kernel_name("more");
  more.grid[0] = 300;
  const kprof::device_figures f = kprof::figures_of(b.p, times_of(b.p), 0);
  CHECK(f.utilisation == 0.75);
  CHECK(f.sm_efficiency == Approx((50 * 0.5 + 50 * 1.0) / 200));
  // half: min(0.5, 8) x 256 / 2048 for 100 ns; more: min(3, 8) x 256 / 2048 for 50 ns
  CHECK(f.achieved_occupancy == Approx((0.0625 * 100 + 0.375 * 50) / 200));
  CHECK(f.unknown == 1);
  b.p.device.devices.clear();
  CHECK(kprof::figures_of(b.p, times_of(b.p), 0).sm_efficiency < 0);
  CHECK(kprof::figures_of(b.p, times_of(b.p), 0).why != nullptr);
  CHECK(kprof::figures_of(b.p, times_of(b.p), 3).why != nullptr);
}

TEST_CASE("timeline.blocks_that_do_not_fit_into_kinetos_limit_have_an_occupancy") {
  kprof_test::device_builder b;
  b.thread("main", 1);
  kprof_test::add_device(b.p);
  kprof::device_work w;
  w.grid[0] = 132 * 5, w.grid[1] = w.grid[2] = 1;
  w.block[0] = 384, w.block[1] = w.block[2] = 1;
  w.registers = 168;
  w.dynamic_shared = 215'040;
  CHECK(kprof::fill_of(b.p.device.devices[0], w).occupancy == 0.1875);
}
