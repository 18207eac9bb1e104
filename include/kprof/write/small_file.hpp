// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_SMALL_FILE_HPP
#define KPROF_WRITE_SMALL_FILE_HPP

// Reads files that a person may have written, such as ceilings. Included by what takes them.

#include <kprof/build_options.hpp>
#include <kprof/write/descriptor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// A whole file of at most 64 KiB.
struct small_file {
  std::string text;
  std::string error;  // why it was not read
  bool is_missing = false;
  std::int64_t age_s = 0;
};
[[gnu::cold]] inline small_file read_small_file(const std::string& path) {
  small_file out;
  constexpr std::size_t most = std::size_t{64} << 10U;
  // A pipe without a writer would keep a plain open() for ever.
  const int descriptor = open_file(path.c_str(), O_RDONLY | O_NONBLOCK);
  struct stat there {};
  if (descriptor < 0 || fstat(descriptor, &there) != 0) {
    out.is_missing = errno == ENOENT || errno == ENOTDIR;
    out.error = "cannot be read (" + std::string(std::strerror(errno)) + ')';
  } else if (!S_ISREG(there.st_mode)) {
    out.error = "is no file";
  } else if (static_cast<std::uint64_t>(there.st_size) > most) {
    out.error = "is larger than 64 KiB";
  } else {
    out.age_s = std::int64_t{time(nullptr)} - there.st_mtime;
    char block[4096];
    for (ssize_t size = 1; size != 0 && out.text.size() <= most;) {
      size = ::read(descriptor, block, sizeof block);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) out.error = "cannot be read (" + std::string(std::strerror(errno)) + ')';
      if (size <= 0) break;
      out.text.append(block, static_cast<std::size_t>(size));
    }
  }
  if (descriptor >= 0) close_file(descriptor);
  return out;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
