// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GROUPINGS_HPP
#define KPROF_TESTS_GROUPINGS_HPP

// Groupings that tests of tables go through: each splits the rows of the one before.

#include <kprof/model/grouping.hpp>

#include <array>
#include <cstddef>

namespace kprof_test {

inline kprof::grouping by_call_site() {
  return kprof::grouping(kprof::grouping::parameters) + kprof::grouping::call_site;
}
inline kprof::grouping by_thread() { return by_call_site() + kprof::grouping::thread; }

inline std::array<kprof::grouping, 4> finer_and_finer() {
  return {kprof::grouping::op, kprof::grouping::parameters, by_call_site(), by_thread()};
}

}  // namespace kprof_test

#endif
