// SPDX-License-Identifier: MIT

// What bounds a row of the host whose bytes or formulas say less than they seem to.

#include "catch.hpp"

#include "machines.hpp"
#include "profile_builder.hpp"
#include "rows.hpp"

#include <kprof/tables.hpp>

#include <cstdint>

using kprof::absence;
using kprof::bound_by;
using kprof::dtype;
using kprof::profile;
using kprof::roof_verdict;
using kprof_test::only_row;
using kprof_test::profile_builder;

namespace {

/// Calls that move so many bytes on a machine of two CPUs.
struct moved {
  std::uint64_t read = 0, written = 0;
  double ns = 0;
};
roof_verdict moving(const moved& call) {
  profile_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 3, call.ns).work(op, 1000, call.read, call.written);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  return only_row(p).verdict;
}

}  // namespace

TEST_CASE("roofline_bounds.what_is_written_where_it_was_read_is_fetched_once") {
  // 600 MB, a third of them written: 30 ms if each line is fetched, else 20 ms.
  const roof_verdict in_place = moving({400'000'000, 200'000'000, 22e6});
  CHECK(in_place.bound == bound_by::memory);
  CHECK(in_place.roof.value == 1);
  CHECK(in_place.lost_ns.value == 0);
  // Of both threads 13.3 ms.
  CHECK(moving({400'000'000, 200'000'000, 14e6}).bound == bound_by::memory);
  CHECK(moving({400'000'000, 200'000'000, 12e6}).bound == bound_by::impossible);
  CHECK(moving({600'000'000, 0, 14e6}).bound == bound_by::impossible);
  // Half as much again at the most.
  CHECK(moving({300'000'000, 300'000'000, 21e6}).roof.value == 1);
  CHECK(moving({0, 600'000'000, 12e6}).bound == bound_by::impossible);
}

TEST_CASE("roofline_bounds.what_lacks_a_formula_may_be_near_the_other_roof") {
  profile_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 3, 50e6).work(op, 1'000'000'000, 0, 0);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  CHECK(only_row(p).verdict.bound == bound_by::latency);  // it moves no bytes
  p.nodes[op].work.has_bytes = false;
  CHECK(only_row(p).verdict.bound == bound_by::unknown);
  CHECK(only_row(p).verdict.no_bound == absence::no_bytes);
  CHECK(only_row(p).verdict.roof.value == Approx(0.2));
  CHECK(only_row(p).verdict.lost_ns.at_most);
  p.nodes[op].work.flops *= 5;
  CHECK(only_row(p).verdict.bound == bound_by::compute);
  CHECK(only_row(p).verdict.no_bound == absence::none);
  p.nodes[op].work = {.has_flops = true, .has_bytes = true, .type = dtype::f32};
  CHECK(only_row(p).verdict.bound == bound_by::unknown);
  CHECK(only_row(p).verdict.no_bound == absence::zero_bytes);
  p.nodes[op].work.has_bytes = false;
  CHECK(only_row(p).verdict.no_bound == absence::no_bytes);
}

TEST_CASE("roofline_bounds.calls_that_were_captured_did_no_work_on_the_host") {
  profile_builder b;
  const auto thread = b.thread("main", 1);
  const auto captured = b.op(thread, "Op", "n=1"), other = b.op(thread, "Op", "n=2");
  b.calls(captured, 3, 20e3).work(captured, 3'000'000, 1000, 0);  // 150 GFLOP/s
  b.calls(other, 3, 20e3).work(other, 1'000'000, 1000, 0);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  CHECK(kprof::operator_table(p)[1].verdict.roof.value == Approx(0.25));  // on two threads
  p.nodes[captured].captured = 3;
  CHECK(kprof::operator_table(p)[0].verdict.roof.why == absence::not_replayed);
  CHECK(kprof::operator_table(p)[1].verdict.roof.value == Approx(0.5));
  CHECK(kprof::call_tree(p)[0].roof.why == absence::not_replayed);
  CHECK(kprof::call_tree(p)[0].flops.why == absence::not_replayed);
}
