// SPDX-License-Identifier: MIT

// A program that knows nothing of NVTX, with a library that arms it and plugins that come and go.
//   nvtx_host <armer> <plugin 1> <plugin 2>

#include <kprof/guard.hpp>

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

namespace {

struct HostOp {
  std::int32_t n = 0;
};

const void* run(void* library) {
  const auto function = reinterpret_cast<const void* (*)()>(dlsym(library, "kprof_test_run"));
  return function();
}

/// Loads, runs and unloads; the address of the plugin's operator, or nullptr when it would not go.
const void* visit(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return nullptr;
  }
  const void* op = run(library);
  dlclose(library);
  return dlopen(path, RTLD_NOW | RTLD_NOLOAD) == nullptr ? op : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  { KPROF_REGION("too early"); }
  std::printf("idle %d\n", static_cast<int>(kprof::detail::listener() == nullptr));
  if (dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::printf("%s\n", dlerror());
    return 2;
  }
  {
    KPROF_OP(HostOp, {.n = 1});
    const void* first = visit(argv[2]);
    const void* second = visit(argv[3]);
    const void* third = visit(argv[2]);
    std::printf("unloaded %d same address %d\n",
                static_cast<int>(first != nullptr && second != nullptr && third != nullptr),
                static_cast<int>(first == second && second == third));
  }
  std::printf("idle %d\n", static_cast<int>(kprof::detail::listener() == nullptr));
  return 0;
}
