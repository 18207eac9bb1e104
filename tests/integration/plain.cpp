// SPDX-License-Identifier: MIT
// Three scopes and an exit code: what check_programs.py runs with all sorts of KPROF.

#include <kprof/kprof.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Gemm {
  std::int64_t M = 0, N = 0, K = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * M * N * K; }
};

int main(int argc, char** argv) {
  for (int i = 0; i < 3; ++i) { KPROF_OP(Gemm, {8, 8, 8}); }
  if (argc > 1 && std::strcmp(argv[1], "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      { KPROF_OP(Gemm, {4, 4, 4}); }
      std::exit(0);
    }
    int state = 0;
    waitpid(child, &state, 0);
  }
  if (argc > 1 && std::strncmp(argv[1], "report", 6) == 0) {
    const kprof::status s = kprof::report();
    if (!s) std::fprintf(stderr, "status: %s\n", s.message.c_str());
    if (std::strcmp(argv[1], "report then more") == 0) { KPROF_OP(Gemm, {8, 8, 8}); }
  }
  if (argc > 1 && std::strcmp(argv[1], "inside") == 0) {
    KPROF_REGION("inside");
    kprof::report();
  }
  return 5;
}
