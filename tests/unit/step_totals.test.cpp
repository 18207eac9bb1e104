// SPDX-License-Identifier: MIT
// Which steps are kept one by one: with little memory as with much the sums are of all.

#include <kprof/record/step_totals.hpp>

#include "catch.hpp"

#include <set>

using kprof::detail::step_span;
using kprof::detail::step_totals;
using kprof::detail::tree_budget;

namespace {

constexpr std::uint64_t steps = 100'000;

/// A million ticks each; every 1000th takes longer, by its number.
std::uint64_t length_of(std::uint64_t i) { return i % 1000 == 999 ? 2'000'000 + i : 1'000'000; }

void fill(step_totals& into) {
  std::uint64_t at = 5;
  for (std::uint64_t i = 0; i < steps; ++i) {
    into.add({step_totals::counted_on, at, at + length_of(i)});
    at += length_of(i);
  }
}

std::set<std::uint64_t> indices(const step_totals& of) {
  std::set<std::uint64_t> out;
  for (const step_span& s : of.kept()) out.insert(s.index);
  return out;
}

}  // namespace

TEST_CASE("step_totals.sums_are_of_all_steps_and_the_telling_ones_are_kept") {
  tree_budget budget;
  budget.set_limit(std::uint64_t{1} << 24U);
  step_totals all(budget);
  fill(all);
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < steps; ++i) total += length_of(i);
  CHECK(all.count == steps);
  CHECK(all.total == total);
  CHECK(all.longest == length_of(steps - 1));
  CHECK(all.shortest == 1'000'000);
  CHECK(all.first.index == 0);
  CHECK(all.durations.count() == steps);
  const std::set<std::uint64_t> kept = indices(all);
  CHECK(kept.count(0) == 1);
  for (std::uint64_t i = steps - step_totals::latest_kept; i < steps; ++i)
    CHECK(kept.count(i) == 1);
  for (std::uint64_t i = 0; i < step_totals::slowest_kept; ++i)
    CHECK(kept.count(steps - 1 - 1000 * i) == 1);
  CHECK(kept.size() > step_totals::most_kept);
  CHECK(kept.size() <=
        step_totals::most_kept + step_totals::slowest_kept + step_totals::latest_kept + 1);
  // Those between are of the whole run alike: each quarter has its share.
  std::size_t in_quarter[4] = {};
  for (const std::uint64_t i : kept) ++in_quarter[i / (steps / 4)];
  for (const std::size_t n : in_quarter) CHECK(n > step_totals::most_kept / 5);
}

TEST_CASE("step_totals.steps_are_kept_in_the_order_of_their_ends_and_once") {
  tree_budget budget;
  budget.set_limit(std::uint64_t{1} << 24U);
  step_totals all(budget);
  fill(all);
  const std::vector<step_span> kept = all.kept();
  for (std::size_t i = 1; i < kept.size(); ++i) CHECK(kept[i - 1].end <= kept[i].begin);
}

TEST_CASE("step_totals.little_memory_leaves_the_sums_right") {
  tree_budget budget;
  budget.set_limit(2000);
  step_totals all(budget);
  fill(all);
  CHECK(all.count == steps);
  CHECK(indices(all).count(steps - 1) == 1);
  CHECK(all.kept().size() < 200);
  all.clear();
  CHECK(budget.now() == 0);
  CHECK(all.kept().empty());
}

TEST_CASE("step_totals.a_thread_that_ended_adds_its_steps_to_those_of_others") {
  tree_budget budget;
  budget.set_limit(std::uint64_t{1} << 24U);
  step_totals a(budget), b(budget);
  fill(a);
  for (std::uint64_t i = 0; i < 10; ++i) b.add({i, i, i + 3});
  a.make_room_for(b);
  a.merge(b);
  CHECK(a.count == steps + 10);
  CHECK(a.shortest == 3);
  CHECK(a.first.end == 3);
  CHECK(a.durations.count() == steps + 10);
  CHECK(a.kept().size() < 1200);
}

TEST_CASE("step_totals.what_ran_before_the_first_step_is_one_unless_it_has_a_number") {
  tree_budget budget;
  budget.set_limit(std::uint64_t{1} << 24U);
  step_totals t(budget);
  t.next(step_totals::counted_on, 50, 10);
  CHECK(t.count == 1);
  CHECK(t.first.begin == 10);
  t.next(step_totals::counted_on, 70, 10);
  CHECK(t.kept().back().index == 1);
  step_totals nothing_before(budget);
  nothing_before.next(step_totals::counted_on, 50, step_totals::nothing_before);
  CHECK(nothing_before.count == 0);
  nothing_before.finish(60);
  CHECK(nothing_before.first.index == 0);
  step_totals numbered(budget);
  numbered.next(7, 50, 10);
  CHECK(numbered.count == 0);
  numbered.next(step_totals::counted_on, 60, 10);
  CHECK(numbered.first.index == 7);
  numbered.finish(65);
  numbered.finish(66);
  CHECK(numbered.count == 2);
  CHECK_FALSE(numbered.runs);
}

TEST_CASE("step_totals.a_duration_without_room_counts_as_imprecise_once_wherever_it_is_moved") {
  tree_budget budget;
  budget.set_limit(1);  // no histogram has more than one bucket
  step_totals first(budget), second(budget), all(budget);
  std::uint64_t at = 5;
  for (std::uint64_t i = 0; i < 200; ++i) {
    step_totals& of = i % 2 == 0 ? first : second;
    of.add({step_totals::counted_on, at, at + (i << 20U)});
    at += i << 20U;
  }
  for (step_totals* const of : {&first, &second}) {
    all.make_room_for(*of);
    all.merge(*of);
  }
  CHECK(all.count == 200);
  CHECK(all.imprecise > 100);
  CHECK(all.imprecise <= 200);
}
