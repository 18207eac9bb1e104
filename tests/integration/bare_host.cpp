// SPDX-License-Identifier: MIT
// An executable with guards and no session: a library brings it, and stays although it is closed.

#include <kprof/guard.hpp>

#include <dlfcn.h>

#include <cstdio>

struct OfHost {
  int n = 2;
};

namespace {
int evaluated = 0;
void scope() { KPROF_OP(OfHost, {++evaluated}); }
}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  scope();
  const bool idle = evaluated == 0;
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  auto* run = reinterpret_cast<void (*)(int)>(dlsym(plugin, "run"));
  auto* recorded = reinterpret_cast<unsigned long (*)(const char*)>(dlsym(plugin, "recorded"));
  scope();
  run(1);
  scope();
  const bool both =
      recorded("OfHost n=1") == 1 && recorded("OfHost n=2") == 1 && recorded("OfPlugin n=1") == 1;
  dlclose(plugin);
  scope();  // what guards call must still be there
  const bool stays = recorded("OfHost n=3") == 1;
  if (!idle || !both || !stays)
    std::fprintf(stderr, "FAILED: idle %d both %d stays %d\n", idle, both, stays);
  return idle && both && stays ? 0 : 1;
}
