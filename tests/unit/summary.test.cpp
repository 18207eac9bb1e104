// SPDX-License-Identifier: MIT
#include <kprof/model/summary.hpp>

#include "../support/cases.hpp"
#include "../support/catch.hpp"
#include "../support/rows.hpp"
#include "../support/sample_profile.hpp"
#include "groupings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

using kprof::grouping;
using kprof::operator_row;
using kprof::operator_table;
using kprof::scope_kind;
using kprof::scope_node;
using kprof_test::profile_builder;
using kprof_test::row_of;

TEST_CASE("summary.an_empty_profile_has_no_rows") {
  CHECK(operator_table({}).empty());
  CHECK(kprof::call_tree({}).empty());
}

TEST_CASE("summary.rows_are_split_as_the_grouping_says") {
  profile_builder b;
  const auto main = b.thread("main", 1), other = b.thread("other", 2);
  const auto add = [&](std::uint32_t root, const char* parameters, std::uint32_t line) {
    const auto node = b.op(root, "A", parameters);
    b.calls(node, 1, 10).site(node, "x.cpp", line);
  };
  add(main, "n=1", 1);
  add(main, "n=1", 2);
  add(main, "n=2", 1);
  add(other, "n=1", 1);
  b.calls(b.region(other, "A"), 1, 10);
  const kprof::profile p = b.done();
  const auto by_op = operator_table(p, grouping::op);
  REQUIRE(by_op.size() == 1);
  CHECK(by_op[0].variants == 2);
  CHECK(by_op[0].parameters.empty());
  CHECK(by_op[0].calls == 4);
  CHECK(by_op[0].several_sites);
  CHECK(by_op[0].file.empty());
  CHECK(by_op[0].thread == scope_node::none);
  const auto by_parameters = operator_table(p, grouping::parameters);
  REQUIRE(by_parameters.size() == 2);
  CHECK(by_parameters[0].parameters == "n=1");
  CHECK(by_parameters[0].variants == 1);
  CHECK(by_parameters[0].calls == 3);
  CHECK(by_parameters[1].file == "x.cpp");
  CHECK(by_parameters[1].line == 1);
  CHECK(operator_table(p, kprof_test::by_call_site()).size() == 3);
  const auto by_thread = operator_table(p, kprof_test::by_thread());
  REQUIRE(by_thread.size() == 4);
  CHECK(by_thread[0].thread == 0);
  CHECK(by_thread[3].thread == 1);
}

TEST_CASE("summary.recursion_counts_once") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto outer = b.op(main, "Sort", "n=8"), inner = b.op(outer, "Sort", "n=4"),
             between = b.region(inner, "merge"), innermost = b.op(between, "Sort", "n=4");
  b.calls(outer, 1, 1000).calls(inner, 2, 300).calls(between, 2, 200).calls(innermost, 4, 40);
  b.work(outer, 800, 80, 0).work(inner, 400, 40, 0).work(innermost, 400, 40, 0);
  const kprof::profile p = b.done();

  const operator_row all = row_of(p, "Sort");
  CHECK(all.calls == 7);
  CHECK(all.total_ns == Approx(1000));
  CHECK(all.flops.value == Approx(800));
  CHECK(all.flops_per_call.value == Approx(800));
  CHECK(all.flops_per_s.value == Approx(800e9 / 1000));
  CHECK(all.mean_ns.value == Approx((1000 + 600 + 160) / 7.0));
  CHECK(all.self_ns == Approx(400 + 200 + 240 + 160));  // the region between them too

  const auto rows = operator_table(p, grouping::parameters);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].total_ns == Approx(600));
  CHECK(rows[1].calls == 6);
  CHECK(rows[1].flops.value == Approx(2 * 400));
}

TEST_CASE("summary.the_same_operator_on_two_threads_counts_twice") {
  profile_builder b;
  for (const std::uint64_t id : {1U, 2U}) {
    const auto root = b.thread("t", id);
    const auto op = b.op(root, "A");
    b.calls(op, 1, 100).work(op, 50, 10, 10);
  }
  const operator_row row = row_of(b.done(), "A");
  CHECK(row.total_ns == Approx(200));
  CHECK(row.flops.value == Approx(100));
}

TEST_CASE("summary.a_call_that_is_open_covers_nothing") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto outer = b.op(main, "A"), inner = b.op(outer, "A");
  b.calls(inner, 3, 100);
  b.p.nodes[outer].open = 1;
  b.p.nodes[outer].open_ns = 5000;
  const operator_row row = row_of(b.done(), "A");
  CHECK(row.total_ns == Approx(300));
  CHECK(row.calls == 3);
  CHECK(row.open == 1);
  CHECK(row.open_ns == Approx(5000));
}

TEST_CASE("summary.regions_inside_an_operator_count_to_its_self_time") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto before = b.region(main, "before"), outer = b.op(before, "Outer"),
             kernel = b.region(outer, "kernel"), loop = b.region(kernel, "loop"),
             inner = b.op(loop, "Inner"), copy = b.region(inner, "copy");
  b.calls(before, 1, 1000)
      .calls(outer, 1, 900)
      .calls(kernel, 1, 880)
      .calls(loop, 1, 800)
      .calls(inner, 1, 500)
      .calls(copy, 1, 450);
  const kprof::profile p = b.done();
  for (const grouping& by : kprof_test::finer_and_finer()) {
    const operator_row all = row_of(p, "Outer", by), nested = row_of(p, "Inner", by);
    CHECK(all.self_ns == Approx(20 + 80 + 300));
    CHECK(all.share == Approx(0.4));
    CHECK(nested.self_ns == Approx(50 + 450));
    CHECK(nested.share == Approx(0.5));
  }
  CHECK(kprof::call_tree(p)[1].self_ns == Approx(20));  // the tree has the scope's own
}

// On the worker the path that came with a context has nodes in which nothing ran.
TEST_CASE("summary.a_path_handed_over_by_another_thread_makes_no_rows") {
  profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto batch = b.op(main, "Batch", "n=1");
  b.calls(batch, 1, 1000).work(batch, 500, 10, 10).site(batch, "a.cpp", 1);
  const auto handed = b.op(worker, "Batch", "n=1"), part = b.op(handed, "Part"),
             annotation = b.region(handed, "copy");
  b.work(handed, 500, 10, 10).site(handed, "a.cpp", 1).calls(part, 4, 200).calls(annotation, 1, 50);
  const auto never = b.op(worker, "Batch", "n=2");  // handed over by a thread whose log is lost
  b.site(never, "b.cpp", 2);
  const kprof::profile p = b.done();

  for (const grouping& by : kprof_test::finer_and_finer()) {
    INFO("grouping " << by.text());
    const auto rows = operator_table(p, by);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "Batch");
    CHECK(rows[0].variants == 1);
    CHECK(rows[0].parameters == "n=1");
    CHECK(rows[0].thread == 0);
    CHECK(rows[0].file == "a.cpp");
    CHECK_FALSE(rows[0].several_sites);
    CHECK(rows[0].calls == 1);
    CHECK(rows[0].flops_per_s.known());
    // a row of one thread has no time of another
    CHECK(rows[0].self_ns == Approx(by == kprof_test::by_thread() ? 1000 : 1050));
    CHECK(rows[1].name == "Part");
    CHECK(rows[1].thread == 1);
  }
  b.p.nodes[handed].open = 1;
  CHECK(row_of(b.p, "Batch").thread == scope_node::none);
  CHECK(operator_table(b.p, kprof_test::by_thread()).size() == 3);
}

TEST_CASE("summary.a_table_of_some_calls_sums_these_alone") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto large = b.op(main, "Sort", "n=8"), pack = b.region(large, "pack"),
             small = b.op(pack, "Sort", "n=4"), copy = b.region(small, "copy"),
             other = b.op(copy, "Copy", "n=4");
  b.calls(large, 1, 1000)
      .calls(pack, 1, 500)
      .calls(small, 2, 200)
      .calls(copy, 2, 150)
      .calls(other, 2, 50);
  b.work(large, 800, 80, 0).work(small, 400, 40, 0);
  b.p.nodes[large].work.valid = false;
  const kprof::profile p = b.done();
  const auto rows = operator_table(
      p, grouping::op, [&](const scope_node& n) { return p.value(n, "n").as_signed() == 4; });
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "Sort");
  CHECK(rows[0].variants == 1);
  CHECK(rows[0].parameters == "n=4");
  CHECK_FALSE(rows[0].invalid);
  CHECK(rows[0].calls == 2);
  CHECK(rows[0].total_ns == Approx(400));  // what is around them is not in the table
  CHECK(rows[0].flops.value == Approx(2 * 400));
  CHECK(rows[0].self_ns == Approx(100 + 200));
  CHECK(rows[0].share == Approx(0.3));  // of all scopes
  const auto rest = operator_table(
      p, grouping::op, [&](const scope_node& n) { return p.value(n, "n").as_signed() != 4; });
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].self_ns == Approx(500 + 100));  // not the region in the call left out
  CHECK(operator_table(p, grouping::op, [](const scope_node&) { return false; }).empty());
}

TEST_CASE("summary.merged_calls_have_a_row_apart_from_those_without_parameters") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto plain = b.op(main, "A"), merged = b.op(main, "A");
  b.calls(plain, 1, 10).calls(merged, 1, 10);
  b.p.nodes[merged].merged = true;
  const auto rows = operator_table(b.done(), grouping::parameters);
  REQUIRE(rows.size() == 2);
  CHECK_FALSE(rows[0].merged);
  CHECK(rows[1].merged);
}

TEST_CASE("summary.totals_agree_with_a_slow_reading_of_the_definition") {
  for (unsigned seed = 0; seed < kprof_test::cases(200); ++seed) {
    const kprof::profile p = kprof_test::random_profile(seed);
    std::map<std::string, std::tuple<double, double, std::uint64_t>> expected;
    for (const scope_node& n : p.nodes)
      if (n.kind == scope_kind::op && n.calls + n.open > 0) expected[n.name];
    double outside = 0;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      const scope_node& n = p.nodes[i];
      if (n.kind == scope_kind::root) continue;
      std::uint32_t nearest = static_cast<std::uint32_t>(i);
      while (p.nodes[nearest].kind == scope_kind::region) nearest = p.nodes[nearest].parent;
      const auto row = p.nodes[nearest].kind == scope_kind::root
                           ? expected.end()
                           : expected.find(p.nodes[nearest].name);
      if (row == expected.end()) outside += std::max(0.0, n.self_ns);
      else std::get<1>(row->second) += std::max(0.0, n.self_ns);
      if (n.kind != scope_kind::op || n.calls + n.open == 0) continue;
      bool covered = false;
      for (std::uint32_t up = n.parent; up != scope_node::none; up = p.nodes[up].parent)
        covered = covered || (p.nodes[up].kind == scope_kind::op && p.nodes[up].name == n.name &&
                              p.nodes[up].calls > 0);
      auto& [total, self, calls] = row->second;
      if (!covered) total += n.total_ns;
      calls += n.calls;
    }
    double all = outside, shares = 0;
    const auto rows = operator_table(p, grouping::op);
    REQUIRE(rows.size() == expected.size());
    for (const operator_row& row : rows) {
      const auto& [total, self, calls] = expected[row.name];
      INFO("seed " << seed << " row " << row.name);
      REQUIRE(row.total_ns == Approx(total));
      REQUIRE(row.self_ns == Approx(self));
      REQUIRE(row.calls == calls);
      all += row.self_ns;
      shares += row.share;
    }
    REQUIRE(all == Approx(kprof::detail::all_self_ns(p)));
    if (all > 0) REQUIRE(shares == Approx(1 - outside / all));
  }
}

TEST_CASE("summary.depth_and_number_of_nodes_cost_linear_time_and_no_stack") {
  const kprof::profile deep = kprof_test::deep_profile(100'000);
  CHECK(kprof::call_tree(deep).size() == 100'000);
  const auto rows = operator_table(deep);
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].total_ns == Approx(1e6 + 1e8));
}

TEST_CASE("summary.a_broken_profile_is_survived") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.op(main, "A"), 1, 10);
  b.p.nodes[1].parent = 77;
  b.p.nodes[1].self_ns = -5;
  CHECK(operator_table(b.p).size() == 1);
  CHECK(operator_table(b.p)[0].self_ns == 0);
  CHECK(kprof::call_tree(b.p).size() == 1);
}
