// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_SAVED_ASIDE_FILE_HPP
#define KPROF_REPORT_SAVED_ASIDE_FILE_HPP

// A file that is written beside its place and takes it when it is complete, so that no half file
// lies under the name, not even after a crash. Included by save.hpp. Used by one thread.

#include <kprof/build_options.hpp>
#include <kprof/report/destination.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/status.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

KPROF_DETAIL_BEGIN
namespace detail {

class aside_file {
 public:
  /// A link keeps leading to the file, which is replaced; what is no file, as a pipe or a device,
  /// is written to.
  explicit aside_file(std::string path) : shown_(path), path_(std::move(path)) {
    struct stat there {};
    const bool exists = stat(path_.c_str(), &there) == 0;
    replaces_ = !exists || S_ISREG(there.st_mode);
    if (!replaces_) {
      file_ = std::fopen(path_.c_str(), "we");
    } else {
      if (char* const real = exists ? realpath(path_.c_str(), nullptr) : nullptr) {
        path_ = real;
        std::free(real);
      }
      open_aside(exists ? there.st_mode & 07777U : 0);
    }
    if (file_ == nullptr) error_ = errno;
  }
  aside_file(const aside_file&) = delete;
  aside_file& operator=(const aside_file&) = delete;
  ~aside_file() {
    if (file_ != nullptr) std::fclose(file_);
    if (!aside_.empty()) unlink(aside_.c_str());
  }

  void write(std::string_view text) noexcept {
    if (error_ != 0) return;
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size())
      error_ = errno != 0 ? errno : EIO;
  }

  /// Closes the file and gives it its name.
  status finish() {
    if (file_ != nullptr && std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0)
      error_ = errno;
    if (error_ == 0 && replaces_ && std::rename(aside_.c_str(), path_.c_str()) != 0) error_ = errno;
    if (error_ != 0) return cannot_write('"' + printable(shown_, 300) + '"', error_);
    aside_.clear();
    return {};
  }
  status so_far() const {
    return error_ == 0 ? status{} : cannot_write('"' + printable(shown_, 300) + '"', error_);
  }

 private:
  /// Other threads and processes that write to the same path have files of their own.
  void open_aside(mode_t mode) {
    static std::atomic<unsigned> number{0};
    for (int attempt = 0; attempt < 100; ++attempt) {
      aside_ = path_ + '.' + std::to_string(getpid()) + '.' + std::to_string(++number) + ".part";
      const int file =
          open(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode != 0 ? mode : 0666);
      if (file >= 0) {
        file_ = fdopen(file, "w");
        return;
      }
      if (errno != EEXIST) break;
    }
    aside_.clear();
  }

  std::string shown_, path_, aside_;
  std::FILE* file_ = nullptr;
  bool replaces_ = true;
  int error_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
