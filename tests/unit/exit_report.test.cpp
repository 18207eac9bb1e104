// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/session/exit_report.hpp>

using kprof::completeness;
using kprof::detail::exit_report;

TEST_CASE("exit_report.is_left_out_when_the_program_has_printed_the_same") {
  completeness scopes;
  scopes.recorded = 5;
  exit_report report;
  CHECK(report.is_due(scopes));
  report.note_reported(scopes, true);
  CHECK_FALSE(report.is_due(scopes));
  report.note_reported(scopes, false);  // with other settings
  CHECK(report.is_due(scopes));
  report.note_reported(scopes, true);
  report.restart();  // another recording
  CHECK(report.is_due(scopes));
}

TEST_CASE("exit_report.is_due_when_any_count_of_scopes_has_changed") {
  std::uint64_t completeness::*const counts[] = {
      &completeness::recorded,         &completeness::open,
      &completeness::dropped,          &completeness::dropped_inside,
      &completeness::closed_by_parent, &completeness::closed_elsewhere,
      &completeness::never_closed};
  for (const auto count : counts) {
    exit_report report;
    report.note_reported({}, true);
    completeness now;
    CHECK_FALSE(report.is_due(now));
    now.*count = 1;
    CHECK(report.is_due(now));
  }
}
