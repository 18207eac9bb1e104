// SPDX-License-Identifier: MIT
// A program with a session that opens a library, runs its function `run` where it has one, and
// walks the notes of all libraries by every way there is: by starting, stopping and reporting.
// `notes [LIBRARY]`.
#include <kprof/kprof.hpp>

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  { KPROF_REGION("program"); }
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (argc > 1 && library == nullptr) {
    std::printf("not opened: %s\n", dlerror());
    return 3;
  }
  void* const found = dlsym(argc > 1 ? library : RTLD_DEFAULT, "run");
  kprof::stop();
  static_cast<void>(kprof::start());
  { KPROF_REGION("program"); }
  if (found != nullptr) reinterpret_cast<void (*)()>(found)();
  static_cast<void>(kprof::snapshot());
  if (library != nullptr) dlclose(library);
  return kprof::report() ? 7 : 1;
}
