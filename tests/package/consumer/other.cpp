// SPDX-License-Identifier: MIT
#include <kprof/guard.hpp>

struct Other {
  int n;
};

void other(int n) { KPROF_OP(Other, {.n = n}); }
