// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_STANDARD_STREAMS_HPP
#define KPROF_WRITE_STANDARD_STREAMS_HPP

// Whether the descriptors 1 and 2 are still the program's standard output and standard error. A
// program that closes one of them, as daemons do, may get its number for a file or a connection of
// its own, which must not get kprof's text. Included by whatever writes to them.

#include <kprof/build_options.hpp>
#include <kprof/write/descriptor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>

KPROF_DETAIL_BEGIN
namespace detail {

/// A terminal or /dev/null, which cannot be damaged.
[[gnu::cold]] inline bool is_harmless(int descriptor) noexcept {
  struct stat there {};
  if (fstat(descriptor, &there) != 0 || !S_ISCHR(there.st_mode)) return false;
  return there.st_rdev == gnu_dev_makedev(1, 3) || isatty(descriptor) != 0;
}

[[gnu::cold]] inline bool closes_on_exec(int descriptor) noexcept {
  return (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0;
}

/// Whether both were made from one opening of a file, pipe or socket, by dup2(): they have flags
/// and place in common, and a file was written through them from its beginning to its end.
[[gnu::cold]] inline bool are_one_log(int a, int b) noexcept {
  struct stat there {};
  const int flags = fcntl(a, F_GETFL);
  if (flags < 0 || flags != fcntl(b, F_GETFL) || (flags & O_ACCMODE) == O_RDONLY) return false;
  if (!(target_of(a) == target_of(b)) || closes_on_exec(a) || closes_on_exec(b)) return false;
  if (fstat(a, &there) != 0 || !S_ISREG(there.st_mode))
    return S_ISFIFO(there.st_mode) || S_ISSOCK(there.st_mode);
  const off_t place = lseek(a, 0, SEEK_CUR);
  return place == there.st_size && place == lseek(b, 0, SEEK_CUR);
}

/// What descriptors 1 and 2 led to when the session was made.
class standard_streams {
 public:
  standard_streams() noexcept
      : output_(target_of(STDOUT_FILENO)), errors_(target_of(STDERR_FILENO)) {}

  /// Whether 1 or 2 is a standard stream as far as can be told: it leads where it led, or where the
  /// other one did, or to a terminal or /dev/null, or both lead to one log. `for_program`: for what
  /// the program itself asks for, which may have another file capture its output; then only a
  /// descriptor that was closed at first, or that exec would close, is surely no stream.
  [[gnu::cold]] bool has(int descriptor, bool for_program) const noexcept {
    const descriptor_target now = target_of(descriptor);
    if (!now.is_open) return false;
    const bool was_open = (descriptor == STDOUT_FILENO ? output_ : errors_).is_open;
    return now == output_ || now == errors_ || is_harmless(descriptor) ||
           are_one_log(STDOUT_FILENO, STDERR_FILENO) ||
           (for_program && was_open && !closes_on_exec(descriptor));
  }

 private:
  descriptor_target output_, errors_;
};

using stream_test = bool (*)(int descriptor, bool for_program) noexcept;
/// standard_streams::has() of the session that this binary has found; nullptr: of none.
KPROF_DETAIL_LOCAL inline constinit std::atomic<stream_test> known_streams{nullptr};

inline bool is_standard_stream(int descriptor, bool for_program = false) noexcept {
  const stream_test test = known_streams;
  return test == nullptr || test(descriptor, for_program);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
