// SPDX-License-Identifier: MIT
// The number of a part is an integer.
// expect: kprof: part and parts of KPROF_PART are integers: the number of this thread's part, from
//   0, and how many parts the call has
#include <kprof/guard.hpp>

struct Op {
  int n = 0;
};

void good(int thread, unsigned threads) { KPROF_PART(Op, {.n = 3}, thread, threads); }

#ifdef KPROF_TEST_BAD
void bad(double thread, unsigned threads) { KPROF_PART(Op, {.n = 3}, thread, threads); }
#endif
