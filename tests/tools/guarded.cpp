// SPDX-License-Identifier: MIT
// A program, or with -DLIBRARY a library, that has guards and links nothing of kprof.

#include <kprof/guard.hpp>

#include <cstdlib>

struct Axpy {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

extern "C" [[gnu::visibility("default")]] void run_axpy(int calls) {
  for (int i = 0; i < calls; ++i) { KPROF_OP(Axpy, {.n = 1 << 20}); }
}

#if !defined(LIBRARY)
// The exit status is what the caller wants; no calls without a second argument.
int main(int argc, char** argv) {
  if (argc > 2) run_axpy(std::atoi(argv[2]));
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
#endif
