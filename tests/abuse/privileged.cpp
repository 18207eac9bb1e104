// SPDX-License-Identifier: MIT
// A program that uses CUDA, with a session: what it is when its file is set-user-ID. Prints a
// report: privileged <driver> [on]. It loads the driver, a libcuda.so.1, before it records; with
// `on` it asks for device activity itself.
#include <kprof/kprof.hpp>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

extern "C" int cuInit(unsigned) { return 100; }

int main(int argc, char** argv) {
  std::printf("AT_SECURE %lu, user %d\n", getauxval(AT_SECURE), static_cast<int>(geteuid()));
  std::fflush(stdout);
  if (argc < 2 || dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == nullptr) return 2;
  if (argc > 2 && std::string_view(argv[2]) == "on") {
    kprof::settings wanted;
    wanted.cupti = kprof::cupti_choice::on;
    static_cast<void>(kprof::start(wanted));
  }
  { KPROF_REGION("work"); }
  return kprof::report() ? 0 : 1;
}
