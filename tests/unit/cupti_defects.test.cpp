// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/collect/cupti_defects.hpp>

#include <cstdint>
#include <string>

using kprof::detail::cupti::known_defects;
using kprof::detail::cupti::may_hang_when_disabling;
using kprof::detail::cupti::risky_use;

namespace {

bool tells(std::uint32_t version, const risky_use& use, const std::string& what) {
  for (const std::string& note : known_defects(version, use))
    if (note.find(what) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("cupti_defects.each_is_told_where_the_version_has_it_and_the_run_met_it") {
  const risky_use all{2, true, true, true, 0};
  CHECK(tells(28, all, "does not tell of updated graphs"));
  CHECK_FALSE(tells(130000, all, "does not tell of updated graphs"));
  CHECK(tells(130000, {}, "may crash when records are fetched and hang"));
  CHECK_FALSE(tells(130001, {}, "may crash"));
  for (const std::uint32_t version : {130000U, 130001U, 130100U}) {
    CHECK(tells(version, all, "launches of graphs wrong ids"));
    CHECK_FALSE(tells(version, {1, true, true, true, 0}, "wrong ids"));
    CHECK_FALSE(tells(version, {2, false, true, true, 0}, "wrong ids"));
  }
  CHECK_FALSE(tells(130101, all, "wrong ids"));
  CHECK_FALSE(tells(28, all, "wrong ids"));
  for (const std::uint32_t version : {18U, 130001U, 130400U}) {
    CHECK(tells(version, all, "names of earlier ones"));
    CHECK_FALSE(tells(version, {2, true, true, false, 0}, "names of earlier ones"));
  }
  CHECK(known_defects(130401, all).empty());
  CHECK(tells(130401, {1, false, false, false, 3}, "nodes of executable graphs, 3 times"));
  CHECK(known_defects(130001, {}).empty());
  CHECK(may_hang_when_disabling(130000));
  CHECK_FALSE(may_hang_when_disabling(130001));
}
