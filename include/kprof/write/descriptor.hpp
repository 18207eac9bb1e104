// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_DESCRIPTOR_HPP
#define KPROF_WRITE_DESCRIPTOR_HPP

// What descriptors lead to, and writing to them past interruptions and full pipes. Included by
// whatever writes, which holds quiet_writes meanwhile.

#include <kprof/build_options.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a descriptor leads to: the same file, pipe or terminal has the same numbers. A new file may
/// get the number of one that was removed, but has its own time of birth.
struct descriptor_target {
  bool is_open = false;
  dev_t device = 0;
  ino_t file = 0;
  std::int64_t born_ns = 0;  // 0: the system does not tell it

  friend bool operator==(const descriptor_target& a, const descriptor_target& b) noexcept {
    return a.is_open == b.is_open && a.device == b.device && a.file == b.file &&
           (a.born_ns == b.born_ns || a.born_ns == 0 || b.born_ns == 0);
  }
};
[[gnu::cold]] inline std::int64_t birth_of([[maybe_unused]] int descriptor) noexcept {
#ifdef STATX_BTIME
  struct statx more {};
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &more) == 0 &&
      (more.stx_mask & STATX_BTIME) != 0)
    return std::int64_t{more.stx_btime.tv_sec} * 1'000'000'000 + more.stx_btime.tv_nsec;
#endif
  return 0;
}
[[gnu::cold]] inline descriptor_target target_of(int descriptor) noexcept {
  struct stat there {};
  if (fstat(descriptor, &there) != 0) return {};
  return {true, there.st_dev, there.st_ino, S_ISREG(there.st_mode) ? birth_of(descriptor) : 0};
}

/// How long a write waits for a reader that takes nothing.
inline constexpr int reader_patience_ms = 5000;

inline std::int64_t monotonic_ms() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// Waits until the descriptor takes more, or has an error that the next write tells. False: it took
/// nothing for so many milliseconds; below 0, it waits for ever.
[[gnu::cold]] inline bool wait_for_room(int descriptor, int patience_ms) noexcept {
  const std::int64_t end = monotonic_ms() + patience_ms;
  for (std::int64_t left = patience_ms;;) {
    pollfd waiting{descriptor, POLLOUT, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) return true;
    if (patience_ms < 0) continue;
    left = end - monotonic_ms();
    if (left <= 0) return false;
  }
}

inline bool is_non_blocking(int descriptor) noexcept {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

/// Writes from the front of `text`, and removes what was written. 0, or the number of the error:
/// EAGAIN where a descriptor in non-blocking mode takes nothing for so many milliseconds. One in
/// blocking mode waits as long as its reader does.
[[gnu::cold]] inline int write_front(int descriptor, std::string_view& text,
                                     int patience_ms = reader_patience_ms) noexcept {
  std::int64_t last_progress = -1;  // unknown
  while (!text.empty()) {
    const ssize_t size = ::write(descriptor, text.data(), text.size());
    if (size > 0) {
      text.remove_prefix(static_cast<std::size_t>(size));
      last_progress = -1;
    } else if (size == 0) {
      return EIO;
    } else if (errno == EAGAIN) {
      const std::int64_t now = monotonic_ms();
      if (last_progress < 0) last_progress = now;
      const std::int64_t left = last_progress + patience_ms - now;
      if (left <= 0 || !wait_for_room(descriptor, static_cast<int>(left))) return EAGAIN;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}
inline int write_all(int descriptor, std::string_view text,
                     int patience_ms = reader_patience_ms) noexcept {
  return write_front(descriptor, text, patience_ms);
}

/// Opens a file, past interruptions. It does not survive exec and becomes no controlling terminal.
[[gnu::cold]] inline int open_file(const char* path, int flags, mode_t mode = 0666) noexcept {
  for (;;) {
    const int descriptor = ::open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}
/// 0, or what the system says on closing that it could not write.
inline int close_file(int descriptor) noexcept {
  return ::close(descriptor) == 0 || errno == EINTR ? 0 : errno;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
