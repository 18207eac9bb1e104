// SPDX-License-Identifier: MIT
// needs: guards
#include "attribution_engine.hpp"
#include "catch.hpp"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

using namespace kprof::detail;
using namespace kprof_test;

TEST_CASE("attribution.work_belongs_to_the_innermost_scope_of_its_launch") {
  engine e;
  e.launch({1});
  const scope_token outer = begin_op(1);
  e.launch({2});
  const scope_token inner = begin_region("part");
  e.launch({3});
  e.launch({4});
  end(inner);
  e.launch({5});
  end(outer);
  e.take_launches();
  e.read({kernel(5), kernel(3, "x"), kernel(1, "out"), copy(4, 64), kernel(2)});
  const kprof::profile p = e.profile();
  CHECK(runs(p) ==
        counts{{": out", 1}, {"Op n=1: k", 2}, {"Op n=1/part: x", 1}, {"Op n=1/part: copy", 1}});
  const auto& c = p.device.complete;
  CHECK(c.launches == 5);
  CHECK(c.attributed == 4);
  CHECK(c.outside == 1);
  CHECK(c.open == 0);
  CHECK(c.unknown == 0);
  CHECK(c.records == 5);
}

TEST_CASE("attribution.sums_are_of_the_runs_and_gaps_from_launch_to_start") {
  engine e;
  const scope_token t = begin_op(1);
  e.launch({1}, 40);
  e.launch({2}, 90);
  e.launch({3}, 500);
  end(t);
  e.take_launches();
  activity untimed = kernel(3);
  untimed.start = untimed.end = 0;
  e.read({kernel(1, "k", 100, 10), kernel(2, "k", 200, 30), untimed});
  kprof::profile p = e.profile();
  REQUIRE(p.device.work.size() == 1);
  const kprof::device_work& w = p.device.work[0];
  CHECK(w.calls == 3);
  CHECK(w.untimed == 1);
  CHECK(w.total_ns == 40);
  CHECK(w.min_ns == 10);
  CHECK(w.max_ns == 30);
  CHECK(w.gaps == 2);
  CHECK(w.gap_ns == (100 - 40) + (200 - 90));
  CHECK(p.device.complete.untimed == 1);
  REQUIRE(p.device.devices.size() == 1);
  CHECK(p.device.devices[0].busy_ns == 40);
  activity backwards = kernel(2, "k", 200, 0);
  backwards.end = 150;
  e.read({backwards});  // counted, not averaged
  p = e.profile();
  CHECK(p.device.complete.untimed == 2);
  CHECK(p.device.work[0].total_ns == 40);
  e.launch({4}, 5000);
  e.take_launches();
  // two clocks: a start that seems to come before the launch is no negative gap
  e.read({kernel(4, "early", 100)});
  p = e.profile();
  REQUIRE(p.device.work.size() == 2);
  CHECK(p.device.work[1].gaps == 1);
  CHECK(p.device.work[1].gap_ns == 0);
  // by more than a millisecond, the clocks differ by too much to tell
  e.launch({5}, 2'000'000);
  e.launch({6}, 2'000'000);
  e.take_launches();
  e.read({kernel(5, "late", 1'000'001)});
  e.read({kernel(6, "later", 1'000'000)});
  const kprof::profile differing = e.profile();
  REQUIRE(differing.device.work.size() == 4);
  CHECK(differing.device.work[2].gaps == 1);
  CHECK(differing.device.work[3].gaps == 0);
}

// Of one row, since nothing of the launch differs; what the driver gave does not count for both.
TEST_CASE("attribution.shared_memory_that_differs_among_runs_is_not_known") {
  engine e;
  const scope_token t = begin_op(1);
  for (const std::uint32_t id : {1U, 2U, 3U, 4U}) e.launch({id});
  end(t);
  e.take_launches();
  const auto given = [](std::uint32_t id, const char* name, std::uint32_t bytes) {
    activity a = kernel(id, name);
    a.multiprocessor_shared = bytes;
    return a;
  };
  e.read({given(1, "same", 65536), given(2, "same", 65536), given(3, "other", 65536),
          given(4, "other", 131072)});
  const kprof::profile p = e.profile();
  REQUIRE(p.device.work.size() == 2);
  for (const kprof::device_work& w : p.device.work) {
    CHECK(w.calls == 2);
    CHECK(w.multiprocessor_shared == (p.device.kernels[w.kernel] == "same" ? 65536U : 0U));
  }
}

TEST_CASE("attribution.a_record_may_come_before_its_launch_is_known") {
  engine e;
  e.read({kernel(7)});
  kprof::profile p = e.profile();
  CHECK(p.device.complete.unknown == 1);
  CHECK(runs(p) == counts{{"unknown: k", 1}});
  const scope_token t = begin_op(2);
  e.launch({7});
  end(t);
  p = e.profile();
  CHECK(p.device.complete.unknown == 0);
  CHECK(runs(p) == counts{{"Op n=2: k", 1}});
}

TEST_CASE("attribution.what_never_meets_is_counted_and_listed_by_name") {
  engine e;
  const scope_token t = begin_op(2);
  e.launch({1});
  e.launch({2});
  end(t);
  e.take_launches();
  e.read({kernel(8, "lost"), kernel(9, "lost"), kernel(1)});
  e.devices.count_pending_as_unknown();
  const kprof::profile p = e.profile();
  CHECK(p.device.complete.unknown == 2);
  CHECK(p.device.complete.open == 1);
  CHECK(p.device.complete.records == 3);
  CHECK(runs(p) == counts{{"Op n=2: k", 1}, {"unknown: lost", 2}});
}

TEST_CASE("attribution.work_launched_before_the_recording_or_in_a_pause_is_left_out") {
  engine e;
  e.devices.restart(1000, 1 << 20);
  e.read({kernel(9001, "early", 900), kernel(9002, "late", 1100)});
  e.devices.count_pending_as_unknown();
  const scope_token t = begin_op(2);
  const std::uint32_t id = 9003;
  e.threads.note_launch(&id, 1, 1, record_kind::ignored_launch);
  end(t);
  e.take_launches();
  e.read({kernel(9003, "paused", 1200)});
  const kprof::profile p = e.profile();
  CHECK(p.device.complete.ignored == 2);
  CHECK(p.device.complete.unknown == 1);
  CHECK(p.device.complete.launches == 0);
  CHECK(runs(p) == counts{{"unknown: late", 1}});
}

TEST_CASE("attribution.a_launch_known_by_several_ids_counts_once") {
  engine e;
  const scope_token t = begin_op(2);
  e.launch({1, 2});
  e.launch({3, 4, 5});
  end(t);
  e.take_launches();
  e.read({kernel(2), kernel(5), kernel(3, "more")});
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"Op n=2: k", 2}, {"Op n=2: more", 1}});
  CHECK(p.device.complete.launches == 2);
  CHECK(p.device.complete.attributed == 2);
  CHECK(p.device.complete.open == 0);
}

TEST_CASE("attribution.work_of_threads_that_ended_stays_and_of_too_many_is_kept_together") {
  engine e;
  std::uint32_t id = 0;
  for (int i = 0; i < 200; ++i)
    std::thread([&] {
      const scope_token t = begin_op(i % 2);
      e.launch({++id});
      end(t);
    }).join();
  std::vector<activity> all;
  // of the latest, which are kept apart
  for (std::uint32_t n = 151; n <= 200; ++n) all.push_back(kernel(n));
  e.take_launches();
  e.read(all);
  for (int i = 0; i < 100; ++i) std::thread([&] { end(begin_op(7)); }).join();  // pushes them out
  all.clear();
  for (std::uint32_t n = 1; n <= 150; ++n) all.push_back(kernel(n));
  e.read(all);
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"Op n=0: k", 100}, {"Op n=1: k", 100}});
  CHECK(p.device.complete.attributed == 200);
}

TEST_CASE("attribution.adopted_work_belongs_to_the_scope_that_was_captured") {
  engine e;
  const scope_token t = begin_op(1);
  const std::uint32_t path = functions::api().capture();
  std::thread([&] {
    const scope_token own = begin_op(2);
    const scope_token adopted = functions::api().adopt(path);
    e.launch({1});
    const scope_token region = begin_region("inside");
    e.launch({2});
    end(region);
    functions::api().release(adopted);
    end(own);
  }).join();
  end(t);
  e.take_launches();
  e.read({kernel(1), kernel(2)});
  CHECK(runs(e.profile()) == counts{{"Op n=1: k", 1}, {"Op n=1/inside: k", 1}});
}

TEST_CASE("attribution.names_are_told_apart_by_their_text") {
  engine e;
  char name[] = "one";
  for (const std::uint32_t id : {1U, 2U, 3U}) e.launch({id});
  e.take_launches();
  e.read({kernel(1, name)});
  name[0] = 't', name[1] = 'w', name[2] = 'o';  // a library went, and another came to its place
  e.read({kernel(2, name), kernel(3, "one")});
  CHECK(runs(e.profile()) == counts{{": one", 2}, {": two", 1}});
}

TEST_CASE("attribution.memory_is_bounded_and_counts_stay_exact") {
  engine e(std::size_t{2} << 20U);
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i)
    names.push_back("a_kernel_with_a_rather_long_name_" + std::to_string(i));
  std::uint32_t id = 0;
  for (int round = 0; round < 40; ++round) {
    const scope_token t = begin_op(round);
    std::vector<activity> some;
    for (int i = 0; i < 1000; ++i) {
      e.launch({++id});
      activity a =
          kernel(id, names[static_cast<std::size_t>(round * 1000 + i) % names.size()].c_str());
      a.grid[0] = static_cast<std::uint32_t>(i);
      some.push_back(a);
    }
    end(t);
    e.take_launches();
    e.read(some);
  }
  const kprof::profile p = e.profile();
  std::uint64_t all = 0;
  double ns = 0;
  for (const auto& w : p.device.work) all += w.calls, ns += w.total_ns;
  CHECK(all == 40'000);
  CHECK(ns == 400'000);
  CHECK(p.device.complete.attributed == 40'000);
  CHECK(p.device.complete.merged > 0);
  // the row that was one too many
  CHECK(e.threads.budget().now() <= (std::size_t{2} << 20U) / 2 + 1024);
}

TEST_CASE("attribution.launches_and_records_without_a_partner_do_not_pile_up") {
  engine e(std::size_t{1} << 20U);
  std::vector<activity> some;
  for (std::uint32_t i = 1; i <= 300'000; ++i) {
    if (i % 3 == 0) e.launch({i});
    some.push_back(kernel(1'000'000 + i));
    if (some.size() == 500) {
      e.take_launches();
      e.read(some);
      some.clear();
    }
  }
  // of the largest recording so far
  CHECK(e.devices.bytes() < 2 * attribution::share(std::size_t{16} << 20U));
  const kprof::profile p = e.profile();
  CHECK(p.device.complete.open == 100'000);
  CHECK(p.device.complete.unknown == 300'000);
  CHECK(p.device.complete.launches == 100'000);
}

// Records without an id come where CUPTI gives none, and from graphs that devices launch.
TEST_CASE("attribution.a_record_without_an_id_belongs_to_no_launch") {
  engine e;
  const scope_token t = begin_op(1);
  e.launch({});
  e.launch({0});
  e.launch({7});
  end(t);
  e.take_launches();
  e.read({kernel(0), kernel(7)});
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"Op n=1: k", 1}, {"unknown: k", 1}});
  CHECK(p.device.complete.launches == 3);
  CHECK(p.device.complete.attributed == 1);
  CHECK(p.device.complete.unknown == 1);
  CHECK(find_all(p, "Op n=1")[0]->unrecorded == 2);
}

TEST_CASE("attribution.records_that_wait_for_their_launch_count_like_others") {
  engine e;
  activity untimed = kernel(2);
  untimed.end = 0;
  e.read({kernel(1, "k", 1000, 50), untimed});
  kprof::profile p = e.profile();
  CHECK(p.device.complete.records == 2);
  CHECK(p.device.complete.untimed == 1);
  const auto busy_ns = [](const kprof::profile& of) {
    double sum = 0;
    for (const auto& d : of.device.devices) sum += d.sum_ns;
    return sum;
  };
  CHECK(busy_ns(p) == 50);
  CHECK(busy_ns(e.profile()) == 50);  // once
  e.launch({1}), e.launch({2});
  p = e.profile();
  CHECK(busy_ns(p) == 50);
  CHECK(p.device.complete.untimed == 1);
  CHECK(p.device.complete.unknown == 0);
}
