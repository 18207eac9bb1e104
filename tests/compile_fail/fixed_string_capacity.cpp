// SPDX-License-Identifier: MIT
// expect: kprof: fixed_string holds 1 to 255 bytes; choose a capacity in that range
// expect: kprof: fixed_string holds 1 to 255 bytes; choose a capacity in that range
#include "use.hpp"

struct Good {
  kprof::fixed_string<1> shortest;
  kprof::fixed_string<255> longest;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad {
  kprof::fixed_string<0> name;
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  kprof::fixed_string<256> name;
};
#endif
KPROF_TEST_USE(Bad)
#endif
