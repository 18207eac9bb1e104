// SPDX-License-Identifier: MIT

// Rows of operators that several threads work on, held against the roof of so many.

#include "catch.hpp"

#include "machines.hpp"
#include "profile_builder.hpp"
#include "report_page.hpp"
#include "rows.hpp"

#include <kprof/tables.hpp>

#include <cstdint>
#include <string>
#include <vector>

using kprof::bound_by;
using kprof::operator_row;
using kprof::profile;
using kprof_test::only_row;
using kprof_test::profile_builder;

TEST_CASE("roofline_threads.what_is_faster_than_one_thread_ran_on_several") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto fast = b.op(main, "Conv", "n=1"), slow = b.op(main, "Conv", "n=2"),
             other = b.op(main, "Relu", "n=1");
  b.calls(fast, 2, 6e6).work(fast, 1'000'000'000, 1000, 1000);   // 167 GFLOP/s
  b.calls(slow, 2, 20e6).work(slow, 1'000'000'000, 1000, 1000);  // 50
  b.calls(other, 2, 20e6).work(other, 1'000'000'000, 1000, 1000);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  const std::vector<operator_row> rows = kprof::operator_table(p);
  CHECK(rows[0].verdict.roof.value == Approx(1e9 / 200e9 / 6e-3));
  CHECK(rows[1].verdict.roof.value == Approx(0.25));
  CHECK(rows[2].verdict.roof.value == Approx(0.5));
  // What no thread can do says nothing of threads.
  p.nodes[fast].work.flops = 10'000'000'000;
  CHECK(kprof::operator_table(p)[0].verdict.bound == bound_by::impossible);
  CHECK(kprof::operator_table(p)[1].verdict.roof.value == Approx(0.5));
  // Nor does it make a sum better.
  CHECK(kprof::operator_table(p, kprof::grouping::op)[0].verdict.ideal_ns.value == Approx(20e6));
  p.nodes[fast].work.flops = 1'000'000'000;
  // Of one CPU nothing is faster than one thread.
  p.machine.cpu.threads = 1;
  CHECK(kprof::operator_table(p)[0].verdict.bound == bound_by::impossible);
}

TEST_CASE("roofline_threads.an_operator_may_say_how_many_threads_work_in_a_call") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto conv = b.op(main, "Conv", "n=1");
  b.calls(conv, 2, 20e6).work(conv, 1'000'000'000, 1000, 1000);  // 50 GFLOP/s
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  const auto roof_on = [&](std::uint32_t threads) {
    p.nodes[conv].work.threads = threads;
    return only_row(p).verdict;
  };
  CHECK(roof_on(0).roof.value == Approx(0.5));
  CHECK(roof_on(1).roof.value == Approx(0.5));
  CHECK(roof_on(2).roof.value == Approx(0.25));
  CHECK(roof_on(kprof::all_cpus).roof.value == Approx(0.25));
  CHECK(roof_on(7).roof.value == Approx(0.25));  // there are but two
  // What it says holds: nothing is guessed, and faster than that is impossible.
  p.nodes[conv].total_ns = 12e6;
  CHECK(roof_on(0).roof.value == Approx(5. / 6));
  CHECK(roof_on(1).bound == bound_by::impossible);
  const auto page = [&](std::uint32_t threads) {
    p.nodes[conv].work.threads = threads;
    return kprof_test::page_of(p, {.width = 200});
  };
  CHECK(kprof_test::has(page(0), "threads() would say on how many"));
  CHECK(kprof_test::has(page(0), "2 CPUs as shown: Conv 166.7% and 83.3%\n"));
  CHECK(!kprof_test::has(page(2), "threads() would"));
  // Of four CPUs two are slower than all and faster than one.
  p.machine.cpu.threads = 4;
  for (kprof::arithmetic_ceiling& a : p.machine.cpu.arithmetic) a.operations.all_threads *= 2;
  CHECK(roof_on(2).roof.value == Approx(5. / 6));
  CHECK(roof_on(4).roof.value == Approx(2.5 / 6));
}

TEST_CASE("roofline_threads.shared_calls_are_held_against_their_threads") {
  profile_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 1, 10e6).work(op, 1'000'000'000, 0, 0);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  kprof::shared_part& part = p.nodes[op].shared;
  part.parts = 2;
  part.calls = part.joined = 1;
  part.wall_ns = 8e6;
  part.busy_ns = 14e6;
  part.longest_ns = part.min_ns = part.max_ns = 8e6;
  CHECK(only_row(p).verdict.roof.value == Approx(5. / 8));
}
