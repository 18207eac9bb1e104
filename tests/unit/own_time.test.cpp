// SPDX-License-Identifier: MIT
#include <kprof/model/own_time.hpp>

#include "catch.hpp"
#include "report_page.hpp"
#include "sample_profile.hpp"

#include <string>

using Catch::Matchers::Contains;

TEST_CASE("own_time.what_scopes_took_is_told_from_adding_up") {
  kprof::profile p;
  p.cost.recording_ns = 13'000;
  p.cost.folding_ns = 18.913e6;
  p.cost.snapshot_folding_ns = 18.9e6;
  p.device.collecting_ns = 27e6;
  CHECK(kprof::own_time_of(p).in_scopes_ns == Approx(26'000));
  CHECK(kprof::own_time_of(p).apart_ns == Approx(45.9e6));
  p.cost.snapshot_folding_ns = 1e9;  // of a damaged file: no more than all folding
  p.device.collecting_ns = -1;
  CHECK(kprof::own_time_of(p).in_scopes_ns == Approx(13'000));
  CHECK(kprof::own_time_of(p).apart_ns == Approx(18.913e6));
}

// Of a millisecond's run: its scopes did not wait for the adding up.
TEST_CASE("own_time.the_report_has_a_share_of_what_scopes_took_alone") {
  kprof::profile p = kprof_test::sample_profile();
  p.wall_ns = 1.3e6;
  p.threads.resize(1);
  p.cost.recording_ns = 13'000;
  p.cost.folding_ns = 18.913e6;
  p.cost.snapshot_folding_ns = 18.9e6;
  CHECK_THAT(kprof_test::page_of(p, kprof_test::plain_at_width(200)),
             Contains(" took 26.0 \u00B5s (2.0% of wall time), and 18.9 ms to add it up. More: "));
  p.cost.snapshot_folding_ns = 0;
  CHECK_THAT(kprof_test::page_of(p, kprof_test::plain_at_width(200)),
             Contains(" took 18.9 ms (1,455.8% of wall time). More: "));
}
