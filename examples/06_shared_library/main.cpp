// SPDX-License-Identifier: MIT
//
// Guards in a shared library reach the session of the program that loads it: hidden visibility, RTLD_LOCAL and another
// compiler make no difference. A library that is linked works the same way. blur.cpp is the library.
//
//     g++ -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -I include examples/06_shared_library/blur.cpp -o libblur.so
//     g++ -std=c++20 -O2 -I include examples/06_shared_library/main.cpp -o shared_library
//     ./shared_library ./libblur.so

#include <kprof/kprof.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  void* const library = dlopen(argc > 1 ? argv[1] : "libblur.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\nname the library: ./shared_library ./libblur.so\n", dlerror());
    return 1;
  }
  const auto blur = reinterpret_cast<void (*)(float*, long, long, long)>(dlsym(library, "blur"));
  std::vector<float> image(1080 * 1920, 0.5F);
  {
    KPROF_REGION("frame");   // the program's; the library's operators appear in it
    for (int i = 0; i < 5; ++i) blur(image.data(), 1080, 1920, 3);
  }
  dlclose(library);          // what it recorded stays
  kprof::report();
}
