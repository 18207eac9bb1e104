// SPDX-License-Identifier: MIT
// What the joining of parts does with memory.
#include "../support/catch.hpp"
#include "../support/part_times.hpp"

#include <cstdint>
#include <memory>
#include <vector>

using namespace kprof_test::part_times;

TEST_CASE("part_memory.leaves_memory_for_other_operators_when_a_part_never_comes") {
  memory_for room(calls_that_fit);
  std::vector<std::unique_ptr<part_joining>> all;
  for (int kind = 0; kind < 6; ++kind) {
    all.push_back(std::make_unique<part_joining>(2, room.memory));
    all.back()->expect(0);
    for (std::uint64_t c = 0; c < 4 * calls_that_fit; ++c)
      add(*all.back(), 0, c, c, {}, [](const joined_call&) { FAIL("complete"); });
    CHECK(all.back()->bytes() > 0);
    CHECK(room.budget.now() == room.memory.taken());
    CHECK(room.memory.taken() < room.budget.limit() / 8);
  }
  // one whose parts all come, in step
  part_joining joining(2, room.memory);
  joining.expect(1);
  for (std::uint64_t c = 0; c < 1000; ++c)
    for (std::uint32_t i = 0; i < 2; ++i) add(joining, i, c, c, {}, [](const joined_call&) {});
  CHECK(joining.joined() == 1000);
  all.clear();
  CHECK(room.memory.taken() == joining.bytes());
}

TEST_CASE("part_memory.gives_memory_back_when_the_last_part_has_caught_up") {
  memory_for room(calls_that_fit);
  part_joining joining(2, room.memory);
  joining.expect(1);
  const auto add_part = [&](std::uint32_t part, std::uint64_t c) {
    add(joining, part, c, c, {}, [](const joined_call&) {});
  };
  for (std::uint64_t c = 0; c < 5000; ++c) add_part(0, c);
  CHECK(joining.bytes() >= 5000 * sizeof(part_joining::begun_call));
  for (std::uint64_t c = 0; c < 5000; ++c) add_part(1, c);
  CHECK(joining.joined() == 5000);
  CHECK(room.memory.taken() == 0);
}

TEST_CASE("part_memory.keeps_memory_for_threads_that_run_apart_again_within_a_limit") {
  memory_for room(calls_that_fit);
  std::vector<std::unique_ptr<part_joining>> all;
  const auto run_apart = [&](part_joining& calls, std::uint64_t n) {
    for (std::uint32_t part = 0; part < 2; ++part)
      for (std::uint64_t c = 0; c < n; ++c) add(calls, part, c, c, {}, [](const joined_call&) {});
  };
  for (int i = 0; i < 40; ++i) {
    all.push_back(std::make_unique<part_joining>(2, room.memory));
    all.back()->expect(1);
    run_apart(*all.back(), 1000);
    CHECK(all.back()->joined() == 1000);
    if (i == 0) CHECK(room.memory.taken() == 1024 * sizeof(part_joining::begun_call));
  }
  const std::uint64_t left = room.memory.taken();
  CHECK(left > room.budget.limit() / 32);
  CHECK(left <= room.budget.limit() / 16);
  for (int again = 0; again < 10; ++again) run_apart(*all.front(), 1000);
  CHECK(room.memory.taken() == left);
  all.clear();
  CHECK(room.memory.taken() == 0);
  part_joining late(2, room.memory);  // nothing is left
  late.expect(1);
  run_apart(late, 1000);
  CHECK(room.memory.taken() == late.bytes());
  CHECK(late.bytes() != 0);
}

TEST_CASE("part_memory.counts_where_there_is_no_memory_at_all") {
  tree_budget none;
  joining_memory memory(none);
  part_joining joining(2, memory);
  joining.expect(1);
  for (std::uint64_t c = 0; c < 100; ++c)
    for (std::uint32_t i = 0; i < 2; ++i)
      add(joining, i, c, c, {}, [](const joined_call&) { FAIL("joined"); });
  CHECK(joining.complete() == 100);
  CHECK(joining.joined() == 0);
}
