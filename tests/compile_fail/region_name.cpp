// SPDX-License-Identifier: MIT
// A region's name is text.
// expect-anywhere: region_name
// expect-anywhere: region_guard
#include <kprof/guard.hpp>

#include <string>

void good(const std::string& name) {
  KPROF_REGION("layer");
  KPROF_REGION(name);
  kprof::region_guard guard{name};
}

#ifdef KPROF_TEST_BAD
void bad() {
#if KPROF_TEST_BAD == 1
  KPROF_REGION(3.5);
#elif KPROF_TEST_BAD == 2
  kprof::region_guard guard{3.5};
#endif
}
#endif
