// SPDX-License-Identifier: MIT

// The total held against the roof where some calls are above it: their time is none of the others'.

#include "catch.hpp"

#include "device_builder.hpp"
#include "machines.hpp"

#include <kprof/tables.hpp>

using kprof::bound_by;
using kprof::profile;
using kprof::roof_verdict;

TEST_CASE("roofline_total.is_judged_over_the_time_of_possible_calls") {
  kprof_test::profile_builder b;
  const auto thread = b.thread("main", 1);
  const auto gemm = b.op(thread, "Gemm", "n=1"), wrong = b.op(thread, "Wrong", "n=1");
  b.calls(gemm, 1, 2e6).work(gemm, 100'000'000, 1'000, 1'000);
  b.calls(wrong, 1, 8e6).work(wrong, 8'000'000'000, 1'000, 1'000);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  const roof_verdict total = kprof::operator_total(p).verdict;
  CHECK(total.roof.value == Approx(0.5));
  CHECK(total.lost_ns.value == Approx(1e6));

  // Of impossible calls alone it says that they are.
  p.nodes[gemm].work.flops *= 1'000;
  CHECK(kprof::operator_total(p).verdict.bound == bound_by::impossible);
}

TEST_CASE("roofline_total.on_a_device_is_judged_over_the_time_of_possible_calls") {
  kprof_test::device_builder b;
  const auto thread = b.thread("main", 1);
  const auto good = b.op(thread, "Good", "n=1"), wrong = b.op(thread, "Wrong", "n=1");
  b.calls(good, 1, 5'000).work(good, 1U << 20U, 1ULL << 30U, 0);
  b.calls(wrong, 1, 5'000).work(wrong, 1U << 20U, 1ULL << 40U, 0);
  b.kernel(good, "good", 1, 1e6);
  b.kernel(wrong, "wrong", 1, 3e6);
  profile p = b.done();
  kprof_test::add_device(p);
  p.device.devices[0].l2_bytes = 50 << 20;
  p.machine.gpus = {kprof_test::h100()};
  const roof_verdict total = kprof::operator_total(p).verdict;
  CHECK(total.ideal_ns.value + total.lost_ns.value == Approx(1e6));
}
