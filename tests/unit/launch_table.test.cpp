// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/attribute/launch_table.hpp>

#include <cstdint>
#include <random>

using kprof::detail::known_launch;
using kprof::detail::launch_table;

namespace {

known_launch launch(std::uint32_t correlation, std::uint32_t path = 1) {
  return {correlation, path, 1, 0, correlation * 10ULL, 0};
}

}  // namespace

TEST_CASE("launch_table.finds_what_was_added_and_nothing_else") {
  launch_table t;
  CHECK(t.find(1) == nullptr);  // without room
  t.set_limit(1024, 1024);
  CHECK(t.find(1) == nullptr);
  for (std::uint32_t i = 1; i <= 1000; ++i) t.add(launch(i * 7919));
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    REQUIRE(t.find(i * 7919) != nullptr);
    CHECK(t.find(i * 7919)->correlation == i * 7919);
    CHECK(t.find(i * 7919 + 1) == nullptr);
  }
  t.clear();
  CHECK(t.find(7919) == nullptr);
}

TEST_CASE("launch_table.forgets_the_oldest_first_and_seen_ones_before") {
  launch_table t;
  t.set_limit(1024, 1024);
  for (std::uint32_t i = 1; i <= 1024; ++i) t.add(launch(i));
  REQUIRE(t.find(1) != nullptr);
  t.add(launch(1025));
  CHECK(t.find(1) == nullptr);  // full of launches that wait
  CHECK(t.find(2) != nullptr);
  for (std::uint32_t i = 2; i <= 1025; ++i) t.find(i)->seen = true;
  t.add(launch(1026));  // what has been seen makes room for half of the table
  CHECK(t.find(500) == nullptr);
  CHECK(t.find(1025) != nullptr);
}

TEST_CASE("launch_table.grows_when_many_wait") {
  launch_table t;
  t.set_limit(1024, 4096);
  for (std::uint32_t i = 1; i <= 4096; ++i) t.add(launch(i));
  for (std::uint32_t i = 1; i <= 4096; ++i) REQUIRE(t.find(i) != nullptr);
  t.add(launch(5000));
  CHECK(t.find(1) == nullptr);
  CHECK(t.find(2) != nullptr);
}

TEST_CASE("launch_table.the_latest_of_an_id_that_comes_again_counts") {
  launch_table t;
  t.set_limit(1024, 1024);
  t.add(launch(5, 1));
  t.add(launch(5, 2));
  CHECK(t.find(5)->path == 2);
  for (std::uint32_t i = 100; i < 100 + 1023; ++i) t.add(launch(i));
  REQUIRE(t.find(5) != nullptr);  // the older one was forgotten
  CHECK(t.find(5)->path == 2);
  t.add(launch(2000));
  CHECK(t.find(5) == nullptr);
}

TEST_CASE("launch_table.other_ids_lead_to_their_launch") {
  launch_table t;
  t.set_limit(1024, 1024);
  known_launch first = launch(10), second = first, third = first;
  second.correlation = 11, second.alias_by = 1;
  third.correlation = 12, third.alias_by = 2;
  t.add(first);
  t.add(second);
  t.add(third);
  CHECK(&t.primary(*t.find(12)) == t.find(10));
  CHECK(&t.primary(*t.find(11)) == t.find(10));
  CHECK(&t.primary(*t.find(10)) == t.find(10));
}

// While the ids of one launch are added, the table may make room by moving others to its end.
TEST_CASE("launch_table.the_ids_of_a_launch_stay_together_when_others_are_moved") {
  launch_table t;
  t.set_limit(1024, 4096);
  for (std::uint32_t i = 1; i <= 3000; ++i) {
    known_launch first = launch(10 * i, i), second = first, third = first;
    second.correlation += 1, second.alias_by = 1;
    third.correlation += 2, third.alias_by = 2;
    t.add(first), t.add(second), t.add(third);
    known_launch& found = *t.find(third.correlation);
    REQUIRE(&t.primary(found) == t.find(first.correlation));
    found.seen = found.may_have_more = true;
    t.primary(found).seen = t.primary(found).may_have_more = true;
  }
}

TEST_CASE("launch_table.zero_is_no_id") {
  launch_table t;
  t.set_limit(1024, 1024);
  t.add(launch(0));
  CHECK(t.find(0) == nullptr);
}

TEST_CASE("launch_table.chains_survive_a_long_run") {
  launch_table t;
  t.set_limit(2048, 2048);
  std::mt19937 random(3);
  std::uint32_t next = 1;
  for (int round = 0; round < 200'000; ++round) {
    t.add(launch(next++));
    const std::uint32_t any = next - 1 - static_cast<std::uint32_t>(random() % 1000);
    if (known_launch* l = t.find(any)) {
      REQUIRE(l->correlation == any);
      l->seen = true;
    } else {
      REQUIRE(any > next);  // before the first
    }
  }
}
