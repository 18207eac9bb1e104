// SPDX-License-Identifier: MIT
// A base class hides its fields from reflection.
// expect: kprof: a parameter struct has a base class; make the base a member, or list the fields
//   with `using fields = kprof::members<&T::a, ...>`
// expect: kprof: a parameter struct has a base class
// expect: kprof: a parameter struct has a base class
// expect: kprof: a parameter struct has a base class
// expect: kprof: a parameter struct has a base class
#include "use.hpp"

struct Base {
  int a;
};
struct Empty {};
struct Good {
  Base base;
  int n;
};
struct GoodListed : Base {
  int n;
  using fields = kprof::members<&Base::a, &GoodListed::n>;
};
KPROF_TEST_USE(Good)
KPROF_TEST_USE(GoodListed)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad : Base {
  int n;
};
#elif KPROF_TEST_BAD == 2
struct Bad : Base {};
#elif KPROF_TEST_BAD == 3
struct Bad : Empty {
  int n;
};
#elif KPROF_TEST_BAD == 4
struct Nested : Base {
  float b;
};
struct Bad {
  int n;
  Nested nested;
};
#elif KPROF_TEST_BAD == 5
struct Other {
  int b;
};
struct Bad : Base, Other {
  int n;
};
#endif
KPROF_TEST_USE(Bad)
#endif
