// SPDX-License-Identifier: MIT
// The same functions for a program that is compiled with KPROF_ENABLE=0 and linked with a library
// that is not: they do nothing and say so.
#undef KPROF_ENABLE
#define KPROF_ENABLE 0
#undef KPROF_NVTX
#undef KPROF_SESSION_ELSEWHERE
#define KPROF_SESSION_HERE 1
#include <kprof/kprof.hpp>
