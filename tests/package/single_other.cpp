// SPDX-License-Identifier: MIT
// The consumer's other file where kprof is one header.
#include <kprof/kprof.hpp>

struct Other {
  int n;
};

void other(int n) { KPROF_OP(Other, {.n = n}); }
