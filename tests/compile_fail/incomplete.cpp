// SPDX-License-Identifier: MIT
// The definition must be seen, not only a declaration.
// expect: kprof: the operator is only declared here; include the header that defines it
#include "use.hpp"

struct Good;
struct Good {
  int n;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
struct Bad;
KPROF_TEST_USE(Bad)
#endif
