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
// kprof · 06_shared_library · 117 ms · 1 thread on 2 CPUs
//
// Operators, sorted by self
//
// operator  parameters              calls     self             share   median     mean  GFLOP/s   GB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Blur      H=1080 W=1920 radius=3      5   117 ms  ████████  100.0%  21.3 ms  23.4 ms    0.620  0.709
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                          5   117 ms            100.0%
// in regions, outside operators            9.13 µs             <0.1%
//
// not shown at width 100: total, FLOP/B, max, min
//
// Complete: nothing was lost of 6 scopes; kprof 0.1.0 took 17.5 µs (<0.1% of wall time). More:
//   KPROF='report(tree,timeline,legend,details)'.
