// SPDX-License-Identifier: MIT
// needs: guards
// The session from the outside: what guards do is what snapshot() shows.

#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "find.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace {

struct Copy {
  std::int64_t n = 0;
  constexpr std::uint64_t flops() const { return 0; }
  constexpr kprof::traffic bytes() const { return {.read = n, .written = n}; }
};
struct Silent {
  int k = 0;
};
struct Pooled {
  std::int64_t n = 0;
  constexpr int threads() const { return 3; }
};
struct Empty {};

void spin(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {}
}

}  // namespace

TEST_CASE("session.counts_calls_by_parameters_and_place") {
  REQUIRE(kprof::start());
  for (int i = 0; i < 10; ++i) {
    KPROF_REGION("outer");
    KPROF_OP(Copy, {.n = i % 2});
    { KPROF_OP(Silent, {i % 5}); }
    { KPROF_OP(Empty); }
  }
  const kprof::profile p = kprof::snapshot();
  INFO(all_paths(p));
  CHECK(calls(p, "outer") == 10);
  CHECK(calls(p, "outer/Copy n=0") == 5);
  CHECK(calls(p, "outer/Copy n=1") == 5);
  CHECK(calls(p, "outer/Copy n=0/Silent k=4") == 1);
  CHECK(calls(p, "outer/Copy n=1/Empty") == 5);
  CHECK(p.complete.recorded == 40);
  CHECK(p.complete.open == 0);
  CHECK(p.recording);
  CHECK(p.state == "recording");
}

TEST_CASE("session.start_forgets_what_was_recorded_before") {
  REQUIRE(kprof::start());
  { KPROF_OP(Silent); }
  REQUIRE(kprof::start());
  { KPROF_REGION("second"); }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "Silent k=0") == 0);
  CHECK(calls(p, "second") == 1);
  CHECK(p.complete.recorded == 1);
}

TEST_CASE("session.times_are_those_of_the_steady_clock") {
  REQUIRE(kprof::start());
  const auto begin = std::chrono::steady_clock::now();
  {
    KPROF_REGION("parent");
    spin(std::chrono::milliseconds(4));
    KPROF_REGION("child");
    spin(std::chrono::milliseconds(8));
  }
  const double outside =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  const kprof::profile p = kprof::snapshot();
  const kprof::scope_node parent = only(p, "parent"), child = only(p, "parent/child");
  CHECK(parent.total_ns >= 12e6);
  CHECK(parent.total_ns <= outside * 1.001 + 1000);
  CHECK(child.total_ns >= 8e6);
  CHECK(parent.self_ns == Approx(parent.total_ns - child.total_ns).margin(1));
  CHECK(child.self_ns == child.total_ns);
  CHECK(parent.min_ns == parent.max_ns);
  CHECK(parent.min_ns == parent.total_ns);
  CHECK(p.wall_ns >= parent.total_ns);
  CHECK(p.clock.residual_ns < 100'000);
  CHECK(
      (p.clock.source == "tsc" || p.clock.source == "cntvct" || p.clock.source == "clock_gettime"));
}

TEST_CASE("session.the_system_clock_gives_the_same_times") {
  // The clock is fixed by the first recording of a process, so a child makes its first one here.
  kprof::settings settings;
  settings.clock = kprof::clock_choice::system;
  REQUIRE(kprof::start(settings));
  bool said = false;
  for (const std::string& note : kprof::snapshot().notes)
    said = said || note.find("the clock cannot change") != std::string::npos;
  CHECK((said || kprof::snapshot().clock.source == "clock_gettime"));
}

TEST_CASE("session.open_scopes_are_shown_as_open") {
  REQUIRE(kprof::start());
  KPROF_REGION("still here");
  { KPROF_OP(Silent, {1}); }
  const kprof::profile p = kprof::snapshot();
  const kprof::scope_node open = only(p, "still here");
  CHECK(open.open == 1);
  CHECK(open.calls == 0);
  CHECK(open.total_ns == 0);
  CHECK(open.open_ns > 0);
  CHECK(calls(p, "still here/Silent k=1") == 1);
  CHECK(p.complete.open == 1);
  CHECK(p.complete.recorded == 1);
}

TEST_CASE("session.a_scope_open_at_start_counts_from_then") {
  KPROF_REGION("around");
  spin(std::chrono::milliseconds(20));
  const auto begin = std::chrono::steady_clock::now();
  {
    REQUIRE(kprof::start());
    KPROF_OP(Silent, {9});
  }
  const kprof::profile p = kprof::snapshot();
  const double since =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  CHECK(calls(p, "around/Silent k=9") + calls(p, "Silent k=9") == 1);
  for (const kprof::scope_node& n : p.nodes)
    if (n.name == "around") CHECK(n.open_ns <= since);
}

TEST_CASE("session.stop_keeps_the_profile_and_silences_guards") {
  REQUIRE(kprof::start());
  { KPROF_OP(Silent, {1}); }
  kprof::stop();
  int evaluated = 0;
  { KPROF_OP(Silent, {++evaluated}); }
  const kprof::profile p = kprof::snapshot();
  CHECK(evaluated == 0);
  CHECK(p.complete.recorded == 1);
  CHECK_FALSE(p.recording);
  CHECK(p.state == "stopped");
  const double wall = p.wall_ns;
  spin(std::chrono::milliseconds(2));
  CHECK(kprof::snapshot().wall_ns == wall);
}

TEST_CASE("session.a_scope_that_ends_after_stop_is_still_counted") {
  REQUIRE(kprof::start());
  {
    KPROF_REGION("across");
    kprof::stop();
  }
  CHECK(calls(kprof::snapshot(), "across") == 1);
}

TEST_CASE("session.pause_and_resume_leave_out_what_is_between") {
  REQUIRE(kprof::start());
  { KPROF_OP(Silent, {1}); }
  kprof::pause();
  CHECK(kprof::snapshot().state == "paused");
  { KPROF_OP(Silent, {2}); }
  spin(std::chrono::milliseconds(3));
  kprof::resume();
  { KPROF_OP(Silent, {3}); }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "Silent k=1") == 1);
  CHECK(calls(p, "Silent k=2") == 0);
  CHECK(calls(p, "Silent k=3") == 1);
  CHECK(p.paused_ns >= 3e6);
  CHECK(p.paused_ns <= p.wall_ns);
}

TEST_CASE("session.resume_without_pause_changes_nothing") {
  REQUIRE(kprof::start());
  kprof::resume();
  CHECK(kprof::snapshot().state == "recording");
  kprof::stop();
  kprof::resume();
  kprof::pause();
  CHECK(kprof::snapshot().state == "stopped");
}

TEST_CASE("session.start_with_enabled_false_does_nothing") {
  kprof::settings off;
  off.enabled = false;
  REQUIRE(kprof::start(off));
  { KPROF_OP(Silent, {1}); }
  const kprof::profile p = kprof::snapshot();
  CHECK_FALSE(p.recording);
  CHECK(p.state.find("off") == 0);
}

TEST_CASE("session.too_little_memory_is_raised_and_said_once") {
  kprof::settings tiny;
  tiny.memory = 1;
  REQUIRE(kprof::start(tiny));
  REQUIRE(kprof::start(tiny));
  for (int i = 0; i < 100'000; ++i) { KPROF_OP(Silent, {1}); }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "Silent k=1") == 100'000);
  CHECK(p.cost.memory_limit == 1024 * 1024);
  int said = 0;
  for (const std::string& note : p.notes)
    said += note.find("memory=1 is too small") != std::string::npos ? 1 : 0;
  CHECK(said == 1);
}

// A mebibyte of memory is full after some ten thousand scopes: then scopes fold.
TEST_CASE("session.folding_in_scopes_is_told_from_that_for_snapshots") {
  REQUIRE(kprof::start());
  { KPROF_OP(Empty); }
  const kprof::own_cost one = kprof::snapshot().cost;
  CHECK(one.snapshot_folding_ns > 0);
  CHECK(one.folding_ns == one.snapshot_folding_ns);
  kprof::settings little;
  little.memory = 1 << 20;
  REQUIRE(kprof::start(little));
  for (int i = 0; i < 200'000; ++i) { KPROF_OP(Empty); }
  const kprof::own_cost many = kprof::snapshot().cost;
  CHECK(many.folding_ns > many.snapshot_folding_ns);
  CHECK(many.snapshot_folding_ns > 0);
}

TEST_CASE("session.own_cost_is_measured") {
  REQUIRE(kprof::start());
  for (int i = 0; i < 1000; ++i) { KPROF_OP(Silent, {1}); }
  kprof::profile p = kprof::snapshot();
  // Where the first reading was disturbed, the next is not due for a while.
  for (int tries = 0; p.cost.cpu_readings == 0 && tries < 100; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    { KPROF_OP(Silent, {1}); }
    p = kprof::snapshot();
  }
  CHECK(p.cost.scope_ns > 1);
  CHECK(p.cost.scope_ns < 10'000);
  CHECK(p.cost.empty_scope_ns > 0);
  // an empty scope is a part of its cost; both are noisy
  CHECK(p.cost.empty_scope_ns <= 1.5 * p.cost.scope_ns);
  CHECK(p.cost.cpu_readings > 0);
  CHECK(p.cost.recording_ns ==
        Approx(p.cost.scope_ns * static_cast<double>(p.complete.recorded) +
               p.cost.cpu_reading_ns * static_cast<double>(p.cost.cpu_readings)));
  CHECK(p.cost.memory > 0);
  CHECK(p.cost.memory <= p.cost.memory_limit);
  // Measuring leaves no trace.
  CHECK(kprof::snapshot().complete.recorded == p.complete.recorded);
}

TEST_CASE("session.the_timeline_holds_single_scopes_in_order") {
  REQUIRE(kprof::start());
  for (int i = 0; i < 3; ++i) {
    KPROF_REGION("step");
    KPROF_OP(Silent, {i});
    spin(std::chrono::microseconds(50));
  }
  const kprof::profile p = kprof::snapshot({.timeline = true});
  REQUIRE(p.timeline.size() == 6);
  CHECK(p.complete.in_timeline == 6);
  for (std::size_t i = 0; i < 3; ++i) {
    const kprof::timeline_scope &inner = p.timeline[2 * i], &outer = p.timeline[2 * i + 1];
    CHECK(path_of(p, inner.node) == "step/Silent k=" + std::to_string(i));
    CHECK(path_of(p, outer.node) == "step");
    CHECK(inner.start >= outer.start);
    CHECK(inner.start + std::int64_t(inner.duration) <= outer.start + std::int64_t(outer.duration));
    CHECK(p.clock.to_ns(inner.duration) >= 50e3);
  }
  CHECK(p.timeline[3].start > p.timeline[1].start);
  CHECK(kprof::snapshot().timeline.empty());
}

TEST_CASE("session.call_sites_are_kept") {
  REQUIRE(kprof::start());
  { KPROF_OP(Silent, {1}); }
  const int line = __LINE__ - 1;
  { kprof::op_guard guard{Silent{2}}; }
  const kprof::profile p = kprof::snapshot();
  CHECK(only(p, "Silent k=1").line == static_cast<std::uint32_t>(line));
  CHECK(only(p, "Silent k=1").file.find("session.test.cpp") != std::string::npos);
  CHECK(only(p, "Silent k=2").file.empty());
}

TEST_CASE("session.settings_say_how_many_threads_work_in_calls_that_do_not") {
  REQUIRE(kprof::start({.threads = 2}));
  {
    KPROF_REGION("around");
    { KPROF_OP(Silent, {1}); }
    { KPROF_OP(Pooled, {1}); }
    { KPROF_PART(Silent, {2}, 0, 1); }
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(only(p, "around").work.threads == 0);
  CHECK(only(p, "around/Silent k=1").work.threads == 2);
  CHECK(only(p, "around/Pooled n=1").work.threads == 3);
  CHECK(only(p, "around/Silent k=2").work.threads == 0);
  REQUIRE(kprof::start());
  { KPROF_OP(Silent, {1}); }
  CHECK(only(kprof::snapshot(), "Silent k=1").work.threads == 0);
}

TEST_CASE("session.the_clock_names_its_residual_only_when_it_has_one") {
  REQUIRE(kprof::start());
  CHECK(kprof::snapshot().clock.residual_ns < 0);   // two calibrations: nothing to compare
  CHECK(kprof::snapshot().clock.residual_ns >= 0);  // three
}

TEST_CASE("session.the_process_number_goes_into_the_path") {
  REQUIRE(kprof::start());
  kprof::report_options options;
  options.path = "kprof_session_test_%p.txt";
  REQUIRE(kprof::report(options));
  const std::string path = "kprof_session_test_" + std::to_string(getpid()) + ".txt";
  CHECK(std::remove(path.c_str()) == 0);
}
