// SPDX-License-Identifier: MIT
// expect: kprof: KPROF_NVTX=1 contradicts KPROF_ENABLE=0; leave KPROF_NVTX out or enable kprof
#define KPROF_ENABLE 0
#ifdef KPROF_TEST_BAD
#define KPROF_NVTX 1
#endif
#include <kprof/build_options.hpp>
