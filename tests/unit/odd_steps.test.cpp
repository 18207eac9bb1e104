// SPDX-License-Identifier: MIT
// needs: guards
// Steps that do not go as they should: sums hold, or what is missing is said.

#include <kprof/kprof.hpp>
#include <kprof/record/step_totals.hpp>
#include <kprof/tables.hpp>
#include <kprof/timeline.hpp>

#include "catch.hpp"
#include "report_page.hpp"
#include "timeline_builder.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

using kprof::interval;
using kprof::step_schedule;
using kprof::detail::action_of;
using kprof::detail::step_action;
using kprof::detail::step_span;
using kprof::detail::step_totals;
using kprof_test::has;
using kprof_test::page_of;

namespace {

struct Work {
  std::int64_t n = 0;
  constexpr std::uint64_t flops() const { return static_cast<std::uint64_t>(n); }
};

/// The parts of each step's breakdown sum to the step.
void check_breakdown(const kprof::profile& p) {
  const kprof::run_times times = kprof::times_of(p);
  std::vector<interval> spans;
  for (const kprof::device_step& s : kprof::steps_of(p, times).steps) spans.push_back(s.span);
  for (const kprof::step_breakdown& row : kprof::breakdown_of(p, times, spans)) {
    std::int64_t sum = 0;
    for (const std::int64_t part : row.part) {
      CHECK(part >= 0);
      sum += part;
    }
    CHECK(sum == row.step.length());
  }
}

/// Rows by step add up to those without.
void check_rows(const kprof::profile& p) {
  double by_step = 0, whole = 0;
  std::uint64_t calls = 0;
  for (const kprof::operator_row& row :
       kprof::operator_table(p, kprof::grouping::op + kprof::grouping::step))
    by_step += row.self_ns, calls += row.calls;
  for (const kprof::operator_row& row : kprof::operator_table(p, kprof::grouping::op))
    whole += row.self_ns, calls -= row.calls;
  CHECK(calls == 0);
  CHECK(std::abs(by_step - whole) < 0.5);
}

std::uint64_t steps_ended(const kprof::profile& p) {
  std::uint64_t count = 0;
  for (const kprof::thread_steps& t : p.stepping.threads) count += t.count;
  return count;
}

}  // namespace

TEST_CASE("odd_steps.a_clock_that_goes_back_makes_steps_of_no_time") {
  kprof::detail::tree_budget budget;
  budget.set_limit(std::uint64_t{1} << 24U);
  step_totals t(budget);
  for (const std::uint64_t ticks : {1000U, 1100U, 900U, 950U, 0U, 10U})
    t.next(step_totals::counted_on, ticks, step_totals::nothing_before);
  CHECK(t.count == 5);
  CHECK(t.total == 100 + 50 + 10);
  CHECK(t.shortest == 0);
  CHECK(t.longest == 100);
  const std::vector<step_span> kept = t.kept();
  REQUIRE(kept.size() == 5);
  for (std::size_t i = 1; i < kept.size(); ++i) CHECK(kept[i - 1].end <= kept[i].end);
}

TEST_CASE("odd_steps.marks_that_go_back_are_counted_and_in_no_sum") {
  kprof_test::timeline_builder b;
  b.step_at(0, 100);
  b.step_at(100, 40);
  b.step_at(40, 90);
  b.step_at(200, 300);
  b.kernel_at({10, 15, 20, 80});
  b.kernel_at({210, 215, 220, 280});
  const kprof::device_steps found = kprof::steps_of(b.p, kprof::times_of(b.p));
  CHECK(found.odd == 1);
  CHECK(found.nested == 1);
  REQUIRE(found.steps.size() == 2);
  CHECK(found.steps[1].span == interval{200, 300});
  check_breakdown(b.p);

  b.p.stepping.whole_from = 0;
  kprof::thread_steps& sums = b.p.stepping.threads.emplace_back();
  sums.thread = 0;
  sums.count = 4;
  sums.total_ns = 250;
  const kprof::step_details details = kprof::details_of_steps(b.p, 0);
  CHECK(details.steps == 3);
  CHECK(details.total_ns == 250);
  CHECK(has(page_of(b.p, kprof_test::at_width(100)), "\nSteps\n"));
}

TEST_CASE("odd_steps.records_without_a_launch_or_with_times_that_go_back_leave_the_sums_right") {
  kprof_test::timeline_builder b;
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::int64_t at = 100 * i;
    b.step_at(at, at + 100);
    b.kernel_at({at + 5, at + 8, at + 10, at + 60});
    b.kernel_at({-1, -1, at + 30, at + 70});            // without a launch
    b.copy_at({at + 20, at + 25, at + 90, at + 50});    // ends before it begins
    b.kernel_at({at + 50, at + 40, at + 75, at + 80});  // its call does: it took no time
  }
  const kprof::run_times times = kprof::times_of(b.p);
  const kprof::device_steps found = kprof::steps_of(b.p, times);
  REQUIRE(found.steps.size() == 4);
  for (const kprof::device_step& s : found.steps) CHECK(s.items == 2);
  CHECK(times.unlaunched == 4);
  check_breakdown(b.p);
  for (const std::uint32_t device : times.devices()) {
    const kprof::device_activity a = kprof::activity_of(times, device);
    CHECK(a.busy + a.idle == a.wall);
    CHECK(a.busy == 4 * 65);  // 10 to 70 and 75 to 80
  }
}

TEST_CASE("odd_steps.a_step_that_another_thread_ends_is_counted_where_it_was_opened") {
  kprof::settings wanted;
  wanted.step = "iteration";
  REQUIRE(kprof::start(wanted));
  for (int i = 0; i < 3; ++i) {
    kprof::open_scope step = kprof::begin_region("iteration");
    { KPROF_OP(Work, {.n = 1}); }
    std::thread([&] {
      KPROF_OP(Work, {.n = 2});
      kprof::open_scope elsewhere = step;
      kprof::end(elsewhere);  // which ends nothing
    }).join();
    kprof::end(step);
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.closed_elsewhere == 3);
  REQUIRE(p.stepping.threads.size() == 1);
  CHECK(p.stepping.threads[0].count == 3);
  CHECK(p.stepping.threads[0].nested == 0);
  check_rows(p);
  REQUIRE(kprof::start());
}

TEST_CASE("odd_steps.a_step_whose_thread_ends_is_none") {
  kprof::settings wanted;
  wanted.step = "iteration";
  REQUIRE(kprof::start(wanted));
  std::thread([] {
    { KPROF_REGION("iteration"); }
    { KPROF_REGION("iteration"); }
    static_cast<void>(kprof::begin_region("iteration"));  // it never ends
    KPROF_OP(Work, {.n = 1});
  }).join();
  kprof::profile p = kprof::snapshot();
  CHECK(steps_ended(p) == 2);
  CHECK(p.steps.size() == 2);
  CHECK(p.complete.never_closed == 1);
  for (const kprof::thread_steps& t : p.stepping.threads) CHECK(t.running_ns < 0);
  check_rows(p);
  REQUIRE(kprof::start());
  std::thread([] {
    KPROF_STEP();
    { KPROF_OP(Work, {.n = 1}); }
  }).join();
  p = kprof::snapshot();
  CHECK(steps_ended(p) == 0);
  CHECK_FALSE(has(page_of(p, kprof_test::at_width(100)), "\nSteps"));
}

TEST_CASE("odd_steps.the_largest_schedule_counts_without_overflow") {
  constexpr std::uint32_t most = kprof::detail::most_scheduled_steps;
  constexpr step_schedule largest{most, most, most, most, most};
  CHECK(kprof::detail::check_schedule(largest).ok());
  constexpr std::uint64_t n = most;
  CHECK(action_of(largest, n - 1) == step_action::nothing);
  CHECK(action_of(largest, 2 * n) == step_action::warm_up);
  CHECK(action_of(largest, 3 * n) == step_action::record);
  CHECK(action_of(largest, 4 * n - 1) == step_action::record_last);
  CHECK(action_of(largest, 3 * n * n + n - 1) == step_action::record_last);
  CHECK(action_of(largest, 3 * n * n + 2 * n) == step_action::nothing);  // would warm up
  CHECK(action_of(largest, std::numeric_limits<std::uint64_t>::max()) == step_action::nothing);
  for (std::uint32_t count = 0; count < 5; ++count) {
    step_schedule above = largest;
    above.*kprof::detail::schedule_words[count].count = most + 1;
    CHECK(has(kprof::detail::check_schedule(above).message, "is no number from 0 to"));
  }
  CHECK(action_of({.skip = 3}, 0) == step_action::record);  // no active step: no schedule
}

TEST_CASE("odd_steps.with_the_least_memory_sums_are_of_all_steps_and_the_report_says_of_how_many") {
  kprof::settings wanted;
  wanted.memory = kprof::settings::smallest_memory;
  REQUIRE(kprof::start(wanted));
  for (int step = 0; step < 200; ++step) {
    for (int k = 0; k < 2000; ++k) { KPROF_OP(Work, {.n = k % 5}); }
    KPROF_STEP();
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(steps_ended(p) == 200);
  CHECK(p.complete.recorded == 400'000);
  CHECK(p.complete.dropped == 0);
  check_rows(p);
  const std::uint64_t whole = p.stepping.threads.empty()
                                  ? 0
                                  : kprof::details_of_steps(p, p.stepping.threads[0].thread).steps;
  CHECK(whole < 200);
  kprof::report_options options = kprof_test::at_width(160);
  const std::string page = page_of(p, options);
  INFO(page);
  CHECK(has(page, whole < 2 ? "n/a, the timeline has not two whole steps"
                            : "are of the " + std::to_string(whole) + " steps that the timeline"));
  options.by = kprof::grouping::op + kprof::grouping::step;
  // A machine that is busy with other things makes slow steps, which are kept beside these.
  const std::uint64_t told = whole + p.stepping.kept.size();
  const std::string by_step = page_of(p, options);
  INFO(by_step);
  if (told > 0)
    CHECK(
        has(by_step, "those of " + std::to_string(200 - told) + " steps of 200 that the timeline"));
  REQUIRE(kprof::start());
}

TEST_CASE("odd_steps.those_at_the_end_without_device_work_are_told_from_one_with_less") {
  kprof_test::timeline_builder b;
  for (std::int64_t at = 0; at < 500; at += 100) b.step_at(at, at + 100);
  b.kernel_at({10, 15, 40, 90});
  b.kernel_at({110, 115, 140, 150});
  const kprof::device_steps found = kprof::steps_of(b.p, kprof::times_of(b.p));
  CHECK(found.steps.size() == 2);
  CHECK(found.idle == 3);
  CHECK(found.cut == 0);
}
