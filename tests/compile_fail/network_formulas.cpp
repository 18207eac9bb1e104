// SPDX-License-Identifier: MIT
// expect: kprof: a network adds operators that have flops() and bytes(); return 0 where there are
//   none
#include <kprof/ops/network.hpp>

struct Mine {
  std::int64_t n = 1;
  constexpr kprof::count flops() const { return n; }
#ifndef KPROF_TEST_BAD
  constexpr kprof::traffic bytes() const { return {}; }
#endif
};
static_assert(kprof::ops::network{}.add(Mine{}).total().flops == 1);
