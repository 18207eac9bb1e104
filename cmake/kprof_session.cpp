// SPDX-License-Identifier: MIT
// The session and the report, compiled once for a program whose other files have
// KPROF_SESSION_ELSEWHERE=1. The CMake target kprof::session adds it to what links that; with
// another build system, compile it beside the program's own files.
#undef KPROF_SESSION_ELSEWHERE
#define KPROF_SESSION_HERE 1
#include <kprof/kprof.hpp>
