// SPDX-License-Identifier: MIT
// A signal's handler forks while its thread is inside kprof and has locks of kprof's: neither the
// program nor the child hangs, and the program's profile is whole. The handler runs within this
// program's operator new, where kprof asks for memory.

#include <kprof/kprof.hpp>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

#include "checks.hpp"

struct Op {
  std::int64_t n = 0;
};

namespace {

constexpr const char* report_path = "forks_in_handlers.txt";

bool forks_in_new = false;
pid_t child = -1;  // that the handler has made

void fork_once(int) {
  if (!forks_in_new) return;
  forks_in_new = false;
  child = fork();
  if (child == 0) alarm(20);
}

std::string name_of(int i) { return "region " + std::to_string(i); }

/// What the child does where kprof has no profile for it. Its exit writes no report.
[[noreturn]] void go_on_in_child() {
  const pid_t grandchild = fork();
  if (grandchild == 0) _exit(0);
  int state = 0;
  waitpid(grandchild, &state, 0);
  for (int i = 0; i < 5000; ++i) {
    KPROF_OP(Op, {i});
    KPROF_REGION(name_of(i).c_str());
  }
  std::thread([] { KPROF_OP(Op, {1}); }).join();
  const kprof::profile run = kprof::snapshot();
  const bool says_why = run.state.find("forked by a signal's handler") != std::string::npos;
  const bool can_start = kprof::start().ok();
  kprof::pause();
  kprof::resume();
  kprof::stop();
  std::exit(state == 0 && run.nodes.empty() && says_why && !can_start ? 0 : 1);
}

/// Lets the handler come the next time that kprof asks for memory in work().
void fork_within(const char* what, void (*work)()) {
  child = -1;
  forks_in_new = true;
  work();
  forks_in_new = false;
  if (child == 0) go_on_in_child();
  check(what, child > 0);
  int state = 0;
  if (child > 0) waitpid(child, &state, 0);
  if (state != 0) std::printf("the child's status is %#x\n", static_cast<unsigned>(state));
  check("the child ends well", state == 0);
}

}  // namespace

void* operator new(std::size_t size) {
  if (forks_in_new) std::raise(SIGUSR1);
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
  alarm(100);
  unlink(report_path);
  kprof::settings settings;
  settings.outputs.push_back({"report", {{"path", report_path}}});
  if (!kprof::start(settings)) return 2;
  std::signal(SIGUSR1, &fork_once);

  fork_within("a fork in a first scope", [] { KPROF_OP(Op, {1}); });
  for (int i = 0; i < 100; ++i) { KPROF_OP(Op, {i}); }
  fork_within("a fork in a snapshot", [] { static_cast<void>(kprof::snapshot()); });
  std::thread([] {
    fork_within("a fork in a thread's first scope", [] { KPROF_OP(Op, {2}); });
  }).join();
  check("a child writes nothing over its parent's report", access(report_path, F_OK) != 0);
  check("all of the parent's scopes are recorded", kprof::snapshot().complete.recorded == 102);
  return exit_status();
}
