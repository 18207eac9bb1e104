// SPDX-License-Identifier: MIT
// expect: kprof: KPROF_SESSION_ELSEWHERE must be 0 or 1; define it as 1 or leave it out
#if KPROF_TEST_BAD == 1
#define KPROF_SESSION_ELSEWHERE 2
#else
#define KPROF_SESSION_ELSEWHERE 1
#endif
#include <kprof/build_options.hpp>
