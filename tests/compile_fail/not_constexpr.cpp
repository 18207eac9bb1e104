// SPDX-License-Identifier: MIT
// Formulas must be usable in constant expressions, with the default parameters at least.
// expect: kprof: flops() is not usable in a constant expression; declare it constexpr, and give the
//   fields default values for which it is defined
// expect: kprof: bytes() is not usable in a constant expression; declare it constexpr, and give the
//   fields default values for which it is defined
// expect: kprof: valid() is not usable in a constant expression; declare it constexpr
// expect: kprof: arithmetic() is not usable in a constant expression; declare it constexpr
// expect: kprof: flops() is not usable in a constant expression
// expect: kprof: flops() is not usable in a constant expression
// expect: kprof: flops() is not usable in a constant expression
// expect: kprof: bytes() is not usable in a constant expression
// expect: kprof: threads() is not usable in a constant expression; declare it constexpr
#include "use.hpp"

struct Good {
  int n = 4;
  kprof::dtype type = kprof::dtype::f32;
  constexpr std::uint64_t flops() const { return static_cast<std::uint64_t>(100 / n); }
  constexpr kprof::traffic bytes() const { return {.read = n * size_of(type), .written = 0}; }
  constexpr bool valid() const { return n >= 0; }
  constexpr kprof::arithmetic arithmetic() const { return {}; }
  constexpr int threads() const { return n; }
};
KPROF_TEST_USE(Good)

#ifdef KPROF_TEST_BAD
int outside();
struct Bad {
  int n = 0;
#if KPROF_TEST_BAD == 1
  std::uint64_t flops() const { return 1; }
#elif KPROF_TEST_BAD == 2
  kprof::traffic bytes() const { return {}; }
#elif KPROF_TEST_BAD == 3
  bool valid() const { return n >= 0; }
#elif KPROF_TEST_BAD == 4
  kprof::arithmetic arithmetic() const { return {}; }
#elif KPROF_TEST_BAD == 5
  constexpr std::uint64_t flops() const { return static_cast<std::uint64_t>(100 / n); }
#elif KPROF_TEST_BAD == 6
  // Overflows for the default parameters.
  constexpr kprof::count flops() const { return kprof::count{~0ULL - 1} * 2; }
#elif KPROF_TEST_BAD == 7
  constexpr kprof::count flops() const { return n == 0 ? outside() : 1; }
#elif KPROF_TEST_BAD == 8
  // An element type without a whole byte size: dtype::unknown, the default.
  kprof::dtype type{};
  constexpr kprof::traffic bytes() const { return {.read = n * size_of(type), .written = 0}; }
#elif KPROF_TEST_BAD == 9
  int threads() const { return 2; }
#endif
};
KPROF_TEST_USE(Bad)
#endif
