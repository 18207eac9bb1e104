// SPDX-License-Identifier: MIT
// needs: guards
// Of a run that is longer than the timeline, the slowest step, one near the median and the latest
// are kept whole.

#include <kprof/kprof.hpp>

#include "catch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {
namespace kept_steps {

struct Work {
  int n = 0;
};

void wait_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {}
}

kprof::settings with_memory(std::size_t mib) {
  kprof::settings settings;
  settings.memory = mib << 20U;
  return settings;
}

/// A step of so many scopes, and one region around them.
void run_step(int scopes) {
  KPROF_REGION("body");
  for (int i = 0; i < scopes; ++i) { KPROF_OP(Work, {i % 2}); }
}

const kprof::kept_step* kept_as(const kprof::profile& p, kprof::kept_as why) {
  for (const kprof::kept_step& k : p.stepping.kept)
    if (k.why == why) return &k;
  return nullptr;
}

double tail_begin(const kprof::profile& p) { return p.wall_ns - p.complete.timeline_ns; }

/// Scopes in the timeline of this name that end in the step.
std::size_t scopes_in(const kprof::profile& p, const kprof::step_mark& m, const std::string& name) {
  std::size_t n = 0;
  for (const kprof::timeline_scope& s : p.timeline) {
    const double end = p.clock.to_ns(s.start + static_cast<std::int64_t>(s.duration));
    n += p.nodes[s.node].name == name && end > static_cast<double>(m.begin) &&
                 end <= static_cast<double>(m.end) + 1
             ? 1U
             : 0U;
  }
  return n;
}
std::uint64_t calls_in(const kprof::profile& p, std::uint32_t step, const std::string& name) {
  std::uint64_t n = 0;
  for (const kprof::step_share& s : p.stepping.shares)
    if (s.step == step && p.nodes[s.node].name == name) n += s.calls;
  return n;
}

}  // namespace kept_steps
}  // namespace

using namespace kept_steps;

TEST_CASE("steps_kept.the_slowest_step_in_the_middle_of_a_long_run_is_whole") {
  REQUIRE(kprof::start(with_memory(4)));
  constexpr int steps = 4000;
  for (int i = 0; i < steps; ++i) {
    run_step(i == 700 ? 60 : 50);
    if (i == 700) wait_for(std::chrono::milliseconds(300));  // longer than others are interrupted
    KPROF_STEP();
  }
  const kprof::profile p = kprof::snapshot({.timeline = true});
  REQUIRE(p.complete.in_timeline < p.complete.recorded / 2);
  const kprof::kept_step* const slow = kept_as(p, kprof::kept_as::slowest);
  REQUIRE(slow != nullptr);
  const kprof::step_mark& m = p.steps[slow->step];
  CHECK(m.index == 700);
  CHECK(static_cast<double>(m.end) < tail_begin(p));
  CHECK(scopes_in(p, m, "Work") == 60);
  CHECK(scopes_in(p, m, "body") == 1);
  CHECK(calls_in(p, slow->step, "Work") == 60);
  CHECK(calls_in(p, slow->step, "body") == 1);
  // and the timeline has nothing between but the other kept steps
  std::set<std::uint32_t> older;
  for (const kprof::timeline_scope& s : p.timeline) {
    const auto begin = static_cast<std::int64_t>(p.clock.to_ns(s.start));
    const double end = p.clock.to_ns(s.start) + p.clock.to_ns(s.duration);
    if (end >= tail_begin(p) - 1) continue;
    bool is_kept = false;
    for (const kprof::kept_step& k : p.stepping.kept)
      if (begin <= p.steps[k.step].end + 1 && end >= static_cast<double>(p.steps[k.step].begin) - 1)
        is_kept = true, older.insert(k.step);
    REQUIRE(is_kept);
  }
  CHECK(older.size() == p.stepping.kept.size());
  CHECK(p.cost.memory <= p.cost.memory_limit);
}

TEST_CASE("steps_kept.a_step_near_the_median_is_kept_and_the_latest_when_more_follows") {
  REQUIRE(kprof::start(with_memory(4)));
  for (int i = 0; i < 300; ++i) {
    run_step(20);
    wait_for(std::chrono::microseconds(100 + (i % 3 == 0 ? 200 : 0) + (i == 150 ? 100 : 0)));
    KPROF_STEP();
  }
  run_step(300'000);  // the step that runs fills the timeline
  const kprof::profile p = kprof::snapshot({.timeline = true});
  // The latest may be the slowest too, or the one nearest to the median: then that is said of it.
  const auto& kept = p.stepping.kept;
  REQUIRE(!kept.empty());
  const kprof::kept_step* const latest = &kept.back();
  CHECK(p.steps[latest->step].index == 299);
  CHECK(scopes_in(p, p.steps[latest->step], "Work") == 20);
  const kprof::kept_step* const median = kept_as(p, kprof::kept_as::median);
  REQUIRE(median != nullptr);
  const kprof::step_mark& m = p.steps[median->step];
  const double ns = static_cast<double>(m.end - m.begin),
               usual = p.clock.to_ns(
                   static_cast<std::uint64_t>(p.stepping.threads[0].durations.quantile(0.5)));
  CHECK(ns > 0.8 * usual);
  CHECK(ns < 1.25 * usual);
  CHECK(scopes_in(p, m, "Work") == 20);
  CHECK(p.stepping.whole_from == -1);
  CHECK(kept.size() == (latest->why == kprof::kept_as::latest ? 3 : 2));
}

TEST_CASE("steps_kept.threads_beside_the_one_that_steps_are_in_the_window") {
  REQUIRE(kprof::start(with_memory(8)));  // with less the totals of ended threads are merged
  std::uint64_t by_helper = 0;
  for (int i = 0; i < 60; ++i) {
    // The thread that steps records next to nothing: its chunk is not full for long.
    std::thread([&] {
      KPROF_REGION("helper");
      for (int k = 0; k < (i == 5 ? 5600 : 5000); ++k) { KPROF_OP(Work, {2}); }
      if (i == 5) wait_for(std::chrono::milliseconds(300));
    }).join();
    if (i == 5) by_helper = 5600;
    KPROF_STEP();
  }
  const kprof::profile p = kprof::snapshot({.timeline = true});
  const kprof::kept_step* const slow = kept_as(p, kprof::kept_as::slowest);
  // 64 ended threads are told apart, more are not
  REQUIRE(slow != nullptr);
  const kprof::step_mark& m = p.steps[slow->step];
  CHECK(m.index == 4);  // nothing was recorded before the first KPROF_STEP()
  CHECK(scopes_in(p, m, "Work") == by_helper);
  CHECK(calls_in(p, slow->step, "Work") == by_helper);
}

// The totals of threads that have ended are merged where memory is scarce, and their scopes go.
TEST_CASE("steps_kept.a_step_whose_scopes_go_with_their_thread_is_not_kept") {
  REQUIRE(kprof::start(with_memory(4)));
  for (int i = 0; i < 200; ++i) {
    std::thread([&] {
      for (int k = 0; k < 2500; ++k) { KPROF_OP(Work, {2}); }
      if (i == 5) wait_for(std::chrono::milliseconds(300));
    }).join();
    KPROF_STEP();
  }
  const kprof::profile p = kprof::snapshot({.timeline = true});
  for (const kprof::kept_step& k : p.stepping.kept)
    CHECK(scopes_in(p, p.steps[k.step], "Work") == 2500);
}

TEST_CASE("steps_kept.a_step_that_is_larger_than_what_may_be_kept_is_not") {
  REQUIRE(kprof::start(with_memory(2)));
  for (int i = 0; i < 600; ++i) {
    run_step(i == 100 ? 20'000 : 100);
    if (i == 100) wait_for(std::chrono::milliseconds(300));
    KPROF_STEP();
  }
  const kprof::profile p = kprof::snapshot({.timeline = true});
  for (const kprof::kept_step& k : p.stepping.kept) {
    CHECK(p.steps[k.step].index != 100);
    CHECK(scopes_in(p, p.steps[k.step], "Work") == 100);
  }
  CHECK(p.cost.memory <= p.cost.memory_limit);
  REQUIRE(kprof::start(with_memory(2)));  // nothing is left of it
  run_step(10);
  const kprof::profile fresh = kprof::snapshot({.timeline = true});
  CHECK(fresh.stepping.kept.empty());
  CHECK(fresh.timeline.size() == 11);
}
