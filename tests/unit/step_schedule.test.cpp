// SPDX-License-Identifier: MIT
// Schedules of steps: what is done with which step, and how they are written.

#include <kprof/settings.hpp>

#include "catch.hpp"

#include <string>
#include <vector>

namespace {

using kprof::settings;
using kprof::step_schedule;
using kprof::detail::action_of;

/// n: nothing, w: warm-up, r: recorded, s: the last of a cycle.
std::string actions(const step_schedule& s, std::uint64_t steps) {
  std::string out;
  for (std::uint64_t i = 0; i < steps; ++i) out += "nwrs"[static_cast<int>(action_of(s, i))];
  return out;
}

std::string error_of(const std::string& text) {
  const kprof::parsed_settings parsed = settings::parse(text);
  CHECK_FALSE(parsed.value.schedule.is_on());
  CHECK(parsed.errors.size() == 1);
  return parsed.errors.empty() ? "" : parsed.errors[0];
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("step_schedule.does_with_each_step_what_pytorchs_does") {
  CHECK(actions({.skip = 1, .wait = 1, .warmup = 1, .active = 2, .repeat = 2}, 11) ==
        "nnwrsnwrsnn");
  CHECK(actions({.active = 1}, 3) == "sss");
  CHECK(actions({.wait = 2, .active = 3}, 12) == "nnrrsnnrrsnn");
  CHECK(actions({.warmup = 1, .active = 1, .repeat = 1}, 4) == "wsnn");
  CHECK(actions({.skip = 2, .active = 2, .repeat = 1}, 6) == "nnrsnn");
  CHECK(actions({}, 3) == "rrr");
}

TEST_CASE("step_schedule.numbers_its_cycles") {
  using kprof::detail::cycle_of;
  const step_schedule s{.skip = 5, .wait = 1, .active = 2, .repeat = 2};
  CHECK(cycle_of(s, 0) == 1);
  CHECK(cycle_of(s, 7) == 1);
  CHECK(cycle_of(s, 8) == 2);
  CHECK(cycle_of(s, 100) == 2);
}

TEST_CASE("step_schedule.is_read_from_settings") {
  const kprof::parsed_settings parsed = settings::parse(
      "memory=2MiB, schedule( wait=1, warmup = 2 ,active=3,repeat=4,skip=5 ),report");
  CHECK(parsed.errors.empty());
  CHECK(parsed.value.schedule ==
        step_schedule{.skip = 5, .wait = 1, .warmup = 2, .active = 3, .repeat = 4});
  CHECK(parsed.value.outputs.size() == 1);
  CHECK(settings::parse("step=iteration").value.step == "iteration");
}

TEST_CASE("step_schedule.says_what_is_wrong_and_what_is_right") {
  CHECK(contains(error_of("schedule(wait=1,active=0)"), "active=0 records no step"));
  CHECK(contains(error_of("schedule(wait=1)"), "active=0 records no step"));
  CHECK(contains(error_of("schedule()"), "\"\" is none of skip=N, wait=N"));
  CHECK(contains(error_of("schedule(active=-1)"), "\"active=-1\" is none of"));
  CHECK(contains(error_of("schedule(active=1,active=2)"), "each once"));
  CHECK(contains(error_of("schedule(active=99999999999)"), "from 0 to 1000000000"));
  CHECK(contains(error_of("schedule(active=)"), "\"active=\" is none of"));
  CHECK(contains(error_of("schedule"), "lacks its options; write schedule(skip=N"));
  CHECK(contains(error_of("schedule=3"), "lacks its options; write schedule(skip=N"));
  CHECK(contains(error_of("step="), "step= names no region"));
  const kprof::parsed_settings unclosed = settings::parse("schedule(active=1");
  CHECK(unclosed.errors == std::vector<std::string>{"schedule( has no closing ')'"});
  CHECK(unclosed.value.schedule.active == 1);  // what is right holds
  CHECK(contains(kprof::detail::check_schedule({.wait = 1}).message, "active=0"));
  CHECK(contains(kprof::detail::check_schedule({.wait = 2'000'000'000, .active = 1}).message,
                 "wait=2000000000 is no number"));
}
