// SPDX-License-Identifier: MIT
// expect: kprof: a parameter is a
//   pointer
#include <kprof/op.hpp>

#ifdef KPROF_TEST_BAD
struct Bad {
  int n[2];
};
static_assert(kprof::name_of<Bad>().size == 3);
#endif
