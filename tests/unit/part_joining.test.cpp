// SPDX-License-Identifier: MIT
// The joining of parts, by itself: against sums over all calls of random schedules.
#include "../support/catch.hpp"
#include "../support/part_times.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

using namespace kprof_test::part_times;

namespace {

/// By call and part; a part that never comes has no end.
using schedule = std::vector<std::vector<part>>;

/// In the order of their ends. Parts of one number are in the order of calls.
struct coming {
  std::size_t call;
  std::uint32_t number;
  part times;
};
std::vector<coming> in_order(const schedule& calls) {
  std::vector<coming> all;
  for (std::size_t c = 0; c < calls.size(); ++c)
    for (std::uint32_t i = 0; i < calls[c].size(); ++i)
      if (calls[c][i].end != 0) all.push_back({c, i, calls[c][i]});
  std::stable_sort(all.begin(), all.end(),
                   [](const coming& a, const coming& b) { return a.times.end < b.times.end; });
  return all;
}

/// Threads that pass the calls one after the other, each at its own pace; `waits`: for all others
/// between two calls.
schedule random_schedule(std::mt19937_64& random, std::size_t calls, std::uint32_t parts,
                         bool waits) {
  schedule out(calls, std::vector<part>(parts));
  std::vector<std::uint64_t> now(parts, 1);
  for (auto& call : out) {
    for (std::uint32_t i = 0; i < parts; ++i) {
      call[i].begin = now[i] + random() % 20;
      call[i].end = now[i] = call[i].begin + 1 + random() % 100;
    }
    if (waits) now.assign(parts, *std::max_element(now.begin(), now.end()));
  }
  return out;
}

joined_call sum_of(const std::vector<part>& call) {
  joined_call out{{}, 0, 0, 0};
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (const part& p : call) {
    first = std::min(first, p.begin);
    last = std::max(last, p.end);
    out.busy += p.end - p.begin;
    out.longest = std::max(out.longest, p.end - p.begin);
  }
  out.wall = last - first;
  return out;
}

std::vector<joined_call> join(part_joining& calls, const std::vector<coming>& all) {
  std::vector<joined_call> done;
  for (std::uint32_t i = 0; i < calls.parts(); ++i) calls.expect(i);
  for (const coming& c : all)
    add(calls, c.number, c.times.begin, c.times.end,
        {static_cast<std::uint32_t>(c.call) + 1, c.number},
        [&](const joined_call& j) { done.push_back(j); });
  return done;
}

}  // namespace

TEST_CASE("part_joining.counts_time_in_which_calls_overlap_once") {
  std::mt19937_64 random(20261124);
  for (int round = 0; round < 200; ++round) {
    const auto parts = static_cast<std::uint32_t>(1 + random() % 8);
    const std::size_t count = 1 + random() % 100;
    const bool waits = round % 2 == 0;
    const schedule calls = random_schedule(random, count, parts, waits);
    memory_for room(calls_that_fit);
    part_joining joining(parts, room.memory);
    std::vector<bool> covered(40'000);
    for (const std::vector<part>& call : calls) {
      std::uint64_t first = call[0].begin, last = 0;
      for (const part& p : call) first = std::min(first, p.begin), last = std::max(last, p.end);
      REQUIRE(last < covered.size());
      for (std::uint64_t at = first; at < last; ++at) covered[at] = true;
    }
    std::uint64_t elapsed = 0, wall = 0;
    for (const joined_call& call : join(joining, in_order(calls))) {
      REQUIRE(call.elapsed <= call.wall);
      elapsed += call.elapsed;
      wall += call.wall;
    }
    INFO("round " << round << ", " << parts << " parts, " << count << " calls");
    REQUIRE(elapsed ==
            static_cast<std::uint64_t>(std::count(covered.begin(), covered.end(), true)));
    if (waits || parts == 1) CHECK(elapsed == wall);
    else if (count > 20) CHECK(elapsed < wall);
  }
}

TEST_CASE("part_joining.gives_each_call_its_own_parts") {
  std::mt19937_64 random(20261123);
  for (int round = 0; round < 200; ++round) {
    const auto parts = static_cast<std::uint32_t>(1 + random() % 64);
    const std::size_t count = 1 + random() % 200;
    const schedule calls = random_schedule(random, count, parts, round % 2 == 0);
    memory_for room(calls_that_fit);
    part_joining joining(parts, room.memory);
    const std::vector<joined_call> done = join(joining, in_order(calls));
    INFO("round " << round << ", " << parts << " parts, " << count << " calls");
    REQUIRE(done.size() == count);
    CHECK(joining.complete() == count);
    CHECK(joining.joined() == count);
    for (std::size_t c = 0; c < count; ++c) {
      const joined_call truth = sum_of(calls[c]);
      REQUIRE(done[c].wall == truth.wall);
      REQUIRE(done[c].busy == truth.busy);
      REQUIRE(done[c].longest == truth.longest);
      REQUIRE(done[c].place.path == c + 1);  // where its part 0 was
      REQUIRE(done[c].place.thread == 0);
    }
  }
}

TEST_CASE("part_joining.counts_calls_that_lack_parts_as_none") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 100; ++round) {
    const auto parts = static_cast<std::uint32_t>(2 + random() % 7);
    schedule calls = random_schedule(random, 100, parts, true);
    std::vector<std::uint64_t> came(parts, 100);
    for (std::uint32_t lost = static_cast<std::uint32_t>(random() % 5); lost > 0; --lost) {
      const auto which = static_cast<std::uint32_t>(random() % parts);
      part& p = calls[random() % 100][which];
      if (p.end != 0) --came[which];
      p.end = 0;
    }
    memory_for room(calls_that_fit);
    part_joining joining(parts, room.memory);
    const std::vector<joined_call> done = join(joining, in_order(calls));
    CHECK(joining.counts() == came);
    CHECK(joining.complete() == *std::min_element(came.begin(), came.end()));
    CHECK(joining.joined() == joining.complete());
    CHECK(done.size() == joining.joined());
  }
}

TEST_CASE("part_joining.has_no_complete_call_while_a_part_never_came") {
  memory_for room(calls_that_fit);
  part_joining joining(3, room.memory);
  joining.expect(0);
  joining.expect(1);
  for (std::uint64_t c = 0; c < 20000; ++c)
    for (std::uint32_t i = 0; i < 2; ++i)
      add(joining, i, 10 * c, 10 * c + 5, {}, [](const joined_call&) { FAIL("complete"); });
  CHECK(joining.complete() == 0);
  CHECK(joining.counts() == std::vector<std::uint64_t>{20000, 20000});
}

TEST_CASE("part_joining.goes_on_after_parts_that_came_too_late") {
  // Part 1 is 20,000 calls behind, then catches up.
  memory_for room(calls_that_fit);
  part_joining joining(2, room.memory);
  joining.expect(1);
  std::vector<joined_call> done;
  const auto add_part = [&](std::uint32_t part, std::uint64_t call) {
    add(joining, part, 10 * call, 10 * call + 5 + part, {},
        [&](const joined_call& j) { done.push_back(j); });
  };
  for (std::uint64_t c = 0; c < 20000; ++c) add_part(0, c);
  for (std::uint64_t c = 0; c < 20000; ++c) add_part(1, c);
  CHECK(joining.complete() == 20000);
  CHECK(joining.joined() == calls_that_fit);
  for (std::uint64_t c = 20000; c < 21000; ++c) add_part(0, c), add_part(1, c);
  CHECK(joining.complete() == 21000);
  CHECK(joining.joined() == calls_that_fit + 1000);
  for (const joined_call& j : done) {
    CHECK(j.wall == 6);  // never the parts of two calls
    CHECK(j.busy == 11);
  }
}

TEST_CASE("part_joining.joins_a_call_at_most_once_however_parts_lag") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    constexpr std::uint32_t parts = 4;
    constexpr std::uint64_t calls = 30000;
    memory_for room(calls_that_fit);
    part_joining joining(parts, room.memory);
    joining.expect(parts - 1);
    std::uint64_t next[parts] = {};
    std::vector<bool> joined(calls, false);
    for (std::uint64_t left = parts * calls; left > 0;) {
      const std::size_t part = random() % parts;
      for (std::uint64_t some = random() % 20000; some > 0 && next[part] < calls; --some, --left) {
        const std::uint64_t c = next[part]++;
        add(joining, static_cast<std::uint32_t>(part), c + 1, c + 1, {}, [&](const joined_call& j) {
          REQUIRE(j.wall == 0);  // of one call: all its parts have the same time
          joined[c] = true;
        });
      }
    }
    CHECK(joining.complete() == calls);
    CHECK(joining.joined() <= calls);
    CHECK(joining.joined() > 0);
  }
}

TEST_CASE("part_joining.joins_many_parts_at_once_as_one_by_one") {
  std::mt19937_64 random(23);
  for (int round = 0; round < 60; ++round) {
    const auto parts = static_cast<std::uint32_t>(1 + random() % 4);
    const std::size_t count = 3000, most = round % 3 == 0 ? 5 : round % 3 == 1 ? 200 : 3000;
    const schedule calls = random_schedule(random, count, parts, true);
    memory_for room_at_once(round % 2 == 0 ? calls_that_fit : 256),
        room_by_one(round % 2 == 0 ? calls_that_fit : 256);
    part_joining at_once(parts, room_at_once.memory), by_one(parts, room_by_one.memory);
    at_once.expect(parts - 1);
    by_one.expect(parts - 1);
    std::vector<joined_call> done_at_once, done_by_one;
    std::vector<std::size_t> next(parts, 0);
    for (std::size_t left = parts * count; left > 0;) {
      const auto number = static_cast<std::uint32_t>(random() % parts);
      const std::size_t n = std::min(1 + random() % most, count - next[number]);
      std::vector<part> some;
      for (std::size_t i = 0; i < n; ++i) some.push_back(calls[next[number] + i][number]);
      next[number] += n;
      left -= n;
      const call_place place{static_cast<std::uint32_t>(left), number};
      at_once.add(number, some.data(), n, place,
                  [&](const joined_call& j) { done_at_once.push_back(j); });
      for (const part& p : some)
        add(by_one, number, p.begin, p.end, place,
            [&](const joined_call& j) { done_by_one.push_back(j); });
      REQUIRE(done_at_once.size() == done_by_one.size());
      REQUIRE(at_once.bytes() == by_one.bytes());
    }
    INFO("round " << round << ", " << parts << " parts, " << most << " at once");
    CHECK(at_once.counts() == std::vector<std::uint64_t>(parts, count));
    CHECK(at_once.joined() == done_at_once.size());
    CHECK(at_once.joined() == by_one.joined());
    for (std::size_t i = 0; i < done_at_once.size(); ++i) {
      REQUIRE(done_at_once[i].wall == done_by_one[i].wall);
      REQUIRE(done_at_once[i].busy == done_by_one[i].busy);
      REQUIRE(done_at_once[i].longest == done_by_one[i].longest);
      REQUIRE(done_at_once[i].end == done_by_one[i].end);
      REQUIRE(done_at_once[i].place == done_by_one[i].place);
    }
  }
}
