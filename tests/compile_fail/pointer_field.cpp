// SPDX-License-Identifier: MIT
// Pointers and references mean nothing once the call is over.
// expect: kprof: a parameter is a pointer, which means nothing once the call is over; store what it
//   points to: a value, a shape as std::array, a name as kprof::fixed_string<N>
// expect: kprof: a parameter is a pointer
// expect: kprof: a parameter is a pointer
// expect: kprof: a parameter is a pointer
// expect: kprof: a parameter is a pointer
// expect: kprof: a parameter is a pointer
// expect: kprof: a parameter is a pointer
#include "use.hpp"

#include <array>

struct Inner {
  int a;
  float b;
};
struct Good {
  Inner inner;
  int n;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad {
  int n;
  const float* data;
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  const char* name;
};
#elif KPROF_TEST_BAD == 3
struct Bad {
  int n;
  void (*callback)();
};
#elif KPROF_TEST_BAD == 4
struct Bad {
  int n;
  int Inner::*member;
};
#elif KPROF_TEST_BAD == 5
struct Bad {
  int n;
  decltype(nullptr) nothing;
};
#elif KPROF_TEST_BAD == 6
struct Bad {
  int n;
  std::array<float*, 2> tensors;
};
#elif KPROF_TEST_BAD == 7
struct Nested {
  int n;
  void* handle;
};
struct Bad {
  int n;
  Nested nested;
};
#endif
KPROF_TEST_USE(Bad)
#endif
