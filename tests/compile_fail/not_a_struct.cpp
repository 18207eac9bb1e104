// SPDX-License-Identifier: MIT
// An operator is a struct of parameters.
// expect: kprof: not an operator: an operator is a struct of parameters, such as `struct Saxpy {
//   std::int64_t n; };`
// expect: kprof: not an operator: an operator is a struct of parameters
// expect: kprof: not an operator: an operator is a struct of parameters
// expect: kprof: not an operator: an operator is a struct of parameters
#include "use.hpp"

struct Good {
  int n;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
using Bad = int;
#elif KPROF_TEST_BAD == 2
enum class Bad { a, b };
#elif KPROF_TEST_BAD == 3
union Bad {
  int a;
  float b;
};
#elif KPROF_TEST_BAD == 4
using Bad = const Good*;
#endif
KPROF_TEST_USE(Bad)
#endif
