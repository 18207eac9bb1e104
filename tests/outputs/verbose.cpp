// SPDX-License-Identifier: MIT
// Calls operators on several threads: verbose THREADS CALLS [fork | forks | wait]. With `fork` the
// main thread then forks a child that calls five more, with `forks` 100 children with four threads
// that make a call each and end at once; with `wait` it says "done" and waits for input.

#include <kprof/kprof.hpp>

#include "address_sanitizer.hpp"
#include "thread_sanitizer.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct Epilogue {
  bool bias = false;
  float scale = 1;
};
struct Mixed {
  std::int64_t n = 0;
  double x = 0.5;
  std::array<std::int32_t, 3> shape{};
  kprof::dtype type = kprof::dtype::unknown;
  Epilogue epilogue{};
  kprof::fixed_string<24> tag{};
  constexpr std::uint64_t flops() const { return 2 * static_cast<std::uint64_t>(n); }
};
struct Plain {
  std::int64_t n = 0;
};

constexpr const char* tags[] = {"plain",        "a \"b\" \\c", "comma, n=7",
                                "two\nlines\r", "\xFF\x80 }",  "\xC3\xA9\xC2\x85"};

void call(std::int64_t thread, std::int64_t i) {
  Mixed m{.n = i % 5 + 1000 * thread, .x = static_cast<double>(i % 7) / 3};
  m.shape[1] = static_cast<std::int32_t>(-i % 5);
  m.epilogue.scale = 0.1F;
  m.tag = std::string_view{tags[i % 6]};
  KPROF_OP(Mixed, m);
  KPROF_REGION("inner");
  KPROF_OP(Plain, {.n = i % 3});
}

/// Threads that make one call each and end when all have. Under a sanitizer a forked child cannot
/// have threads, or not always: there it makes the calls itself.
void end_at_once(std::int64_t first) {
  if (KPROF_TEST_THREAD_SANITIZER || KPROF_TEST_ADDRESS_SANITIZER) {
    for (std::int64_t t = 0; t < 4; ++t) call(first + t, 0);
    return;
  }
  std::atomic<int> called{0};
  std::vector<std::thread> all;
  for (std::int64_t t = 0; t < 4; ++t)
    all.emplace_back([&called, thread = first + t] {
      call(thread, 0);
      ++called;
      while (called < 4) {}
    });
  for (std::thread& t : all) t.join();
}
/// The exit status of a child that calls run().
template <class Run>
int child_of(Run run) {
  const pid_t child = fork();
  if (child == 0) {
    run();
    std::exit(0);
  }
  int status = 1;
  return waitpid(child, &status, 0) == child ? status : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t threads = std::atoll(argv[1]), calls = std::atoll(argv[2]);
  const std::string_view then = argc > 3 ? argv[3] : "";
  std::vector<std::thread> all;
  for (std::int64_t t = 0; t < threads; ++t)
    all.emplace_back([=] {
      for (std::int64_t i = 0; i < calls; ++i) call(t, i);
    });
  for (std::thread& t : all) t.join();
  if (then == "wait") {
    std::puts("done");
    std::fflush(stdout);
    std::getchar();
  }
  int status = 0;
  for (std::int64_t c = 1; then == "forks" && c <= 100; ++c)
    status += child_of([c] { end_at_once(10 * c); });
  if (then == "fork")
    status += child_of([] {
      for (int i = 0; i < 5; ++i) call(900, i);
    });
  return status == 0 ? 0 : 1;
}
