// SPDX-License-Identifier: MIT
// needs: guards
// Which profiles have single scopes because a report shows them: report(timeline).

#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "forward_steps.hpp"
#include "golden.hpp"

#include <cstdio>
#include <string>
#include <thread>

using kprof_test::run_steps;

namespace {

std::string page_of(const kprof::report_options& options) {
  kprof::report_options to_file = options;
  to_file.path = "timeline_report.txt";
  REQUIRE(kprof::report(to_file));
  std::string page = kprof_test::read_file(to_file.path);
  std::remove(to_file.path.c_str());
  return page;
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("timeline_report.a_program_on_the_host_alone_has_its_scopes_in_the_report_that_asks") {
  REQUIRE(kprof::start());
  run_steps(5);
  kprof::report_options options;
  CHECK_FALSE(has(page_of(options), "Threads in scopes"));
  options.timeline = true;
  const std::string page = page_of(options);
  INFO(page);
  CHECK(has(page, "Where a step goes: means of 5 steps"));
  CHECK(has(page, "in operators"));
  CHECK(has(page, "Threads in scopes at a time"));
  CHECK_FALSE(has(page, "! this profile has no times of single scopes"));
}

TEST_CASE("timeline_report.a_cycle_has_its_scopes_where_the_settings_ask_for_the_report") {
  static std::size_t scopes = 0;
  kprof::on_profile([](const kprof::profile& run, void*) { scopes = run.timeline.size(); });
  kprof::settings wanted;
  wanted.schedule = {.active = 3, .repeat = 1};
  REQUIRE(kprof::start(wanted));
  run_steps(4);
  CHECK(scopes == 0);
  wanted.report.timeline = true;
  REQUIRE(kprof::start(wanted));
  run_steps(4);
  CHECK(scopes == 3);
  wanted.report.timeline = false;
  wanted.outputs = {{"report", {{"path", "/dev/null"}, {"timeline", "on"}}}};
  REQUIRE(kprof::start(wanted));
  run_steps(4);
  CHECK(scopes == 3);
  CHECK(kprof::snapshot().timeline.empty());  // as it was asked for
  kprof::on_profile(nullptr);
  REQUIRE(kprof::start());
}
