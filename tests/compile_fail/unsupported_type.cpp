// SPDX-License-Identifier: MIT
// Types that no column and no NVTX schema can show.
// expect: kprof: a parameter has an unsupported type; use integers up to 64 bits, floating point,
//   bool, enums, std::array of these, nested aggregates of these, or kprof::fixed_string<N>
// expect: kprof: a parameter has an unsupported type
// expect: kprof: a parameter has an unsupported type
// expect: kprof: a parameter has an unsupported type
// expect: kprof: a parameter has an unsupported type
#include "use.hpp"

#include <array>
#include <string_view>

struct Good {
  long double alpha;
  bool flag;
  wchar_t letter;
  const unsigned char byte = 1;
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
union number {
  int i;
  float f;
};
class hidden {
 public:
  int size() const { return n; }

 private:
  int n = 0;
};
#if KPROF_TEST_BAD == 1
struct Bad {
  int n;
  std::string_view name;
};
#elif KPROF_TEST_BAD == 2
struct Bad {
  int n;
  number value;
};
#elif KPROF_TEST_BAD == 3
struct Bad {
  hidden value;
};
#elif KPROF_TEST_BAD == 4
struct Bad {
  std::array<hidden, 2> values;
};
#elif KPROF_TEST_BAD == 5
struct Bad {
  int n;
  __int128 huge;
};
#endif
KPROF_TEST_USE(Bad)
#endif
