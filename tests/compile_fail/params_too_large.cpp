// SPDX-License-Identifier: MIT
// 1024 bytes are the limit.
// expect: kprof: an operator's parameters take more than 1024 bytes; keep shapes and flags, not
//   data
#include "use.hpp"

#include <array>

struct Good {
  std::array<char, 1024> bytes;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
struct Bad {
  std::array<char, 1025> bytes;
};
KPROF_TEST_USE(Bad)
#endif
