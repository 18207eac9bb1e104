// SPDX-License-Identifier: MIT
// One name a field, no more and no less.
// expect: kprof: field_names does not fit the fields; declare `static constexpr const char*
//   field_names[]` with one name a field
// expect: kprof: field_names
// expect: kprof: field_names
// expect: kprof: field_names
#include "use.hpp"

struct Good {
  int n;
  int m;
  static constexpr const char* field_names[] = {"rows", "columns"};
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
struct Bad {
  int n;
  int m;
#if KPROF_TEST_BAD == 1
  static constexpr const char* field_names[] = {"rows"};
#elif KPROF_TEST_BAD == 2
  static constexpr const char* field_names[] = {"rows", "columns", "depth"};
#elif KPROF_TEST_BAD == 3
  static constexpr int field_names[] = {1, 2};
#elif KPROF_TEST_BAD == 4
};
template <>
struct kprof::op_traits<Bad> {
  static constexpr const char* field_names[] = {"rows"};
#endif
};
KPROF_TEST_USE(Bad)
#endif
