// SPDX-License-Identifier: MIT
// needs: guards
// The slowest calls: what recording keeps of them, what the model makes of them, and the section of
// report(slowest).

#include <kprof/model/slow_calls.hpp>
#include <kprof/record/shared_totals.hpp>
#include <kprof/report/text.hpp>

#include "attribution_engine.hpp"
#include "catch.hpp"
#include "moved_clock.hpp"
#include "profile_builder.hpp"
#include "report_page.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace kprof::detail;
using namespace kprof_test;
using kprof::slow_call_details;

namespace {

using times = std::vector<std::pair<double, double>>;  // of how long and from when
times slowest_of(const kprof::scope_node& n) {
  times out;
  for (const kprof::single_call& c : n.slowest) out.emplace_back(c.ns, c.begin_ns);
  return out;
}

/// One operator with ten calls of 100 ns on thread 0, beside it a thread 1.
struct slow_case {
  profile_builder b{1};
  std::uint32_t op, other;

  slow_case() {
    const std::uint32_t main = b.thread("main", 7), worker = b.thread("worker", 8);
    op = b.op(main, "Conv", "n=1");
    b.calls(op, 10, 100);
    other = b.op(worker, "Gemm", "n=2");
    b.p.wall_ns = 10'000;
  }
  void slow(double ns, double begin_ns) { b.p.nodes[op].slowest.push_back({ns, begin_ns}); }
  void ran(std::uint32_t node, std::int64_t start, std::uint64_t duration) {
    b.p.timeline.push_back({node, start, duration});
  }
  std::vector<slow_call_details> found() { return kprof::slowest_calls(b.p); }
};

}  // namespace

TEST_CASE("slow_calls.each_node_keeps_its_three_longest_calls") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    engine e;
    std::uint64_t now = 1000;
    std::vector<std::pair<double, double>> all[2];
    const std::size_t calls = 1 + random() % 12;
    for (std::size_t i = 0; i < calls; ++i) {
      const std::uint64_t which = random() % 2, ns = 1 + random() % 1000;
      call(static_cast<std::int64_t>(which), now, now + ns);
      all[which].emplace_back(static_cast<double>(ns), static_cast<double>(now));
      now += ns + 10;
    }
    const kprof::profile p = profile_at(e, 1'000'000'000);
    for (int which = 0; which < 2; ++which) {
      times& expected = all[which];
      if (expected.empty()) continue;
      std::stable_sort(expected.begin(), expected.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      if (expected.size() > 3) expected.resize(3);
      const kprof::scope_node& n = only(p, "Op n=" + std::to_string(which));
      CHECK(slowest_of(n) == expected);
      CHECK(n.max_ns == expected[0].first);
    }
  }
}

TEST_CASE("slow_calls.those_of_ended_threads_are_kept") {
  engine e;
  // More than are kept apart, so that their totals are merged.
  for (std::uint64_t i = 0; i < 80; ++i)
    std::thread([i] { call(1, 1000 * i, 1000 * i + (i == 5 ? 900 : i == 9 ? 800 : 10)); }).join();
  const kprof::profile p = profile_at(e, 1'000'000'000);
  const auto nodes = find_all(p, "Op n=1");
  const auto merged = std::find_if(nodes.begin(), nodes.end(), [&](const kprof::scope_node* n) {
    return p.threads[n->thread].merged > 10;
  });
  REQUIRE(merged != nodes.end());
  const times kept = slowest_of(**merged);
  REQUIRE(kept.size() == 3);
  CHECK(kept[0] == std::pair{900.0, 5000.0});
  CHECK(kept[1] == std::pair{800.0, 9000.0});
  CHECK(kept[2].first == 10);
}

TEST_CASE("slow_calls.calls_that_threads_share_are_kept_as_a_whole") {
  const auto always = [](std::size_t) { return true; };
  shared_sums a, b;
  for (const std::uint64_t wall : {50U, 400U, 70U}) {
    joined_call c{};
    c.wall = wall, c.end = 1000 + wall;
    a.add(c, always);
  }
  joined_call longest{};
  longest.wall = 500, longest.end = 9000;
  b.add(longest, always);
  a.add(b, always);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> kept;
  a.slowest.each([&](const slow_calls::call& c) { kept.emplace_back(c.ticks, c.end); });
  CHECK(kept ==
        std::vector<std::pair<std::uint64_t, std::uint64_t>>{{500, 9000}, {400, 1400}, {70, 1070}});
}

TEST_CASE("slow_calls.what_takes_less_than_1_5_medians_is_not_slow") {
  slow_case c;
  c.slow(150, 1000);
  c.slow(149, 3000);
  const auto found = c.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].begin_ns == 1000);
  CHECK(found[0].median_ns == 100);
  CHECK_FALSE(found[0].is_first);
  c.b.p.nodes[c.op].calls = 2;  // of so few nothing is usual
  CHECK(c.found().empty());
  c.b.p.nodes[c.op].calls = 10;
  c.b.p.nodes[c.op].merged = true;
  CHECK(c.found().empty());
}

TEST_CASE("slow_calls.the_largest_loss_comes_first_and_the_rest_is_left_out") {
  slow_case c;
  for (const double ns : {900.0, 300.0, 200.0}) c.slow(ns, 100 * ns);
  const std::uint32_t second = c.b.op(0, "Pool", "n=3");
  c.b.calls(second, 5, 1000);
  c.b.p.nodes[second].slowest = {{1600, 1}};
  c.b.p.nodes[second].first_end_ns = 1601;
  const auto found = c.found();
  REQUIRE(found.size() == 4);
  CHECK(found[0].ns == 900);
  CHECK(found[1].ns == 1600);  // 600 more than usual
  CHECK(found[1].is_first);
  CHECK(found[2].ns == 300);
  CHECK(kprof::slowest_calls(c.b.p, 2).size() == 2);
}

TEST_CASE("slow_calls.neighbours_are_what_overlaps_on_other_threads_and_devices") {
  slow_case c;
  c.slow(500, 1000);
  const std::uint32_t inner = c.b.op(c.other, "Inner", "n=4"), own = c.b.op(c.op, "Own", "n=5"),
                      region = c.b.region(2, "region");
  c.ran(c.other, 0, 1000);     // ends as it begins
  c.ran(c.other, 900, 300);    // 200 of it
  c.ran(c.other, 1400, 1000);  // 100 of it
  c.ran(inner, 1400, 1000);    // is part of the one around it
  c.ran(own, 1000, 500);       // the call's own thread
  c.ran(region, 1000, 500);    // no operator
  c.b.p.device.kernels = {"_Z4axpyPf"};
  c.b.p.device.work.resize(2);
  c.b.p.device.work[0].kernel = 0;
  c.b.p.device.work[0].device = 3;
  c.b.p.device.work[1].task = kprof::device_task::copy;
  c.b.p.device.timeline.items.resize(3);
  c.b.p.device.timeline.items[0] = {.work = 0, .start = 1450, .end = 1600};
  c.b.p.device.timeline.items[1] = {.work = 1, .start = 1000, .end = 1010};
  c.b.p.device.timeline.items[2] = {.work = 1, .start = 1300, .end = 1200};  // no time
  c.b.p.complete.recorded = c.b.p.complete.in_timeline = 6;
  c.b.p.steps = {{.index = 4, .thread = 0, .begin = 900, .end = 1001},
                 {.index = 5, .thread = 0, .begin = 1001, .end = 2000},
                 {.index = 6, .thread = 1, .begin = 0, .end = 5000}};
  const auto found = c.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].threads_known);
  CHECK(found[0].step == std::uint64_t{4});
  REQUIRE(found[0].neighbours.size() == 3);
  CHECK(found[0].neighbours[0].name == "Gemm");
  CHECK(found[0].neighbours[0].thread == 1);
  CHECK(found[0].neighbours[0].ns == 300);
  CHECK(found[0].neighbours[1].name == "axpy");
  CHECK(found[0].neighbours[1].device == 3);
  CHECK(found[0].neighbours[1].ns == 50);
  CHECK(found[0].neighbours[2].name == "copy");
  CHECK(found[0].neighbours[2].ns == 10);
}

TEST_CASE("slow_calls.a_short_timeline_does_not_know_what_threads_did") {
  slow_case c;
  c.slow(500, 1000);
  CHECK_FALSE(c.found()[0].threads_known);
  c.ran(c.other, 9500, 100);
  c.b.p.complete.recorded = 100;
  c.b.p.complete.in_timeline = 1;
  c.b.p.complete.timeline_ns = 9000;  // of 10,000
  CHECK(c.found()[0].threads_known);
  c.b.p.complete.timeline_ns = 8999;
  CHECK_FALSE(c.found()[0].threads_known);
}

TEST_CASE("slow_calls.the_report_says_where_and_beside_what") {
  slow_case c;
  kprof::report_options options;
  options.slowest = true;
  c.b.done();
  const std::string none = page_of(c.b.p, options);
  CHECK(has(none, "no call of an operator took 1.5 times the median of its row"));
  c.slow(500, 1000);
  const std::string unknown = page_of(c.b.p, options);
  CHECK(has(unknown,
            "Conv n=1: 500 ns, 5.00 times its median, at 1.00 µs, on thread main 7\n"
            "      beside it: n/a, the timeline does not reach back so far"));
  c.ran(c.other, 900, 300);
  c.b.p.complete.recorded = c.b.p.complete.in_timeline = 1;
  c.b.p.steps = {{.index = 4, .thread = 0, .begin = 900, .end = 1001}};
  c.b.p.nodes[c.op].first_end_ns = 1500;
  const std::string known = page_of(c.b.p, options);
  CHECK(has(known,
            "Conv n=1: 500 ns, 5.00 times its median, its first call, at 1.00 µs in step 4, on "
            "thread main"));
  CHECK(has(known, "      beside it: Gemm on thread worker 8 for 200 ns\n"));
  options.slowest = false;
  CHECK_FALSE(has(page_of(c.b.p, options), "Slowest calls"));
}
