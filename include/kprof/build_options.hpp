// SPDX-License-Identifier: MIT
#ifndef KPROF_BUILD_OPTIONS_HPP
#define KPROF_BUILD_OPTIONS_HPP

// Compile-time options, each always 0 or 1, and the inline namespace that keeps incompatible builds
// apart. Define an option before the first kprof header or on the command line; run-time settings
// are in settings.hpp.
//
//   option                   default      meaning of 1
//   KPROF_ENABLE             1            guards and session exist; 0 removes every trace of them
//   KPROF_NVTX               1 when       scopes are sent to an attached NVTX tool
//                            <nvtx3/nvToolsExt.h> can be found, else 0
//   KPROF_SESSION_ELSEWHERE  0            kprof.hpp declares the session and the report; they are
//                                         compiled in the one file of the binary that has
//   KPROF_SESSION_HERE       0            kprof.hpp compiles them for all files of the binary
//
// With neither of the last two, each file that includes kprof.hpp compiles all of kprof.

#ifndef KPROF_ENABLE
#define KPROF_ENABLE 1
#elif KPROF_ENABLE != 0 && KPROF_ENABLE != 1
#error "kprof: KPROF_ENABLE must be 0 or 1; define it as -DKPROF_ENABLE=0 or leave it out"
#endif

#ifndef KPROF_NVTX
#if KPROF_ENABLE && __has_include(<nvtx3/nvToolsExt.h>)
#define KPROF_NVTX 1
#else
#define KPROF_NVTX 0
#endif
#elif KPROF_NVTX != 0 && KPROF_NVTX != 1
#error "kprof: KPROF_NVTX must be 0 or 1; define it as -DKPROF_NVTX=0 or leave it out"
#elif KPROF_NVTX == 1 && KPROF_ENABLE == 0
#error "kprof: KPROF_NVTX=1 contradicts KPROF_ENABLE=0; leave KPROF_NVTX out or enable kprof"
#elif KPROF_NVTX == 1 && !__has_include(<nvtx3/nvToolsExt.h>)
#error "kprof: KPROF_NVTX=1 but <nvtx3/nvToolsExt.h> cannot be found; add the CUDA include folder"
#endif

#ifndef KPROF_SESSION_ELSEWHERE
#define KPROF_SESSION_ELSEWHERE 0
#elif KPROF_SESSION_ELSEWHERE != 0 && KPROF_SESSION_ELSEWHERE != 1
#error "kprof: KPROF_SESSION_ELSEWHERE must be 0 or 1; define it as 1 or leave it out"
#endif
#ifndef KPROF_SESSION_HERE
#define KPROF_SESSION_HERE 0
#elif KPROF_SESSION_HERE != 0 && KPROF_SESSION_HERE != 1
#error "kprof: KPROF_SESSION_HERE must be 0 or 1; define it as 1 or leave it out"
#elif KPROF_SESSION_HERE == 1 && KPROF_SESSION_ELSEWHERE == 1
#error "kprof: KPROF_SESSION_HERE=1 contradicts KPROF_SESSION_ELSEWHERE=1; undefine the latter"
#endif

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "kprof: C++20 is needed; compile with -std=c++20 or newer"
#endif

// What crosses from one binary to another is described in attach/hub.hpp and changes only together
// with this name.
#if KPROF_ENABLE
#define KPROF_DETAIL_ABI v1
#else
#define KPROF_DETAIL_ABI v1_off
#endif
#if defined(__CUDACC__)
// nvcc warns of the hidden visibility of templates whose arguments lie in an unnamed namespace:
// they are local anyway.
#define KPROF_DETAIL_BEGIN                                                         \
  _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1407") namespace kprof { \
    inline namespace KPROF_DETAIL_ABI {
#define KPROF_DETAIL_END \
  }                      \
  }                      \
  _Pragma("nv_diagnostic pop")
#else
#define KPROF_DETAIL_BEGIN \
  namespace kprof {        \
  inline namespace KPROF_DETAIL_ABI {
#define KPROF_DETAIL_END \
  }                      \
  }
#endif

// For state that each binary must have for itself, and for all code that touches it: were that code
// exported, the loader would let one binary run another's. Not for public types, of which the
// compiler would warn in every struct of a user.
#define KPROF_DETAIL_LOCAL [[gnu::visibility("hidden")]]

// Before the functions of the session and the report that are compiled once a binary, or in each
// file.
#if KPROF_SESSION_HERE || KPROF_SESSION_ELSEWHERE
#define KPROF_DETAIL_SESSION KPROF_DETAIL_LOCAL
#else
#define KPROF_DETAIL_SESSION KPROF_DETAIL_LOCAL inline
#endif

#endif
