// SPDX-License-Identifier: MIT
// A program with a session that opens a library, runs its function `run` where it has one, and
// walks the notes of all libraries by every way there is: by starting, stopping and reporting.
// `notes [LIBRARY]`.
#include <kprof/kprof.hpp>

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <new>

static thread_local constinit bool walks_modules = false;

// In place of the C library's: the loader's lock is held meanwhile, and nothing may be allocated.
extern "C" int dl_iterate_phdr(int (*each)(dl_phdr_info*, std::size_t, void*), void* data) {
  using walk = int (*)(int (*)(dl_phdr_info*, std::size_t, void*), void*);
  static const walk next = reinterpret_cast<walk>(dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  walks_modules = true;
  const int result = next(each, data);
  walks_modules = false;
  return result;
}
[[gnu::noinline]] void* operator new(std::size_t n) {
  if (walks_modules)
    std::fputs("kprof allocates in the loader's function\n", stderr), std::_Exit(9);
  if (void* p = std::malloc(n)) return p;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

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
