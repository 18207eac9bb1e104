// SPDX-License-Identifier: MIT
// C arrays, wherever they stand.
// expect: kprof: a parameter is a C array; use std::array<T, N> for numbers or
//   kprof::fixed_string<N> for text
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
// expect: kprof: a parameter is a C array
#include "use.hpp"

#include <array>

struct Pair {
  int a;
  float b;
};
enum class color : unsigned char { red };
struct Good {
  kprof::fixed_string<8> name;
  std::array<int, 2> shape;
  std::array<std::array<Pair, 2>, 3> pairs;
  std::array<char, 1> one;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
struct Bad {
  int shape[2];
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  char name[8];
};
#elif KPROF_TEST_BAD == 3
struct Bad {
  char flag[1];
};
#elif KPROF_TEST_BAD == 4
struct Bad {
  int n;
  int shape[4];
  float alpha;
};
#elif KPROF_TEST_BAD == 5
struct Bad {
  int n;
  int one[1];
  float alpha;
};
#elif KPROF_TEST_BAD == 6
struct Nested {
  int shape[3];
};
struct Bad {
  int n;
  Nested nested;
};
#elif KPROF_TEST_BAD == 7
struct Bad {
  Pair pairs[2];
};
#elif KPROF_TEST_BAD == 8
struct Bad {
  int n;
  Pair pairs[3];
  int m;
};
#elif KPROF_TEST_BAD == 9
struct Bad {
  int n;
  Pair pairs[1];
};
#elif KPROF_TEST_BAD == 10
struct Bad {
  int matrix[2][3];
};
#elif KPROF_TEST_BAD == 11
struct Bad {
  color colors[2];
  int n;
};
#elif KPROF_TEST_BAD == 12
struct Bad {
  int n;
  std::array<int, 2> arrays[2];
};
#elif KPROF_TEST_BAD == 13
struct Bad {
  int n = 1;
  char name[8] = "conv";
};
#elif KPROF_TEST_BAD == 14
struct Bad {
  kprof::fixed_string<8> names[2];
};
#endif
KPROF_TEST_USE(Bad)
#endif
