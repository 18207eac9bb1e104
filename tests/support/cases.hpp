// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CASES_HPP
#define KPROF_TESTS_CASES_HPP

namespace kprof_test {

/// How many of so many random cases a test tries: all in one configuration, a tenth in the others.
constexpr unsigned cases(unsigned all) {
#ifdef KPROF_TEST_SHORT
  return (all + 9) / 10;
#else
  return all;
#endif
}

}  // namespace kprof_test

#endif
