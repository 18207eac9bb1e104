// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_NO_SESSION_HPP
#define KPROF_ATTACH_NO_SESSION_HPP

// The line on standard error of a process that has guards and no session although KPROF is set.
// hub.hpp includes it, so every file with guards pays for it: <unistd.h>, <csignal> and
// <sys/stat.h> together are a fifth of guard.hpp. Hence one declaration, of syscall(), which is no
// point of cancellation either.

#include <kprof/attach/environment_variable.hpp>
#include <kprof/attach/find_modules.hpp>
#include <kprof/build_options.hpp>

#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

extern "C" long kprof_system_call(long number, ...) noexcept __asm__("syscall");

/// Whether a text for KPROF asks a session for anything: not where all that it says is `off`, or
/// that something is.
constexpr bool asks_for_session(const char* text) noexcept {
  bool asks = false, is_off = false, is_quoted = false;
  int parentheses = 0;
  for (const char* setting = text;; ++text) {
    if (*text == '"') is_quoted = !is_quoted;
    else if (is_quoted && *text == '\\' && text[1] != '\0') ++text;
    else if (!is_quoted && *text == '(') ++parentheses;
    else if (!is_quoted && *text == ')') --parentheses;
    if (*text != '\0' && (*text != ',' || is_quoted || parentheses > 0)) continue;
    const char* end = text;
    while (setting < end && *setting == ' ') ++setting;
    while (setting < end && end[-1] == ' ') --end;
    const auto size = end - setting;
    const bool says_off = size >= 3 && end[-3] == 'o' && end[-2] == 'f' && end[-1] == 'f';
    if (size == 3 && says_off) is_off = true;
    else if (size == 2 && setting[0] == 'o' && setting[1] == 'n') is_off = false;
    if (size > 0 && !(says_off && (size == 3 || end[-4] == '='))) asks = true;
    if (*text == '\0') return asks && !is_off;
    setting = text + 1;
  }
}

/// Where a descriptor leads: device and file, the first members of the system's `stat`; zeros where
/// it is closed.
struct stream_target {
  unsigned long device = 0, file = 0;

  friend bool operator==(const stream_target&, const stream_target&) = default;
};
[[gnu::cold]] inline stream_target find_stream_target(int descriptor) noexcept {
  unsigned long there[64]{};
  if (kprof_system_call(SYS_fstat, descriptor, there) != 0) return {};
  return {there[0], there[1]};
}

/// Writes one line of less than PIPE_BUF bytes on standard error. It is lost where that takes
/// nothing for a second. A reader that has gone raises no signal, as with quiet_writes, which says
/// why SIGPIPE and SIGXFSZ are both meant.
[[gnu::cold]] inline void write_line(const char* line, unsigned long size) noexcept {
  constexpr std::uint64_t raised_by_writes = 1ULL << (13 - 1) | 1ULL << (25 - 1);
  constexpr int block = 0, set = 2;  // SIG_BLOCK, SIG_SETMASK
  constexpr long set_size = sizeof raised_by_writes;
  const int error = errno;
  std::uint64_t pending = 0, before = 0;
  kprof_system_call(SYS_rt_sigpending, &pending, set_size);
  const std::uint64_t ours = raised_by_writes & ~pending;
  kprof_system_call(SYS_rt_sigprocmask, block, &ours, &before, set_size);
  struct {  // the system's pollfd
    int descriptor;
    short wanted, seen;
  } standard_error{2, 4, 0};  // POLLOUT
  const long second[2] = {1, 0}, at_once[2] = {0, 0};
  if (kprof_system_call(SYS_ppoll, &standard_error, 1L, second, nullptr, 0L) > 0)
    kprof_system_call(SYS_write, 2, line, size);
  while (kprof_system_call(SYS_rt_sigtimedwait, &ours, nullptr, at_once, set_size) > 0) {}
  kprof_system_call(SYS_rt_sigprocmask, set, &before, nullptr, set_size);
  errno = error;
}

/// Of one module. The last module with guards that leaves the process says that there was no
/// session: only then is it certain. Nothing is said in the child of a fork, where standard error
/// has come to be something else, or where a module of another build may have its own session.
class no_session_notice {
 public:
  KPROF_DETAIL_LOCAL no_session_notice() noexcept {
    const char* const text = environment_variable("KPROF");
    if (text == nullptr || !asks_for_session(text)) return;
    bool all_are_known = true;
    for_each_other_module([&](const char*) noexcept { all_are_known = false; });
    if (!all_are_known) return;
    process_ = kprof_system_call(SYS_getpid);
    standard_error_ = find_stream_target(2);
  }
  /// The module leaves, and its record is no longer found.
  [[gnu::cold]] KPROF_DETAIL_LOCAL void leave(const hub_record* hub) const noexcept {
    if (process_ == 0 || (hub != nullptr && load(hub->session) != nullptr)) return;
    if (process_ != kprof_system_call(SYS_getpid)) return;
    bool is_last = true;
    for_each_module([&](const module_record&) { is_last = false; });
    if (!is_last || find_stream_target(2) != standard_error_) return;
    static constexpr char line[] =
        "kprof: "
        "KPROF is set, but the program has guards and no session, so nothing was recorded; link "
        "kprof::session, or include <kprof/kprof.hpp> in one of its files, or start it with kprof "
        "run\n";
    write_line(line, sizeof line - 1);
  }

 private:
  long process_ = 0;  // 0: nothing is to be said
  stream_target standard_error_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
