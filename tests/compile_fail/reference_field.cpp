// SPDX-License-Identifier: MIT
// A reference cannot be copied as bytes, so a struct that holds one is no aggregate of values.
// expect: kprof: an operator must be default constructible
// expect: kprof: an operator must be default constructible; give its fields default values, and
//   store a value where there is a reference
#include "use.hpp"

struct Good {
  int n;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad {
  int& n;
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  int n;
  const Good& other;
};
#endif
KPROF_TEST_USE(Bad)
#endif
