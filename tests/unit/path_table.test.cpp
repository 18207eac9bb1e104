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
                      inside_kept = number(kept, 4);
  paths.keep(inside_kept);
  const std::uint64_t used = budget.now();
  paths.next_recording();
  CHECK(paths[inner].site == 2);  // a log may still be in the last recording
  CHECK(number(0, 1) == outer);   // used again
  CHECK(number(0, 5) != inner);
  paths.next_recording();
  CHECK(paths[outer].site == 1);
  CHECK(number(outer, 6) == inner);  // its place
  CHECK(paths[inside_kept].parent == kept);
  for (int i = 0; i < 3; ++i) paths.next_recording();
  CHECK(paths[inside_kept].site == 4);
  CHECK(paths[kept].site == 3);
  CHECK(budget.now() == used / 2);
}
