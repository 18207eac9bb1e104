// SPDX-License-Identifier: MIT
// Modes of program.cpp: recordings that begin, pause, begin again, or cannot collect.
#include "program.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <thread>

/// Whether a call of kprof made a call of CUPTI.
static bool calls_cupti(void (*what)()) {
  const std::uint64_t before = scripted_cupti_calls();
  what();
  return scripted_cupti_calls() != before;
}

MODE(plain) {
  launch(1, 3);
  launch(2);
  static_cast<void>(cudaLaunchKernel(kernel(), dim3(1), dim3(32), nullptr, 0, nullptr));
  print_profile(kprof::snapshot());
}

/// Once CUPTI has refused, kprof makes no further call of it.
MODE(refused) {
  launch(1);
  print_profile(kprof::snapshot());
  print("calls later", calls_cupti([] {
          launch(2);
          static_cast<void>(kprof::snapshot());
          static_cast<void>(kprof::start());
          kprof::stop();
        })
                           ? 1
                           : 0);
}

MODE(restarts) {
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(kprof::start());
    launch(i, i);
    kprof::stop();
    launch(100);  // of no recording
  }
  static_cast<void>(kprof::start());
  launch(1, 5);
  static_cast<void>(kprof::start());  // anew, without an end
  launch(2, 3);
  kprof::stop();
  print_profile(kprof::snapshot());
}

MODE(pauses) {
  launch(1, 2);
  kprof::pause();
  launch(2, 4);
  kprof::resume();
  launch(3, 1);
  print_profile(kprof::snapshot());
}

/// A pause before the first scope holds from the first scope on.
MODE(pauses_first) {
  static_cast<void>(cudaFree(nullptr));
  kprof::pause();
  launch(1, 2);
  kprof::resume();
  launch(2, 3);
  print_profile(kprof::snapshot());
}

/// Work that ended threads launched still runs when a new recording begins.
MODE(restarts_over_ended_threads) {
  launch(9);
  std::thread([] { launch(1, 40); }).join();
  static_cast<void>(kprof::start());
  launch(2);
  print_profile(kprof::snapshot());
}

MODE(turns_it_off) {
  static_cast<void>(kprof::start());
  launch(1, 2);
  static_cast<void>(kprof::start({.cupti = kprof::cupti_choice::off}));
  launch(2, 3);
  print_profile(kprof::snapshot());
}

MODE(turns_all_off) {
  static_cast<void>(kprof::start());
  launch(1, 2);
  static_cast<void>(kprof::start({.enabled = false}));
  launch(2, 3);
  print_profile(kprof::snapshot());
}

/// Another client has subscribed between two recordings.
MODE(starts_again_beside_another) {
  static_cast<void>(kprof::start());
  launch(1, 2);
  kprof::stop();
  void* const library = dlopen(std::getenv("KPROF_CUPTI"), RTLD_NOW);
  const auto subscribe =
      reinterpret_cast<int (*)(void**, void (*)(void*, unsigned, unsigned, const void*), void*)>(
          dlsym(library, "cuptiSubscribe"));
  void* who = nullptr;
  print("the other subscribes", static_cast<unsigned long long>(subscribe(
                                    &who, [](void*, unsigned, unsigned, const void*) {}, nullptr)));
  print("starts", kprof::start().ok() ? 1 : 0);
  launch(2, 3);
  print_profile(kprof::snapshot());
}
