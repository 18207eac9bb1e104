// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_DESTINATION_HPP
#define KPROF_REPORT_DESTINATION_HPP

// Where outputs go: standard output or a file, and how wide the terminal is. Include it to write
// text of your own beside them. Blocks until all is written; several threads may write at a time.
//
// A file is written aside and takes its name when it is complete. Standard output gets what the
// program has printed first; it is waited for as the program's own prints wait.

#include <kprof/attach/environment_variable.hpp>
#include <kprof/build_options.hpp>
#include <kprof/status.hpp>
#include <kprof/write/descriptor.hpp>
#include <kprof/write/file_place.hpp>
#include <kprof/write/message.hpp>
#include <kprof/write/output_file.hpp>
#include <kprof/write/program_text.hpp>
#include <kprof/write/quiet_writes.hpp>
#include <kprof/write/standard_streams.hpp>
#include <kprof/write/within_memory.hpp>
#include <kprof/write/write_error.hpp>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Who has something written: the program by a call, or kprof when the program ends.
enum class write_time { now, at_exit };

/// The descriptor for what is meant for the standard stream `wanted`; -1: the number leads to
/// something of the program's own. At exit, what was meant for standard output then goes to
/// standard error.
[[gnu::cold]] inline int stream_for(int wanted, write_time when) {
  if (wanted != STDOUT_FILENO && wanted != STDERR_FILENO) return wanted;
  if (is_standard_stream(wanted, when == write_time::now)) return wanted;
  if (when == write_time::now || wanted == STDERR_FILENO || !target_of(wanted).is_open ||
      !is_standard_stream(STDERR_FILENO))
    return -1;
  tell({"standard output is another file than at the start; what is meant for it comes here"});
  return STDERR_FILENO;
}

/// A file, opened by the first piece of text and replaced by close(), or standard output. Used by
/// one thread.
class destination {
 public:
  explicit destination(std::string path, write_time when = write_time::now)
      : path_(std::move(path)), when_(when) {}
  destination(const destination&) = delete;
  destination& operator=(const destination&) = delete;
  ~destination() {
    const quiet_writes quiet;
    file_.reset();  // without close(), the file that was there stays
  }

  /// Whether it is standard output and that a terminal, and the user has nothing against colour.
  bool takes_color() const noexcept {
    const char* const refusal = environment_variable("NO_COLOR");
    const char* const terminal = environment_variable("TERM");
    return path_.empty() && isatty(STDOUT_FILENO) == 1 &&
           (refusal == nullptr || *refusal == '\0') &&
           (terminal == nullptr || std::string_view{terminal} != "dumb");
  }

  /// After a failure everything further is dropped.
  [[gnu::cold]] const status& append(std::string_view text) {
    const quiet_writes quiet;
    if (failure_ && !std::exchange(is_open_, true)) open();
    if (!failure_) return failure_;
    if (!file_) {
      append_to_stream(text);
    } else {
      file_->write(text);
      failure_ = file_->so_far();
    }
    return failure_;
  }
  /// Puts the file into its place.
  [[gnu::cold]] const status& close() {
    const quiet_writes quiet;
    if (failure_ && file_) failure_ = file_->finish();
    file_.reset();
    return failure_;
  }

 private:
  std::string shown() const { return path_.empty() ? "standard output" : quoted_path(path_); }

  [[gnu::cold]] void open() {
    if (path_.empty()) {
      open_stream(fileno(stdout));
      return;
    }
    file_place place = find_place(path_);
    if (place.error != 0) failure_ = cannot_write(shown(), place.error);
    else if (place.descriptor >= 0) open_stream(place.descriptor);
    else file_.emplace(std::move(place), shown());
  }
  [[gnu::cold]] void open_stream(int wanted) {
    stream_ = stream_for(wanted, when_);
    if (!target_of(wanted).is_open) failure_ = cannot_write(shown(), EBADF);
    else if (stream_ < 0)
      failure_ = {"cannot write to " + shown() +
                  ": it leads to a file or a connection of the program's own; write to a file, or "
                  "keep standard output open"};
  }
  [[gnu::cold]] void append_to_stream(std::string_view text) {
    if (text.empty()) return;
    int error = stream_ == fileno(stdout) ? write_program_text(stream_) : 0;
    if (error == 0) error = write_all(stream_, text);
    if (error == 0) return;
    failure_ = cannot_write(shown(), error);
    failure_.message += "; what has been written is not complete";
  }

  std::string path_;
  write_time when_;
  bool is_open_ = false;
  int stream_ = -1;
  std::optional<output_file> file_;
  status failure_;
};

}  // namespace detail

/// Writes `text` to the file `path`, replacing it only when all is written, or to standard output
/// where `path` is empty. A failure, also that of a full disk, a closed standard output or a pipe
/// whose reader has ended, is in the status and harms nothing else. A pipe that `path` names is
/// given up after 1 s without a reader, and after 5 s in which its reader takes nothing.
[[gnu::cold]] inline status write_output(const std::string& path, std::string_view text) {
  return detail::within_memory([&] {
    detail::destination to(path);
    static_cast<void>(to.append(text));
    return to.close();
  });
}

namespace detail {
/// The number of this process among those of its MPI program, as their launchers tell it; "0" where
/// none does.
[[gnu::cold]] inline std::string rank_of_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
                           "SLURM_PROCID", "RANK"})
    if (const char* rank = environment_variable(name); rank != nullptr && *rank != '\0')
      return std::string_view{rank}.find('/') == std::string_view::npos ? rank : "0";
  return "0";
}
[[gnu::cold]] inline std::string name_of_host() {
  char name[256] = {};
  const bool known = gethostname(name, sizeof name - 1) == 0 && name[0] != '\0';
  return known ? name : "localhost";
}
}  // namespace detail

/// `path` with the process id in place of each "%p", so that the processes of a fork do not
/// overwrite each other, the host's name for "%h" and the MPI rank for "%r".
[[gnu::cold]] inline std::string expand_path(const std::string& path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    if (next == 'p') out += std::to_string(getpid());
    else if (next == 'h') out += detail::name_of_host();
    else if (next == 'r') out += detail::rank_of_process();
    else out += path[i];
    if (next == 'p' || next == 'h' || next == 'r') ++i;
  }
  return out;
}

/// Columns that a report to `path` (empty: standard output) has: the terminal's, else $COLUMNS,
/// else 100.
inline int output_width(const std::string& path) noexcept {
  if (path.empty()) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  if (const char* columns = detail::environment_variable("COLUMNS")) {
    char* end = nullptr;
    const long value = std::strtol(columns, &end, 10);
    if (end != columns && *end == '\0' && value > 0 && value <= 1000)
      return static_cast<int>(value);
  }
  return 100;
}

KPROF_DETAIL_END

#endif
