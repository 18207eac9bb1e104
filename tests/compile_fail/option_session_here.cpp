// SPDX-License-Identifier: MIT
// expect: kprof: KPROF_SESSION_HERE must be 0 or 1; define it as 1 or leave it out
// expect: kprof: KPROF_SESSION_HERE=1 contradicts KPROF_SESSION_ELSEWHERE=1; undefine the latter
#if KPROF_TEST_BAD == 1
#define KPROF_SESSION_HERE 2
#elif KPROF_TEST_BAD == 2
#define KPROF_SESSION_HERE 1
#define KPROF_SESSION_ELSEWHERE 1
#else
#define KPROF_SESSION_HERE 1
#endif
#include <kprof/build_options.hpp>
