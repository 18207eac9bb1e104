// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/attribute/busy_time.hpp>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

using kprof::detail::busy_time;

TEST_CASE("busy_time.is_the_union_of_intervals") {
  busy_time t;
  t.add(100, 200);
  t.add(150, 250);  // overlaps
  t.add(300, 400);  // apart
  t.add(250, 300);  // fills the gap
  t.add(120, 130);  // inside
  t.add(500, 500);  // nothing
  t.add(600, 590);  // backwards
  CHECK(t.busy() == 300);
  CHECK(t.sum() == 100 + 100 + 100 + 50 + 10);
  CHECK(t.exact());
  t.add(10, 20);  // earlier than all, also after a look
  CHECK(t.busy() == 310);
}

TEST_CASE("busy_time.matches_a_bitmap_for_intervals_in_any_order") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    busy_time t;
    std::vector<bool> busy(4000, false);
    std::uint64_t sum = 0;
    const int many = static_cast<int>(random() % 400);
    for (int i = 0; i < many; ++i) {
      const std::uint64_t start = random() % 3900, length = random() % 100;
      for (std::uint64_t n = start; n < start + length; ++n) busy[n] = true;
      sum += length;
      t.add(start, start + length);
      if (random() % 50 == 0) static_cast<void>(t.busy());
    }
    std::uint64_t expected = 0;
    for (const bool b : busy) expected += b ? 1 : 0;
    CHECK(t.busy() == expected);
    CHECK(t.sum() == sum);
    CHECK(t.exact());
  }
}

TEST_CASE("busy_time.stays_exact_for_a_long_run_in_blocks_out_of_order") {
  // Blocks of 1000 intervals, each pair of blocks swapped: more than are kept apart.
  busy_time t;
  std::uint64_t expected = 0;
  const auto block = [&](std::uint64_t b) {
    for (std::uint64_t i = b * 1000; i < (b + 1) * 1000; ++i)
      t.add(10 * i + 1, 10 * i + 4), expected += 3;
  };
  for (std::uint64_t b = 0; b < 200; b += 2) block(b + 1), block(b);
  CHECK(t.busy() == expected);
  CHECK(t.exact());
}

TEST_CASE("busy_time.says_when_it_is_only_a_lower_bound") {
  busy_time t;
  for (std::uint64_t i = 100; i < 200'000; ++i) t.add(10 * i, 10 * i + 5);
  CHECK(t.exact());
  const std::uint64_t before = t.busy();
  t.add(1, 500);  // long closed
  CHECK_FALSE(t.exact());
  CHECK(t.busy() == before);
  CHECK(t.sum() == before + 499);
}
