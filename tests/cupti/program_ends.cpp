// SPDX-License-Identifier: MIT
// Modes of program.cpp: forks, and how programs end.
#include "program.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

MODE(forks) {
  launch(1, 2);
  static_cast<void>(kprof::snapshot());
  const pid_t child = fork();
  if (child == 0) {
    KPROF_OP(Op, {.n = 5});
    const kprof::profile p = kprof::snapshot();
    std::printf("child %d %s\n", p.device.collecting ? 1 : 0, p.device.state.c_str());
    std::fflush(stdout);
    kprof::stop();
    static_cast<void>(kprof::start());
    _exit(scripted_misuse() == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  print("child ended with", static_cast<unsigned long long>(WEXITSTATUS(status)));
  launch(2, 3);
  print_profile(kprof::snapshot());
}

/// Another thread is loading CUPTI at the time of the fork.
MODE(forks_during_the_start) {
  std::thread first([] { launch(1); });
  usleep(300'000);
  const pid_t child = fork();
  if (child == 0) {
    static_cast<void>(kprof::snapshot());
    kprof::stop();
    _exit(0);
  }
  int status = 1;
  pid_t ended = 0;
  for (int i = 0; i < 200 && (ended = waitpid(child, &status, WNOHANG)) == 0; ++i) usleep(50'000);
  if (ended == 0) kill(child, SIGKILL), waitpid(child, &status, 0);
  print("child ended with",
        WIFEXITED(status) ? static_cast<unsigned long long>(WEXITSTATUS(status)) : 99ULL);
  first.join();
  print_profile(kprof::snapshot());
}

/// The program asks for nothing: the report at exit that KPROF asks for includes work that still
/// runs.
MODE(exits) { launch(1, 3); }

/// The same for work that never ends. The report at the end is registered after CUDA's own
/// handlers.
MODE(ends_before_its_work) {
  static_cast<void>(cudaFree(nullptr));
  static_cast<void>(
      kprof::start({.report = {.width = 120, .details = true}, .outputs = {{"report"}}}));
  launch(1, 3);
  device_hangs = true;
}

MODE(leaves_with_threads) {
  std::thread([] {
    for (int i = 0; i < 1000; ++i) launch(1);
    std::exit(7);
  }).join();
}
