// SPDX-License-Identifier: MIT
// libkprof.so beside the session itself: says that the session was preloaded.
#include <kprof/session/preloaded.hpp>

#if KPROF_ENABLE
namespace {
// Before the session is armed, which is what other constructors do.
[[gnu::constructor(101)]] void say_so() { kprof::detail::session_is_preloaded = true; }
}  // namespace
#endif
