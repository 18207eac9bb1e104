// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_RECORDED_HPP
#define KPROF_TESTS_RECORDED_HPP

// The profiles in tests/profiles, and the widths of the pages that tests make of them.

#include <kprof/report/load.hpp>

#include "../support/catch.hpp"

#include <string>
#include <utility>

namespace kprof_test {

inline constexpr const char* recorded_names[] = {"resnet50", "transformer", "decode",
                                                 "threads",  "device",      "hpcg"};
inline constexpr int page_widths[] = {80, 100, 120, 160};

inline kprof::profile recorded(const std::string& name) {
  kprof::loaded_profile loaded = kprof::load(KPROF_TEST_PROFILES "/" + name + ".json");
  INFO(loaded.result.message);
  REQUIRE(loaded.ok());
  return std::move(loaded.run);
}

}  // namespace kprof_test

#endif
