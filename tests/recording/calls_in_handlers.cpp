// SPDX-License-Identifier: MIT
// A signal's handler calls the session while its thread is inside kprof and has locks of kprof's,
// and then jumps out of it: each call returns an error, and none waits for ever. The handler runs
// within this program's operator new, where kprof asks for memory.

#include <kprof/kprof.hpp>

#include <setjmp.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "checks.hpp"

struct Op {
  std::int64_t n = 0;
};

namespace {

constexpr const char* path = "calls_in_handlers.txt";

bool signals_in_new = false;
bool again = false;  // each time, not only once
bool jumps = false;
bool has_jumped = false;
int handled = 0;
sigjmp_buf back;

bool is_refused(const std::string& why) { return why.find("inside kprof") != std::string::npos; }

void refuses_all() {
  check("snapshot() says why", is_refused(kprof::snapshot().state));
  check("start() is an error", is_refused(kprof::start().message));
  check("start(settings) is an error", is_refused(kprof::start(kprof::settings{}).message));
  kprof::report_options options;
  options.path = path;
  static_cast<void>(kprof::report(options));  // a page that says why
  kprof::pause();
  kprof::resume();
  kprof::stop();
}

void handle(int) {
  if (!signals_in_new) return;
  signals_in_new = false;
  ++handled;
  if (jumps) siglongjmp(back, 1);
  refuses_all();
  signals_in_new = again;
}

}  // namespace

void* operator new(std::size_t size) {
  if (signals_in_new) std::raise(SIGUSR1);
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main() {
  alarm(100);
  kprof::settings settings;
  settings.outputs.push_back({"report", {{"path", path}}});
  if (!kprof::start(settings)) return 2;
  std::signal(SIGUSR1, &handle);

  signals_in_new = true;
  { KPROF_OP(Op, {1}); }
  check("the handler came in a first scope", handled == 1);
  signals_in_new = true;
  check("the snapshot around the handler is whole", kprof::snapshot().complete.recorded == 1);
  check("the handler came in a snapshot", handled == 2);
  check("nothing was stopped", kprof::snapshot().recording);

  // The second step ends a cycle, and kprof rests.
  check("a schedule is taken", kprof::set_schedule({.wait = 1, .active = 1, .repeat = 2}).ok());
  KPROF_STEP();
  signals_in_new = again = true;
  KPROF_STEP();
  signals_in_new = again = false;
  check("the handler came in a step, often", handled > 10);
  const kprof::profile rests = kprof::snapshot();
  check("the schedule went on", rests.state.find("resting after 1 cycle") != std::string::npos);
  kprof::stop();
  if (!kprof::start(settings)) return 2;

  jumps = true;
  if (sigsetjmp(back, 1) == 0) {
    signals_in_new = true;
    static_cast<void>(kprof::snapshot());
  } else {
    has_jumped = true;
  }
  check("the handler has jumped out of a snapshot", has_jumped);
  refuses_all();
  for (int i = 0; i < 10'000; ++i) { KPROF_OP(Op, {i}); }
  return exit_status();
}
