// SPDX-License-Identifier: MIT
// A fork never happens while kprof walks the loaded modules on another thread: the child would
// inherit the loader's lock, and hang. This program's own dl_iterate_phdr() notes who is in it.

#include <kprof/kprof.hpp>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::atomic<int> walking{0};
std::atomic<int> walks{0};
std::atomic<int> caught{0};
using walk = int (*)(int (*)(dl_phdr_info*, std::size_t, void*), void*);

// kprof's handlers are registered later, and run before this one.
[[gnu::init_priority(101)]] struct watch {
  watch() {
    pthread_atfork([] { caught += walking != 0 ? 1 : 0; }, nullptr, nullptr);
  }
} const watching;

}  // namespace

extern "C" int dl_iterate_phdr(int (*each)(dl_phdr_info*, std::size_t, void*), void* data) {
  static const walk real = reinterpret_cast<walk>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  ++walks;
  ++walking;
  usleep(200);
  const int result = real(each, data);
  --walking;
  return result;
}

int main() {
  if (!kprof::start()) return 2;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      while (!stop) {
        KPROF_REGION("work");
        static_cast<void>(kprof::snapshot());
        if (t == 0) static_cast<void>(kprof::start());
      }
    });
  int failed = 0;
  for (int i = 0; i < 150 && failed == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      { KPROF_REGION("in the child"); }
      _exit(kprof::snapshot().complete.recorded == 1 ? 0 : 1);
    }
    int state = 0;
    waitpid(child, &state, 0);
    if (state != 0) std::printf("child %d: state %#x\n", i, static_cast<unsigned>(state)), ++failed;
  }
  stop = true;
  for (std::thread& t : threads) t.join();
  if (caught != 0) std::printf("%d forks during one of %d walks\n", caught.load(), walks.load());
  return failed == 0 && caught == 0 && walks > 100 ? 0 : 1;
}
