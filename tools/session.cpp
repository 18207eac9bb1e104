// SPDX-License-Identifier: MIT
// The session and the report, compiled once: the library kprof::session, and libkprof.so, which is
// preloaded, to which CMake adds the headers of all other outputs. With another build system,
// compile a file that includes this one, and kprof/report/html.hpp for instance, beside a program's
// own, which then have KPROF_SESSION_ELSEWHERE=1.
#undef KPROF_SESSION_ELSEWHERE
#define KPROF_SESSION_HERE 1
#include <kprof/kprof.hpp>

#if KPROF_ENABLE
// A linker takes a file out of a static library for a symbol that somebody asks for. The target
// kprof::session asks for this one, so that a program that only has guards gets a session too.
extern "C" [[gnu::visibility("hidden"), gnu::used]] const char kprof_session_is_linked = 1;
#endif
