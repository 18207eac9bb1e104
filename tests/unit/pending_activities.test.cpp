// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/attribute/pending_activities.hpp>

#include <cstdint>
#include <vector>

using kprof::detail::activity;
using kprof::detail::pending_activities;
using kprof::detail::pending_activity;

namespace {

activity of_launch(std::uint32_t correlation) {
  activity a;
  a.correlation = correlation;
  return a;
}

/// Room for 1024 activities, of which `many` are there, numbered from 0.
pending_activities filled(std::uint32_t many) {
  pending_activities p;
  p.set_limit(1024 * 2048);
  for (std::uint32_t i = 0; i < many; ++i) p.add(of_launch(i), i + 1);
  return p;
}

}  // namespace

TEST_CASE("pending_activities.holds_as_many_as_the_memory_allows") {
  CHECK_FALSE(filled(1023).is_full());
  CHECK(filled(1024).is_full());
  pending_activities small;
  small.set_limit(0);
  for (std::uint32_t i = 0; i < 255; ++i) small.add(of_launch(i), 0);
  CHECK_FALSE(small.is_full());
  small.add(of_launch(255), 0);
  CHECK(small.is_full());
  CHECK(small.bytes() >= 256 * sizeof(pending_activity));
  small.clear();
  CHECK(small.empty());
}

TEST_CASE("pending_activities.gives_up_the_oldest_quarter_first") {
  pending_activities p = filled(1024);
  const std::vector<pending_activity> oldest = p.take_oldest();
  REQUIRE(oldest.size() == 256);
  CHECK(oldest.front().what.correlation == 0);
  CHECK(oldest.front().name == 1);
  CHECK(oldest.back().what.correlation == 255);
  REQUIRE(p.size() == 768);
  CHECK(p.begin()->what.correlation == 256);
  CHECK(p.take_all().size() == 768);
  CHECK(p.empty());
}

TEST_CASE("pending_activities.a_retry_is_paid_for_by_new_records") {
  pending_activities p = filled(300);
  p.count_records(255);
  CHECK_FALSE(p.retry_is_due());
  CHECK_FALSE(p.retry_may_make_room());
  p.count_records(1);
  CHECK(p.retry_may_make_room());
  CHECK_FALSE(p.retry_is_due());
  p.count_records(44);
  CHECK(p.retry_is_due());
  CHECK(p.take_for_retry().size() == 300);
  CHECK(p.empty());
  p.add(of_launch(1), 0);
  CHECK_FALSE(p.retry_is_due());  // the count has begun anew
}
