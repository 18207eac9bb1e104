// SPDX-License-Identifier: MIT
// needs: guards
// The calls that each node keeps as a sample of all of its calls.

#include <kprof/record/shared_totals.hpp>

#include "attribution_engine.hpp"
#include "catch.hpp"
#include "moved_clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

using namespace kprof::detail;
using namespace kprof_test;

namespace {

/// The numbers of the calls that are kept when as many come, each ended at its number.
std::vector<std::uint64_t> kept_of(sampled_calls& samples, std::uint64_t calls,
                                   std::uint64_t& next) {
  for (std::uint64_t i = 0; i < calls; ++i)
    if (i >= next) next = samples.put({1, i}, i);
  std::vector<std::uint64_t> out;
  samples.each([&](const sampled_calls::call& c) { out.push_back(c.end); });
  return out;
}
std::vector<std::uint64_t> kept_of(std::uint64_t calls) {
  sampled_calls samples;
  std::uint64_t next = 0;
  return kept_of(samples, calls, next);
}

/// Of calls of the operator at times of their own.
std::vector<double> begins_of(const kprof::scope_node& n) {
  std::vector<double> out;
  for (const kprof::single_call& c : n.sampled) out.push_back(c.begin_ns);
  return out;
}

}  // namespace

TEST_CASE("sampled_calls.all_calls_are_kept_while_there_is_room") {
  for (std::uint64_t calls = 0; calls <= sampled_calls::most; ++calls)
    CHECK(kept_of(calls).size() == calls);
}

TEST_CASE("sampled_calls.one_call_of_each_stretch_is_kept") {
  for (const std::uint64_t calls : {33U, 100U, 1000U, 65'536U, 1'000'003U}) {
    const std::vector<std::uint64_t> kept = kept_of(calls);
    std::uint64_t stride = 1;
    while (stride * sampled_calls::most < calls) stride *= 2;
    REQUIRE(kept.size() >= sampled_calls::most / 2);
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i] / stride == i);
  }
}

TEST_CASE("sampled_calls.each_call_is_as_likely_to_be_kept_as_any_other") {
  constexpr std::uint64_t calls = 256;
  constexpr std::uint32_t rounds = 16'000;
  std::vector<std::uint64_t> times(calls);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    sampled_calls samples(round);
    std::uint64_t next = 0;
    for (const std::uint64_t number : kept_of(samples, calls, next)) ++times[number];
  }
  constexpr std::uint64_t usual = rounds * sampled_calls::most / calls;
  for (const std::uint64_t n : times) {
    CHECK(n > usual * 9 / 10);
    CHECK(n < usual * 11 / 10);
  }
}

TEST_CASE("sampled_calls.what_two_threads_did_is_drawn_by_how_often_each_did_it") {
  std::uint64_t from_large = 0, from_small = 0;
  for (std::uint64_t round = 1; round <= 400; ++round) {
    const auto seed = static_cast<std::uint32_t>(round);
    sampled_calls large(seed), small(seed + 1000);
    std::uint64_t next = 0;
    kept_of(large, 1000 + round, next);  // ends up to 1,400
    next = 0;
    for (std::uint64_t i = 0; i < 100; ++i)
      if (i >= next) next = small.put({2, 300 + i}, i);
    next = large.put_all(small, 1100 + round);
    CHECK(next >= 1100 + round);
    std::uint64_t last = 0;
    std::size_t count = 0;
    large.each([&](const sampled_calls::call& c) {
      CHECK(c.end >= last);
      last = c.end;
      ++count;
      ++(c.ticks == 1 ? from_large : from_small);
    });
    CHECK(count <= sampled_calls::most);
  }
  const double ratio = static_cast<double>(from_small) / static_cast<double>(from_large);
  CHECK(ratio > 0.06);  // 100 of about 1,200
  CHECK(ratio < 0.11);
}

TEST_CASE("sampled_calls.a_node_has_all_of_few_calls_and_32_of_many") {
  for (const std::uint64_t calls : {1U, 3U, 4U, 32U, 5000U}) {
    engine e;
    for (std::uint64_t i = 0; i < calls; ++i) call(1, 1000 * i, 1000 * i + 100 + i % 7);
    const kprof::profile p = profile_at(e, 1'000'000'000);
    const kprof::scope_node& n = only(p, "Op n=1");
    const std::vector<double> begins = begins_of(n);
    REQUIRE(begins.size() >= std::min<std::uint64_t>(calls, 16));
    CHECK(begins.size() <= sampled_calls::most);
    if (calls <= sampled_calls::most) CHECK(begins.size() == calls);
    CHECK(std::is_sorted(begins.begin(), begins.end()));
    for (const kprof::single_call& c : n.sampled)
      CHECK(c.ns == 100 + static_cast<double>(static_cast<std::uint64_t>(c.begin_ns) / 1000 % 7));
    if (calls == 5000) {
      CHECK(begins.front() < 400'000);
      CHECK(begins.back() > 4'600'000);
    }
  }
}

TEST_CASE("sampled_calls.threads_that_ended_are_sampled_together") {
  engine e;
  for (std::uint64_t i = 0; i < 200; ++i)
    std::thread([i] {
      for (std::uint64_t j = 0; j < 1 + i % 5; ++j)
        call(1, 10'000 * i + 100 * j, 10'000 * i + 100 * j + 7);
    }).join();
  const kprof::profile p = profile_at(e, 1'000'000'000);
  for (const kprof::scope_node* n : find_all(p, "Op n=1")) {
    const std::vector<double> begins = begins_of(*n);
    if (p.threads[n->thread].merged <= 100) continue;
    CHECK(begins.size() >= sampled_calls::most / 4);
    CHECK(std::is_sorted(begins.begin(), begins.end()));
    CHECK(begins.back() - begins.front() > 500'000);  // of 2,000,000
    return;
  }
  FAIL("no thread stands for those that ended");
}

TEST_CASE("sampled_calls.a_recording_forgets_those_of_the_one_before") {
  engine e;
  for (std::uint64_t i = 0; i < 100; ++i) call(1, 1000 * i, 1000 * i + 1);
  static_cast<void>(profile_at(e, 1'000'000'000));
  engine again;
  call(1, 5000, 5001);
  CHECK(begins_of(only(profile_at(again, 1'000'000'000), "Op n=1")).size() == 1);
}

TEST_CASE("sampled_calls.shared_calls_are_sampled_as_a_whole") {
  shared_sums a;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    joined_call c{};
    c.wall = 10, c.end = 100 * i;
    a.add(c, [](std::size_t) { return true; });
  }
  std::vector<std::uint64_t> ends;
  a.samples.each([&](const sampled_calls::call& c) { ends.push_back(c.end); });
  CHECK(ends.size() >= sampled_calls::most / 2);
  CHECK(ends.back() > 90'000);
}
