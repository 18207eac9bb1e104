// SPDX-License-Identifier: MIT

#include <kprof/model/compare.hpp>

#include "../support/catch.hpp"
#include "../support/compared_runs.hpp"
#include "../support/profile_builder.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using kprof::change_verdict;
using kprof_test::row_times;
using kprof_test::runs_of;

namespace {

/// The numbers of shared/reference/analysis.md, in microseconds, five runs a side.
const std::vector<row_times> example_before = {
    {"Gemm", {100, 101.2, 99.5, 100.8, 100.1}}, {"Conv", {50, 50.4, 49.8, 50.5, 50.1}},
    {"Norm", {20, 20.3, 19.9, 20.2, 20}},       {"Relu", {5, 5.06, 4.98, 5.05, 5.01}},
    {"Attn", {300, 302.9, 298.8, 303, 300.2}},
};
const std::vector<row_times> example_after = {
    {"Gemm", {106, 107.3, 105.2, 106.6, 106.1}}, {"Conv", {50.2, 50.8, 49.7, 50.4, 50.3}},
    {"Norm", {20.1, 20.4, 19.8, 20.1, 20.1}},    {"Relu", {5.02, 5.08, 4.97, 5.04, 5.03}},
    {"Attn", {301, 304.1, 298.1, 302.2, 301.4}},
};

kprof::comparison example() { return compare(runs_of(example_before), runs_of(example_after)); }

const kprof::row_change& row(const kprof::comparison& c, const std::string& name) {
  for (const kprof::row_change& r : c.rows)
    if (r.name == name) return r;
  FAIL("there is no row " << name);
  return c.rows[0];
}

/// Whether `value` is `wanted` to the digits in which it is printed there.
bool is_near(double value, double wanted, double unit) {
  return std::fabs(value - wanted) <= 0.5000001 * unit;
}

}  // namespace

TEST_CASE("compare.gives_the_published_example_to_its_digits") {
  const kprof::comparison c = example();
  REQUIRE(c.rows.size() == 5);
  CHECK(c.common_is_removed);
  CHECK_FALSE(c.common_is_large);
  CHECK(is_near(100 * c.common.change(), 0.1984, 1e-4));
  const kprof::row_change& gemm = row(c, "Gemm");
  CHECK(is_near(100 * gemm.change.by.change(), 5.6911, 1e-4));
  CHECK(is_near(gemm.change.by.error, 0.001455, 1e-6));
  CHECK(is_near(gemm.change.by.df, 8, 1e-3));
  CHECK(is_near(gemm.change.by.p, 2.50e-10, 1e-12));
  CHECK(gemm.change.verdict == change_verdict::slower);
  // The mean of a call, which is the median here, changed as much: what is common is out of it too.
  CHECK(std::fabs(gemm.of_mean.difference - gemm.change.by.difference) < 1e-12);
  CHECK(is_near(100 * gemm.plain.change(), 5.9008, 1e-4));
  CHECK(is_near(gemm.plain.error, 0.004445, 1e-6));
  CHECK(is_near(gemm.plain.df, 7.947, 1e-3));
  CHECK(is_near(gemm.plain.p, 1.309e-6, 1e-9));
  const kprof::row_change& norm = row(c, "Norm");
  CHECK(is_near(100 * norm.change.by.change(), -0.1004, 1e-4));
  CHECK(is_near(norm.change.by.df, 7.352, 1e-3));
  CHECK(is_near(norm.change.by.p, 0.5831, 1e-4));
  for (const char* name : {"Conv", "Norm", "Relu", "Attn"})
    CHECK(row(c, name).change.verdict == change_verdict::same);
  CHECK(c.is_slower());
}

TEST_CASE("compare.rows_are_in_the_order_of_their_time") {
  const kprof::comparison c = example();
  for (std::size_t i = 1; i < c.rows.size(); ++i)
    CHECK(c.rows[i].before_share <= c.rows[i - 1].before_share);
  CHECK(c.rows[0].name == "Attn");
}

TEST_CASE("compare.sides_exchanged_negate_the_changes") {
  const kprof::comparison forth = example();
  const kprof::comparison back = compare(runs_of(example_after), runs_of(example_before));
  for (const kprof::row_change& there : forth.rows) {
    const kprof::row_change& here = row(back, there.name);
    CHECK(std::fabs(here.change.by.difference + there.change.by.difference) < 1e-12);
    CHECK(std::fabs(here.change.by.error - there.change.by.error) < 1e-12);
    CHECK(std::fabs(here.change.p - there.change.p) < 1e-12);
  }
  CHECK(row(back, "Gemm").change.verdict == change_verdict::faster);
  CHECK_FALSE(back.is_slower());
}

TEST_CASE("compare.a_row_is_tested_from_one_percent_and_five_calls_on") {
  // Of 1,000 us: 10 are one percent.
  const auto side = [](double small, std::uint64_t calls) {
    return runs_of({{"Large", {989, 989, 989}, 100},
                    {"Small", {small, small, small}, calls},
                    {"Rare", {989, 989, 989}, 4}});
  };
  const kprof::comparison c = compare(side(15, 100), side(15, 100));
  CHECK(c.rows.size() == 2);
  CHECK(c.other.rows == 1);
  CHECK(c.other.rare == 1);
  const kprof::comparison small = compare(side(5, 100), side(5, 100));
  CHECK(small.rows.size() == 1);
  CHECK(small.other.below_share == 1);
  // What takes that much on one side is of interest.
  CHECK(compare(side(5, 100), side(15, 100)).rows.size() == 2);
  const auto few = [](std::uint64_t calls) {
    return runs_of({{"Large", {100, 100, 100}}, {"Few", {989, 989, 989}, calls}});
  };
  CHECK(compare(few(5), few(5)).rows.size() == 2);
  CHECK(compare(few(5), few(4)).rows.size() == 1);
  kprof::compare_settings all;
  all.least_share = 0;
  all.least_calls = 0;
  CHECK(compare(side(5, 100), side(5, 100), all).rows.size() == 3);
}

TEST_CASE("compare.rows_of_one_side_and_of_some_runs_are_told") {
  std::vector<kprof::compared_run> before = runs_of({{"Both", {10, 10, 10}}, {"Old", {5, 5, 5}}});
  std::vector<kprof::compared_run> after =
      runs_of({{"Both", {10, 10, 10}}, {"New", {1, 1, 1}}, {"Some", {9, 9, 9}}});
  before[0].rows.push_back(after[0].rows[2]);
  after[1].rows.pop_back();
  const kprof::comparison c = compare(before, after);
  REQUIRE(c.only_before.size() == 1);
  CHECK(c.only_before[0].name == "Old");
  CHECK(std::fabs(c.only_before[0].share - 1.0 / 3) < 1e-12);
  REQUIRE(c.only_after.size() == 1);
  CHECK(c.only_after[0].name == "New");
  CHECK(c.other.in_some_runs == 1);
  CHECK(c.rows.size() == 1);
}

TEST_CASE("compare.a_row_that_moved_to_the_device_is_not_compared") {
  std::vector<kprof::compared_run> before = runs_of({{"Gemm", {10, 10, 10}}}), after = before;
  for (kprof::compared_run& run : after) run.rows[0].on_device = true;
  CHECK(compare(before, after).rows.empty());
  CHECK(compare(before, after).other.incomparable == 1);
  for (kprof::compared_run& run : before) run.rows[0].on_device = true;
  CHECK(compare(before, after).rows.size() == 1);
  after[2].rows[0].call_ns.why = kprof::absence::untimed;
  CHECK(compare(before, after).other.incomparable == 1);
}

TEST_CASE("compare.fewer_than_three_runs_a_side_have_no_verdict") {
  for (const std::size_t runs : {std::size_t{1}, std::size_t{2}}) {
    std::vector<kprof::compared_run> before = runs_of(example_before),
                                     after = runs_of(example_after);
    before.resize(runs);
    const kprof::comparison c = compare(before, after);
    REQUIRE(c.rows.size() == 5);
    CHECK_FALSE(c.has_verdicts());
    CHECK(c.count(change_verdict::none) == 5);
    CHECK_FALSE(c.is_slower());
    CHECK(row(c, "Gemm").change.by.change() > 0.05);
    CHECK(row(c, "Gemm").change.by.has_interval() == (runs > 1));
  }
  CHECK(compare({}, runs_of(example_after)).rows.empty());
}

TEST_CASE("compare.what_all_rows_have_in_common_is_taken_out_of_five_or_more") {
  // The second side's clock is slower by 10 %, and two rows have a change of their own.
  std::vector<row_times> before, after;
  for (int i = 0; i < 5; ++i) {
    const double us = 100 + i, noise = 0.1 * i;
    before.push_back({"row " + std::to_string(i), {us, us + noise, us - noise}});
    after.push_back({"row " + std::to_string(i), {1.1 * us, 1.1 * (us + noise), 1.1 * us}});
  }
  for (double& us : after[4].us) us *= 1.2;
  for (const double factor : {1.0, 0.8}) {
    before.push_back({"other " + std::to_string(factor), {100, 100, 100}});
    after.push_back({before.back().name, {110 * factor, 110 * factor, 110 * factor}});
  }
  const kprof::comparison c = compare(runs_of(before), runs_of(after));
  CHECK(c.common_is_removed);
  CHECK(c.common_is_large);
  CHECK(std::fabs(c.common.change() - 0.1) < 0.002);
  CHECK(row(c, "row 4").change.verdict == change_verdict::slower);
  CHECK(row(c, "row 0").change.verdict == change_verdict::same);
  CHECK(row(c, "row 0").plain.change() > 0.09);
  CHECK(row(c, before[6].name).change.verdict == change_verdict::faster);

  before.resize(4);
  after.resize(4);
  const kprof::comparison four = compare(runs_of(before), runs_of(after));
  CHECK_FALSE(four.common_is_removed);
  CHECK(row(four, "row 0").change.verdict == change_verdict::slower);
}

TEST_CASE("compare.where_most_rows_changed_the_rest_is_not_called_the_opposite") {
  // 12 of 20 rows take 10 % more, or less: by the median that is common, and the rest seems to have
  // changed the other way.
  for (const double factor : {1.1, 1 / 1.1}) {
    std::vector<row_times> before, after;
    for (int i = 0; i < 20; ++i) {
      before.push_back({"row " + std::to_string(i), {100, 100.2, 99.9, 100.1}});
      after.push_back(before.back());
      if (i < 12)
        for (double& us : after.back().us) us *= factor;
    }
    const kprof::comparison c = compare(runs_of(before), runs_of(after));
    CHECK(c.common_is_large);
    CHECK(c.count(change_verdict::faster) == 0);
    CHECK(c.count(change_verdict::slower) == 0);
    CHECK(row(c, "row 19").change.hidden_by_common);
    // The whole run is told as it is.
    CHECK(c.totals[0].change.verdict ==
          (factor > 1 ? change_verdict::slower : change_verdict::faster));
  }
}

TEST_CASE("compare.a_change_below_the_threshold_is_no_change") {
  std::vector<row_times> after = example_before;
  for (double& us : after[0].us) us *= 1.02;
  const kprof::comparison c = compare(runs_of(example_before), runs_of(after));
  CHECK(row(c, "Gemm").change.p < 0.05);
  CHECK(row(c, "Gemm").change.verdict == change_verdict::same);
  kprof::compare_settings strict;
  strict.threshold = 0.01;
  CHECK(row(compare(runs_of(example_before), runs_of(after), strict), "Gemm").change.verdict ==
        change_verdict::slower);
}

TEST_CASE("compare.what_is_not_shown_says_with_how_many_runs_it_would_be") {
  const std::vector<row_times> before = {{"Gemm", {100, 108, 95, 103}}},
                               after = {{"Gemm", {107, 99, 116, 110}}};
  const kprof::comparison c = compare(runs_of(before), runs_of(after));
  const kprof::judged_change& change = c.rows[0].change;
  REQUIRE(change.verdict == change_verdict::not_shown);
  CHECK(change.runs_needed > 4);
  CHECK(change.runs_needed < 40);
  // With four times as many of the same noise there is a verdict.
  std::vector<row_times> more_before = before, more_after = after;
  for (int i = 0; i < 3; ++i) {
    for (const double us : before[0].us) more_before[0].us.push_back(us);
    for (const double us : after[0].us) more_after[0].us.push_back(us);
  }
  CHECK(compare(runs_of(more_before), runs_of(more_after)).rows[0].change.verdict ==
        change_verdict::slower);
}

TEST_CASE("compare.more_runs_are_asked_for_than_there_were") {
  // With all noise on the side of three runs, Welch has two degrees of freedom. Balanced runs of
  // the mean noise would do with three a side.
  const std::vector<row_times> before = {{"Gemm", {98, 100, 102}}},
                               after = {{"Gemm", std::vector<double>(20, 105)}};
  const kprof::judged_change change = compare(runs_of(before), runs_of(after)).rows[0].change;
  CHECK(change.verdict == change_verdict::not_shown);
  CHECK(change.runs_needed == 4);
}

TEST_CASE("compare.a_run_given_twice_is_found") {
  std::vector<kprof::compared_run> before = runs_of(example_before), after = runs_of(example_after);
  CHECK_FALSE(find_repeated_run(before, after).found);  // none says when it began
  for (std::size_t i = 0; i < 5; ++i) {
    before[i].start_realtime_ns = 10 + i;
    after[i].start_realtime_ns = 20 + i;
  }
  CHECK_FALSE(find_repeated_run(before, after).found);
  after[2] = before[1];
  CHECK(find_repeated_run(before, after).found);
  CHECK(find_repeated_run(before, after).first == 1);
  CHECK(find_repeated_run(before, after).second == 7);
}

TEST_CASE("compare.the_order_of_the_runs_is_known") {
  std::vector<kprof::compared_run> before = runs_of(example_before), after = runs_of(example_after);
  CHECK(compare(before, after).order == kprof::run_order::unknown);
  for (std::size_t i = 0; i < 5; ++i) {
    before[i].start_realtime_ns = 10 + i;
    after[i].start_realtime_ns = 20 + i;
  }
  CHECK(compare(before, after).order == kprof::run_order::apart);
  CHECK(compare(after, before).order == kprof::run_order::apart);
  before[4].start_realtime_ns = 21;
  CHECK(compare(before, after).order == kprof::run_order::interleaved);
}

TEST_CASE("compare.what_differs_in_machine_or_program_is_told") {
  std::vector<kprof::compared_run> before = runs_of(example_before), after = runs_of(example_after);
  for (auto* side : {&before, &after})
    for (kprof::compared_run& run : *side) {
      run.cpus = 4;
      run.machine.cpu.arithmetic.push_back({kprof::dtype::f32, "FMA", {1e11, 0, false}});
    }
  CHECK(compare(before, after).differences.empty());
  after[3].cpus = 8;
  after[0].machine.cpu.arithmetic[0].operations.one_thread = 1.04e11;
  REQUIRE(compare(before, after).differences.size() == 1);
  CHECK(compare(before, after).differences[0].what == "CPUs allowed");
  CHECK(compare(before, after).differences[0].before == "4");
  CHECK(compare(before, after).differences[0].after == "4 or 8");
  before[1].cpus = 8;  // the runs of either side differ, and both in the same way
  CHECK(compare(before, after).differences.at(0).before == "4 or 8");
  after[0].machine.cpu.arithmetic[0].operations.one_thread = 1.2e11;
  CHECK(compare(before, after).differences.size() == 2);
  after[0].lost = 1;
  CHECK(compare(before, after).incomplete_runs == 1);
  CHECK_FALSE(row(compare(before, after), "Gemm").work_differs);
  after[2].rows[0].flops.value = 2000;
  CHECK(row(compare(before, after), "Gemm").work_differs);
}

TEST_CASE("compare.a_profile_gives_its_rows_and_steps") {
  kprof_test::profile_builder b;
  const auto thread = b.thread("main", 1);
  b.calls(b.op(thread, "Gemm", "M=4"), 9, 100).calls(b.op(thread, "Relu", "n=1"), 1, 100);
  b.p.program = "a.out";
  b.p.wall_ns = 5000;
  b.p.paused_ns = 1000;
  b.p.complete.dropped = 2;
  const kprof::profile p = b.done();
  const kprof::compared_run run = kprof::run_to_compare(p);
  CHECK(run.program == "a.out");
  CHECK(run.ns == 4000);
  CHECK(run.step_ns == 0);
  CHECK(run.lost == 2);
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].key == kprof::operator_table(p)[0].key);
  CHECK(run.rows[0].parameters == "M=4");
  CHECK(run.rows[0].calls == 9);
  CHECK(std::fabs(run.rows[0].call_ns.value - 100) < 1);
  CHECK(std::fabs(run.rows[0].share - 0.9) < 1e-9);
  // The same call has the same key in another run, and another place in it.
  kprof_test::profile_builder other;
  const auto thread2 = other.thread("main", 7);
  other.calls(other.op(thread2, "Relu", "n=1"), 5, 10)
      .calls(other.op(thread2, "Gemm", "M=4"), 5, 10);
  CHECK(kprof::run_to_compare(other.p).rows[1].key == run.rows[0].key);
}
