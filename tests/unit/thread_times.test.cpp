// SPDX-License-Identifier: MIT
// needs: guards
// What folding notes of single calls and threads, with a clock that the test moves.

#include "attribution_engine.hpp"
#include "catch.hpp"
#include "moved_clock.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>

using namespace kprof::detail;
using namespace kprof_test;

TEST_CASE("thread_times.the_first_call_of_a_node_is_kept") {
  engine e;
  call(1, 100, 900);
  call(1, 1000, 1010);
  call(2, 2000, 2005);
  const scope_token outer = begin_at(3000, 1);
  call(3, 3010, 3060);
  call(3, 3100, 3110);
  end_at(3200, outer);
  const kprof::profile p = profile_at(e, 10'000);
  CHECK(only(p, "Op n=1").first_ns == 800);
  CHECK(only(p, "Op n=1").first_end_ns == 900);
  CHECK(only(p, "Op n=2").first_ns == 5);
  CHECK(only(p, "Op n=1/Op n=3").first_ns == 50);
  CHECK(p.nodes[0].first_ns < 0);  // a root is no call
}

TEST_CASE("thread_times.the_first_call_of_many_threads_is_the_one_that_ended_first") {
  engine e;
  call(1, 10'000, 10'700);
  // More than are kept apart, so that totals are merged; a later thread has the earlier call.
  for (std::uint64_t i = 0; i < 70; ++i)
    std::thread([i] { call(1, 9000 - 100 * i, 9000 - 100 * i + 10 + i); }).join();
  const kprof::profile p = profile_at(e, 20'000);
  double earliest = 1e9, merged = 0;
  for (const auto* n : find_all(p, "Op n=1")) {
    earliest = std::min(earliest, n->first_end_ns);
    if (const auto threads = static_cast<double>(p.threads[n->thread].merged); threads > 0) {
      merged = threads;
      CHECK(n->first_end_ns == 9000 - 100 * (threads - 1) + 10 + threads - 1);
      CHECK(n->first_ns == 10 + threads - 1);
    }
  }
  CHECK(merged > 1);
  CHECK(earliest == 9000 - 6900 + 79);
}

TEST_CASE("thread_times.a_thread_has_the_time_it_ran_and_that_in_scopes") {
  const auto before = recording_clock.exchange(&set_clock::now);
  engine e;
  at(500);
  e.threads.restart(500);  // this thread has a log since the tests before
  call(1, 1000, 1300);
  const scope_token outer = begin_at(2000, 1);
  call(2, 2100, 2150);
  std::thread([] {
    call(1, 3000, 3100);
    const scope_token handed_over = (at(3200), moved_scopes::api().adopt(0));
    call(3, 3300, 3500);
    at(3700), moved_scopes::api().release(handed_over);
    static_cast<void>(begin_at(3800, 4));  // never closed
    at(4000);
  }).join();
  at(9000);
  const kprof::profile open = profile_at(e, 5000);
  const auto thread_of = [](const kprof::profile& p, const char* path) {
    return p.threads[only(p, path).thread];
  };
  const kprof::thread_info main = thread_of(open, "Op n=1/Op n=2"),
                           worker = thread_of(open, "Op n=3");
  CHECK(main.begin_ns == 500);
  CHECK(main.wall_ns == 4500);
  CHECK(main.in_scopes_ns == 300 + 3000);  // the open one, and what is inside it once
  CHECK(worker.begin_ns == 3000);
  CHECK(worker.wall_ns == 1000);
  CHECK(worker.in_scopes_ns == 100 + 200 + 200);
  CHECK(thread_of(profile_at(e, 3600), "Op n=3").wall_ns == 600);  // stopped before it ended
  end_at(9500, outer);
  CHECK(thread_of(profile_at(e, 10'000), "Op n=1/Op n=2").in_scopes_ns == 300 + 7500);
  at(20'000);
  e.threads.restart(20'000);
  call(1, 21'000, 21'400);
  const kprof::profile again = profile_at(e, 22'000);
  REQUIRE(again.threads.size() == 1);
  CHECK(again.threads[0].begin_ns == 20'000);
  CHECK(again.threads[0].wall_ns == 2000);
  CHECK(again.threads[0].in_scopes_ns == 400);
  recording_clock = before;
}

TEST_CASE("thread_times.threads_that_are_kept_together_have_their_sums") {
  const auto before = recording_clock.exchange(&set_clock::now);
  engine e;
  for (std::uint64_t i = 0; i < 70; ++i)
    std::thread([i] {
      call(1, 10'000 - 100 * i, 10'030 - 100 * i);
      at(10'050 - 100 * i);
    }).join();
  const kprof::profile p = profile_at(e, 20'000);
  double wall = 0, in_scopes = 0, merged = 0;
  for (const kprof::thread_info& t : p.threads) {
    if (!t.ended) continue;
    wall += t.wall_ns, in_scopes += t.in_scopes_ns;
    if (t.merged == 0) continue;
    merged = static_cast<double>(t.merged);
    CHECK(t.wall_ns == 50 * merged);
    CHECK(t.in_scopes_ns == 30 * merged);
    CHECK(t.begin_ns == 10'000 - 100 * (merged - 1));
  }
  CHECK(merged > 1);
  CHECK(wall == 70 * 50);
  CHECK(in_scopes == 70 * 30);
  recording_clock = before;
}
