// SPDX-License-Identifier: MIT
#ifndef KPROF_WRITE_OUTPUT_FILE_HPP
#define KPROF_WRITE_OUTPUT_FILE_HPP

// A file that is written beside its place and takes it when it is complete, so that no half file
// lies under the name, not even after a crash, and a failure leaves what was there. Included by
// destination.hpp, which holds quiet_writes meanwhile. Used by one thread.

#include <kprof/build_options.hpp>
#include <kprof/status.hpp>
#include <kprof/write/descriptor.hpp>
#include <kprof/write/file_place.hpp>
#include <kprof/write/write_error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Opens what is no file, such as a pipe or a device. A pipe without a reader gets a second for one
/// to come; it would take a plain open() for ever.
[[gnu::cold]] inline int open_special(const std::string& path) noexcept {
  constexpr timespec pause{0, 10'000'000};
  for (int attempt = 0;; ++attempt) {
    const int descriptor = open_file(path.c_str(), O_WRONLY | O_NONBLOCK);
    if (descriptor >= 0 || errno != ENXIO || attempt == 100) return descriptor;
    nanosleep(&pause, nullptr);
  }
}

/// What copy_file() came to.
struct copy_result {
  int error = 0;            // its number; 0: none
  bool is_damaged = false;  // the target is neither what it was nor the whole copy
};
/// Copies one file into another, which exists.
[[gnu::cold]] inline copy_result copy_file(const std::string& from,
                                           const std::string& to) noexcept {
  const int source = open_file(from.c_str(), O_RDONLY);
  if (source < 0) return {errno, false};
  const int target = open_file(to.c_str(), O_WRONLY | O_TRUNC);
  int error = target < 0 ? errno : 0;
  const bool is_open = target >= 0;
  char block[16 * 1024];
  while (error == 0) {
    const ssize_t size = ::read(source, block, sizeof block);
    if (size == 0) break;
    if (size < 0) error = errno == EINTR ? 0 : errno;
    else error = write_all(target, {block, static_cast<std::size_t>(size)});
  }
  close_file(source);
  const int at_close = is_open ? close_file(target) : 0;
  if (error == 0) error = at_close;
  return {error, is_open && error != 0};
}

/// Gives a new file the access control list of the one at `path`, or none where that has none: a
/// new file takes one over from its folder. Without it the mode's bits for the group would say
/// whom the list allows at most.
[[gnu::cold]] inline bool take_access_list(int made, const char* path) noexcept {
  constexpr const char* name = "system.posix_acl_access";
  const auto has_none = [] { return errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS; };
  char list[8 * 1024];  // a thousand entries
  const ssize_t size = getxattr(path, name, list, sizeof list);
  if (size > 0) return fsetxattr(made, name, list, static_cast<std::size_t>(size), 0) == 0;
  if (size < 0 && !has_none()) return false;
  return fremovexattr(made, name) == 0 || has_none();
}

/// A file is replaced by one of the same owner and permissions. Where it has several names or is
/// mounted, the new one is copied into it. What cannot be replaced is written in place: what is no
/// file, as a pipe or a device; one in a folder that does not let kprof make files, or whose owner
/// kprof cannot give to another file.
class output_file {
 public:
  /// `shown` is the path for messages.
  [[gnu::cold]] output_file(file_place place, std::string shown)
      : shown_(std::move(shown)), place_(std::move(place)) {
    if (!place_.can_be_replaced) open_in_place();
    else if (place_.exists && faccessat(AT_FDCWD, place_.path.c_str(), W_OK, AT_EACCESS) != 0)
      error_ = errno;
    else open_aside();
  }
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  [[gnu::cold]] ~output_file() {
    if (descriptor_ >= 0) close_file(descriptor_);
    if (!aside_.empty() && !keeps_aside_) unlink(aside_.c_str());
  }

  [[gnu::cold]] void write(std::string_view text) noexcept {
    if (error_ == 0) error_ = write_all(descriptor_, text);
  }
  /// What went wrong so far.
  [[gnu::cold]] status so_far() const {
    if (error_ == 0) return {};
    status s = cannot_write(shown_, error_);
    if (is_half_written_) s.message += "; what has been written is not complete";
    if (keeps_aside_) s.message += "; the whole of it is in " + quoted_path(aside_);
    return s;
  }
  /// Closes the file and gives it its name.
  [[gnu::cold]] status finish() {
    if (descriptor_ >= 0) {
      const int error = close_file(std::exchange(descriptor_, -1));
      if (error_ == 0) error_ = error;
    }
    if (error_ == 0 && !aside_.empty()) take_place();
    if (error_ == 0) is_half_written_ = false;
    return so_far();
  }

 private:
  [[gnu::cold]] void open_in_place() {
    if (!place_.exists) descriptor_ = open_file(place_.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
    else if (!S_ISREG(place_.there.st_mode)) descriptor_ = open_special(place_.path);
    else descriptor_ = open_file(place_.path.c_str(), O_WRONLY | O_TRUNC);
    if (descriptor_ < 0) error_ = errno;
    is_half_written_ = descriptor_ >= 0;
  }

  [[gnu::cold]] void open_aside() {
    make_aside(place_.path + '.');
    // The name may be too long with more behind it.
    if (descriptor_ < 0 && errno == ENAMETOOLONG)
      make_aside(place_.path.substr(0, place_.path.rfind('/') + 1) + "kprof.");
    if (descriptor_ >= 0) {
      if (!place_.exists || takes_after(place_.there)) return;
      close_file(std::exchange(descriptor_, -1));
      unlink(aside_.c_str());
      errno = EPERM;
    }
    aside_.clear();
    const bool may_be_written =
        errno == ENAMETOOLONG ||
        (place_.exists && (errno == EACCES || errno == EPERM || errno == EROFS));
    if (may_be_written) open_in_place();
    else error_ = errno;
  }
  /// Other threads and processes that write to the same path have files of their own.
  [[gnu::cold]] void make_aside(const std::string& beginning) {
    static std::atomic<unsigned> number{0};
    for (int attempt = 0; attempt < 100; ++attempt) {
      aside_ = beginning + std::to_string(getpid()) + '.' + std::to_string(++number) + ".part";
      // Nobody else may open it before it has the permissions of the file that it replaces.
      const mode_t mode = place_.exists ? 0600 : 0666;
      descriptor_ = open_file(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL, mode);
      if (descriptor_ >= 0 || errno != EEXIST) return;
    }
  }
  /// Gives the new file the owner and the permissions of the one that it replaces.
  [[gnu::cold]] bool takes_after(const struct stat& old) const noexcept {
    struct stat made {};
    if (fstat(descriptor_, &made) != 0) return false;
    if ((made.st_uid != old.st_uid || made.st_gid != old.st_gid) &&
        fchown(descriptor_, old.st_uid, old.st_gid) != 0)
      return false;
    if (!take_access_list(descriptor_, place_.path.c_str()) || fstat(descriptor_, &made) != 0)
      return false;
    return ((made.st_mode ^ old.st_mode) & 07777U) == 0 ||
           fchmod(descriptor_, old.st_mode & 07777U) == 0;
  }

  [[gnu::cold]] void take_place() {
    if (!place_.has_other_names) {
      if (std::rename(aside_.c_str(), place_.path.c_str()) == 0) {
        aside_.clear();
        return;
      }
      error_ = errno;
      // A file that a container has mounted, or another user's in a folder such as /tmp.
      if (!place_.exists || (error_ != EBUSY && error_ != EXDEV && error_ != EPERM)) return;
    }
    const copy_result copied = copy_file(aside_, place_.path);
    error_ = copied.error;
    is_half_written_ = keeps_aside_ = copied.is_damaged;
  }

  std::string shown_;
  file_place place_;
  std::string aside_;  // empty: it is written in place
  int descriptor_ = -1;
  int error_ = 0;
  bool is_half_written_ = false;  // under its name
  bool keeps_aside_ = false;      // which is all that is left of it
};

}  // namespace detail
KPROF_DETAIL_END

#endif
