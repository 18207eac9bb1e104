// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/session/phases.hpp>

#include <string>

using kprof::detail::session_phase;
using kprof::detail::session_phases;

TEST_CASE("phases.a_session_says_what_it_is_doing") {
  session_phases p;
  CHECK(p.is(session_phase::idle));
  CHECK(p.description() == "not started; call kprof::start() or include <kprof/kprof.hpp>");
  p.arm();
  CHECK(p.description() == "armed; no scope has begun yet");
  CHECK_FALSE(p.is_running());
  CHECK_FALSE(p.has_recorded());
  p.record();
  CHECK(p.description() == "recording");
  CHECK(p.is_running());
  REQUIRE(p.pause(1));
  CHECK(p.description() == "paused");
  CHECK(p.is_running());
  p.stop(2);
  CHECK(p.description() == "stopped");
  CHECK_FALSE(p.is_running());
  CHECK(p.has_recorded());
  p.turn_off("off (KPROF=off)");
  CHECK(p.now() == session_phase::off);
  CHECK(p.description() == "off (KPROF=off)");
}

TEST_CASE("phases.only_a_recording_pauses_and_only_a_pause_ends") {
  session_phases p;
  CHECK_FALSE(p.pause(1));
  CHECK_FALSE(p.resume(1));
  CHECK(p.is(session_phase::idle));
  p.record();
  CHECK_FALSE(p.resume(1));
  REQUIRE(p.pause(1));
  CHECK_FALSE(p.pause(2));
  REQUIRE(p.resume(3));
  CHECK(p.is(session_phase::recording));
  p.stop(4);
  CHECK_FALSE(p.pause(5));
  CHECK(p.is(session_phase::stopped));
}

TEST_CASE("phases.stop_tells_the_phase_before_and_leaves_a_session_off_that_is_off") {
  session_phases p;
  CHECK(p.stop(1) == session_phase::idle);
  CHECK(p.is(session_phase::stopped));
  p.arm();
  CHECK(p.stop(1) == session_phase::armed);
  p.record();
  CHECK(p.stop(1) == session_phase::recording);
  CHECK(p.stop(1) == session_phase::stopped);
  p.turn_off("off");
  CHECK(p.stop(1) == session_phase::off);
  CHECK(p.is(session_phase::off));
}

TEST_CASE("phases.paused_time_is_the_sum_of_all_pauses_of_the_recording") {
  session_phases p;
  p.record();
  CHECK(p.paused_ns(100) == 0);
  p.pause(100);
  CHECK(p.paused_ns(130) == 30);
  p.resume(150);
  CHECK(p.paused_ns(1000) == 50);
  p.pause(1000);
  CHECK(p.paused_ns(1001) == 51);
  p.stop(1007);  // ends the pause too
  CHECK(p.paused_ns(5000) == 57);
  p.record();
  CHECK(p.paused_ns(5000) == 0);
}

TEST_CASE("phases.the_child_of_a_fork_counts_its_own_pauses") {
  session_phases p;
  p.record();
  p.pause(100);
  p.resume(200);
  p.pause(300);
  p.restart_in_child(400);
  CHECK(p.is(session_phase::paused));
  CHECK(p.paused_ns(410) == 10);
}

TEST_CASE("phases.what_was_recorded_before_a_cycle_without_memory_is_not_shown") {
  session_phases p;
  p.leave_out();
  CHECK_FALSE(p.has_profile());
  p.record();
  CHECK(p.has_profile());
  p.stop(1);
  CHECK(p.has_profile());
  p.leave_out();
  CHECK_FALSE(p.has_profile());
  CHECK(p.has_recorded());
  CHECK_FALSE(p.is_running());
  CHECK(p.description() == "resting: there was no memory to begin a cycle of the schedule");
  p.rest("the schedule waits");
  CHECK_FALSE(p.has_profile());
  p.record();
  CHECK(p.has_profile());
}
