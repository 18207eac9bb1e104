// SPDX-License-Identifier: MIT
#include <kprof/model/summary.hpp>

#include "../support/catch.hpp"
#include "../support/rows.hpp"
#include "../support/sample_profile.hpp"

#include <string>

using kprof::absence;
using kprof::operator_row;
using kprof::operator_table;
using kprof::scope_node;
using kprof_test::profile_builder;
using kprof_test::row_of;

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

TEST_CASE("summary.the_first_call_of_a_row_is_the_one_of_its_nodes_that_ended_first") {
  profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto here = b.op(main, "A"), there = b.op(worker, "A");
  b.calls(here, 9, 10).calls(here, 1, 500).calls(there, 1, 700).calls(b.op(main, "B"), 1, 5);
  CHECK(row_of(b.done(), "A").first_ns.why == absence::not_noted);
  b.p.nodes[here].first_ns = 500, b.p.nodes[here].first_end_ns = 2000;
  CHECK(row_of(b.done(), "A").first_ns.why == absence::not_noted);  // one node lacks it
  b.p.nodes[there].first_ns = 700, b.p.nodes[there].first_end_ns = 1000;
  CHECK(row_of(b.done(), "A").first_ns.value == 700);
  b.p.nodes[there].first_end_ns = 3000;
  CHECK(row_of(b.done(), "A").first_ns.value == 500);
  b.p.nodes[here].first_ns = 0;  // shorter than the shortest, as only a damaged file has it
  CHECK(row_of(b.done(), "A").first_ns.value == 10);
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

TEST_CASE("summary.a_row_has_a_pass_if_all_its_calls_have_the_same") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto one = b.op(main, "A", "1"), two = b.op(main, "A", "2"), merged = b.op(main, "A");
  b.calls(one, 1, 1).calls(two, 1, 1).calls(merged, 1, 1);
  b.p.nodes[merged].merged = true;
  b.p.nodes[one].work.pass = b.p.nodes[two].work.pass = kprof::pass_kind::wgrad;
  CHECK(row_of(b.p, "A").pass == kprof::pass_kind::wgrad);
  CHECK_FALSE(row_of(b.p, "A").several_passes);
  b.p.nodes[two].work.pass = kprof::pass_kind::unknown;
  CHECK(row_of(b.p, "A").pass == kprof::pass_kind::unknown);
  CHECK(row_of(b.p, "A").several_passes);
}

// The definition, read literally: every node looks at all its ancestors.
