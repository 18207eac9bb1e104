// SPDX-License-Identifier: MIT
//
// Guards in a shared library reach the session of the program that loads it: hidden visibility,
// RTLD_LOCAL and another compiler make no difference. A library that is linked works the same way.
// blur.cpp is the library.
//
//     g++ -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -I include
//     examples/06_shared_library/blur.cpp -o libblur.so
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
    KPROF_REGION("frame");  // the program's; the library's operators appear in it
    for (int i = 0; i < 5; ++i) blur(image.data(), 1080, 1920, 3);
  }
  dlclose(library);  // what it recorded stays
  kprof::report();
}

// Output:
// kprof 0.1.0 · wall 76.0 ms · 1 thread · 6 scopes
//
// Operators by parameters, sorted by self; share is of 75.8 ms in all scopes
//
// operator  parameters              calls     self   share    total     mean  GFLOP/s  GB/s  FLOP/B
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// Blur      H=1080 W=1920 radius=3      5  75.7 ms  100.0%  75.7 ms  15.1 ms    0.958  1.10   0.875
//
// not shown at width 100: max, median, min
// in regions, outside operators: self 19.1 µs, <0.1%
//
// Call tree, sorted by total; share is total, of 75.8 ms in all scopes
//
// scope                            calls    total   share     self     mean
// ─────────────────────────────────────────────────────────────────────────
// frame                                1  75.8 ms  100.0%  19.1 µs  75.8 ms
// └─ Blur(H=1080 W=1920 radius=3)      5  75.7 ms  100.0%  75.7 ms  15.1 ms
// ...
