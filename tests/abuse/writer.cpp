// SPDX-License-Identifier: MIT
// A program that is unkind to its standard streams while kprof writes to them. The argument says
// how; the check_*.py beside it say what must come out. What it finds itself goes to descriptor 3.

#include <kprof/kprof.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <map>
#include <string>
#include <thread>

struct Step {
  std::int64_t number = 0;
};

namespace {

std::atomic<long> interruptions{0};

void say(const std::string& what) {
  if (write(3, what.data(), what.size()) < 0) std::_Exit(9);
}
void work(int steps) {
  for (int i = 0; i < steps; ++i) { KPROF_OP(Step, {i}); }
}
void put_behind(int descriptor, int number) {
  if (dup2(descriptor, number) < 0) std::_Exit(8);
}
int open_data(const char* path, int flags = 0) {
  return open(path, O_RDWR | O_CREAT | flags, 0666);
}
/// A report with a status, of so many rows.
kprof::status print_report() {
  return kprof::report(kprof::report_options{.top = 0, .tree = true});
}

// ---- standard output

/// The disk is full while kprof reports, and has room again: descriptor 4 leads there.
void full_then_room() {
  std::printf("the program's own text\n");
  const kprof::status s = print_report();
  say(s ? "reported " : "not reported ");
  say(std::ferror(stdout) != 0 ? "error " : "no error ");
  put_behind(4, 1);
  say(std::fflush(stdout) == 0 ? "flushed" : "not flushed");
}
/// The disk stays full: the program finds out by its own flush.
void full() {
  std::printf("the program's own text\n");
  static_cast<void>(print_report());
  say(std::fflush(stdout) == 0 ? "flushed" : "not flushed");
}
/// The program has made an error of its own before.
void own_error() {
  const int good = dup(1), bad = open("/dev/full", O_WRONLY);
  put_behind(bad, 1);
  std::printf("lost by the program\n");
  std::fflush(stdout);
  put_behind(good, 1);
  static_cast<void>(print_report());
  say(std::ferror(stdout) != 0 ? "error" : "no error");
}
void wide() {
  std::setlocale(LC_ALL, "C.UTF-8");
  std::wprintf(L"before \u00e4\n");
  say(print_report() ? "reported " : "not reported ");
  std::wprintf(L"after \u00e4\n");
  say(std::fwide(stdout, 0) > 0 ? "wide" : "not wide");
}
/// A stream that is narrow or wide only after the report stays undecided until then.
void undecided() {
  static_cast<void>(print_report());
  say(std::fwide(stdout, 0) == 0 ? "undecided" : "decided");
}
/// A timer whose handler does not have system calls restarted.
void interrupted() {
  struct sigaction action {};
  action.sa_handler = [](int) { ++interruptions; };
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 500}, {0, 500}}, never{{0, 0}, {0, 0}};
  std::printf("%s\n", std::string(60'000, 'x').c_str());
  std::printf("the program's own text\n");
  setitimer(ITIMER_REAL, &often, nullptr);
  const kprof::status s = print_report();
  setitimer(ITIMER_REAL, &never, nullptr);
  say(s ? "reported " : "not reported: " + s.message);
  say(interruptions > 0 ? "interrupted" : "not interrupted");
}
void non_blocking() {
  fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
  const kprof::status s = print_report();
  say(s ? "reported" : "not reported: " + s.message);
}
/// Another thread holds stdout's lock, and main() ends.
void locked() {
  std::printf("the program's own text\n");
  std::atomic<bool> is_held{false};
  std::thread([&] {
    flockfile(stdout);
    is_held = true;
    for (;;) pause();
  }).detach();
  while (!is_held) std::this_thread::yield();
  std::exit(5);
}
/// A thread that is to be cancelled reports; the report is not where it ends.
void cancelled() {
  static std::atomic<bool> came_back{false};
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        pthread_cancel(pthread_self());
        static_cast<void>(print_report());
        came_back = true;
        pthread_testcancel();
        return nullptr;
      },
      nullptr);
  void* end = nullptr;
  pthread_join(thread, &end);
  say(came_back && end == PTHREAD_CANCELED ? "reported, then cancelled" : "no");
}

// ---- descriptors that are something else by the end

/// Closes the descriptors of `numbers`, as "12", and opens data.1 and data.2 in their place.
void reuse(const char* numbers, int flags = 0) {
  std::fflush(nullptr);
  for (const char* n = numbers; *n != '\0'; ++n) close(*n - '0');
  for (const char* n = numbers; *n != '\0'; ++n) {
    const std::string name = std::string("data.") + *n;
    const int descriptor = open_data(name.c_str(), flags);
    if (descriptor != *n - '0') std::_Exit(7);
    if (write(descriptor, "data", 4) != 4) std::_Exit(6);
  }
}
/// A daemon's log, to which both streams lead.
void log_both() {
  const int log = open("daemon.log", O_WRONLY | O_CREAT, 0666);
  put_behind(log, 1);
  put_behind(log, 2);
  close(log);
  std::fprintf(stderr, "started\n");
}
/// A program that captures its own output, as test frameworks do.
void captured() {
  std::fflush(stdout);
  const int out = dup(1), file = open_data("captured", O_TRUNC);
  put_behind(file, 1);
  close(file);
  say(print_report() ? "reported" : "not reported");
  std::fflush(stdout);
  put_behind(out, 1);
}

// ---- fork

void fork_once() {
  const pid_t child = fork();
  if (child == 0) {
    work(1);
    std::exit(0);
  }
  int state = 0;
  waitpid(child, &state, 0);
  say(std::to_string(child));
}
/// The child's child is a child too.
void fork_twice() {
  const pid_t child = fork();
  if (child == 0) {
    work(1);
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      work(1);
      std::exit(0);
    }
    waitpid(grandchild, nullptr, 0);
    say(std::to_string(grandchild) + ' ');
    std::exit(0);
  }
  waitpid(child, nullptr, 0);
  say(std::to_string(child));
}
/// The child reports by the settings, and to a path that it names itself.
void fork_reports() {
  const pid_t child = fork();
  if (child == 0) {
    work(1);
    static_cast<void>(kprof::report());
    static_cast<void>(kprof::report(kprof::report_options{.path = "named"}));
    std::_Exit(0);
  }
  waitpid(child, nullptr, 0);
  say(std::to_string(child));
}
/// The program asks for outputs itself.
void fork_settings() {
  kprof::settings wanted;
  wanted.report.path = "own.txt";
  wanted.outputs = {{"report"}, {"report", {{"path", "second.txt"}, {"tree", "off"}}}};
  static_cast<void>(kprof::start(wanted));
  work(2);
  fork_once();
}

// ---- messages

/// A signal that was pending before stays so, and masks are as they were.
void pending() {
  sigset_t only, mask, waiting;
  sigemptyset(&only);
  sigaddset(&only, SIGPIPE);
  static_cast<void>(kprof::report(kprof::report_options{.path = "/no/such/folder/x"}));
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  say(sigismember(&mask, SIGPIPE) == 0 ? "open " : "blocked ");
  sigprocmask(SIG_BLOCK, &only, nullptr);
  raise(SIGPIPE);
  static_cast<void>(kprof::report(kprof::report_options{.path = "/no/such/folder/x"}));
  sigpending(&waiting);
  say(sigismember(&waiting, SIGPIPE) == 1 ? "pending" : "taken");
  const timespec at_once{};
  sigtimedwait(&only, nullptr, &at_once);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}
}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const int steps = argc > 2 ? std::atoi(argv[2]) : 3;
  work(steps);
  const std::map<std::string, void (*)()> ways = {
      {"full_then_room", &full_then_room},
      {"full", &full},
      {"own_error", &own_error},
      {"wide", &wide},
      {"undecided", &undecided},
      {"interrupted", &interrupted},
      {"non_blocking", &non_blocking},
      {"locked", &locked},
      {"cancelled", &cancelled},
      {"reuse_1", [] { reuse("1"); }},
      {"removes_its_output",  // whose number the new file may get
       [] {
         unlink("out.log");
         reuse("1");
       }},
      {"reuse_2", [] { reuse("2"); }},
      {"reuse_12", [] { reuse("12"); }},
      {"reuse_1_and_report",
       [] {
         reuse("1", O_CLOEXEC);
         say(print_report() ? "reported" : "not reported");
       }},
      {"open_1_and_report",
       [] {
         if (open_data("data.1") != 1 || write(1, "data", 4) != 4) std::_Exit(7);
         say(print_report() ? "reported" : "not reported");
       }},
      {"error_2",
       [] {
         reuse("2");
         static_cast<void>(kprof::report(kprof::report_options{.path = "/no/such/folder/x"}));
       }},
      {"log_both", &log_both},
      {"captured", &captured},
      {"fork_once", &fork_once},
      {"fork_twice", &fork_twice},
      {"fork_reports", &fork_reports},
      {"fork_settings", &fork_settings},
      {"pending", &pending},
      {"report", [] { static_cast<void>(print_report()); }},
      {"work", [] {}},
  };
  const auto way = ways.find(how);
  if (way == ways.end()) return 2;
  way->second();
  return 5;
}
