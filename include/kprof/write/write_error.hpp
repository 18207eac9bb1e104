// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_WRITE_ERROR_HPP
#define KPROF_WRITE_WRITE_ERROR_HPP

// What kprof says when it cannot write, and what to do about it. Included by whatever writes.

#include <kprof/build_options.hpp>
#include <kprof/status.hpp>
#include <kprof/write/printable.hpp>

#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// Beside the system's errors, which are positive.
inline constexpr int folder_in_proc = -1;

/// Whether the process may make files of some sizes only, as `ulimit -f` says.
[[gnu::cold]] inline bool limits_file_size() noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

inline const char* remedy_for(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return "the folder does not exist: create it, or choose another path";
    case EACCES:
    case EPERM:
    case EROFS: return "no permission to write there: choose another path";
    case EISDIR: return "it is a folder: add a file name";
    case ENOSPC:
    case EDQUOT: return "no space left: free some, or choose another disk";
    case EFBIG:
      return limits_file_size()
                 ? "a file of this process may not be as large: raise `ulimit -f`"
                 : "no file on that disk can be as large: choose another disk, or write less";
    case folder_in_proc: return "no file can be made in /proc: choose a path in another folder";
    case EPIPE: return "its reader has ended: keep it running, or write to a file";
    case ENXIO: return "nobody reads from it: start its reader first, or write to a file";
    case EAGAIN: return "its reader took nothing for 5 s: keep it reading, or write to a file";
    case EBADF: return "it is closed: write to a file, or report before it is closed";
    case EMFILE:
    case ENFILE: return "too many files are open: close some, or raise `ulimit -n`";
    default: return nullptr;
  }
}

/// `where` is fit to print.
[[gnu::cold]] inline status cannot_write(const std::string& where, int error) {
  const char* remedy = remedy_for(error);
  return {"cannot write to " + where + ": " +
          (remedy != nullptr ? std::string{remedy}
                             : std::string{std::strerror(error)} + "; write to a file elsewhere")};
}

/// A path for an error line.
[[gnu::cold]] inline std::string quoted_path(const std::string& path) {
  return '"' + printable(path, 300) + '"';
}

}  // namespace detail
KPROF_DETAIL_END

#endif
