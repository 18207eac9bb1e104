// SPDX-License-Identifier: MIT
// needs: guards, exceptions
// Memory runs out where a schedule begins and ends its cycles: a profile has all steps of a cycle
// and nothing else, or the cycle is left out and told.

#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "failing_memory.hpp"

#include <string>
#include <vector>

namespace {

struct Forward {
  std::int64_t n = 0;
};

/// Steps of one scope each.
void run_steps(int count) {
  for (int i = 0; i < count; ++i) {
    { KPROF_OP(Forward, {.n = 100}); }
    KPROF_STEP();
  }
}
/// One step, whose end finds no memory.
void run_step_that_ends_without_memory() {
  { KPROF_OP(Forward, {.n = 100}); }
  without_memory([] { KPROF_STEP(); });
}

bool tells(const kprof::profile& p, const std::string& what) {
  for (const std::string& note : p.notes)
    if (note.find(what) != std::string::npos) return true;
  return false;
}

/// Steps, and scopes, of the profiles that were handed over.
struct handed_over {
  std::vector<std::vector<std::uint64_t>> steps;
  std::vector<std::uint64_t> scopes;

  handed_over() {
    steps.reserve(10);
    kprof::on_profile(
        [](const kprof::profile& run, void* into) {
          auto& all = *static_cast<handed_over*>(into);
          all.steps.emplace_back();
          for (const kprof::step_mark& m : run.steps) all.steps.back().push_back(m.index);
          all.scopes.push_back(run.complete.recorded);
        },
        this);
  }
  ~handed_over() {
    kprof::on_profile(nullptr);
    CHECK(kprof::start());
  }
};

/// Settings with a long path need memory whenever a recording begins, not only where there is
/// something to forget.
void start(const kprof::step_schedule& schedule) {
  kprof::settings wanted;
  wanted.schedule = schedule;
  wanted.report.path.assign(100, 'x');
  REQUIRE(kprof::start(wanted));
}

}  // namespace

TEST_CASE("steps_memory.a_cycle_that_cannot_begin_is_left_out_with_its_warm_up") {
  const handed_over seen;
  start({.wait = 1, .warmup = 2, .active = 2});
  run_steps(2);
  run_step_that_ends_without_memory();  // 3 would be the first that counts
  const kprof::profile none = kprof::snapshot();
  CHECK(none.complete.recorded == 0);
  CHECK(none.nodes.empty());
  CHECK_FALSE(none.recording);
  CHECK(none.state == "resting: there was no memory to begin a cycle of the schedule");
  CHECK(tells(none, "1 cycle of the schedule is left out: there was no memory for it"));
  run_steps(2);
  CHECK(kprof::snapshot().complete.recorded == 0);  // 5 waits
  CHECK(seen.steps.empty());
  run_steps(5);
  CHECK(seen.steps == std::vector<std::vector<std::uint64_t>>{{8, 9}});
  CHECK(seen.scopes == std::vector<std::uint64_t>{2});
  CHECK(tells(kprof::snapshot(), "1 cycle of the schedule is left out"));
}

TEST_CASE("steps_memory.the_cycle_before_stays_the_latest") {
  const handed_over seen;
  start({.warmup = 1, .active = 2});
  run_steps(3);
  run_step_that_ends_without_memory();  // 3 warms up
  for (int i = 0; i < 3; ++i) {
    const kprof::profile p = kprof::snapshot();
    CHECK(p.complete.recorded == 2);
    CHECK(p.steps.size() == 2);
    CHECK(tells(p, "1 cycle of the schedule is left out"));
    if (i < 2) run_steps(1);  // 6 warms up
  }
  kprof::stop();
  CHECK(seen.steps == std::vector<std::vector<std::uint64_t>>{{1, 2}});
}

TEST_CASE("steps_memory.a_warm_up_that_cannot_begin_loses_no_cycle") {
  const handed_over seen;
  start({.wait = 1, .warmup = 1, .active = 2});
  run_steps(4);
  run_step_that_ends_without_memory();  // 5 would warm up
  CHECK(kprof::snapshot().complete.recorded == 2);
  run_steps(3);
  CHECK(seen.steps == std::vector<std::vector<std::uint64_t>>{{2, 3}, {6, 7}});
  CHECK(seen.scopes == std::vector<std::uint64_t>{2, 2});
  CHECK_FALSE(tells(kprof::snapshot(), "left out"));
}

TEST_CASE("steps_memory.a_cycle_whose_end_finds_no_memory_is_shown_until_the_next_begins") {
  const handed_over seen;
  start({.wait = 1, .active = 2});
  run_steps(2);
  run_step_that_ends_without_memory();
  CHECK(kprof::snapshot().complete.recorded == 2);
  CHECK(seen.steps.empty());
  run_steps(3);
  CHECK(seen.steps == std::vector<std::vector<std::uint64_t>>{{4, 5}});
  CHECK(tells(kprof::snapshot(), "1 cycle of the schedule is left out"));
}

TEST_CASE("steps_memory.a_cycle_follows_one_whose_end_finds_no_memory") {
  const handed_over seen;
  start({.active = 2});
  run_steps(1);
  run_step_that_ends_without_memory();  // so that neither this cycle ends nor the next begins
  run_steps(4);
  CHECK(seen.steps == std::vector<std::vector<std::uint64_t>>{{4, 5}});
  CHECK(seen.scopes == std::vector<std::uint64_t>{2});
  CHECK(tells(kprof::snapshot(), "2 cycles of the schedule are left out"));
}
