// SPDX-License-Identifier: MIT
// Parameters are copied into logs that are not aligned for them.
// expect: kprof: an operator's alignment is above 128 bytes; parameters need none, drop the alignas
// expect: kprof: an operator's alignment is above 128 bytes
#include "use.hpp"

struct alignas(128) Good {
  int n;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct alignas(256) Bad {
  int n;
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  int n;
  alignas(512) int m;
};
#endif
KPROF_TEST_USE(Bad)
#endif
