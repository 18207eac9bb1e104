// SPDX-License-Identifier: MIT
// A fork while another thread of the program is in dlopen() or dlclose(): the child inherits the
// loader's lock, and must not wait for it in kprof.

#include <kprof/kprof.hpp>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

namespace {

constexpr const char* library = "libresolv.so.2";  // which nothing here links

void record() {
  for (int i = 0; i < 10; ++i) { KPROF_REGION("work"); }
}

/// In the child, which gives up after two seconds. 0: all is as it should be.
int use_kprof(int which) {
  alarm(2);
  record();
  const kprof::profile p = kprof::snapshot();
  if (p.complete.recorded != 10) return 2;
  if (which % 2 == 0) {
    kprof::stop();
    record();
    if (kprof::snapshot().complete.recorded != 10) return 3;
    if (!kprof::start()) return 4;
    record();
    if (kprof::snapshot().complete.recorded != 10) return 5;
  }
  return 0;
}

}  // namespace

int main() {
  record();
  std::atomic<bool> stop{false};
  std::atomic<long> opened{0};
  std::thread other([&] {
    while (!stop) {
      void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
      if (handle == nullptr) return;
      dlclose(handle);
      ++opened;
    }
  });
  int wrong = 0, hung = 0;
  for (int i = 0; i < 300 && wrong + hung == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(use_kprof(i));
    int state = 0;
    waitpid(child, &state, 0);
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM) ++hung;
    else if (state != 0) ++wrong, std::printf("child: %#x\n", static_cast<unsigned>(state));
  }
  stop = true;
  other.join();
  std::printf("%ld times opened, %d children hung, %d had another profile\n", opened.load(), hung,
              wrong);
  return opened > 0 && wrong + hung == 0 ? 0 : 1;
}
