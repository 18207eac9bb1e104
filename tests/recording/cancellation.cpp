// SPDX-License-Identifier: MIT
// Threads are cancelled while they record, take snapshots, print a report into a full pipe and
// measure the machine: they end, and the program goes on.

#include <kprof/ceilings.hpp>
#include <kprof/kprof.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

struct Op {
  std::int64_t n = 0;
};

namespace {

std::atomic<bool> working{false};
std::string pipe_path;

void* record(void*) {
  for (std::int64_t i = 0;; ++i) {
    { KPROF_OP(Op, {i % 20}); }
    working = true;
    if (i % 100 == 0) pthread_testcancel();
  }
  return nullptr;
}
void* report(void*) {
  kprof::report_options options;
  options.path = pipe_path;
  for (;;) {
    { KPROF_OP(Op, {1}); }
    working = true;
    static_cast<void>(kprof::report(options));
    static_cast<void>(kprof::write(kprof::snapshot(), "report", {{"path", pipe_path}}));
    pthread_testcancel();
  }
  return nullptr;
}
void* measure(void*) {
  for (;;) {
    working = true;
    static_cast<void>(kprof::measure_ceilings());
    pthread_testcancel();
  }
  return nullptr;
}

}  // namespace

int main() {
  int ends[2];
  if (!kprof::start() || pipe(ends) != 0) return 2;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pipe_path = "/proc/self/fd/" + std::to_string(ends[1]);
  int failures = 0;
  for (int i = 0; i < 33; ++i) {
    pthread_t thread{};
    working = false;
    const auto work = i >= 30 ? &measure : i % 3 == 0 ? &record : &report;
    pthread_create(&thread, nullptr, work, nullptr);
    while (!working) usleep(10);
    usleep(static_cast<unsigned>(i % 2 == 0 ? 100'000 : i * 100));
    pthread_cancel(thread);
    usleep(1000);
    // The thread may be writing: it goes on when the pipe is read.
    char text[4096];
    void* result = nullptr;
    while (pthread_tryjoin_np(thread, &result) != 0)
      if (read(ends[0], text, sizeof text) <= 0) usleep(100);
    if (result != PTHREAD_CANCELED) std::printf("thread %d was not cancelled\n", i), ++failures;
  }
  const kprof::profile p = kprof::snapshot();
  if (p.complete.recorded < 30) std::printf("scopes are missing\n"), ++failures;
  return failures == 0 ? 0 : 1;
}
