// SPDX-License-Identifier: MIT
// A bit-field has no address, so it has neither an offset nor a name that could be read.
// expect-anywhere: bit-field
// expect-anywhere: bit-field
// expect-anywhere: bit-field
#include "use.hpp"

struct Good {
  unsigned char low, high;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad {
  int n;
  unsigned low : 4;
  unsigned high : 4;
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  bool flag : 1;
};
#elif KPROF_TEST_BAD == 3
struct Flags {
  bool a : 1;
  bool b : 1;
};
struct Bad {
  int n;
  Flags flags;
};
#endif
KPROF_TEST_USE(Bad)
#endif
