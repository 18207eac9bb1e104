// SPDX-License-Identifier: MIT
// An array without elements is no parameter.
// expect: kprof: a parameter is a std::array without elements; give it a size or leave it out
// expect: kprof: a parameter is a std::array without elements
#include "use.hpp"

#include <array>

struct Empty {};
struct Good {
  int n;
  std::array<int, 1> one;
  Empty empty;
  std::array<Empty, 2> two;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad {
  int n;
  std::array<int, 0> none;
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  std::array<std::array<int, 0>, 2> nones;
};
#endif
KPROF_TEST_USE(Bad)
#endif
