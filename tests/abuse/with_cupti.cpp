// SPDX-License-Identifier: MIT
// A program whose session opens CUPTI. `driver`: it initialises the CUDA driver before its first
// scope. Prints a report.
#include <kprof/kprof.hpp>

#include <dlfcn.h>

#include <cstring>
#include <string_view>

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "driver") {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    void* const found = driver == nullptr ? nullptr : dlsym(driver, "cuInit");
    int (*initialize)(unsigned) = nullptr;
    std::memcpy(&initialize, &found, sizeof found);
    if (initialize == nullptr || initialize(0) != 0) return 2;
  }
  for (int i = 0; i < 3; ++i) { KPROF_REGION("work"); }
  kprof::report_options options;
  options.width = 300;
  return kprof::report(options) ? 7 : 1;
}
