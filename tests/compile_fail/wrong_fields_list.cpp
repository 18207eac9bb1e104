// SPDX-License-Identifier: MIT
// The list of fields names data members of the operator.
// expect: kprof: fields is not a list of data members; write `using fields = kprof::members<&T::a,
//   ...>`, or rename the type
// expect: kprof: fields is not a list of data members
// expect: kprof: too many fields
#include "use.hpp"

struct Good {
  int n;
  float* data;
  using fields = kprof::members<&Good::n>;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad {
  int n;
  using fields = int;
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  int n;
  constexpr int size() const { return n; }
  using fields = kprof::members<&Bad::size>;
};
#elif KPROF_TEST_BAD == 3
struct Bad {
  int n;
  template <int>
  static constexpr auto member = &Bad::n;
  using m = int Bad::*;
  static constexpr m f = &Bad::n;
  using fields = kprof::members<f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f, f,
                                f, f, f, f, f, f, f, f, f, f>;
};
#endif
KPROF_TEST_USE(Bad)
#endif
