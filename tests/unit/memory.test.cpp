// SPDX-License-Identifier: MIT
// needs: guards
// One setting bounds the memory; what no longer fits is folded or merged, and the totals stay
// exact.

#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "find.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Row {
  std::int64_t id = 0;
  constexpr std::uint64_t flops() const { return 10; }
};
struct Plain {};

kprof::settings with_memory(std::size_t mib) {
  kprof::settings settings;
  settings.memory = mib * 1024 * 1024;
  return settings;
}

}  // namespace

TEST_CASE("memory.totals_stay_exact_when_the_timeline_does_not_fit") {
  REQUIRE(kprof::start(with_memory(1)));
  constexpr int n = 300'000;
  for (int i = 0; i < n; ++i) {
    KPROF_REGION("step");
    { KPROF_OP(Row, {i % 3}); }
    { KPROF_OP(Plain); }
  }
  const kprof::profile p = kprof::snapshot({.timeline = true});
  CHECK(calls(p, "step") == n);
  for (int k = 0; k < 3; ++k) CHECK(calls(p, "step/Row id=" + std::to_string(k)) == n / 3);
  CHECK(calls(p, "step/Plain") == n);
  CHECK(p.complete.recorded == 3 * n);
  CHECK(p.complete.dropped == 0);
  for (const kprof::scope_node& node : p.nodes) CHECK(node.durations.count() == node.calls);
  CHECK(p.cost.memory <= p.cost.memory_limit);
  // The timeline keeps a window: the last scopes, all of them, and it says how far back it reaches.
  CHECK(p.complete.in_timeline < p.complete.recorded / 10);
  CHECK(p.complete.in_timeline > 1000);
  CHECK(p.complete.timeline_ns < p.wall_ns);
  CHECK(p.timeline.size() <= p.complete.in_timeline);
  // but for those that began before the window
  CHECK(p.timeline.size() + 10 >= p.complete.in_timeline);
  REQUIRE_FALSE(p.timeline.empty());
  CHECK(path_of(p, p.timeline.back().node) == "step");
  for (const kprof::timeline_scope& s : p.timeline) {
    REQUIRE(p.clock.to_ns(s.start + std::int64_t(s.duration)) >=
            p.wall_ns - p.complete.timeline_ns - 1);
    REQUIRE(p.clock.to_ns(s.start + std::int64_t(s.duration)) <= p.wall_ns);
  }
}

TEST_CASE("memory.minimum_maximum_and_sum_agree_with_the_timeline") {
  REQUIRE(kprof::start(with_memory(64)));
  for (int i = 0; i < 20'000; ++i) { KPROF_OP(Row, {1}); }
  const kprof::profile p = kprof::snapshot({.timeline = true});
  const kprof::scope_node row = only(p, "Row id=1");
  REQUIRE(p.timeline.size() == 20'000);
  double sum = 0;
  std::vector<double> all;
  for (const kprof::timeline_scope& s : p.timeline)
    sum += p.clock.to_ns(s.duration), all.push_back(p.clock.to_ns(s.duration));
  std::sort(all.begin(), all.end());
  CHECK(row.total_ns == Approx(sum));
  CHECK(row.min_ns == Approx(all.front()));
  CHECK(row.max_ns == Approx(all.back()));
  for (const double q : {0.5, 0.99}) {
    const double exact = all[static_cast<std::size_t>(std::ceil(q * 20'000)) - 1];
    CHECK(row.durations.quantile(q) * p.clock.ns_per_tick ==
          Approx(exact).epsilon(0.01).margin(p.clock.ns_per_tick));
  }
}

TEST_CASE("memory.too_many_parameters_are_merged_and_counted") {
  REQUIRE(kprof::start(with_memory(1)));
  constexpr int n = 50'000;
  for (int i = 0; i < n; ++i) {
    KPROF_REGION("r");
    KPROF_OP(Row, {i});
  }
  const kprof::profile p = kprof::snapshot();
  std::uint64_t rows = 0, merged = 0;
  for (const kprof::scope_node& node : p.nodes)
    if (node.name == "Row") rows += node.calls, merged += node.merged ? node.calls : 0;
  CHECK(rows == n);
  CHECK(calls(p, "r") == n);
  CHECK(merged == p.complete.merged);
  CHECK(merged > 0);
  CHECK(merged < n);
  CHECK(p.cost.memory <= p.cost.memory_limit);
  // Starting again makes room again.
  REQUIRE(kprof::start(with_memory(1)));
  { KPROF_OP(Row, {1}); }
  CHECK(kprof::snapshot().complete.merged == 0);
}

TEST_CASE("memory.totals_get_what_they_need_from_the_logs") {
  REQUIRE(kprof::start(with_memory(8)));
  const auto record_plain = [](int calls) {
    for (int i = 0; i < calls; ++i) { KPROF_OP(Plain); }
  };
  const auto fill = [&] {
    record_plain(300'000);
    return kprof::snapshot({.timeline = true});
  };
  const std::uint64_t window = fill().complete.in_timeline;
  for (int token = 0; token < 600; ++token) {
    for (int layer = 0; layer < 12; ++layer) {
      KPROF_REGION("layer " + std::to_string(layer));
      KPROF_OP(Row, {token});
    }
    record_plain(500);
  }
  const kprof::profile p = fill();
  CHECK(p.complete.merged == 0);
  CHECK(p.complete.dropped == 0);
  CHECK(calls(p, "layer 7/Row id=599") == 1);
  CHECK(p.complete.recorded == 2 * 300'000 + 600 * (2 * 12 + 500));
  // Of eight mebibytes the logs have six, and now four.
  CHECK(p.cost.memory <= p.cost.memory_limit);
  CHECK(p.complete.in_timeline < window / 4 * 3);
  CHECK(p.complete.in_timeline > window / 2);
  REQUIRE(kprof::start(with_memory(8)));
  CHECK(fill().complete.in_timeline > window / 10 * 9);
}

TEST_CASE("memory.totals_are_held_to_what_idle_threads_leave") {
  REQUIRE(kprof::start(with_memory(1)));
  std::atomic<int> waiting{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> idle;
  for (int i = 0; i < 22; ++i)
    idle.emplace_back([&] {
      { KPROF_OP(Plain); }
      ++waiting;
      while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  while (waiting < 22) std::this_thread::yield();
  for (int i = 0; i < 20'000; ++i) { KPROF_OP(Row, {i}); }
  const kprof::profile p = kprof::snapshot();
  done = true;
  for (std::thread& t : idle) t.join();
  CHECK(p.complete.recorded == 20'022);
  CHECK(p.complete.merged > 0);
  CHECK(p.cost.memory <= p.cost.memory_limit);
}

TEST_CASE("memory.endless_region_names_are_merged_too") {
  REQUIRE(kprof::start(with_memory(1)));
  for (int i = 0; i < 20'000; ++i) {
    KPROF_REGION("request " + std::to_string(i) + std::string(200, '.'));
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.recorded == 20'000);
  CHECK(p.complete.merged > 0);
  CHECK(p.cost.memory <= p.cost.memory_limit);
  CHECK(calls(p, "(other regions)") == p.complete.merged);
}

TEST_CASE("memory.histograms_of_scattered_durations_stay_within_the_limit") {
  REQUIRE(kprof::start(with_memory(1)));
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round)
    for (int i = 0; i < 600; ++i) {
      KPROF_OP(Row, {i});
      const auto end =
          std::chrono::steady_clock::now() + std::chrono::nanoseconds(1U << (random() % 18));
      while (std::chrono::steady_clock::now() < end) {}
    }
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.recorded == 12 * 600);
  CHECK(p.cost.memory <= p.cost.memory_limit);
  for (const kprof::scope_node& node : p.nodes) CHECK(node.durations.count() == node.calls);
}

TEST_CASE("memory.captured_paths_stay_within_the_limit") {
  for (int restart = 0; restart < 8; ++restart) {
    REQUIRE(kprof::start(with_memory(1)));
    for (int i = 0; i < 2000; ++i) {
      KPROF_REGION("request " + std::to_string(restart) + "/" + std::to_string(i));
      static_cast<void>(kprof::context::current());
    }
    CHECK(kprof::snapshot().cost.memory <= 1024 * 1024);
  }
}

TEST_CASE("memory.a_smaller_recording_holds_no_more_whoever_records_meanwhile") {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&done] {
      while (!done) { KPROF_OP(Plain); }
    });
  std::uint64_t most = 0;
  for (int i = 0; i < 40; ++i) {
    REQUIRE(kprof::start(with_memory(16)));
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
    REQUIRE(kprof::start(with_memory(1)));
    const kprof::profile p = kprof::snapshot();
    most = std::max(most, p.cost.memory);
    CHECK(p.cost.memory_limit == 1024 * 1024);
  }
  done = true;
  for (std::thread& t : threads) t.join();
  CHECK(most <= 1024 * 1024);
}

TEST_CASE("memory.a_recording_has_all_of_its_memory_whatever_the_last_one_took") {
  for (const std::size_t first : {std::size_t{64}, std::size_t{1}}) {
    CAPTURE(first);
    REQUIRE(kprof::start(with_memory(first)));
    for (int i = 0; i < 20'000; ++i) {
      KPROF_PART(Row, {i}, 0, 1);
      KPROF_OP(Row, {i});
      static_cast<void>(kprof::context::current());
    }
    static_cast<void>(kprof::snapshot());
    REQUIRE(kprof::start(with_memory(1)));
    for (int i = 0; i < 60; ++i) { KPROF_PART(Row, {100'000 + i}, 0, 1); }
    const kprof::profile p = kprof::snapshot();
    CHECK(p.complete.merged < 30);  // what the threads of the tests before left takes some
    CHECK(p.cost.memory <= p.cost.memory_limit);
    CHECK(calls(p, "Row id=100000") == 1);
  }
}

TEST_CASE("memory.threads_that_hold_all_of_it_go_on_recording") {
  REQUIRE(kprof::start(with_memory(1)));
  std::atomic<int> waiting{40}, working{40};
  std::vector<std::thread> all;
  for (int t = 0; t < 40; ++t)
    all.emplace_back([&] {
      { KPROF_REGION("first"); }
      for (--waiting; waiting > 0;) std::this_thread::yield();
      for (int i = 0; i < 4999; ++i) { KPROF_REGION("later"); }
      for (--working; working > 0;) std::this_thread::yield();
    });
  for (std::thread& t : all) t.join();
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.recorded + p.complete.dropped == 200'000);
  CHECK(p.complete.recorded > 100'000);
}
