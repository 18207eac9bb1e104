// SPDX-License-Identifier: MIT

// The total held against the roof where some calls are above it: their time is none of the others'.

#include "catch.hpp"

#include "device_builder.hpp"
#include "machines.hpp"
#include "report_page.hpp"

#include <kprof/tables.hpp>

#include <string>

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

TEST_CASE("roofline_total.rates_are_those_of_possible_calls") {
  kprof_test::profile_builder b;
  const auto thread = b.thread("main", 1);
  const auto gemm = b.op(thread, "Gemm", "n=1"), wrong = b.op(thread, "Gemm", "n=2");
  b.calls(gemm, 1, 4e6).work(gemm, 200'000'000, 1'000'000, 1'000);
  b.calls(wrong, 1, 1e6).work(wrong, 8'000'000'000, 1'000, 1'000);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  const auto sum = [&] { return kprof::operator_table(p, kprof::grouping::op).at(0); };
  CHECK(sum().flops.value == Approx(8.2e9));
  CHECK(sum().flops_per_s.value == Approx(50e9));
  CHECK(sum().bytes_per_s.value == Approx(1'001'000 / 4e-3));
  CHECK(sum().verdict.roof.value == Approx(0.5));
  // Most of its time: what is possible in the rest says nothing of the operator.
  p.nodes[wrong].self_ns = p.nodes[wrong].total_ns = 5e6;
  CHECK(sum().verdict.bound == bound_by::impossible);
  CHECK(sum().flops_per_s.value == Approx(8.2e9 / 9e-3));
}

TEST_CASE("roofline_total.the_report_names_what_its_first_line_leaves_out") {
  kprof_test::profile_builder b;
  const auto thread = b.thread("main", 1);
  const auto gemm = b.op(thread, "Gemm", "n=1"), wrong = b.op(thread, "Wrong", "n=1");
  b.calls(gemm, 1, 50e6).work(gemm, 1'000'000'000, 1'000, 1'000);
  b.calls(wrong, 3, 90).work(wrong, 100'000'000, 1'000, 1'000);  // folded away
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  p.wall_ns = 60e6;
  const std::string page = kprof_test::page_of(p, {.width = 240});
  INFO(page);
  CHECK(page.find("1.00 GFLOP at 16.7 GFLOP/s") != std::string::npos);
  CHECK(page.find("without 3 impossible calls") != std::string::npos);
  CHECK(page.find("leave it out if they can: Wrong") != std::string::npos);
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
  const kprof::operator_row total = kprof::operator_total(p);
  CHECK(total.verdict.ideal_ns.value + total.verdict.lost_ns.value == Approx(1e6));
  CHECK(total.bytes_per_s.value == Approx((1U << 30U) / 1e-3));
}
