// SPDX-License-Identifier: MIT
// Timelines of programs with several threads: each GPU has a thread that steps, threads share
// events, and a replay of a graph is one launch.

#include <kprof/timeline.hpp>

#include "catch.hpp"
#include "timeline_builder.hpp"

#include <cstdint>
#include <vector>

using kprof::interval;
using kprof::path_kind;
using kprof::times_of;
using kprof_test::timeline_builder;

namespace {

/// Two threads that each step for a device of their own; the second one's steps take more time.
struct two_threads : timeline_builder {
  std::uint32_t roots[2] = {thread("rank 0", 1), thread("rank 1", 2)};

  void step_of(std::uint32_t thread, std::int64_t begin, std::int64_t end) {
    p.steps.push_back({p.steps.size() / 2, thread, true, begin, end});
  }
  /// The sums of a thread, as the recorder keeps them.
  void sums_of(std::uint32_t thread, std::uint64_t count, double total_ns) {
    kprof::thread_steps t;
    t.thread = thread;
    t.count = count;
    t.total_ns = total_ns;
    p.stepping.threads.push_back(t);
  }
  void run() {
    for (std::int64_t step = 0; step < 3; ++step) {
      const std::int64_t at = step * 100;
      step_of(0, at, at + 90);
      step_of(1, at + 5, at + 105);
      kernel_at({at + 10, at + 12, at + 20, at + 60}, {.device = 0, .thread = 0});
      kernel_at({at + 20, at + 22, at + 30, at + 130}, {.device = 1, .thread = 1});
    }
    p.wall_ns = 340;
  }
};

}  // namespace

TEST_CASE("timeline.steps_of_another_thread_are_not_nested_ones") {
  two_threads b;
  b.run();
  const kprof::run_times times = times_of(b.p);
  CHECK(kprof::stepping_thread_of(b.p) == 1);
  const kprof::device_steps most = kprof::steps_of(b.p, times);
  CHECK(most.thread == 1);
  CHECK(most.nested == 0);
  CHECK(most.elsewhere == 3);
  REQUIRE(most.steps.size() == 3);
  CHECK(most.steps[0].host == interval{5, 105});
  CHECK(most.steps[0].span == interval{5, 130});
  CHECK(most.steps[1].span == interval{130, 230});
  CHECK(most.steps[2].items == 1);  // not the kernel of the other thread's step

  const kprof::device_steps first = kprof::steps_of(b.p, times, 0);
  REQUIRE(first.steps.size() == 3);
  CHECK(first.nested == 0);
  CHECK(first.steps[0].span == interval{0, 90});
  CHECK(first.steps[2].span == interval{200, 290});
  CHECK(kprof::steps_of(b.p, times, 7).steps.empty());
}

TEST_CASE("timeline.the_recorders_sums_say_whose_steps_take_most") {
  two_threads b;
  b.run();
  b.sums_of(0, 9, 900);  // of all its steps; the marks are of the latest ones
  b.sums_of(1, 3, 300);
  CHECK(kprof::stepping_thread_of(b.p) == 0);
  CHECK(kprof::steps_of(b.p, times_of(b.p)).thread == 0);
  CHECK(kprof::stepping_thread_of({}) == kprof::thread_steps::none);
}

TEST_CASE("timeline.the_path_ends_on_the_thread_whose_steps_take_most") {
  two_threads b;
  b.run();
  b.p.wall_ns = 400;  // the host's part at the end
  const kprof::critical_path path = kprof::critical_path_of(b.p, times_of(b.p));
  REQUIRE(!path.parts.empty());
  CHECK(path.parts.back().kind == path_kind::host);
  CHECK(path.parts.back().thread == 1);
}

TEST_CASE("timeline.a_replay_of_a_graph_is_one_launch_in_the_queue") {
  timeline_builder b;
  b.thread("main", 1);
  for (std::int64_t node = 0; node < 1100; ++node)
    b.kernel_at({0, 10, 2000 + 5 * node, 2004 + 5 * node}, {.graph = true});
  b.kernel_at({100, 105, 9000, 9010});
  b.kernel_at({8000, 8010, 9010, 9020}, {.graph = true});
  const kprof::queue_length queue = kprof::queue_length_of(times_of(b.p), 0, 7);
  CHECK(queue.longest == 2);  // the replay and the kernel behind it; then the kernel and a replay
  CHECK(queue.full == 0);
  CHECK(queue.window == interval{0, 9010});
  // The replay waits 2000, the kernel 8900, the second replay 1010.
  CHECK(queue.mean == Approx((2000.0 + 8900 + 1010) / 9010));
}

TEST_CASE("timeline.a_replay_whose_first_node_seems_to_start_before_its_launch_is_one") {
  timeline_builder b;
  b.thread("main", 1);
  b.kernel_at({100, 110, 98, 99}, {.graph = true});  // the clocks differ
  b.kernel_at({100, 110, 120, 130}, {.graph = true});
  b.kernel_at({100, 110, 140, 150}, {.graph = true});
  const kprof::queue_length queue = kprof::queue_length_of(times_of(b.p), 0, 7);
  CHECK(queue.longest == 0);
  CHECK(queue.window == interval{98, 98});
  CHECK(queue.mean == 0);
}

TEST_CASE("critical_path.a_wait_is_for_the_item_that_the_event_stood_for_when_it_began") {
  timeline_builder b;
  b.thread("main", 1);
  b.thread("other", 2);
  b.p.wall_ns = 300;
  b.kernel_at({10, 15, 20, 200}, {.thread = 0});
  b.kernel_at({120, 125, 130, 240}, {.stream = 20, .thread = 1}, "other");
  b.call_at(kprof::call_kind::event_record, 50, 51, 7).event = 5;
  kprof::host_call& wait = b.call_at(kprof::call_kind::synchronize, 100, 250, 0);
  wait.waits_for = kprof::awaited::event;
  wait.event = 5;
  kprof::host_call& again = b.call_at(kprof::call_kind::event_record, 150, 151, 20);
  again.event = 5;
  again.thread = 1;
  const kprof::critical_path path = kprof::critical_path_of(b.p, times_of(b.p), {0, 300}, 300, 0);
  CHECK(path.of(path_kind::sync_return) == 50);  // from the end of the first stream's kernel
  CHECK(path.of(path_kind::compute) == 180);
  CHECK(path.of(path_kind::launch) == 10);
  CHECK(path.of(path_kind::host) == 60);
}
