// SPDX-License-Identifier: MIT
// Ends in every way: ending <way> [how]. Says "ready" on standard output once it records.
#include <kprof/kprof.hpp>

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Step {
  std::int64_t n = 0;
};

std::atomic<long> work_done{0};

void step(std::int64_t n) {
  KPROF_OP(Step, {.n = n});
  KPROF_REGION("inner");
  ++work_done;
}

void record() {
  for (int i = 0; i < 10; ++i) step(1);
}
void ready() {
  record();
  static_cast<void>(write(STDOUT_FILENO, "ready\n", 6));
}

[[noreturn]] void scopes_for_ever() {
  for (std::int64_t i = 0;; ++i) step(i % 4);
}
[[noreturn]] void memory_for_ever() {
  for (std::size_t i = 1;; ++i) {
    step(5);
    const std::vector<char> memory(i % 4096, 'x');
    const std::string text(i % 300, memory.empty() ? 'y' : memory[0]);
    work_done += static_cast<long>(text.size());
  }
}
[[noreturn]] void reports_for_ever() {
  kprof::report_options nowhere;
  nowhere.path = "/dev/null";
  for (;;) {
    step(6);
    static_cast<void>(kprof::report(nowhere));
  }
}
[[noreturn]] void forks_for_ever() {
  for (;;) {
    step(7);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, nullptr, 0);
  }
}

// Four threads in all that a signal may interrupt.
[[noreturn]] void busy() {
  std::thread{scopes_for_ever}.detach();
  std::thread{memory_for_ever}.detach();
  std::thread{reports_for_ever}.detach();
  ready();
  forks_for_ever();
}

[[noreturn]] void wait_for_ever() {
  for (;;) pause();
}

extern "C" void end_with_seven(int) { std::_Exit(7); }

// What another thread of the program does between two of kprof's steps of taking SIGTERM.
void (*between)() = nullptr;
void handle_with_seven() { std::signal(SIGTERM, &end_with_seven); }
void send_sigterm() { kill(getpid(), SIGTERM); }

bool is_past = false;  // by the clock of the day

}  // namespace

// In place of the C library's.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, now);
  if (is_past && clock == CLOCK_REALTIME) now->tv_sec -= 1'000'000;
  return static_cast<int>(result);
}

// In place of the C library's, which kprof's first call returns from later than it might.
extern "C" int sigaction(int number, const struct sigaction* action,
                         struct sigaction* before) noexcept {
  using function = int (*)(int, const struct sigaction*, struct sigaction*);
  static const auto next = reinterpret_cast<function>(dlsym(RTLD_NEXT, "sigaction"));
  const int result = next(number, action, before);
  if (number == SIGTERM && between != nullptr) std::exchange(between, nullptr)();
  return result;
}

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way == "busy") busy();
  if (way == "handles") std::signal(SIGTERM, &end_with_seven);
  if (way == "ignores") std::signal(SIGTERM, SIG_IGN);
  if (way == "handles_later") {
    record();
    std::signal(SIGTERM, &end_with_seven);
  }
  if (way == "handles_meanwhile") between = &handle_with_seven;
  if (way == "gets_one_meanwhile") {
    handle_with_seven();
    between = &send_sigterm;
  }
  if (way == "starts_by_settings") {  // which name no output: KPROF does
    kprof::settings own;
    own.memory = std::size_t{8} << 20U;
    static_cast<void>(kprof::start(own));
  }
  ready();
  if (way == "forks") {
    const pid_t child = fork();
    if (child == 0) wait_for_ever();
    kill(child, SIGTERM);
    int how = 0;
    waitpid(child, &how, 0);
    return WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM ? 0 : 1;
  }
  if (way == "terminates_in_the_past") {
    is_past = true;
    timespec used{};
    std::this_thread::sleep_for(std::chrono::seconds(2));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    if (used.tv_sec > 0) return 8;  // for nothing
  }
  if (way.starts_with("terminates"))
    std::thread{[] { throw std::runtime_error("not caught"); }}.join();
  if (way == "quick_exit") std::quick_exit(3);
  if (way == "_exit") _exit(4);
  if (way == "abort") std::abort();
  if (way == "sleeps") {  // a system call that is restarted
    char c = 0;
    static_cast<void>(read(STDIN_FILENO, &c, 1));
    return 9;
  }
  if (way == "waits_once") {  // a system call that a signal ends
    pause();
    const std::string how = argc > 2 ? argv[2] : "";
    if (how == "exit") std::exit(9);
    if (how == "quick_exit") std::quick_exit(9);
    return 9;
  }
  if (way == "clones") {  // without the handlers of fork()
    const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) std::exit(0);
    int how = 0;
    waitpid(static_cast<pid_t>(child), &how, 0);
    _exit(how == 0 ? 0 : 1);
  }
  if (way == "main_ends_first") {  // the process ends with its last thread
    std::thread([] {
      usleep(200'000);
      record();
    }).detach();
    const rlimit few{64, 64};
    if (argc > 2 && setrlimit(RLIMIT_NOFILE, &few) == 0)  // without a descriptor
      while (dup(STDIN_FILENO) >= 0) {}
    pthread_exit(nullptr);
  }
  wait_for_ever();
}
