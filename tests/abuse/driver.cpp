// SPDX-License-Identifier: MIT
// A libcuda.so.1 whose cuInit gives what the variable ABUSE_DRIVER says. It loads the library that
// ABUSE_DRIVER_LOADS names while it initialises, and ends the program when it is then called again,
// where a driver would wait for itself.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {
bool initialising = false;
bool initialised = false;
}  // namespace

extern "C" {
int abuse_is_initialised(unsigned) { return initialised || initialising ? 1 : 0; }
int cuInit(unsigned) {
  if (initialising) {
    std::fputs("cuInit waits for itself\n", stderr);
    std::abort();
  }
  if (initialised) return 0;
  const char* const result = std::getenv("ABUSE_DRIVER");
  if (result != nullptr && std::atoi(result) != 0) return std::atoi(result);
  initialising = true;
  if (const char* const tool = std::getenv("ABUSE_DRIVER_LOADS"))
    if (dlopen(tool, RTLD_NOW) == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  initialising = false;
  initialised = true;
  return 0;
}
int cuGetErrorName(int, const char** name) { return *name = "FROM_DRIVER", 0; }
}
