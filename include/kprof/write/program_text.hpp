// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_PROGRAM_TEXT_HPP
#define KPROF_WRITE_PROGRAM_TEXT_HPP

// What the program has printed to stdout and the stream still holds: it comes before what kprof
// writes to the same descriptor. Included by destination.hpp.

#include <kprof/build_options.hpp>
#include <kprof/write/descriptor.hpp>

#include <stdio_ext.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// Holds stdout's lock, unless another thread keeps it for a second: exit() does not wait for one
/// that is stuck in a write either.
class stdout_lock {
 public:
  [[gnu::cold]] stdout_lock() noexcept {
    constexpr timespec pause{0, 1'000'000};
    for (int attempt = 0; !held_ && attempt < 1000; ++attempt) {
      held_ = ftrylockfile(stdout) == 0;
      if (!held_) nanosleep(&pause, nullptr);
    }
  }
  stdout_lock(const stdout_lock&) = delete;
  stdout_lock& operator=(const stdout_lock&) = delete;
  ~stdout_lock() {
    if (held_) funlockfile(stdout);
  }
  explicit operator bool() const noexcept { return held_; }

 private:
  bool held_ = false;
};

/// Writes what stdout holds to the descriptor, which is its own. 0, or the number of the error;
/// then the stream still holds what could not be written, and its error indicator is as before: the
/// program finds the error itself.
///
/// fflush() would throw the text away when it fails, and when a signal interrupts it. It is used
/// where kprof cannot see the stream's buffer: for wide characters, and in other C libraries than
/// glibc.
[[gnu::cold]] inline int write_program_text(int descriptor) {
  if (__fpending(stdout) == 0) return 0;
  if (!wait_for_room(descriptor, is_non_blocking(descriptor) ? reader_patience_ms : -1))
    return EAGAIN;
  const stdout_lock lock;
  if (!lock) return 0;
#if defined(__GLIBC__)
  if (std::fwide(stdout, 0) <= 0) {
    const std::string held(stdout->_IO_write_base, __fpending(stdout));
    std::string_view left = held;
    const int error = write_front(descriptor, left);
    if (left.size() == held.size()) return error;
    __fpurge(stdout);
    if (!left.empty()) std::fwrite(left.data(), 1, left.size(), stdout);
    return error;
  }
#endif
  return std::fflush(stdout) == 0 ? 0 : errno;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
