// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/record/path_table.hpp>

#include <cstdint>

using kprof::detail::path_table;
using kprof::detail::tree_budget;
using kprof::detail::work;

TEST_CASE("path_table.paths_are_given_back_two_recordings_later") {
  tree_budget budget;
  budget.set_limit(1 << 20);
  path_table paths(budget);
  const auto number = [&](std::uint32_t parent, std::uint32_t where) {
    return paths.number_of({parent, where, "", false, work{}});
  };
  const std::uint32_t outer = number(0, 1), inner = number(outer, 2), kept = number(0, 3),
                      inside_kept = number(kept, 4), unused = number(outer, 7);
  paths.keep(inside_kept);
  const std::uint64_t used = budget.now();
  paths.next_recording();
  CHECK(paths[inner].site == 2);  // a log may still be in the last recording
  CHECK(number(0, 1) == outer);   // used again
  CHECK(number(0, 5) != inner);
  paths.next_recording();
  CHECK(paths[outer].site == 1);
  CHECK(paths[unused].site == 0);  // forgotten, and its number is not given to another
  CHECK(number(outer, 6) > unused);
  CHECK(paths[inside_kept].parent == kept);
  for (int i = 0; i < 3; ++i) paths.next_recording();
  CHECK(paths[inside_kept].site == 4);
  CHECK(paths[kept].site == 3);
  CHECK(budget.now() == used * 2 / 5);
}

TEST_CASE("path_table.kept_paths_of_earlier_recordings_leave_most_of_the_memory") {
  tree_budget budget;
  budget.set_limit(1 << 20);
  path_table paths(budget);
  std::uint32_t first = 0, latest = 0;
  for (std::uint32_t recording = 0; recording < 50; ++recording) {
    for (std::uint32_t site = 1; site <= 200; ++site) {
      latest = paths.number_of({0, 1000 * recording + site, "", false, work{}});
      paths.keep(latest);
      if (first == 0) first = latest;
    }
    CHECK(paths[first].site == 1);  // in use all the time
    paths.next_recording();
  }
  paths.next_recording();
  CHECK(budget.now() <= budget.limit() / 8);
  CHECK(budget.now() > budget.limit() / 16);
  CHECK(paths[first].site == 1);
  CHECK(paths[first + 1].site == 0);
  CHECK(paths[latest].site == 1000 * 49 + 200);
}
