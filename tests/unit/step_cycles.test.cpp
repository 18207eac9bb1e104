// SPDX-License-Identifier: MIT
// needs: guards
// Cycles of a schedule: which steps they have, and which of them a profile is of.

#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "forward_steps.hpp"

#include <cstdint>
#include <vector>

using kprof_test::indices;
using kprof_test::run_steps;

TEST_CASE("step_cycles.a_schedule_counts_its_first_step_where_the_recording_begins_with_it") {
  static std::vector<std::vector<std::uint64_t>> steps;
  kprof::on_profile([](const kprof::profile& run, void*) { steps.push_back(indices(run)); });
  const auto of_steps = [](const kprof::step_schedule& schedule, int count) {
    steps.clear();
    kprof::settings wanted;
    wanted.schedule = schedule;
    REQUIRE(kprof::start(wanted));
    run_steps(count);
    return steps;
  };
  using all = std::vector<std::vector<std::uint64_t>>;
  CHECK(of_steps({.active = 3, .repeat = 1}, 12) == all{{0, 1, 2}});
  CHECK(of_steps({.active = 1}, 3) == all{{0}, {1}, {2}});
  CHECK(of_steps({.skip = 1, .active = 1}, 3) == all{{1}, {2}});
  CHECK(of_steps({.warmup = 1, .active = 2}, 3) == all{{1, 2}});
  CHECK(of_steps({.active = 1000}, 12) == all{});
  CHECK(kprof::snapshot().steps.size() == 12);
  kprof::on_profile(nullptr);
  REQUIRE(kprof::start());
}

TEST_CASE("step_cycles.a_profile_is_of_the_latest_whole_cycle_and_says_which") {
  kprof::settings wanted;
  wanted.schedule = {.skip = 5, .active = 3};
  REQUIRE(kprof::start(wanted));
  run_steps(7);  // there is none
  kprof::profile p = kprof::snapshot();
  CHECK(indices(p) == std::vector<std::uint64_t>{5, 6});
  REQUIRE_FALSE(p.notes.empty());
  CHECK(p.notes.back() == "cycle 1 of the schedule has not ended: 2 of its 3 active steps have");
  run_steps(1);  // the next has recorded nothing
  p = kprof::snapshot();
  CHECK(indices(p) == std::vector<std::uint64_t>{5, 6, 7});
  CHECK(p.state == "cycle 1 of the schedule, the latest whole one; cycle 2 has not ended");
  CHECK_FALSE(p.recording);
  run_steps(5);
  p = kprof::snapshot();
  CHECK(indices(p) == std::vector<std::uint64_t>{8, 9, 10});
  CHECK(p.state == "cycle 2 of the schedule, the latest whole one; cycle 3 has not ended");
  run_steps(1);
  kprof::stop();
  p = kprof::snapshot();
  CHECK(indices(p) == std::vector<std::uint64_t>{11, 12, 13});
  CHECK(p.state == "cycle 3 of the schedule, the latest whole one");
  REQUIRE(kprof::start());
  CHECK(kprof::snapshot().steps.empty());
}

TEST_CASE("step_cycles.a_program_that_stops_within_a_cycle") {
  static std::vector<kprof::profile> handed;
  handed.clear();
  kprof::on_profile([](const kprof::profile& p, void*) { handed.push_back(p); });
  kprof::settings wanted;
  wanted.schedule = {.warmup = 1, .active = 3};
  REQUIRE(kprof::start(wanted));
  run_steps(3);  // no cycle has ended
  kprof::stop();
  kprof::profile p = kprof::snapshot();
  CHECK(indices(p) == std::vector<std::uint64_t>{1, 2});
  const std::string cut = "the program stopped within cycle 1 of the schedule: 2 of its 3 active";
  REQUIRE_FALSE(p.notes.empty());
  CHECK(p.notes.back() == cut + " steps had ended");
  REQUIRE(handed.size() == 1);
  REQUIRE_FALSE(handed[0].notes.empty());
  CHECK(handed[0].notes.back() == p.notes.back());

  for (const int more : {1, 2}) {  // of the second cycle: its warm-up, and an active step
    REQUIRE(kprof::start(wanted));
    run_steps(4 + more);
    { KPROF_OP(kprof_test::Forward, {.n = 100}); }
    kprof::stop();
    kprof::stop();
    p = kprof::snapshot();
    CHECK(indices(p) == std::vector<std::uint64_t>{1, 2, 3});
    CHECK(p.state ==
          "cycle 1 of the schedule, the latest whole one; the program stopped within cycle 2");
  }
  kprof::on_profile(nullptr);
  REQUIRE(kprof::start());
}

TEST_CASE("step_cycles.stop_hands_over_no_cycle_that_has_recorded_nothing") {
  static int profiles = 0;
  kprof::on_profile([](const kprof::profile&, void*) { ++profiles; });
  kprof::settings wanted;
  wanted.schedule = {.active = 3};
  REQUIRE(kprof::start(wanted));
  run_steps(3);
  kprof::stop();
  CHECK(profiles == 1);
  CHECK(kprof::snapshot().complete.recorded == 3);
  kprof::on_profile(nullptr);
  REQUIRE(kprof::start());
}

TEST_CASE("step_cycles.number_steps_that_begin_with_the_call_as_the_schedule_does") {
  kprof::settings wanted;
  wanted.schedule = {.active = 4, .repeat = 1};
  REQUIRE(kprof::start(wanted));
  for (int i = 0; i < 6; ++i) {
    KPROF_STEP();
    KPROF_OP(kprof_test::Forward, {.n = 100});
  }
  // Step 0 has recorded nothing.
  CHECK(indices(kprof::snapshot()) == std::vector<std::uint64_t>{1, 2, 3});
}
