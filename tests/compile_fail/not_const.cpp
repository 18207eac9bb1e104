// SPDX-License-Identifier: MIT
// Formulas are called on constant parameters; one that is not const would silently be no formula.
// expect: kprof: flops(), bytes(), valid(), arithmetic(), threads(), brief() and shows() are called
//   on constant parameters; declare them const
// expect: kprof: flops(), bytes(), valid(), arithmetic(), threads(), brief() and shows() are called
//   on constant parameters; declare them const
// expect: kprof: flops(), bytes(), valid(), arithmetic(), threads(), brief() and shows() are called
//   on constant parameters; declare them const
// expect: kprof: flops(), bytes(), valid(), arithmetic(), threads(), brief() and shows() are called
//   on constant parameters; declare them const
// expect: kprof: flops(), bytes(), valid(), arithmetic(), threads(), brief() and shows() are called
//   on constant parameters; declare them const
// expect: kprof: flops(), bytes(), valid(), arithmetic(), threads(), brief() and shows() are called
//   on constant parameters; declare them const
// expect: kprof: flops(), bytes(), valid(), arithmetic(), threads(), brief() and shows() are called
//   on constant parameters; declare them const
#include "use.hpp"

struct Good {
  int n;
  constexpr std::uint64_t flops() const { return 1; }
  constexpr kprof::traffic bytes() const { return {}; }
  constexpr bool valid() const { return n >= 0; }
  constexpr kprof::arithmetic arithmetic() const { return {}; }
  constexpr void brief(kprof::brief_text& out) const { out.put(n); }
  constexpr bool shows(kprof::field_name field) const { return field != "n"; }
  constexpr int threads() const { return n; }
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
struct Bad {
  int n;
#if KPROF_TEST_BAD == 1
  constexpr std::uint64_t flops() { return 1; }
#elif KPROF_TEST_BAD == 2
  constexpr kprof::traffic bytes() { return {}; }
#elif KPROF_TEST_BAD == 3
  constexpr bool valid() { return n >= 0; }
#elif KPROF_TEST_BAD == 4
  constexpr kprof::arithmetic arithmetic() { return {}; }
#elif KPROF_TEST_BAD == 5
  constexpr void brief(kprof::brief_text& out) { out.put(n); }
#elif KPROF_TEST_BAD == 6
  constexpr bool shows(kprof::field_name field) { return field != "n"; }
#elif KPROF_TEST_BAD == 7
  constexpr int threads() { return n; }
#endif
};
KPROF_TEST_USE(Bad)
#endif
