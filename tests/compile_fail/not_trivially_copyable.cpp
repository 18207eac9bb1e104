// SPDX-License-Identifier: MIT
// Parameters are copied as bytes.
// expect: kprof: an operator must be trivially copyable; replace std::string by
//   kprof::fixed_string<N> and std::vector by std::array<T, N>
// expect: kprof: an operator must be trivially copyable
// expect: kprof: an operator must be trivially copyable
#include "use.hpp"

#include <string>
#include <vector>

struct Good {
  kprof::fixed_string<16> name;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad {
  std::string name;
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  int n;
  std::vector<int> shape;
};
#elif KPROF_TEST_BAD == 3
struct Bad {
  int n;
  virtual int size() const { return n; }
};
#endif
KPROF_TEST_USE(Bad)
#endif
