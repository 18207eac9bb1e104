// SPDX-License-Identifier: MIT
// A name is a C string that lives as long as the program.
// expect: kprof: name has the wrong type; declare `static constexpr const char* name`
// expect: kprof: name has the wrong type
// expect: kprof: name has the wrong type
// expect: kprof: name has the wrong type
// expect: kprof: name has the wrong type
#include "use.hpp"

#include <string>
#include <string_view>

struct Good {
  int n;
  static constexpr const char* name = "saxpy";
};
struct GoodField {
  kprof::fixed_string<8> name;
};
struct GoodArray {
  int n;
  static constexpr char name[] = "gemm";
};
KPROF_TEST_USE(Good)
KPROF_TEST_USE(GoodField)
KPROF_TEST_USE(GoodArray)

#ifdef KPROF_TEST_BAD
struct Bad {
  int n;
#if KPROF_TEST_BAD == 1
  static constexpr int name = 3;
#elif KPROF_TEST_BAD == 2
  static inline const std::string name = "bad";
#elif KPROF_TEST_BAD == 3
  static constexpr std::string_view name = "bad";
#elif KPROF_TEST_BAD == 4
  static const char* name() { return "bad"; }
#elif KPROF_TEST_BAD == 5
};
template <>
struct kprof::op_traits<Bad> {
  static constexpr std::string_view name = "bad";
#endif
};
KPROF_TEST_USE(Bad)
#endif
