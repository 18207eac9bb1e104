// SPDX-License-Identifier: MIT
// A formula by another name would silently be no formula.
// expect: kprof: the operator has no flops(), but a function whose name differs a little; kprof
//   calls flops()
// expect: kprof: the operator has no flops(), but a function whose name differs a little; kprof
//   calls flops()
// expect: kprof: the operator has no flops(), but a function whose name differs a little; kprof
//   calls flops()
// expect: kprof: the operator has no flops(), but a function whose name differs a little; kprof
//   calls flops()
// expect: kprof: the operator has no bytes(), but a function whose name differs a little; kprof
//   calls bytes()
// expect: kprof: the operator has no bytes(), but a function whose name differs a little; kprof
//   calls bytes()
#include "use.hpp"

struct Good {
  int n;
  constexpr std::uint64_t flop() const { return 1; }  // a part of the formula
  constexpr std::uint64_t flops() const { return 2 * flop(); }
  int byte = 0;  // a parameter
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
struct Bad {
  int n;
#if KPROF_TEST_BAD == 1
  constexpr std::uint64_t flop() const { return 1; }
#elif KPROF_TEST_BAD == 2
  constexpr std::uint64_t Flops() const { return 1; }
#elif KPROF_TEST_BAD == 3
  constexpr std::uint64_t FLOPs() const { return 1; }
#elif KPROF_TEST_BAD == 4
  constexpr std::uint64_t FLOPS() const { return 1; }
#elif KPROF_TEST_BAD == 5
  constexpr kprof::traffic byte() const { return {}; }
#elif KPROF_TEST_BAD == 6
  constexpr kprof::traffic Bytes() const { return {}; }
#endif
};
KPROF_TEST_USE(Bad)
#endif
