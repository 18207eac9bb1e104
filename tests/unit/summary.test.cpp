// SPDX-License-Identifier: MIT
#include <kprof/model/summary.hpp>

#include "../support/catch.hpp"
#include "../support/sample_profile.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using kprof::absence;
using kprof::grouping;
using kprof::operator_row;
using kprof::operator_table;
using kprof::scope_kind;
using kprof::scope_node;
using kprof_test::profile_builder;

namespace {

operator_row row_of(const kprof::profile& p, const std::string& name, grouping by = grouping::op) {
  for (const operator_row& row : operator_table(p, by))
    if (row.name == name) return row;
  FAIL("no row " << name);
  return {};
}

}  // namespace

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
  CHECK(operator_table(p, grouping::call_site).size() == 3);
  const auto by_thread = operator_table(p, grouping::thread);
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

TEST_CASE("summary.rates_are_work_over_total_time") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto small = b.op(main, "Gemm", "n=1"), large = b.op(main, "Gemm", "n=2"),
             child = b.op(large, "Copy");
  b.calls(small, 10, 100).calls(large, 5, 1000).calls(child, 5, 900);
  b.work(small, 50, 20, 5).work(large, 4000, 500, 300);
  const kprof::profile p = b.done();
  const operator_row row = row_of(p, "Gemm");
  CHECK(row.flops.value == Approx(10 * 50 + 5 * 4000));
  CHECK(row.bytes.value == Approx(10 * 25 + 5 * 800));
  CHECK(row.flops_per_call.value == Approx(20500 / 15.0));
  CHECK(row.bytes_per_call.value == Approx(4250 / 15.0));
  CHECK(row.flops_per_s.value == Approx(20500 / 6000e-9));
  CHECK(row.bytes_per_s.value == Approx(4250 / 6000e-9));
  CHECK(row.flops_per_byte.value == Approx(20500.0 / 4250));
  CHECK(row.share == Approx((1000 + 500) / 6000.0));
}

TEST_CASE("summary.shares_are_of_all_scopes_regions_too") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto region = b.region(main, "step"), op = b.op(region, "A");
  b.calls(region, 1, 400).calls(op, 1, 100);
  CHECK(row_of(b.done(), "A").share == Approx(0.25));
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
  for (const grouping by :
       {grouping::op, grouping::parameters, grouping::call_site, grouping::thread}) {
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

  for (const grouping by :
       {grouping::op, grouping::parameters, grouping::call_site, grouping::thread}) {
    INFO("grouping " << static_cast<int>(by));
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
    CHECK(rows[0].self_ns == Approx(by == grouping::thread ? 1000 : 1050));
    CHECK(rows[1].name == "Part");
    CHECK(rows[1].thread == 1);
  }
  b.p.nodes[handed].open = 1;
  CHECK(row_of(b.p, "Batch").thread == scope_node::none);
  CHECK(operator_table(b.p, grouping::thread).size() == 3);
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

TEST_CASE("summary.what_is_not_known_has_a_reason") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto why = [&](const std::string& name, auto prepare) {
    const auto node = b.op(main, name);
    b.calls(node, 2, 10).work(node, 100, 10, 10);
    prepare(b.p.nodes[node]);
    return row_of(b.done(), name);
  };
  const operator_row good = why("good", [](scope_node&) {});
  CHECK(good.flops_per_s.known());
  CHECK(good.flops_per_byte.known());
  const operator_row no_flops = why("no flops", [](scope_node& n) { n.work.has_flops = false; });
  CHECK(no_flops.flops_per_s.why == absence::no_flops);
  CHECK(no_flops.flops.why == absence::no_flops);
  CHECK(no_flops.bytes_per_s.known());
  CHECK(no_flops.flops_per_byte.why == absence::no_flops);
  const operator_row no_bytes = why("no bytes", [](scope_node& n) { n.work.has_bytes = false; });
  CHECK(no_bytes.bytes_per_s.why == absence::no_bytes);
  CHECK(no_bytes.flops_per_s.known());
  CHECK(no_bytes.flops_per_byte.why == absence::no_bytes);
  const operator_row invalid = why("invalid", [](scope_node& n) { n.work.valid = false; });
  CHECK(invalid.invalid);
  CHECK(invalid.invalid_calls == 2);
  CHECK(invalid.flops_per_s.why == absence::invalid);
  CHECK(invalid.mean_ns.known());
  const operator_row merged = why("merged", [](scope_node& n) {
    n.work = {};
    n.merged = true;
  });
  CHECK(merged.flops_per_s.why == absence::merged);
  CHECK(merged.bytes_per_s.why == absence::merged);
  const operator_row instant =
      why("instant", [](scope_node& n) { n.total_ns = n.min_ns = n.max_ns = 0; });
  CHECK(instant.flops_per_s.why == absence::no_time);
  CHECK(instant.flops_per_byte.known());
  const operator_row no_traffic =
      why("no traffic", [](scope_node& n) { n.work.bytes_read = n.work.bytes_written = 0; });
  CHECK(no_traffic.bytes_per_s.known());
  CHECK(no_traffic.bytes_per_s.value == 0);
  CHECK(no_traffic.flops_per_byte.why == absence::zero_bytes);
  const operator_row unfinished = why("unfinished", [](scope_node& n) {
    n.calls = 0;
    n.open = 1;
    n.total_ns = 0;
  });
  CHECK(unfinished.flops_per_s.why == absence::no_calls);
  CHECK(unfinished.mean_ns.why == absence::no_calls);
  CHECK(unfinished.min_ns.why == absence::no_calls);
}

TEST_CASE("summary.one_node_without_a_formula_leaves_its_row_without_a_rate") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto one = b.op(main, "A", "n=1"), two = b.op(main, "A", "n=2"), three = b.op(main, "A");
  b.calls(one, 1, 10).calls(two, 1, 10).calls(three, 1, 10).work(one, 1, 1, 1).work(two, 1, 1, 1);
  b.p.nodes[two].work.valid = false;
  b.p.nodes[three].merged = true;
  kprof::profile p = b.done();
  CHECK(row_of(p, "A").flops.why == absence::invalid);
  CHECK(row_of(p, "A").invalid_calls == 1);
  CHECK(row_of(p, "A").variants == 3);
  p.nodes[one].work.has_flops = false;
  CHECK(row_of(p, "A").flops.why == absence::no_flops);
  CHECK(row_of(p, "A").bytes.why == absence::invalid);
  p.nodes[two].work.valid = true;
  CHECK(row_of(p, "A").bytes.why == absence::merged);
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

TEST_CASE("summary.durations_are_in_nanoseconds_and_within_the_extremes") {
  profile_builder b(0.25);
  const auto main = b.thread("main", 1);
  const auto op = b.op(main, "A");
  b.calls(op, 98, 1000).calls(op, 2, 9000);
  const operator_row row = row_of(b.done(), "A");
  CHECK(row.mean_ns.value == Approx((98 * 1000 + 2 * 9000) / 100.0));
  CHECK(row.median_ns.value == Approx(1000).epsilon(0.008));
  CHECK(row.p99_ns.value == Approx(9000).epsilon(0.008));
  CHECK(row.min_ns.value == 1000);
  CHECK(row.max_ns.value == 9000);
  for (unsigned seed = 0; seed < 50; ++seed)
    for (const operator_row& r : operator_table(kprof_test::random_profile(seed))) {
      if (!r.mean_ns.known()) continue;
      REQUIRE(r.min_ns.value <= r.median_ns.value);
      REQUIRE(r.median_ns.value <= r.p99_ns.value);
      REQUIRE(r.p99_ns.value <= r.max_ns.value);
    }
}

TEST_CASE("summary.a_row_has_a_dtype_if_all_its_calls_have_the_same") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto one = b.op(main, "A", "1"), two = b.op(main, "A", "2"), merged = b.op(main, "A");
  b.calls(one, 1, 1).calls(two, 1, 1).calls(merged, 1, 1);
  b.work(one, 1, 1, 1, kprof::dtype::f16).work(two, 1, 1, 1, kprof::dtype::f16);
  b.p.nodes[merged].merged = true;
  CHECK(row_of(b.p, "A").type == kprof::dtype::f16);
  CHECK_FALSE(row_of(b.p, "A").several_types);
  b.work(two, 1, 1, 1, kprof::dtype::f32);
  CHECK(row_of(b.p, "A").type == kprof::dtype::unknown);
  CHECK(row_of(b.p, "A").several_types);
}

// The definition, read literally: every node looks at all its ancestors.
TEST_CASE("summary.totals_agree_with_a_slow_reading_of_the_definition") {
  for (unsigned seed = 0; seed < 200; ++seed) {
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

TEST_CASE("call_tree.threads_and_call_sites_are_merged_by_path") {
  profile_builder b;
  for (const std::uint64_t id : {1U, 2U}) {
    const auto root = b.thread("t", id);
    const auto step = b.region(root, "step"), op = b.op(step, "A", "n=1"),
               again = b.op(step, "A", "n=1");
    b.calls(step, 1, 100)
        .calls(op, 1, 30)
        .site(op, "a.cpp", 1)
        .calls(again, 1, 20)
        .site(again, "b.cpp", 2);
  }
  const auto tree = kprof::call_tree(b.done());
  REQUIRE(tree.size() == 2);
  CHECK(tree[0].name == "step");
  CHECK(tree[0].depth == 0);
  CHECK(tree[0].parent == scope_node::none);
  CHECK(tree[0].calls == 2);
  CHECK(tree[0].total_ns == Approx(200));
  CHECK(tree[0].self_ns == Approx(100));
  CHECK(tree[0].total_share == Approx(1));
  CHECK(tree[0].self_share == Approx(0.5));
  CHECK(tree[1].parameters == "n=1");
  CHECK(tree[1].calls == 4);
  CHECK(tree[1].parent == 0);
  CHECK(tree[1].depth == 1);
}

TEST_CASE("call_tree.what_differs_in_kind_name_or_parameters_is_apart") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.region(main, "A"), 1, 5)
      .calls(b.op(main, "A"), 1, 4)
      .calls(b.op(main, "A", "n=1"), 1, 3)
      .calls(b.op(main, "B"), 1, 2);
  const auto merged = b.op(main, "B");
  b.calls(merged, 1, 1);
  b.p.nodes[merged].merged = true;
  CHECK(kprof::call_tree(b.done()).size() == 5);
}

TEST_CASE("call_tree.children_follow_their_parent_by_falling_time") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto fast = b.region(main, "fast"), slow = b.region(main, "slow");
  b.calls(b.op(slow, "small"), 1, 10)
      .calls(b.op(slow, "large"), 1, 80)
      .calls(b.op(fast, "only"), 1, 5)
      .calls(fast, 1, 20)
      .calls(slow, 1, 100);
  const auto waiting = b.op(slow, "open");
  b.p.nodes[waiting].open = 1;
  b.p.nodes[waiting].open_ns = 50;
  std::string order;
  for (const auto& row : kprof::call_tree(b.done())) order += row.name + ' ';
  CHECK(order == "slow large open small fast only ");
}

TEST_CASE("call_tree.threads_can_be_kept_apart") {
  profile_builder b;
  for (const std::uint64_t id : {1U, 2U}) {
    const auto root = b.thread("t", id);
    b.calls(b.op(root, "A"), id, 100);
  }
  const auto tree = kprof::call_tree(b.done(), true);
  REQUIRE(tree.size() == 4);
  CHECK(tree[0].kind == scope_kind::root);
  CHECK(tree[0].thread == 1);
  CHECK(tree[0].total_ns == Approx(200));
  CHECK(tree[1].name == "A");
  CHECK(tree[1].calls == 2);
  CHECK(tree[2].thread == 0);
  CHECK(tree[3].calls == 1);
}

TEST_CASE("call_tree.a_thread_has_the_time_of_what_it_ran_for_another") {
  profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto step = b.region(main, "step");
  b.calls(step, 1, 1000);
  const auto handed = b.region(worker, "step"), deeper = b.op(handed, "Batch"),
             part = b.op(deeper, "Part"), inside = b.op(part, "Inside");
  b.calls(part, 2, 1200).calls(inside, 2, 100).calls(b.op(worker, "Own"), 1, 7);
  b.p.nodes[part].open = 1;
  b.p.nodes[part].open_ns = 30;
  const auto tree = kprof::call_tree(b.done(), true);
  REQUIRE(tree.size() == 8);
  CHECK(tree[0].thread == 1);
  CHECK(tree[0].total_ns == Approx(2407));
  CHECK(tree[0].open_ns == Approx(30));
  CHECK(tree[1].name == "step");
  CHECK(tree[1].calls == 0);
  CHECK(tree[1].total_ns == 0);
  CHECK(tree[6].thread == 0);
  CHECK(tree[6].total_ns == Approx(1000));
}

TEST_CASE("call_tree.a_scope_whose_work_others_did_stands_where_the_work_belongs") {
  profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto submit = b.region(main, "submit"), merge = b.region(main, "merge");
  b.calls(merge, 1, 500).calls(submit, 1, 10).calls(b.op(main, "Small"), 1, 100);
  const auto handed = b.region(worker, "submit");
  b.calls(b.op(handed, "Light"), 1, 20).calls(b.op(b.region(handed, "group"), "Part"), 4, 400);
  const auto tree = kprof::call_tree(b.done());
  std::string order;
  for (const auto& row : tree) order += row.name + ' ';
  CHECK(order == "submit group Part Light merge Small ");
}

TEST_CASE("call_tree.nothing_is_lost_in_merging") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const kprof::profile p = kprof_test::random_profile(seed);
    std::uint64_t calls = 0, tree_calls = 0;
    double self = 0, tree_self = 0, shares = 0;
    for (const auto& n : p.nodes)
      calls += n.calls, self += n.kind == scope_kind::root ? 0 : std::max(0.0, n.self_ns);
    const auto tree = kprof::call_tree(p);
    for (std::size_t i = 0; i < tree.size(); ++i) {
      tree_calls += tree[i].calls;
      tree_self += tree[i].self_ns;
      shares += tree[i].self_share;
      REQUIRE((tree[i].parent == scope_node::none
                   ? tree[i].depth == 0
                   : tree[i].parent < i && tree[i].depth == tree[tree[i].parent].depth + 1));
    }
    REQUIRE(tree_calls == calls);
    REQUIRE(tree_self == Approx(self));
    if (self > 0) REQUIRE(shares == Approx(1));
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
