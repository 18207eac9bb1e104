// SPDX-License-Identifier: MIT
// needs: guards
// Steps of the program's main loop: their marks, sums and schedule.

#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "find.hpp"
#include "forward_steps.hpp"

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using kprof_test::Forward;
using kprof_test::indices;
using kprof_test::run_steps;

TEST_CASE("steps.each_call_ends_a_step_and_begins_the_next") {
  REQUIRE(kprof::start());
  run_steps(5);
  const kprof::profile p = kprof::snapshot();
  CHECK(indices(p) == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  REQUIRE(p.stepping.threads.size() == 1);
  CHECK(p.stepping.threads[0].count == 5);
  CHECK(p.stepping.threads[0].running_ns >= 0);
  for (std::size_t i = 1; i < p.steps.size(); ++i) CHECK(p.steps[i].begin == p.steps[i - 1].end);
  // Each has one call, also the first.
  REQUIRE(p.stepping.shares.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(p.stepping.shares[i].step == i);
    CHECK(p.stepping.shares[i].calls == 1);
    CHECK(p.nodes[p.stepping.shares[i].node].name == "Forward");
  }
}

TEST_CASE("steps.a_step_begins_with_the_first_call_where_nothing_was_recorded_before") {
  REQUIRE(kprof::start());
  for (int i = 0; i < 3; ++i) {
    KPROF_STEP();
    KPROF_OP(Forward, {.n = 1});
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(indices(p) == std::vector<std::uint64_t>{0, 1});
  REQUIRE(p.stepping.shares.size() == 2);
  CHECK(p.stepping.shares[0].calls == 1);
}

TEST_CASE("steps.regions_of_a_name_are_steps_and_those_inside_one_are_none") {
  kprof::settings wanted;
  wanted.step = "iteration";
  REQUIRE(kprof::start(wanted));
  for (int i = 0; i < 4; ++i) {
    KPROF_REGION("epoch");
    KPROF_REGION("iteration");
    { KPROF_OP(Forward, {.n = 1}); }
    { KPROF_REGION("iteration"); }
    KPROF_STEP();  // regions are the steps
  }
  { KPROF_REGION("iteration"); }  // without anything inside
  const kprof::open_scope open = kprof::begin_region("iteration");
  const kprof::profile p = kprof::snapshot();
  kprof::open_scope closing = open;
  kprof::end(closing);
  CHECK(p.stepping.region == "iteration");
  CHECK(indices(p) == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  REQUIRE(p.stepping.threads.size() == 1);
  CHECK(p.stepping.threads[0].count == 5);
  CHECK(p.stepping.threads[0].nested == 4);
  CHECK(p.complete.open == 1);
  std::uint64_t in_step[5] = {};
  for (const kprof::step_share& s : p.stepping.shares)
    if (p.nodes[s.node].name == "Forward") in_step[s.step] += s.calls;
  for (int i = 0; i < 4; ++i) CHECK(in_step[i] == 1);
  REQUIRE(kprof::start());  // no region is a step any more
  { KPROF_REGION("iteration"); }
  CHECK(kprof::snapshot().steps.empty());
}

TEST_CASE("steps.each_thread_has_its_own_and_shares_are_of_the_one_with_most") {
  REQUIRE(kprof::start());
  std::thread other([] { run_steps(3); });
  other.join();
  for (int i = 0; i < 4; ++i) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
    while (std::chrono::steady_clock::now() < end) { KPROF_OP(Forward, {.n = 2}); }
    if (i == 2) std::thread([] { KPROF_OP(Forward, {.n = 3}); }).join();
    KPROF_STEP();
  }
  const kprof::profile p = kprof::snapshot();
  REQUIRE(p.stepping.threads.size() == 2);
  CHECK(p.stepping.threads[0].count == 4);
  CHECK(p.stepping.threads[1].count == 3);
  CHECK(p.steps.size() == 7);
  CHECK(p.stepping.whole_from >= 0);
  for (const kprof::step_share& s : p.stepping.shares) {
    CHECK(p.steps[s.step].thread == p.stepping.threads[0].thread);
    const bool of_helper =
        p.nodes[s.node].brief == "n=3" || kprof::parameter_text(p, p.nodes[s.node]) == "n=3";
    if (of_helper) CHECK(p.steps[s.step].index == 2);  // a thread's scope is in the step beside it
  }
}

TEST_CASE("steps.shares_of_a_step_sum_to_no_more_than_the_step_on_its_thread") {
  REQUIRE(kprof::start());
  for (int i = 0; i < 20; ++i) {
    KPROF_REGION("outer");
    for (int k = 0; k < 10; ++k) { KPROF_OP(Forward, {.n = k}); }
    KPROF_STEP();
  }
  const kprof::profile p = kprof::snapshot();
  REQUIRE(p.steps.size() == 20);
  std::vector<double> self(20), total(20);
  for (const kprof::step_share& s : p.stepping.shares) {
    self[s.step] += s.self_ns;
    if (p.nodes[s.node].name == "outer") total[s.step] += s.total_ns;
  }
  for (std::size_t i = 0; i < 20; ++i) {
    const auto step = static_cast<double>(p.steps[i].end - p.steps[i].begin);
    CHECK(self[i] <= step + 2);
    CHECK(std::abs(self[i] - total[i]) < 20);  // all is in "outer"; sums of rounded ticks
  }
}

TEST_CASE("steps.a_schedule_records_its_active_steps_and_hands_over_each_cycle") {
  struct cycles {
    std::vector<std::vector<std::uint64_t>> steps;
    std::vector<std::uint64_t> calls;
  } seen;
  kprof::on_profile(
      [](const kprof::profile& run, void* into) {
        auto& all = *static_cast<cycles*>(into);
        all.steps.push_back(indices(run));
        all.calls.push_back(run.complete.recorded);
      },
      &seen);
  kprof::settings wanted;
  wanted.schedule = {.skip = 1, .wait = 1, .warmup = 1, .active = 2, .repeat = 2};
  REQUIRE(kprof::start(wanted));
  CHECK_FALSE(kprof::snapshot().recording);
  CHECK(kprof::snapshot().state.find("the first that counts is step 3") != std::string::npos);
  run_steps(4);  // 0 and 1 are not recorded, 2 is forgotten, 3 is recorded
  CHECK(kprof::snapshot().complete.recorded == 1);
  run_steps(1);
  CHECK(seen.steps == std::vector<std::vector<std::uint64_t>>{{3, 4}});
  CHECK_FALSE(kprof::snapshot().recording);
  run_steps(1);  // 5 waits, 6 warms up
  CHECK(kprof::snapshot().recording == false);
  { KPROF_OP(Forward, {.n = 3}); }
  CHECK(indices(kprof::snapshot()) == std::vector<std::uint64_t>{3, 4});  // the last whole cycle
  run_steps(10);
  CHECK(seen.steps == std::vector<std::vector<std::uint64_t>>{{3, 4}, {7, 8}});
  CHECK(seen.calls == std::vector<std::uint64_t>{2, 2});
  CHECK(kprof::snapshot().state.find("resting after 2 cycles") != std::string::npos);
  CHECK(kprof::snapshot().complete.recorded == 2);
  REQUIRE(kprof::start());
  kprof::on_profile(nullptr);
}

TEST_CASE("steps.a_function_that_takes_profiles_may_start_anew_or_change_the_schedule") {
  struct plan {
    bool starts = false;  // else it sets the schedule
    std::vector<std::vector<std::uint64_t>> steps;
  };
  const auto act = [](const kprof::profile& run, void* into) {
    plan& p = *static_cast<plan*>(into);
    p.steps.push_back(indices(run));
    if (p.steps.size() != 1) return;
    kprof::settings other;
    other.schedule = {.wait = 2, .active = 2, .repeat = 1};
    if (p.starts) CHECK(kprof::start(other));
    else CHECK(kprof::set_schedule(other.schedule));
  };
  for (const bool starts : {true, false}) {
    plan seen{starts, {}};
    kprof::on_profile(act, &seen);
    kprof::settings wanted;
    wanted.schedule = {.skip = 1, .active = 1};
    REQUIRE(kprof::start(wanted));
    run_steps(2);  // 0 is not recorded, 1 is; the new schedule's step 0 begins
    INFO("start " << starts);
    CHECK(seen.steps == std::vector<std::vector<std::uint64_t>>{{1}});
    CHECK_FALSE(kprof::snapshot().recording);  // it waits for two steps
    run_steps(1);
    CHECK_FALSE(kprof::snapshot().recording);
    run_steps(1);
    CHECK(kprof::snapshot().recording);
    run_steps(2);
    CHECK_FALSE(kprof::snapshot().recording);
    CHECK(seen.steps == std::vector<std::vector<std::uint64_t>>{{1}, {2, 3}});
    kprof::on_profile(nullptr);
    REQUIRE(kprof::start());
  }
}

TEST_CASE("steps.a_function_that_takes_profiles_is_not_called_inside_itself") {
  static int calls = 0;
  static bool runs_steps = true;
  kprof::on_profile([](const kprof::profile&, void*) {
    if (++calls > 100) return;
    if (runs_steps) return run_steps(6);
    CHECK(kprof::start());
    kprof::stop();
  });
  kprof::settings wanted;
  wanted.schedule = {.active = 2};
  REQUIRE(kprof::start(wanted));
  run_steps(2);
  CHECK(calls == 1);
  run_steps(2);
  CHECK(calls == 2);
  runs_steps = false;
  run_steps(2);
  CHECK(calls == 3);
  kprof::on_profile(nullptr);
  REQUIRE(kprof::start());
}

#if defined(__cpp_exceptions)
TEST_CASE("steps.a_function_that_takes_profiles_may_leave_stop_by_an_exception") {
  static int calls = 0;
  kprof::on_profile([](const kprof::profile&, void*) {
    if (++calls == 1) throw std::runtime_error("the program's own");
  });
  REQUIRE(kprof::start());
  CHECK_THROWS_AS(kprof::stop(), std::runtime_error);
  REQUIRE(kprof::start());
  kprof::stop();
  CHECK(calls == 2);
  kprof::on_profile(nullptr);
  REQUIRE(kprof::start());
}
#endif

TEST_CASE("steps.a_function_that_takes_profiles_may_start_without_a_schedule_or_stop") {
  static bool starts = false;
  for (const bool start : {true, false}) {
    starts = start;
    kprof::on_profile([](const kprof::profile&, void*) {
      if (starts) CHECK(kprof::start());
      else kprof::stop();
    });
    kprof::settings wanted;
    wanted.schedule = {.active = 1};
    REQUIRE(kprof::start(wanted));
    run_steps(1);
    CHECK(kprof::snapshot().recording == start);
    run_steps(3);
    CHECK(kprof::snapshot().recording == start);
    if (start) CHECK(kprof::snapshot().complete.recorded == 3);
    kprof::on_profile(nullptr);
    REQUIRE(kprof::start());
  }
}

TEST_CASE("steps.stop_ends_a_cycle_and_the_program_can_set_a_schedule_while_it_records") {
  static int profiles = 0;
  static std::uint64_t recorded = 0;
  profiles = 0;
  REQUIRE(kprof::start());
  kprof::on_profile([](const kprof::profile& run, void*) {
    ++profiles;
    recorded = run.complete.recorded;
  });
  run_steps(3);
  CHECK_FALSE(kprof::set_schedule({.wait = 3}));
  CHECK(kprof::snapshot().complete.recorded == 3);  // nothing has changed
  REQUIRE(kprof::set_schedule({.wait = 1, .active = 5}));
  run_steps(4);
  kprof::stop();  // in the middle of a cycle
  CHECK(profiles == 1);
  CHECK(recorded == 3);
  run_steps(3);
  CHECK(kprof::snapshot().complete.recorded == 3);
  CHECK_FALSE(kprof::set_schedule({.warmup = 1, .active = 1, .repeat = 1}));
  run_steps(3);
  CHECK(kprof::snapshot().complete.recorded == 3);
  kprof::on_profile(nullptr);
  REQUIRE(kprof::start());
}

TEST_CASE("steps.another_threads_steps_do_not_drive_the_schedule") {
  kprof::settings wanted;
  wanted.schedule = {.active = 2, .repeat = 1};
  REQUIRE(kprof::start(wanted));
  run_steps(1);
  std::thread([] { run_steps(10); }).join();
  CHECK(kprof::snapshot().recording);
  run_steps(1);
  CHECK_FALSE(kprof::snapshot().recording);
  CHECK(kprof::snapshot().complete.recorded == 12);
  REQUIRE(kprof::start());
}

TEST_CASE("steps.a_region_as_the_step_and_a_schedule_do_not_go_together") {
  kprof::settings wanted;
  wanted.schedule = {.wait = 1, .active = 1};
  wanted.step = "iteration";
  REQUIRE(kprof::start(wanted));
  const kprof::profile p = kprof::snapshot();
  CHECK(p.recording);
  bool told = false;
  for (const std::string& note : p.notes)
    told = told || note.find("the schedule is left out") != std::string::npos;
  CHECK(told);
  REQUIRE(kprof::start());
}
