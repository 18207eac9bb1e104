// SPDX-License-Identifier: MIT
// needs: guards
// The flags and modes of <cfenv> are the program's, whatever kprof computes.

#include <kprof/kprof.hpp>

#include "cases.hpp"
#include "catch.hpp"

#include <fenv.h>

#include <cstdint>
#include <string>

namespace {

struct Op {
  std::int64_t n = 0;
  constexpr std::int64_t flops() const { return 2 * n; }
};

/// Has the recorder fold and a report made.
void record_and_report() {
  static_cast<void>(kprof::start());
  for (unsigned i = 0; i < kprof_test::cases(20'000); ++i) {
    KPROF_REGION("region");
    KPROF_OP(Op, {i});
    KPROF_PART(Op, {i % 7}, i % 2, 2);
    if (i % 100 == 0) static_cast<void>(kprof::context::current());
    if (i % 100 == 0) KPROF_STEP();
  }
  kprof::pause();
  kprof::resume();
  kprof::report_options to_nowhere;
  to_nowhere.path = "/dev/null";
  static_cast<void>(kprof::report(kprof::snapshot(), to_nowhere));
  kprof::stop();
}

}  // namespace

TEST_CASE("arithmetic.flags_and_modes_stay_as_they_are") {
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO}) {
    fesetround(rounding);
    feclearexcept(FE_ALL_EXCEPT);
    record_and_report();
    const int flags = fetestexcept(FE_ALL_EXCEPT), after = fegetround();
    fesetround(FE_TONEAREST);
    CHECK(flags == 0);
    CHECK(after == rounding);
  }
  feraiseexcept(FE_OVERFLOW);
  record_and_report();
  const int flags = fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT);
  CHECK(flags == FE_OVERFLOW);
  feclearexcept(FE_ALL_EXCEPT);
}

#if defined(__GLIBC__) && defined(__x86_64__)
TEST_CASE("arithmetic.traps_of_the_program_are_none_of_kprofs") {
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_ALL_EXCEPT);
  record_and_report();
  const int traps = fedisableexcept(FE_ALL_EXCEPT);
  CHECK(traps == FE_ALL_EXCEPT);
}
#endif
