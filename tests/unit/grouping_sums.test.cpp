// SPDX-License-Identifier: MIT
// needs: guards

// Rows add up to the whole, whatever makes them.

#include "catch.hpp"

#include "row_sums.hpp"
#include "ten_profiles.hpp"

#include <kprof/kprof.hpp>
#include <kprof/tables.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using kprof::grouping;
using kprof::profile;
using kprof_test::parsed_grouping;

TEST_CASE("grouping_sums.rows_add_up_for_every_two_keys") {
  for (const auto& [name, run] : kprof_test::ten_profiles()) {
    INFO(name);
    kprof_test::check_pairs(
        run, {.handed_over_whole = name.find("random") == std::string::npos, .most_fields = 4});
  }
  for (unsigned seed = 0; seed < 5; ++seed) {
    INFO("seed " << seed);
    const kprof_test::sums_expected expected{.handed_over_whole = false, .most_fields = 4};
    kprof_test::check_pairs(kprof_test::random_profile(seed), expected);
    kprof_test::check_pairs(kprof_test::random_device_profile(100 + seed), expected);
  }
}

TEST_CASE("grouping_sums.kernels_add_up_for_every_two_keys") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const profile p = kprof_test::random_device_profile(seed);
    std::uint64_t runs = 0;
    for (const kprof::device_work& w : p.device.work)
      if (w.task == kprof::device_task::kernel) runs += w.calls;
    const std::vector<std::string> keys = kprof_test::keys_of(p, 4);
    for (std::size_t a = 0; a < keys.size(); ++a)
      for (std::size_t b = a; b < keys.size(); ++b) {
        const grouping by = parsed_grouping(keys[a] + '+' + keys[b]);
        std::uint64_t sum = 0;
        std::set<std::uint64_t> row_keys;
        const auto rows = kernel_table(p, by);
        for (const kprof::kernel_row& row : rows) {
          sum += row.calls;
          row_keys.insert(row.key);
          REQUIRE(row.values.size() == by.keys().size());
        }
        INFO("seed " << seed << " by " << by.text());
        REQUIRE(sum == runs);
        REQUIRE(row_keys.size() == rows.size());
      }
  }
}

TEST_CASE("grouping_sums.more_keys_than_a_key_has_parts_make_the_same_rows") {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const profile p = kprof_test::random_device_profile(seed);
    const grouping six = parsed_grouping("op+pass+dtype+region+layer+thread");
    const grouping many = parsed_grouping(
        "op+pass+dtype+region+layer+thread+field:x+field:y+field:z+call_site"
        "+field:a+field:b+field:c+parameters");
    CHECK(operator_table(p, many).size() ==
          operator_table(p, grouping(grouping::parameters) + six + grouping::call_site).size());
    CHECK(operator_table(p, six + grouping::field("nobody_has_it")).size() ==
          operator_table(p, six).size());
  }
}
