// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/record/path_table.hpp>

#include <cstdint>

using kprof::detail::path_table;
using kprof::detail::tree_budget;
using kprof::detail::work;

namespace {

void next_recording(path_table& paths) {
  paths.begin_recording();
  paths.forget_earlier();
}

}  // namespace

TEST_CASE("path_table.paths_are_given_back_when_another_recording_begins") {
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
  paths.begin_recording();
  CHECK(number(0, 1) == outer);  // used again
  CHECK(paths[inner].site == 2);
  paths.forget_earlier();
  CHECK(paths[outer].site == 1);
  CHECK(paths[inner].site == 2);
  CHECK(paths[unused].site == 0);  // forgotten, and its number is not given to another
  CHECK(number(outer, 6) > unused);
  CHECK(paths[inside_kept].parent == kept);
  for (int i = 0; i < 3; ++i) next_recording(paths);
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
    next_recording(paths);
  }
  next_recording(paths);
  CHECK(budget.now() <= budget.limit() / 8);
  CHECK(budget.now() > budget.limit() / 16);
  CHECK(paths[first].site == 1);
  CHECK(paths[first + 1].site == 0);
  CHECK(paths[latest].site == 1000 * 49 + 200);
}

TEST_CASE("path_table.of_the_last_recording_too_only_what_was_asked_for_last_stays") {
  tree_budget budget;
  budget.set_limit(64 << 20);
  path_table paths(budget);
  const std::uint32_t outer = paths.number_of({0, 1, "", false, work{}});
  std::uint32_t first = 0, latest = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    latest = paths.number_of({outer, 2 + i, "", false, work{}});
    paths.keep(latest);
    if (i == 0) first = latest;
  }
  CHECK(paths[first + 1].site == 3);  // after all others
  paths.begin_recording();
  budget.set_limit(1 << 20);
  paths.forget_earlier();
  CHECK(budget.now() <= budget.limit() / 8);
  CHECK(budget.now() > budget.limit() / 16);
  CHECK(paths[first + 1].parent == outer);
  CHECK(paths[latest].site == 20'001);
  CHECK(paths[outer].site == 1);  // around them
  CHECK(paths[first].site == 0);
}
