// SPDX-License-Identifier: MIT
// Rows of recorded profiles add up to the whole run, whatever two keys make them.

#include "../support/row_sums.hpp"
#include "recorded.hpp"

#include <cstddef>
#include <set>
#include <string>

namespace {

#if defined(KPROF_TEST_SHORT)
constexpr std::size_t most_fields = 5;
#else
constexpr std::size_t most_fields = 1000;
#endif
// Recorded calls are not inside each other, all their parameters are kept and valid.
constexpr kprof_test::sums_expected exact{.flat = true, .most_fields = most_fields};

}  // namespace

TEST_CASE("first_screen.rows_by_every_two_keys_add_up_to_the_run") {
  for (const char* const name : kprof_test::recorded_names) {
    INFO(name);
    const kprof::profile run = kprof_test::recorded(name);
    kprof_test::check_pairs(run, exact);
  }
}

TEST_CASE("first_screen.rows_by_step_and_another_key_add_up_to_the_run") {
  for (const char* const name : kprof_test::recorded_names) {
    INFO(name);
    const kprof::profile run = kprof_test::in_steps(kprof_test::recorded(name));
    const kprof_test::pair_checks checks(run, exact);
    for (const std::string& key : kprof_test::keys_of(run, exact.most_fields)) {
      const kprof::grouping by = kprof_test::parsed_grouping("step+" + key);
      checks.check(by);
      checks.check(by.folding(kprof_test::fields_of(run, 2)));
    }
    std::set<std::string> steps;
    for (const kprof::operator_row& row : operator_table(run, kprof::grouping::step))
      steps.insert(kprof_test::text_of(row));
    CHECK(steps == std::set<std::string>{"step=0", "step=1", "step=n/a"});
  }
}
