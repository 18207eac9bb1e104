// SPDX-License-Identifier: MIT
// The critical path of runs worked by hand.

#include <kprof/timeline.hpp>

#include "catch.hpp"
#include "timeline_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using kprof::critical_path;
using kprof::interval;
using kprof::path_kind;
using kprof_test::timeline_builder;

namespace {

struct builder : timeline_builder {
  std::uint32_t root = thread("main", 1);
  explicit builder(double wall_ns) { p.wall_ns = wall_ns; }
  critical_path path() const { return kprof::critical_path_of(p, kprof::times_of(p)); }
};

std::int64_t sum_of(const critical_path& path) {
  std::int64_t sum = 0;
  for (const std::int64_t part : path.part_of) sum += part;
  return sum;
}
std::int64_t named(const critical_path& path, const std::string& name) {
  for (const kprof::named_time& t : path.by)
    if (t.name == name) return t.ns;
  return 0;
}

}  // namespace

TEST_CASE("critical_path.goes_over_the_stream_that_the_host_waited_for") {
  builder b(600);
  b.kernel_at({50, 55, 60, 300});
  b.kernel_at({100, 105, 303, 550});
  b.sync_at(120, 560);
  const critical_path path = b.path();
  CHECK(path.of(path_kind::host) == 90);
  CHECK(path.of(path_kind::launch) == 10);
  CHECK(path.of(path_kind::compute) == 487);
  CHECK(path.of(path_kind::kernel_wait) == 3);
  CHECK(path.of(path_kind::sync_return) == 10);
  CHECK(sum_of(path) == 600);
  std::int64_t at = 0;
  for (const kprof::path_part& part : path.parts) {
    CHECK(part.span.begin == at);
    at = part.span.end;
  }
  CHECK(at == 600);
}

TEST_CASE("critical_path.leaves_out_what_nothing_waited_for") {
  builder b(600);
  b.kernel_at({10, 15, 20, 90});
  b.kernel_at({380, 385, 395, 440});
  b.sync_at(400, 450);
  const critical_path path = b.path();
  CHECK(path.of(path_kind::host) == 530);
  CHECK(path.of(path_kind::launch) == 15);
  CHECK(path.of(path_kind::compute) == 45);
  CHECK(path.of(path_kind::sync_return) == 10);
  CHECK(sum_of(path) == 600);
}

TEST_CASE("critical_path.follows_events_to_other_streams") {
  builder b(400);
  b.kernel_at({10, 15, 20, 200});
  b.event_at(1, 7, 30, 20, 40);
  b.communication_at({60, 65, 205, 380}, {.stream = 20});
  b.kernel_at({80, 85, 201, 260});
  b.sync_at(100, 390, 20);
  const critical_path path = b.path();
  CHECK(path.of(path_kind::host) == 20);
  CHECK(path.of(path_kind::launch) == 10);
  CHECK(path.of(path_kind::compute) == 180);
  CHECK(path.of(path_kind::event_wait) == 5);
  CHECK(path.of(path_kind::communication) == 175);
  CHECK(path.of(path_kind::sync_return) == 10);
  CHECK(sum_of(path) == 400);
}

TEST_CASE("critical_path.an_item_waited_for_what_ended_last") {
  builder b(1000);
  b.kernel_at({10, 15, 20, 300});
  b.kernel_at({30, 35, 40, 400}, {.stream = 8});
  b.event_at(1, 7, 50, 8, 60);
  b.kernel_at({70, 75, 410, 900}, {.stream = 8});
  kprof::device_item &awaited = b.p.device.timeline.items[0],
                     &waiting = b.p.device.timeline.items[2];
  const auto parts_before = [&b](path_kind kind) { return b.path().of(kind); };
  b.sync_at(80, 900, 8);
  SECTION("the item before") {
    CHECK(parts_before(path_kind::kernel_wait) == 10);
    CHECK(parts_before(path_kind::event_wait) == 0);
  }
  SECTION("the event's item") {
    awaited.end = 405;
    CHECK(parts_before(path_kind::kernel_wait) == 0);
    CHECK(parts_before(path_kind::event_wait) == 5);
  }
  SECTION("both at once: the event") {
    awaited.end = 400;
    CHECK(parts_before(path_kind::kernel_wait) == 0);
    CHECK(parts_before(path_kind::event_wait) == 10);
  }
  SECTION("its launch") {
    waiting.call_begin = 402;
    CHECK(parts_before(path_kind::kernel_wait) == 0);
    CHECK(parts_before(path_kind::launch) == 8);
  }
  SECTION("its launch at the same time: the item") {
    waiting.call_begin = 400;
    CHECK(parts_before(path_kind::kernel_wait) == 10);
  }
  SECTION("what had not ended counts from the start on") {
    b.p.device.timeline.items[1].end = 500;
    CHECK(parts_before(path_kind::compute) == 490 + 370);
    CHECK(parts_before(path_kind::kernel_wait) == 0);
  }
  CHECK(sum_of(b.path()) == 1000);
}

TEST_CASE("critical_path.ends_with_the_last_item_where_the_host_was_done_before") {
  builder b(100);
  b.kernel_at({10, 15, 20, 300});
  b.copy_at({30, 35, 301, 350}, {.stream = 9});
  const critical_path path = b.path();
  CHECK(path.window == interval{0, 350});
  CHECK(path.of(path_kind::copy) == 49);
  CHECK(path.of(path_kind::launch) == 271);  // no reason for the copy to be that late is known
  CHECK(path.of(path_kind::host) == 30);
}

TEST_CASE("critical_path.a_call_may_wait_for_the_device_or_an_event") {
  builder b(500);
  b.kernel_at({10, 15, 20, 200});
  b.kernel_at({30, 35, 40, 300}, {.stream = 8});
  b.call_at(kprof::call_kind::event_record, 45, 46, 8).event = 3;
  b.kernel_at({50, 55, 305, 390}, {.stream = 8});
  kprof::host_call& sync = b.sync_at(60, 400);
  SECTION("device") {
    sync.waits_for = kprof::awaited::device;
    const critical_path path = b.path();
    CHECK(path.of(path_kind::sync_return) == 10);
    CHECK(path.of(path_kind::compute) == 85 + 260);
    CHECK(path.of(path_kind::kernel_wait) == 5);
  }
  SECTION("event") {
    sync.waits_for = kprof::awaited::event;
    sync.event = 3;
    const critical_path path = b.path();
    CHECK(path.of(path_kind::sync_return) == 100);
    CHECK(path.of(path_kind::compute) == 260);
  }
  SECTION("another device") {
    sync.waits_for = kprof::awaited::device;
    sync.device = 1;
    CHECK(b.path().of(path_kind::host) == 500);
  }
  SECTION("nothing") {
    sync.waits_for = kprof::awaited::nothing;
    CHECK(b.path().of(path_kind::host) == 500);
  }
  CHECK(sum_of(b.path()) == 500);
}

TEST_CASE("critical_path.time_is_charged_to_operators_and_regions") {
  builder b(600);
  const auto region = b.region(b.root, "step");
  const auto gemm = b.op(region, "Gemm"), relu = b.op(b.root, "Relu");
  b.scope_at(region, 20, 200);
  b.scope_at(gemm, 40, 110);
  b.kernel_at({50, 55, 60, 300}, {.scope = gemm});
  b.kernel_at({100, 105, 303, 550}, {.scope = relu});
  b.sync_at(120, 560);
  const critical_path path = b.path();
  CHECK(named(path, "Gemm") == 10 + 10 + 240);
  CHECK(named(path, "Relu") == 3 + 247);
  CHECK(named(path, "step") == 20);
  CHECK(named(path, "") == 20 + 10 + 40);
  CHECK(path.by[0].name == "Gemm");
  CHECK(kprof::saves_at_most(named(path, "Gemm"), 2) == 130);
  CHECK(kprof::saves_at_most(100, 1) == 0);
}

TEST_CASE("critical_path.goes_on_where_another_thread_launched") {
  builder b(300);
  b.thread("worker", 2);
  b.p.threads[1].begin_ns = 80;
  b.kernel_at({100, 105, 110, 250}, {.thread = 1});
  b.sync_at(60, 260).waits_for = kprof::awaited::device;
  const critical_path path = b.path();
  REQUIRE(path.parts.size() == 6);
  CHECK(path.parts[0].thread == 0);
  CHECK(path.parts[0].span == interval{0, 80});
  CHECK(path.parts[1].thread == 1);
  CHECK(path.parts[1].span == interval{80, 100});
  CHECK(path.parts[2].kind == path_kind::launch);
  CHECK(sum_of(path) == 300);
}

TEST_CASE("critical_path.of_a_step") {
  builder b(600);
  b.kernel_at({50, 55, 60, 300});
  b.kernel_at({100, 105, 303, 550});
  b.sync_at(120, 560);
  const kprof::run_times times = kprof::times_of(b.p);
  // The host's part of the step ended before the device was done.
  const critical_path path = kprof::critical_path_of(b.p, times, {200, 550}, 400, 0);
  CHECK(path.of(path_kind::compute) == 247 + 100);
  CHECK(path.of(path_kind::kernel_wait) == 3);
  CHECK(sum_of(path) == 350);
  CHECK(kprof::critical_path_of(b.p, times, {200, 200}, 200, 0).parts.empty());
}

TEST_CASE("critical_path.odd_input_ends") {
  builder b(100);
  SECTION("nothing") { CHECK(b.path().of(path_kind::host) == 100); }
  SECTION("no launch is known") {
    b.kernel_at({-1, -1, 20, 90});
    b.sync_at(30, 95);
    const critical_path path = b.path();
    CHECK(path.of(path_kind::compute) == 70);
    CHECK(path.of(path_kind::host) == 25);
  }
  SECTION("items of no length that wait for each other") {
    b.kernel_at({50, 51, 50, 50});
    b.kernel_at({50, 51, 50, 50}, {.stream = 8});
    b.event_at(1, 7, 60, 8, 50);
    b.event_at(2, 8, 60, 7, 50);
    b.sync_at(49, 50);
    b.sync_at(49, 50, 8);
  }
  SECTION("items of no length, in a circle") {
    b.kernel_at({40, 41, 50, 50});  // in the order of starts before the next, launched after it
    b.kernel_at({10, 11, 50, 50});
    b.kernel_at({30, 31, 50, 50}, {.stream = 8});
    b.event_at(1, 7, 12, 8, 13);
    b.event_at(2, 8, 33, 7, 34);
    b.sync_at(45, 55);
  }
  SECTION("a launch after its start") {
    b.kernel_at({80, 81, 20, 90});
    b.sync_at(30, 95);
  }
  SECTION("a thread that is not there") {
    b.kernel_at({10, 11, 20, 90}, {.scope = 77, .thread = 9});
    b.sync_at(30, 95).thread = 12;
  }
  CHECK(sum_of(b.path()) == 100);
}
