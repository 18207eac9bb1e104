// SPDX-License-Identifier: MIT
// 128 bytes are the limit of the alignment: that of the buffers formulas are run over.
// expect: kprof: an operator's alignment is above 128 bytes; parameters need none, drop the alignas
#include "use.hpp"

struct alignas(128) Good {
  int n;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
struct alignas(256) Bad {
  int n;
};
KPROF_TEST_USE(Bad)
#endif
