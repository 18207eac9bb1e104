// SPDX-License-Identifier: MIT
// expect: kprof: a parameter is a pointer
#include <kprof/op.hpp>

struct Good {
  int n;
};
static_assert(kprof::name_of<Good>().size == 4);
