// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_FILE_PLACE_HPP
#define KPROF_WRITE_FILE_PLACE_HPP

// What a path leads to, before it is written. Included by output_file.hpp.

#include <kprof/build_options.hpp>
#include <kprof/write/descriptor.hpp>
#include <kprof/write/write_error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a path leads to.
struct file_place {
  std::string path;      // links at its end followed, also one to what is not there yet
  struct stat there {};  // of what is there
  bool exists = false;
  bool can_be_replaced = true;   // by another file that takes its name, or by its contents
  bool has_other_names = false;  // which it would lose if another file took its name
  int descriptor = -1;           // of this process, where the path names one as /dev/stdout does
  int error = 0;                 // it cannot be followed: of the system's, or folder_in_proc
};

/// Whether a file is there or can be made there, and not a device, a pipe or an open descriptor.
inline bool is_for_file(const file_place& place) noexcept {
  return place.descriptor < 0 && (!place.exists || S_ISREG(place.there.st_mode));
}

/// The number of the descriptor that /proc/self/fd/NUMBER leads to; -1: it is another process's.
[[gnu::cold]] inline int descriptor_named(const std::string& link) noexcept {
  const std::size_t at = link.rfind('/') + 1;  // 0 where there is none
  int number = 0;
  if (at == link.size() || link.size() - at > 7) return -1;
  for (const char c : std::string_view{link}.substr(at)) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  struct stat there {};
  const descriptor_target own = target_of(number);
  const bool same =
      stat(link.c_str(), &there) == 0 && own == descriptor_target{true, there.st_dev, there.st_ino};
  return same ? number : -1;
}

/// A path beside `file`, unless it begins at the root.
[[gnu::cold]] inline std::string relative_to(const std::string& file, const std::string& path) {
  if (!path.empty() && path[0] == '/') return path;
  return file.substr(0, file.rfind('/') + 1) + path;
}

[[gnu::cold]] inline bool is_in_proc(const struct stat& there) noexcept {
  struct stat proc {};
  return stat("/proc/self", &proc) == 0 && proc.st_dev == there.st_dev;
}

/// Whether a folder in /proc is one that names open descriptors. A path may name it by itself.
[[gnu::cold]] inline bool is_folder_of_descriptors(const std::string& folder) {
  char target[PATH_MAX];
  if (folder != "." || getcwd(target, sizeof target) == nullptr) return folder.ends_with("fd/");
  return std::string_view{target}.ends_with("/fd");
}

[[gnu::cold]] inline file_place find_place(std::string path) {
  file_place place{.path = std::move(path)};
  for (int links = 0; lstat(place.path.c_str(), &place.there) == 0; ++links) {
    // The links in /proc/PID/fd lead to open files, not to where they seem to.
    const bool leads_to_open_file = S_ISLNK(place.there.st_mode) && is_in_proc(place.there);
    if (leads_to_open_file) {
      place.descriptor = descriptor_named(place.path);
      if (stat(place.path.c_str(), &place.there) != 0) place.error = errno;
    }
    if (leads_to_open_file || !S_ISLNK(place.there.st_mode)) {
      place.exists = true;
      place.can_be_replaced = !leads_to_open_file && S_ISREG(place.there.st_mode);
      place.has_other_names = place.there.st_nlink > 1;
      return place;
    }
    char target[PATH_MAX];
    const ssize_t size = readlink(place.path.c_str(), target, sizeof target);
    if (size < 0 || links == 40) {
      place.error = size < 0 ? errno : ELOOP;
      return place;
    }
    place.path = relative_to(place.path, std::string(target, static_cast<std::size_t>(size)));
  }
  const int error = errno;
  const std::size_t name = place.path.rfind('/') + 1;
  const std::string folder = name == 0 ? "." : place.path.substr(0, name);
  if (error != ENOENT) place.error = error;
  else if (stat(folder.c_str(), &place.there) == 0 && is_in_proc(place.there))
    place.error = is_folder_of_descriptors(folder) ? EBADF : folder_in_proc;
  return place;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
