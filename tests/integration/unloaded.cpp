// SPDX-License-Identifier: MIT
// A library that has measured with threads of kprof's own may be unloaded at once: none of them
// runs its code any more. With UNLOADED_LIBRARY the library, else the program that loads it again
// and again.

#ifdef UNLOADED_LIBRARY

#include <kprof/machine/rounds.hpp>

extern "C" [[gnu::visibility("default")]] unsigned measure() {
  using kprof::detail::round_part;
  kprof::detail::round_threads threads({}, 8);
  return static_cast<unsigned>(
      threads.run(threads.size(), {[](const void*, unsigned, round_part&) {}, nullptr}).size());
}

#else

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (int i = 0; i < 2000; ++i) {
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
    auto* measure = reinterpret_cast<unsigned (*)()>(dlsym(library, "measure"));
    if (measure == nullptr || measure() != 8) return std::fprintf(stderr, "no rounds\n"), 1;
    dlclose(library);
    if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != nullptr)
      return std::fprintf(stderr, "the library stays\n"), 1;
  }
  return 0;
}

#endif
