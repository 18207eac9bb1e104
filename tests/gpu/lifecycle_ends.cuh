// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_LIFECYCLE_ENDS_CUH
#define KPROF_TESTS_GPU_LIFECYCLE_ENDS_CUH

// Modes of lifecycle.cu: ends of programs, and forks.

#include "kernels.cuh"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

void touches(int times, std::int64_t id) {
  device_array<float> x(256);
  for (int i = 0; i < times; ++i) touch(id, x.data());
  CUDA(cudaDeviceSynchronize());
}

std::string self() {
  char path[4096] = "";
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  return {path, n > 0 ? static_cast<std::size_t>(n) : 0};
}
std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string scratch_file(const char* name) {
  const char* folder = std::getenv("TMPDIR");
  return std::string{folder == nullptr ? "/tmp" : folder} + "/kprof-gpu-" +
         std::to_string(getpid()) + '-' + name;
}
/// Runs this program in another mode, with more in its environment. Returns how it ended, as a
/// shell says it.
int run_self(const std::string& environment, const char* which) {
  std::fflush(stdout);
  const int status =
      std::system(("timeout 60 env " + environment + " '" + self() + "' " + which).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status)
                           : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/// The report at the end of a program that ends in one way or another, with work perhaps still
/// running.
void exit_with_report(const char* which, int ended, const std::vector<const char*>& wanted) {
  const std::string path = scratch_file(which);
  const std::string what = std::string{"a program that ends by "} + which;
  CHECK_EQUAL(what + ": its exit status",
              run_self("'KPROF=report(path=" + path + ",width=200,details)'", which), ended);
  const std::string text = contents(path);
  std::remove(path.c_str());
  for (const char* line : wanted)
    CHECK(what + ": its report has " + line, text.find(line) != std::string::npos);
  if (text.empty()) note("there is no report");
}
void child_return() { touches(10, 5); }
void child_exit_inside() {
  device_array<float> x(256);
  KPROF_OP(Touch, {.id = 5});
  for (int i = 0; i < 10; ++i) launch_touch(x.data(), 256);
  std::exit(0);
}
void child_in_flight() {
  device_array<float> x(256);
  for (int i = 0; i < 10; ++i) touch(5, x.data());
  if (kernels_compute()) launch_spin(200'000'000);
  std::exit(0);  // nothing has been waited for
}
std::atomic<int> launched{0};
std::atomic<bool> ends{false}, ended{false};
void child_thread() {  // a thread launches until CUDA is about to shut down
  std::thread([] {
    float* x = nullptr;
    CUDA(cudaMalloc(&x, 1024));
    launch_touch(x, 256);
    // Runs before CUDA's handlers, and after kprof's that is registered later.
    std::atexit([] {
      ends = true;
      while (!ended) usleep(100);
    });
    for (; !ends; ++launched) touch(5, x);
    ended = true;
  }).detach();
  while (launched < 1000) usleep(1000);
}
void exits() {
  exit_with_report("child_return", 0,
                   {"Touch", "id=5", "10 attributed", "none open, dropped, without timing"});
  exit_with_report("child_exit_inside", 0,
                   {"Touch", "id=5", "10 attributed", "none open, dropped, without timing"});
  exit_with_report("child_in_flight", 0,
                   {"Touch", "id=5", "10 attributed", "none open, dropped, without timing"});
  exit_with_report("child_thread", 0, {"Touch", "id=5"});
}

// ---- forks

int wait_for(pid_t child) {
  for (int i = 0; i < 600; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    usleep(50'000);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}
void forked() {
  device_array<float> x(256);
  for (int i = 0; i < 10; ++i) touch(1, x.data());
  CUDA(cudaDeviceSynchronize());
  const std::string parent_prefix = check_prefix;
  for (const bool exits_at_once : {true, false}) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {  // runs on, on the host
      check_prefix = parent_prefix + (exits_at_once ? " (child that ends with _exit)"
                                                    : " (child that ends with exit)");
      checks_failed = 0;
      for (int i = 0; i < 3; ++i) { KPROF_OP(Touch, {.id = 2}); }
      const kprof::profile p = kprof::snapshot();
      CHECK_EQUAL("scopes are recorded", scopes(p, "Touch id=2").calls, 3U);
      check_not_collecting(p, "fork");
      std::fflush(stdout);
      if (exits_at_once) _exit(checks_failed == 0 ? 0 : 1);
      std::exit(checks_failed == 0 ? 0 : 1);
    }
    CHECK_EQUAL(exits_at_once ? "a child that ends with _exit ends well"
                              : "a child that ends with exit ends well",
                wait_for(child), 0);
    touch(3, x.data());
  }
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels of the parent before the forks", directly_in(p, "Touch id=1").kernels, 10U);
  CHECK_EQUAL("kernels of the parent after each fork", directly_in(p, "Touch id=3").kernels, 2U);
}

}  // namespace

#endif
