// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_DESTINATION_HPP
#define KPROF_REPORT_DESTINATION_HPP

// Where outputs go: standard output or a file, and how wide the terminal is. Include it to write
// text of your own beside them. Blocks until all is written; several threads may write at a time,
// each to a file of its own.

#include <kprof/build_options.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/status.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

KPROF_DETAIL_BEGIN
namespace detail {

/// Keeps a write from killing the program: a closed pipe raises SIGPIPE and a file-size limit
/// SIGXFSZ, in the writing thread. Both are held back while this lives, and those raised meanwhile
/// are taken away. Handlers are not touched.
class quiet_writes {
 public:
  quiet_writes() noexcept {
    sigset_t pending;
    sigpending(&pending);
    sigemptyset(&ours_);
    for (const int signal : {SIGPIPE, SIGXFSZ})
      if (sigismember(&pending, signal) == 0) sigaddset(&ours_, signal);
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  quiet_writes(const quiet_writes&) = delete;
  quiet_writes& operator=(const quiet_writes&) = delete;
  ~quiet_writes() {
    const int error = errno;
    const timespec at_once{};
    while (sigtimedwait(&ours_, nullptr, &at_once) > 0) {}
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t ours_{}, before_{};
};

inline const char* remedy_for(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return "the folder does not exist: create it, or choose another path";
    case EACCES:
    case EPERM:
    case EROFS: return "no permission to write there: choose another path";
    case EISDIR: return "it is a folder: add a file name";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "no space left: free some, or choose another disk; what has been written is not "
             "complete";
    case EPIPE: return "its reader has ended: keep it running, or write to a file";
    case EBADF: return "it is closed: write to a file, or report before it is closed";
    case EMFILE:
    case ENFILE: return "too many files are open: close some, or raise `ulimit -n`";
    case EAGAIN:
      return "it is in non-blocking mode and full: write to a file; what has been written is not "
             "complete";
    default: return nullptr;
  }
}

[[gnu::cold]] inline status cannot_write(const std::string& where, int error) {
  const char* remedy = remedy_for(error);
  return {"cannot write to " + where + ": " +
          (remedy != nullptr ? std::string{remedy}
                             : std::string{std::strerror(error)} + "; write to a file elsewhere")};
}

inline bool write_all(std::FILE* file, std::string_view text) noexcept {
  errno = 0;
  const bool written =
      text.empty() || std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int error = errno;
  const bool flushed = std::fflush(file) == 0;
  if (!written && error != 0) errno = error;
  return written && flushed;
}

/// A file, opened and emptied by the first piece of text, or standard output. Used by one thread.
class destination {
 public:
  explicit destination(std::string path) : path_(std::move(path)) {}
  destination(const destination&) = delete;
  destination& operator=(const destination&) = delete;
  ~destination() { static_cast<void>(close()); }

  /// After a failure everything further is dropped.
  const status& append(std::string_view text) {
    const quiet_writes quiet;
    if (!failure_) return failure_;
    if (path_.empty()) append_to_stdout(text);
    else if (!open()) fail(errno);
    else if (!write_all(file_, text)) fail(errno);
    return failure_;
  }
  const status& close() {
    if (file_ == nullptr) return failure_;
    const quiet_writes quiet;
    if (std::fclose(file_) != 0) fail(errno);
    file_ = nullptr;
    return failure_;
  }

 private:
  bool open() {
    if (file_ == nullptr) file_ = std::fopen(path_.c_str(), "we");
    return file_ != nullptr;
  }
  void append_to_stdout(std::string_view text) {
    const bool failed_before = std::ferror(stdout) != 0;
    if (write_all(stdout, text)) return;
    const int error = errno;
    if (!failed_before) std::clearerr(stdout);
    fail(error);
  }
  /// The first failure is the one that is told.
  void fail(int error) {
    if (!failure_) return;
    failure_ =
        cannot_write(path_.empty() ? "standard output" : '"' + printable(path_, 300) + '"', error);
  }

  std::string path_;
  std::FILE* file_ = nullptr;
  status failure_;
};

}  // namespace detail

/// Writes `text` to the file `path`, replacing it, or to standard output where `path` is empty. A
/// failure, also that of a full disk, a closed standard output or a pipe whose reader has ended, is
/// in the status and harms nothing else.
[[gnu::cold]] inline status write_output(const std::string& path, std::string_view text) {
  detail::destination to(path);
  static_cast<void>(to.append(text));
  return to.close();
}

/// `path` with the process id in place of the first "%p", so that the processes of a fork do not
/// overwrite each other.
[[gnu::cold]] inline std::string expand_path(std::string path) {
  if (const std::size_t at = path.find("%p"); at != std::string::npos)
    path.replace(at, 2, std::to_string(getpid()));
  return path;
}

/// Columns that a report to `path` (empty: standard output) has: the terminal's, else $COLUMNS,
/// else 100.
inline int output_width(const std::string& path) noexcept {
  if (path.empty()) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  if (const char* columns = std::getenv("COLUMNS")) {
    char* end = nullptr;
    const long value = std::strtol(columns, &end, 10);
    if (end != columns && *end == '\0' && value > 0 && value <= 1000)
      return static_cast<int>(value);
  }
  return 100;
}

KPROF_DETAIL_END

#endif
