// SPDX-License-Identifier: MIT
#include <kprof/model/summary.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/machines.hpp"
#include "../support/rows.hpp"
#include "groupings.hpp"

using kprof::absence;
using kprof::copy_direction;
using kprof::grouping;
using kprof::operator_row;
using kprof_test::device_builder;
using kprof_test::row_of;

TEST_CASE("device_summary.rates_are_over_device_time_where_there_is_any") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto gemm = b.op(main, "Gemm"), decode = b.op(main, "Decode"), layer = b.op(main, "Layer"),
             part = b.op(layer, "Part");
  b.calls(gemm, 10, 100)
      .work(gemm, 5000, 100, 20)
      .calls(decode, 10, 100)
      .work(decode, 5000, 100, 20);
  b.calls(layer, 1, 50).work(layer, 600, 10, 10).calls(part, 1, 10);
  b.kernel(gemm, "k", 10, 2000);
  b.kernel(part, "k", 1, 300);
  const kprof::profile p = b.done();
  CHECK(row_of(p, "Gemm").flops_per_s.value == Approx(50'000 / 20'000e-9));
  CHECK(row_of(p, "Gemm").bytes_per_s.value == Approx(1200 / 20'000e-9));
  CHECK(row_of(p, "Gemm").flops_per_byte.value == Approx(5000 / 120.0));
  // on the host, over host time
  CHECK(row_of(p, "Decode").flops_per_s.value == Approx(50'000 / 1000e-9));
  CHECK(row_of(p, "Decode").device_ns == 0);
  // its part did the work
  CHECK(row_of(p, "Layer").device_ns == 0);
  CHECK(row_of(p, "Layer").flops_per_s.value == Approx(600 / 300e-9));
  CHECK(row_of(p, "Gemm").mean_ns.value == Approx(100));
}

// Sizes that run on the host have no part in a rate over device time.
TEST_CASE("device_summary.a_row_of_several_sets_of_parameters_rates_those_on_the_device") {
  device_builder b;
  const auto main = b.thread("main", 1), other = b.thread("other", 2);
  const auto on_host = b.op(main, "Gemm", "n=1"), large = b.op(main, "Gemm", "n=2"),
             larger = b.op(other, "Gemm", "n=3");
  b.calls(on_host, 1000, 10)
      .work(on_host, 7'000'000, 10, 10)
      .calls(large, 2, 10)
      .work(large, 300, 30, 0)
      .calls(larger, 1, 10)
      .work(larger, 900, 90, 0);
  b.kernel(large, "k", 2, 50);
  b.kernel(larger, "k", 1, 100);
  const operator_row row = row_of(b.done(), "Gemm");
  CHECK(row.variants == 3);
  CHECK(row.flops.value == Approx(7e9 + 600 + 900));
  CHECK(row.flops_per_s.value == Approx(1500 / 200e-9));
  CHECK(row.bytes_per_s.value == Approx(150 / 200e-9));
}

// An operator that finds its result in a cache has done no work on the device.
TEST_CASE("device_summary.a_rate_is_of_the_calls_that_launched_something") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto cached = b.op(main, "Gemm", "n=1"), other = b.op(main, "Gemm", "n=2");
  b.calls(cached, 10, 10).work(cached, 500, 30, 20).calls(other, 2, 10).work(other, 1000, 10, 0);
  b.p.nodes[cached].unlaunched = 9;
  b.kernel(cached, "k", 1, 200);
  b.kernel(other, "k", 2, 100);
  const kprof::profile p = b.done();
  CHECK(row_of(p, "Gemm").flops.value == Approx(7000));
  CHECK(row_of(p, "Gemm").flops_per_s.value == Approx(2500 / 400e-9));
  CHECK(row_of(p, "Gemm").bytes_per_s.value == Approx(70 / 400e-9));
  for (const grouping& by : kprof_test::finer_and_finer()) {
    if (by == grouping::op) continue;
    CHECK(row_of(p, "Gemm", by).parameters == "n=1");
    CHECK(row_of(p, "Gemm", by).flops_per_s.value == Approx(500 / 200e-9));
  }
  b.p.nodes[cached].unlaunched = 10;  // the one that launched has not ended
  CHECK(row_of(b.p, "Gemm", grouping::parameters).flops_per_s.why == absence::no_calls);
  // Another thread launched for it: which of the calls did is not known.
  const auto worker = b.thread("worker", 2), handed = b.op(worker, "Gemm", "n=1");
  b.work(handed, 500, 30, 20);
  b.kernel(handed, "k", 9, 200);
  CHECK(row_of(b.done(), "Gemm", grouping::parameters).flops_per_s.value == Approx(5000 / 2000e-9));
}

// The device waits, and the host's time in the operator is that of its first call, which loads.
TEST_CASE("device_summary.a_first_call_does_not_make_an_operator_bound_by_its_launch") {
  device_builder b;
  const auto op = b.op(b.thread("main", 1), "Gemm", "n=1");
  b.calls(op, 2, 100e3).work(op, 1000, 1000, 0, kprof::dtype::f16);
  b.kernel(op, "k", 2, 30e3, 1056);
  kprof::profile p = b.done();
  kprof_test::add_device(p);
  p.machine.gpus = {kprof_test::h100()};
  p.nodes[op].work.on = kprof::arithmetic_unit::tensor_core;
  p.wall_ns = 1e9;
  p.nodes[op].first_ns = 100e3;
  p.nodes[op].first_end_ns = 1;
  CHECK(row_of(p, "Gemm").verdict.bound == kprof::bound_by::latency);
  p.nodes[op].total_ns += 1e6;
  CHECK(row_of(p, "Gemm").verdict.bound == kprof::bound_by::launch);
  p.nodes[op].first_ns = p.nodes[op].max_ns = 1100e3;
  CHECK(row_of(p, "Gemm").verdict.bound == kprof::bound_by::latency);
}

// The host's ceilings are not known, and the host did none of the work.
TEST_CASE("device_summary.the_host_s_roof_does_not_matter_to_what_graphs_replay") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto captured = b.op(main, "Gemm", "n=1"),
             idle = b.op(b.region(main, "set up"), "Gemm", "n=1"),
             replayed = b.op(b.graph(main, 10), "Gemm", "n=1");
  for (const auto node : {captured, idle, replayed}) {
    b.work(node, 1'000'000, 1000, 0, kprof::dtype::f16);
    b.p.nodes[node].work.on = kprof::arithmetic_unit::tensor_core;
  }
  b.calls(captured, 1, 10e3).calls(idle, 10, 10e3);
  b.p.nodes[captured].captured = 1;
  b.p.nodes[idle].unlaunched = 10;
  b.p.nodes[replayed].replays = 10;
  b.kernel(replayed, "k", 10, 10e3, 1056);
  kprof::profile p = b.done();
  kprof_test::add_device(p);
  p.machine.gpus = {kprof_test::h100()};
  const kprof::figure roof = row_of(p, "Gemm").verdict.roof;
  CHECK(roof.known());
  CHECK(roof.value == Approx(1e6 / 989.4e12 / 10e-6).epsilon(0.01));
}

TEST_CASE("device_summary.a_rate_is_not_known_where_records_of_its_work_are_missing") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = b.op(main, "A"), other = b.op(main, "B"), outer = b.op(main, "Outer"),
             inner = b.op(outer, "Inner");
  for (const auto node : {op, other, outer, inner}) b.calls(node, 2000, 10).work(node, 10, 10, 10);
  for (const auto node : {op, other, inner}) b.kernel(node, "k", 2000, 10);
  b.p.nodes[op].unrecorded = b.p.nodes[inner].unrecorded = 2;
  b.done();
  CHECK(row_of(b.p, "A").flops_per_s.known());
  b.p.nodes[op].unrecorded = b.p.nodes[inner].unrecorded = 3;
  CHECK(row_of(b.p, "A").flops_per_s.why == absence::not_all_records);
  CHECK(row_of(b.p, "A").bytes_per_s.why == absence::not_all_records);
  CHECK(row_of(b.p, "A").flops.known());
  CHECK(row_of(b.p, "Outer").flops_per_s.why == absence::not_all_records);
  CHECK(row_of(b.p, "Inner").flops_per_s.why == absence::not_all_records);
  CHECK(row_of(b.p, "B").flops_per_s.known());
  b.p.device.complete.dropped = 6;  // which were A's and Inner's
  CHECK(row_of(b.p, "A").flops_per_s.why == absence::dropped);
  CHECK(row_of(b.p, "A").bytes_per_s.why == absence::dropped);
  CHECK(row_of(b.p, "B").flops_per_s.known());
  b.p.device.complete.launches_lost = 1;  // nobody knows whose
  CHECK(row_of(b.p, "B").flops_per_s.why == absence::lost);
}

// Else the time that the host takes to launch would pass for that of the work.
TEST_CASE("device_summary.without_any_record_a_rate_is_not_the_hosts") {
  device_builder b;
  const auto op = b.op(b.thread("main", 1), "A");
  b.calls(op, 10, 10).work(op, 10, 10, 10);
  CHECK(row_of(b.p, "A").flops_per_s.known());
  b.p.nodes[op].unrecorded = 10;
  CHECK(row_of(b.p, "A").flops_per_s.why == absence::not_all_records);
}

// A graph leaves many records: the first ones tell nothing of the others.
TEST_CASE("device_summary.what_a_graph_lacks_is_missing_in_its_scopes") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto step = b.op(main, "Step"), graph = b.graph(step, 10), op = b.op(graph, "Gemm"),
             eager = b.op(main, "Eager");
  b.calls(step, 10, 10).work(step, 10, 10, 10).calls(eager, 10, 10).work(eager, 10, 10, 10);
  b.work(op, 1000, 10, 0);
  b.p.nodes[op].replays = 10;
  b.kernel(op, "k", 10, 40);
  b.kernel(eager, "k", 10, 40);
  b.done();
  CHECK(row_of(b.p, "Gemm").flops_per_s.known());
  b.p.device.complete.dropped = 1;
  CHECK(row_of(b.p, "Gemm").flops_per_s.why == absence::dropped);
  CHECK(row_of(b.p, "Step").flops_per_s.why == absence::dropped);
  CHECK(row_of(b.p, "Eager").flops_per_s.known());
  b.p.device.complete.dropped = 0;
  b.p.nodes[graph].unrecorded = 1;
  CHECK(row_of(b.p, "Gemm").flops_per_s.why == absence::not_all_records);
  CHECK(row_of(b.p, "Step").flops_per_s.why == absence::not_all_records);
  CHECK(row_of(b.p, "Eager").flops_per_s.known());
}

TEST_CASE("device_summary.a_row_that_only_ran_in_graphs_has_no_host_times") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto graph = b.graph(main, 5), op = b.op(graph, "Gemm");
  b.work(op, 1000, 10, 0);
  b.p.nodes[op].replays = 5;
  b.kernel(op, "k", 5, 40);
  const auto captured = b.op(main, "Captured");
  b.calls(captured, 1, 10).work(captured, 1000, 10, 0);
  b.p.nodes[captured].captured = 1;
  const operator_row row = row_of(b.done(), "Gemm");
  CHECK(row.calls == 0);
  CHECK(row.mean_ns.why == absence::graphs_only);
  CHECK(row.median_ns.why == absence::graphs_only);
  CHECK(row.min_ns.why == absence::graphs_only);
  CHECK(row.flops.value == Approx(5000));
  CHECK(row.flops_per_s.value == Approx(5000 / 200e-9));
  const operator_row not_replayed = row_of(b.p, "Captured");
  CHECK(not_replayed.mean_ns.known());
  CHECK(not_replayed.flops.why == absence::not_replayed);
  CHECK(not_replayed.flops_per_s.why == absence::not_replayed);
  b.p.nodes[captured].captured = 99;  // more than there are
  CHECK(row_of(b.p, "Captured").captured == 1);
}

TEST_CASE("device_summary.gaps_are_means_over_the_launches_that_were_seen") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = b.op(main, "A"), inner = b.op(op, "B"), none = b.op(main, "C");
  b.calls(op, 1, 10).calls(inner, 1, 10).calls(none, 1, 10);
  auto& first = b.kernel(op, "k", 3, 10);
  first.gaps = 2;
  first.gap_ns = 600;
  b.copy(op, copy_direction::host_to_device, 1, 10, 8).gap_ns = 300;
  b.kernel(inner, "k", 1, 10).gap_ns = 1e9;
  auto& unseen = b.kernel(none, "k", 1, 10);
  unseen.gaps = 0;
  unseen.gap_ns = 0;
  const kprof::profile p = b.done();
  CHECK(row_of(p, "A").gap_ns.value == Approx(300));
  CHECK(row_of(p, "C").gap_ns.why == absence::no_launch);
}

TEST_CASE("device_summary.a_rate_is_not_known_where_work_has_no_time") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = b.op(main, "A");
  b.calls(op, 2000, 10).work(op, 10, 10, 10);
  b.kernel(op, "k", 2000, 10).untimed = 2;
  CHECK(row_of(b.done(), "A").flops_per_s.known());
  b.p.device.work[0].untimed = 3;
  CHECK(row_of(b.p, "A").flops_per_s.why == absence::untimed);
  CHECK(row_of(b.p, "A").bytes_per_s.why == absence::untimed);
  CHECK(row_of(b.p, "A").flops.known());
  b.p.nodes[op].work.has_flops = false;
  CHECK(row_of(b.p, "A").flops_per_s.why == absence::no_flops);
  b.p.device.work[0].untimed = 0;
  b.p.device.work[0].total_ns = 0;
  CHECK(row_of(b.p, "A").bytes_per_s.why == absence::no_time);
}

// A worker that took over a path launched in it, without a scope of its own.
