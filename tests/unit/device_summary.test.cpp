// SPDX-License-Identifier: MIT
#include <kprof/model/summary.hpp>

#include "../support/cases.hpp"
#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/rows.hpp"
#include "groupings.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>

using kprof::absence;
using kprof::copy_direction;
using kprof::device_work;
using kprof::grouping;
using kprof::operator_row;
using kprof::operator_table;
using kprof::scope_kind;
using kprof::scope_node;
using kprof_test::device_builder;
using kprof_test::row_of;

namespace {

const auto every_grouping = kprof_test::finer_and_finer();

}  // namespace

TEST_CASE("device_summary.work_counts_to_the_innermost_operator") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto step = b.region(main, "step"), outer = b.op(step, "Outer"),
             part = b.region(outer, "part"), inner = b.op(part, "Inner");
  b.calls(step, 1, 900).calls(outer, 2, 400).calls(part, 2, 300).calls(inner, 4, 100);
  b.kernel(step, "k", 1, 7);
  b.kernel(outer, "k", 2, 100);
  b.kernel(part, "k", 2, 10);
  b.copy(part, copy_direction::host_to_device, 2, 30, 64);
  b.set(part, 1, 5, 64);
  b.kernel(inner, "k", 4, 1000);
  const kprof::profile p = b.done();
  for (const grouping& by : every_grouping) {
    const operator_row row = row_of(p, "Outer", by), nested = row_of(p, "Inner", by);
    CHECK(row.device_ns == Approx(200 + 20 + 60 + 5));
    CHECK(row.device_total_ns == Approx(285 + 4000));
    CHECK(row.kernels == 4);
    CHECK(row.copies == 3);
    CHECK(row.device_share == Approx(285 / 4292.0));
    CHECK(row.on_device);
    CHECK(nested.device_ns == Approx(4000));
    CHECK(nested.device_total_ns == Approx(4000));
    CHECK(nested.kernels == 4);
    CHECK(nested.copies == 0);
  }
}

TEST_CASE("device_summary.a_run_without_a_device_has_no_device_numbers") {
  const operator_row row = row_of(kprof_test::sample_profile(), "Gemm");
  CHECK_FALSE(row.on_device);
  CHECK(row.device_ns == 0);
  CHECK(row.device_share == 0);
  CHECK(row.gap_ns.why == absence::no_launch);
  CHECK(kprof::call_tree(kprof_test::sample_profile())[0].device_total_ns == 0);
  CHECK(kprof::outside_operators(kprof_test::sample_profile()).all.runs() == 0);
}

TEST_CASE("device_summary.a_call_inside_another_of_the_same_row_counts_once_in_the_device_total") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto outer = b.op(main, "Sort", "n=8"), inner = b.op(outer, "Sort", "n=4"),
             other = b.op(inner, "Merge"), deepest = b.op(other, "Sort", "n=4");
  b.calls(outer, 1, 1000).calls(inner, 2, 300).calls(other, 2, 200).calls(deepest, 2, 100);
  b.work(outer, 800, 0, 80).work(inner, 400, 0, 40).work(deepest, 400, 0, 40);
  b.kernel(outer, "k", 1, 10);
  b.kernel(inner, "k", 2, 100);
  b.kernel(other, "k", 2, 1000);
  b.kernel(deepest, "k", 2, 10'000);
  const kprof::profile p = b.done();
  const operator_row all = row_of(p, "Sort");
  CHECK(all.device_ns == Approx(10 + 200 + 20'000));
  CHECK(all.device_total_ns == Approx(22'210));
  CHECK(all.flops.value == Approx(800));
  CHECK(all.flops_per_s.value == Approx(800 / 22'210e-9));
  const auto rows = operator_table(p, grouping::parameters);
  REQUIRE(rows.size() == 3);
  CHECK(rows[1].device_ns == Approx(200 + 20'000));
  CHECK(rows[1].device_total_ns == Approx(200 + 2000 + 20'000));
  CHECK(rows[1].flops_per_s.value == Approx(2 * 400 / 22'200e-9));
  CHECK(row_of(p, "Merge").device_total_ns == Approx(22'000));
}

TEST_CASE("device_summary.captured_calls_do_nothing_and_replays_do_it_again") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto capture = b.region(main, "capture"), captured = b.op(capture, "Gemm", "n=1");
  b.calls(capture, 1, 500).calls(captured, 3, 100).work(captured, 1000, 10, 0);
  b.p.nodes[captured].captured = 2;  // one call ran
  b.kernel(captured, "k", 1, 40);
  const auto launch = b.op(main, "Step"), graph = b.graph(launch, 50),
             region = b.region(graph, "layer"), replayed = b.op(region, "Gemm", "n=1");
  b.calls(launch, 50, 20).work(replayed, 1000, 10, 0);
  b.p.nodes[region].replays = 50;
  b.p.nodes[replayed].replays = 100;
  b.kernel(replayed, "k", 100, 40);
  b.set(graph, 50, 2, 8);
  b.kernel(region, "k", 50, 3);
  const kprof::profile p = b.done();
  for (const grouping& by : every_grouping) {
    const operator_row row = row_of(p, "Gemm", by);
    CHECK(row.calls == 3);
    CHECK(row.captured == 2);
    CHECK(row.replays == 100);
    CHECK(row.flops.value == Approx(101 * 1000));
    CHECK(row.flops_per_call.value == Approx(1000));
    CHECK(row.device_ns == Approx(101 * 40));
    CHECK(row.flops_per_s.value == Approx(101'000 / (101 * 40e-9)));
    CHECK(row.mean_ns.value == Approx(100));
    CHECK(row.total_ns == Approx(300));
    const operator_row step = row_of(p, "Step", by);
    // the graph's own work, and that of regions in it
    CHECK(step.device_ns == Approx(50 * 2 + 50 * 3));
    CHECK(step.device_total_ns == Approx(250 + 4000));
    CHECK(step.copies == 50);
    CHECK(step.kernels == 50);
    CHECK(step.replays == 0);
  }
}

TEST_CASE("device_summary.work_launched_in_a_path_of_another_thread_is_the_operators") {
  device_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto batch = b.op(main, "Batch", "n=1");
  b.calls(batch, 1, 1000).work(batch, 500, 10, 10);
  const auto handed = b.op(worker, "Batch", "n=1"), region = b.region(handed, "copy"),
             part = b.op(handed, "Part");
  b.work(handed, 500, 10, 10).calls(region, 1, 50).calls(part, 1, 100);
  b.kernel(region, "k", 4, 25);
  b.kernel(part, "k", 1, 900);
  const kprof::profile p = b.done();
  for (const grouping by : {grouping::op, grouping::parameters}) {
    const operator_row row = row_of(p, "Batch", by);
    CHECK(row.calls == 1);
    CHECK(row.device_ns == Approx(100));
    CHECK(row.device_total_ns == Approx(1000));
    CHECK(row.flops_per_s.value == Approx(500 / 1000e-9));
  }
  const auto rows = operator_table(p, kprof_test::by_thread());
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].device_ns == 0);
  CHECK(rows[1].name == "Batch");
  CHECK(rows[1].thread == 1);
  CHECK(rows[1].calls == 0);
  CHECK(rows[1].device_ns == Approx(100));
  CHECK(rows[1].flops_per_s.why == absence::no_calls);
  CHECK(kprof::outside_operators(p).all.runs() == 0);
}

TEST_CASE("device_summary.what_is_in_no_operator_is_listed_by_name") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto region = b.region(main, "step"),
             graph = b.graph(region, 2, "(graph captured before recording)"),
             op = b.op(region, "A");
  b.calls(region, 1, 100).calls(op, 1, 10);
  b.kernel(op, "_Z6insidev", 1, 1e6);
  b.kernel(region, "_Z4fillPf", 3, 10);
  b.kernel(graph, "_Z4fillPf", 2, 10);
  b.kernel(main, "adam", 1, 400);
  b.copy(main, copy_direction::device_to_host, 2, 100, 4);
  b.set(scope_node::none, 1, 7, 4);
  b.kernel(12'345, "lost", 1, 9).gaps = 0;
  const kprof::profile p = b.done();
  const kprof::work_outside rest = kprof::outside_operators(p);
  CHECK(rest.all.kernels == 7);
  CHECK(rest.all.copies == 3);
  CHECK(rest.all.ns == Approx(50 + 400 + 200 + 7 + 9));
  CHECK(rest.unknown.runs() == 2);
  CHECK(rest.unknown.ns == Approx(16));
  REQUIRE(rest.names.size() == 5);
  CHECK(rest.names[0].name == "adam");
  CHECK(rest.names[1].name == "copy");
  CHECK(rest.names[2].name == "fill(float*)");
  CHECK(rest.names[2].sum.kernels == 5);
  CHECK(rest.names[3].name == "lost");
  CHECK(rest.names[4].name == "memset");
  b.p.device.work.back().scope = static_cast<std::uint32_t>(b.p.nodes.size());  // one too many
  CHECK(kprof::outside_operators(b.p).unknown.runs() == 2);
}

// The definition, read literally: every piece of work looks at all scopes around it.
TEST_CASE("device_summary.totals_agree_with_a_slow_reading_of_the_definition") {
  for (unsigned seed = 0; seed < kprof_test::cases(300); ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    struct sums {
      double own = 0, total = 0;
      std::uint64_t kernels = 0, copies = 0;
    };
    std::map<std::string, sums> expected;
    double outside = 0, all = 0;
    for (const device_work& w : p.device.work) {
      all += w.total_ns;
      std::set<std::string> around;
      bool innermost = true;
      for (std::uint32_t up = w.scope < p.nodes.size() ? w.scope : scope_node::none;
           up != scope_node::none; up = p.nodes[up].parent) {
        if (p.nodes[up].kind != scope_kind::op) continue;
        sums& s = expected[p.nodes[up].name];
        if (around.insert(p.nodes[up].name).second) s.total += w.total_ns;
        if (!innermost) continue;
        innermost = false;
        s.own += w.total_ns;
        (w.task == kprof::device_task::kernel ? s.kernels : s.copies) += w.calls;
      }
      if (innermost) outside += w.total_ns;
    }
    for (const grouping& by : every_grouping) {
      INFO("seed " << seed << " by " << by.text());
      double own = 0, shares = 0;
      std::map<std::string, sums> found;
      for (const operator_row& row : operator_table(p, by)) {
        own += row.device_ns;
        shares += row.device_share;
        REQUIRE(row.device_total_ns >= row.device_ns * (1 - 1e-9));
        found[row.name].own += row.device_ns;
        found[row.name].kernels += row.kernels;
        found[row.name].copies += row.copies;
        if (by == grouping::op)
          REQUIRE(row.device_total_ns == Approx(expected[row.name].total).margin(1e-6));
      }
      REQUIRE(own + outside == Approx(all).margin(1e-6));
      REQUIRE(kprof::outside_operators(p).all.ns == Approx(outside).margin(1e-6));
      if (all > 0) REQUIRE(shares == Approx(1 - outside / all).margin(1e-9));
      for (const auto& [name, s] : expected) {
        REQUIRE(found[name].own == Approx(s.own).margin(1e-6));
        REQUIRE(found[name].kernels == s.kernels);
        REQUIRE(found[name].copies == s.copies);
      }
    }
  }
}

TEST_CASE("device_summary.operations_agree_with_a_slow_reading_of_the_definition") {
  for (unsigned seed = 0; seed < kprof_test::cases(300); ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    std::map<std::string, double> expected;
    for (const scope_node& n : p.nodes) {
      if (n.kind != scope_kind::op) continue;
      bool covered = false;
      for (std::uint32_t up = n.parent; up != scope_node::none; up = p.nodes[up].parent)
        covered = covered || (p.nodes[up].kind == scope_kind::op && p.nodes[up].name == n.name &&
                              p.nodes[up].calls + p.nodes[up].replays > 0);
      if (!covered)
        expected[n.name] += static_cast<double>(n.calls - n.captured + n.replays) *
                            static_cast<double>(n.work.flops);
    }
    for (const operator_row& row : operator_table(p, grouping::op)) {
      INFO("seed " << seed << " row " << row.name);
      if (row.flops.known()) REQUIRE(row.flops.value == Approx(expected[row.name]));
    }
  }
}

TEST_CASE("device_summary.a_table_of_some_calls_has_their_work_alone") {
  for (unsigned seed = 0; seed < kprof_test::cases(100); ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    double all = 0, parts = 0;
    std::uint64_t runs = 0, part_runs = 0;
    for (const operator_row& row : operator_table(p, grouping::op))
      all += row.device_ns, runs += row.kernels + row.copies;
    for (const bool wanted : {true, false})
      for (const operator_row& row : operator_table(p, grouping::op, [&](const scope_node& n) {
             return (n.name.size() % 2 == 0) == wanted;
           }))
        parts += row.device_ns, part_runs += row.kernels + row.copies;
    REQUIRE(parts == Approx(all).margin(1e-6));
    REQUIRE(runs == part_runs);
  }
}

TEST_CASE("device_summary.impossible_times_are_survived") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = b.op(main, "A");
  b.calls(op, 1, 10).work(op, 10, 10, 10);
  auto& w = b.kernel(op, "k", 1, -5);
  w.gap_ns = std::numeric_limits<double>::quiet_NaN();
  w.untimed = 7;
  b.kernel(op, "k", 0, std::numeric_limits<double>::quiet_NaN());
  b.kernel(0xFFFFFFF0U, "k", 1, 3);
  b.p.device.work.back().kernel = 99;
  kprof::profile p = b.done();
  p.nodes[op].parent = 77;
  const operator_row row = row_of(p, "A");
  CHECK(row.device_ns == 0);
  CHECK(row.device_share == 0);
  CHECK(row.gap_ns.value == 0);
  CHECK(row.flops_per_s.why == absence::untimed);
  CHECK(kprof::outside_operators(p).names[0].name == "(other kernels)");
  CHECK(kprof::call_tree(p)[0].device_total_ns == 0);
}

TEST_CASE("device_summary.depth_costs_linear_time_and_no_stack") {
  kprof::profile deep = kprof_test::deep_profile(100'000);
  for (std::uint32_t i = 0; i < deep.nodes.size(); ++i) {
    device_work w;
    w.scope = i;
    w.task = kprof::device_task::set;
    w.calls = 1;
    w.total_ns = 10;
    deep.device.work.push_back(w);
  }
  const auto rows = operator_table(deep);
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].device_total_ns == Approx(1e6));
  CHECK(kprof::call_tree(deep)[0].device_total_ns == Approx(1e6));
}
