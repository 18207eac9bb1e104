// SPDX-License-Identifier: MIT
// What each formula must return.
// expect: kprof: flops() has the wrong return type; return std::uint64_t or kprof::count
// expect: kprof: flops() has the wrong return type
// expect: kprof: bytes() has the wrong return type; return kprof::traffic{.read = ..., .written =
//   ...}
// expect: kprof: valid() has the wrong return type; return bool
// expect: kprof: arithmetic() has the wrong return type; return kprof::arithmetic{.type = ..., .on
//   = ...}
// expect: kprof: flops() has the wrong return type
// expect: kprof: flops() has the wrong return type
// expect: kprof: threads() has the wrong return type; return a number of threads, an integer
// expect: kprof: threads() has the wrong return type
#include "use.hpp"

struct Good {
  int n;
  constexpr int flops() const { return 1; }
  constexpr unsigned threads() const { return kprof::all_cpus; }
};
struct GoodToo {
  int n;
  constexpr kprof::count flops() const { return 1; }
  constexpr kprof::traffic bytes() const { return {.read = 4, .written = 4}; }
};
KPROF_TEST_USE(Good)
KPROF_TEST_USE(GoodToo)

#ifdef KPROF_TEST_BAD
struct Bad {
  int n;
#if KPROF_TEST_BAD == 1
  constexpr double flops() const { return 1; }
#elif KPROF_TEST_BAD == 2
  constexpr bool flops() const { return true; }
#elif KPROF_TEST_BAD == 3
  constexpr std::size_t bytes() const { return 1; }
#elif KPROF_TEST_BAD == 4
  constexpr int valid() const { return 1; }
#elif KPROF_TEST_BAD == 5
  constexpr kprof::dtype arithmetic() const { return kprof::dtype::f32; }
#elif KPROF_TEST_BAD == 6
  constexpr void flops() const {}
#elif KPROF_TEST_BAD == 8
  constexpr bool threads() const { return true; }
#elif KPROF_TEST_BAD == 9
  constexpr double threads() const { return 1; }
#elif KPROF_TEST_BAD == 7
};
template <>
struct kprof::op_traits<Bad> {
  static constexpr float flops(const Bad&) { return 1; }
#endif
};
KPROF_TEST_USE(Bad)
#endif
