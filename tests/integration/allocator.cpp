// SPDX-License-Identifier: MIT
// A program that guards its own operator new: kprof allocates too, and must not wait for itself.

#include <kprof/kprof.hpp>

#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "find.hpp"

struct Allocate {
  std::int64_t bytes = 0;
};

[[gnu::noinline]] void* operator new(std::size_t n) {
  KPROF_OP(Allocate, {static_cast<std::int64_t>(n)});
  if (void* p = std::malloc(n)) return p;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

int main(int argc, char**) {
  // before any scope: the session allocates while it starts
  if (argc > 1 && !kprof::start()) return 2;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 20'000; ++i) {
        KPROF_REGION("r");
        auto* volatile kept = new std::int64_t(i);  // volatile, or the compiler leaves both out
        delete kept;
      }
    });
  for (std::thread& t : threads) t.join();
  kprof::pause();
  kprof::resume();
  const kprof::profile p = kprof::snapshot();
  kprof::stop();
  return calls(p, "r") == 80'000 && calls(p, "r/Allocate bytes=8") == 80'000 ? 0 : 1;
}
