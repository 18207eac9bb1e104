// SPDX-License-Identifier: MIT
// libkprof.so beside the session itself: says that the session was preloaded, and has the outputs
// written when the program calls _exit(), as os._exit() of Python does, or sends itself a signal to
// end by, as Python does after Ctrl-C and many handlers do.
#include <kprof/session/end_watch.hpp>
#include <kprof/session/preloaded.hpp>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#if KPROF_ENABLE
namespace {
// Before the session is armed, which is what other constructors do.
[[gnu::constructor(101)]] void say_so() { kprof::detail::session_is_preloaded = true; }

[[noreturn]] void end_process(int status) {
  kprof::detail::end_watch::write_now();
  for (;;) syscall(SYS_exit_group, status);
}
// The program sends itself a signal. Has the outputs written first where it ends the program.
void write_before(int signal) {
  if (kprof::detail::end_watch::has_default_action(signal))
    kprof::detail::end_watch::write_now(signal);
}
}  // namespace

// In place of the C library's.
extern "C" {
[[gnu::visibility("default")]] int kill(pid_t process, int signal) noexcept {
  if (process == getpid()) write_before(signal);
  return static_cast<int>(syscall(SYS_kill, process, signal));
}
[[gnu::visibility("default")]] int raise(int signal) noexcept {
  write_before(signal);
  return static_cast<int>(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal));
}
[[gnu::visibility("default")]] void _exit(int status) { end_process(status); }
[[gnu::visibility("default")]] void _Exit(int status) noexcept { end_process(status); }
}
#endif
