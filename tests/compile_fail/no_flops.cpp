// SPDX-License-Identifier: MIT
// flops_of() needs a formula.
// expect: kprof: the operator declares no flops(); add `constexpr std::uint64_t flops() const`
#include "use.hpp"

struct Good {
  int n = 1;
  constexpr kprof::count flops() const { return n; }
};
static_assert(kprof::flops_of(Good{.n = 3}) == 3);

#ifdef KPROF_TEST_BAD
struct Bad {
  int n;
};
constexpr kprof::count none = kprof::flops_of(Bad{.n = 3});
#endif
