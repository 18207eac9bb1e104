// SPDX-License-Identifier: MIT
// A function that kprof cannot call would silently be none.
// expect: kprof: brief() has the wrong parameters, so nothing would call it; declare `void
//   brief(kprof::brief_text& out) const`, which writes to `out`
// expect: kprof: brief() has the wrong parameters, so nothing would call it
// expect: kprof: brief() has the wrong parameters, so nothing would call it
// expect: kprof: shows() has the wrong parameters, so nothing would call it; declare `bool
//   shows(kprof::field_name field) const`
// expect: kprof: shows() has the wrong return type; return bool
// expect: kprof: flops(), bytes(), valid(), arithmetic() and threads() are called without
//   arguments, those of kprof::op_traits with the operator; declare them so, or rename the function
// expect: kprof: flops(), bytes(), valid(), arithmetic() and threads() are called without arguments
// expect: kprof: brief() has the wrong parameters, so nothing would call it
// expect: kprof: flops(), bytes(), valid(), arithmetic() and threads() are called without arguments
#include "use.hpp"

#include <string>

struct Good {
  int n;
  constexpr std::uint64_t flops() const { return flops(n); }
  constexpr std::uint64_t flops(int size) const { return 2U * static_cast<unsigned>(size); }
  constexpr void brief(kprof::brief_text& out) const { out.put(n); }
  std::string brief() const { return "n"; }
  constexpr bool shows(kprof::field_name) const { return true; }
};
struct Fields {  // parameters may have these names
  int brief = 0, shows = 0, threads = 0, valid = 0;
  int pass(int n) const { return n; }  // a name of other software for another thing
};
struct Foreign {
  int n = 0;
  std::string brief() const { return "n"; }
  int threads(int n) const { return n; }
};
template <>
struct kprof::op_traits<Foreign> {
  static constexpr const char* name = "Foreign";
};
KPROF_TEST_USE(Good)
KPROF_TEST_USE(Fields)
KPROF_TEST_USE(Foreign)

#ifdef KPROF_TEST_BAD
struct Bad {
  int n = 0;
#if KPROF_TEST_BAD == 1
  std::string brief() const { return "n"; }
#elif KPROF_TEST_BAD == 2
  std::string brief() { return "n"; }
#elif KPROF_TEST_BAD == 3
  static const char* brief(int) { return "n"; }
#elif KPROF_TEST_BAD == 4
  constexpr bool shows() const { return true; }
#elif KPROF_TEST_BAD == 5
  constexpr int shows(kprof::field_name) const { return 1; }
#elif KPROF_TEST_BAD == 6
  constexpr std::uint64_t flops(int size) const { return static_cast<unsigned>(size); }
#elif KPROF_TEST_BAD == 7
  constexpr int threads(int most) const { return most; }
#elif KPROF_TEST_BAD == 8
};
template <>
struct kprof::op_traits<Bad> {
  static std::string brief(const Bad&) { return "n"; }
#elif KPROF_TEST_BAD == 9
};
template <>
struct kprof::op_traits<Bad> {
  static constexpr kprof::traffic bytes() { return {}; }
#endif
};
KPROF_TEST_USE(Bad)
#endif
