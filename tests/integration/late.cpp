// SPDX-License-Identifier: MIT
// Guards before and after main, a thread that outlives it, a report from an atexit handler and one
// by KPROF. The driver, check_programs.py, reads what is printed.

#include <kprof/kprof.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Step {
  int n = 0;
};

namespace {

std::atomic<bool> started{false};
struct global {
  global() { KPROF_REGION("before main"); }
  ~global() { KPROF_REGION("after main"); }
} const object;

}  // namespace

int main() {
  std::atexit([] {
    { KPROF_REGION("at exit"); }
    static_cast<void>(kprof::report());
    std::fflush(stdout);
  });
  std::thread([] {
    for (;;) {
      KPROF_OP(Step, {1});
      started = true;
    }
  }).detach();
  while (!started) std::this_thread::yield();
  KPROF_REGION("main");
  std::exit(7);  // with a scope open and a thread running
}
