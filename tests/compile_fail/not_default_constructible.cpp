// SPDX-License-Identifier: MIT
// The formulas are tried on default parameters.
// expect: kprof: an operator must be default constructible; give its fields default values
#include "use.hpp"

enum class state { on, off };
struct Good {
  const int n = 3;
  const state at = state::on;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
struct Bad {
  const int n;
};
KPROF_TEST_USE(Bad)
#endif
