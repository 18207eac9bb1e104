// SPDX-License-Identifier: MIT
// A program that sends its scopes to an NVTX tool and has no session.
#include <kprof/guard.hpp>
#include <kprof/nvtx.hpp>

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>

int main() {
  std::printf("AT_SECURE %lu, user %d\n", getauxval(AT_SECURE), static_cast<int>(geteuid()));
  for (int i = 0; i < 2; ++i) { KPROF_REGION("work"); }
}
