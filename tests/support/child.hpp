// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_SUPPORT_CHILD_HPP
#define KPROF_TESTS_SUPPORT_CHILD_HPP

// Children whose standard output is a pipe, closed, or a pipe that nobody reads, and folders for
// the files of a test.

#include "catch.hpp"
#include "utf8.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

namespace kprof_test {

inline std::string read_descriptor(int descriptor) {
  std::string text;
  char block[4096];
  for (ssize_t n = 0; (n = read(descriptor, block, sizeof(block))) > 0;)
    text.append(block, static_cast<std::size_t>(n));
  close(descriptor);
  return text;
}

inline std::string read_path(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return descriptor < 0 ? "cannot be read" : read_descriptor(descriptor);
}

class temporary_folder {
 public:
  temporary_folder() { REQUIRE(mkdtemp(name_) != nullptr); }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }
  int files() const {
    int found = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(name_)) ++found;
    return found;
  }
  std::string path(const std::string& file) const { return std::string{name_} + '/' + file; }
  std::string path() const { return name_; }

 private:
  char name_[32] = "/tmp/kprof_output_XXXXXX";
};

struct outcome {
  int wait_status = 0;
  std::string printed, message;
  bool ended_well() const { return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0; }
};

/// Runs `body` in a child whose stdout is a pipe, or closed, or a pipe nobody reads; gives what the
/// status said.
enum class out { pipe, closed, nobody };
template <class Body>
outcome in_child(out where, Body body) {
  int output[2], report[2];
  REQUIRE(pipe(output) == 0);
  REQUIRE(pipe(report) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(output[0]);
    close(report[0]);
    std::signal(SIGPIPE, SIG_DFL);
    dup2(output[1], STDOUT_FILENO);
    close(output[1]);
    if (where == out::closed) close(STDOUT_FILENO);
    if (where == out::nobody) usleep(50'000);  // until the parent has closed its end
    const std::string message = body();
    if (write(report[1], message.data(), message.size()) < 0) _exit(3);
    // What exit() does with the streams: nothing may be left that kills the program now.
    std::fflush(nullptr);
    _exit(0);
  }
  close(output[1]);
  close(report[1]);
  outcome o;
  if (where == out::nobody) close(output[0]);
  else o.printed = read_descriptor(output[0]);
  o.message = read_descriptor(report[0]);
  waitpid(child, &o.wait_status, 0);
  return o;
}

}  // namespace kprof_test

#endif
