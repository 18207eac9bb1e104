// SPDX-License-Identifier: MIT
// expect: kprof: KPROF_NVTX must be 0 or 1; define it as -DKPROF_NVTX=0 or leave it out
#if KPROF_TEST_BAD == 1
#define KPROF_NVTX 2
#else
#define KPROF_NVTX 0
#endif
#include <kprof/build_options.hpp>
