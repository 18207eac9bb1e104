// SPDX-License-Identifier: MIT
// Modes of program.cpp: recordings that begin, pause, begin again, or cannot collect.
#include "program.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
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

/// Kernels in clusters, cooperative ones and others.
MODE(kinds_of_launches) {
  dim3 blocks(8), threads(32);
  {
    KPROF_OP(Op, {.n = 1});
    static_cast<void>(cudaLaunchKernel(kernel(), blocks, threads, nullptr, 0, nullptr));
    static_cast<void>(cudaLaunchCooperativeKernel(kernel(), blocks, threads, nullptr, 0, nullptr));
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {4, 2, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.attrs = &attribute;
    config.numAttrs = 1;
    static_cast<void>(cudaLaunchKernelExC(&config, kernel(), nullptr));
    attribute.val.clusterDim = {1, 1, 1};
    static_cast<void>(cudaLaunchKernelExC(&config, kernel(), nullptr));
  }
  const kprof::profile run = kprof::snapshot();
  for (const kprof::device_work& w : run.device.work)
    std::printf("work %u,%u,%u %s %u: %llu\n", w.cluster[0], w.cluster[1], w.cluster[2],
                w.cooperative ? "cooperative" : "not cooperative", w.multiprocessor_shared,
                static_cast<unsigned long long>(w.calls));
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

/// One thread asks for profiles while another starts and stops recordings.
MODE(restarts_beside_snapshots) {
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) static_cast<void>(kprof::snapshot().device.state.size());
  });
  for (int i = 0; i < 50; ++i) {
    static_cast<void>(kprof::start());
    launch(i);
    if (i % 2 == 0) kprof::stop();
  }
  done = true;
  other.join();
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

static void* symbol(const char* name) {
  static void* const library = dlopen(std::getenv("KPROF_CUPTI"), RTLD_NOW);
  return dlsym(library, name);
}

/// What CUPTI says to another client. `stays`: else it leaves at once.
static unsigned long long subscribe_to_cupti(bool stays) {
  const auto subscribe =
      reinterpret_cast<int (*)(void**, void (*)(void*, unsigned, unsigned, const void*), void*)>(
          symbol("cuptiSubscribe"));
  const auto unsubscribe = reinterpret_cast<int (*)(void*)>(symbol("cuptiUnsubscribe"));
  void* who = nullptr;
  const int said = subscribe(
      &who, [](void*, unsigned, unsigned, const void*) {}, nullptr);
  if (said == 0 && !stays) static_cast<void>(unsubscribe(who));
  return static_cast<unsigned long long>(said);
}

/// Launches lie between their calls and the end of the wait for them, whatever clock CUPTI has.
MODE(compares_clocks) {
  static_cast<void>(kprof::start());
  launch(1, 3);
  const kprof::profile p = kprof::snapshot();
  print_profile(p);
  const auto& w = p.device.work.at(0);
  print("gaps", w.gaps);
  print("gaps of less than 10 s", w.gap_ns > 0 && w.gap_ns < 1e10 ? 1 : 0);
}

/// Another part of the program has used the activity API before, and has a buffer out.
MODE(shares_the_activity_api) {
  using requested = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
  using completed = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
  const auto enable = reinterpret_cast<int (*)(unsigned)>(symbol("cuptiActivityEnable"));
  const auto take_buffers =
      reinterpret_cast<int (*)(requested, completed)>(symbol("cuptiActivityRegisterCallbacks"));
  static_cast<void>(cudaFree(nullptr));
  static_cast<void>(take_buffers(
      [](std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
        *size = 1 << 20;
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
        *most = 0;
      },
      [](void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {}));
  static_cast<void>(enable(10));  // CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
  static_cast<void>(cudaLaunchKernel(kernel(), dim3(2), dim3(32), nullptr, 0, nullptr));
  launch(1, 3);
  print_profile(kprof::snapshot());
}

/// CUPTI does not let go of the subscription; a later recording goes on with it.
MODE(cannot_unsubscribe) {
  static_cast<void>(kprof::start());
  launch(1, 2);
  kprof::stop();
  launch(3, 5);
  static_cast<void>(kprof::start());
  launch(2, 3);
  print_profile(kprof::snapshot());
}

/// Another client has subscribed between two recordings.
MODE(starts_again_beside_another) {
  static_cast<void>(kprof::start());
  launch(1, 2);
  kprof::stop();
  print("the other subscribes", subscribe_to_cupti(true));
  print("starts", kprof::start().ok() ? 1 : 0);
  launch(2, 3);
  print_profile(kprof::snapshot());
}

/// A thread's first scope opens CUPTI for so long that another thread goes on without it, and
/// records what the device does once it is open.
MODE(records_before_cupti_is_open) {
  static_cast<void>(cudaStreamSynchronize(nullptr));
  std::thread opening([] { launch(1); });
  static_cast<void>(usleep(200'000));
  launch(2, 3);
  const kprof::profile before = kprof::snapshot();
  std::printf("meanwhile collecting %d work %zu state %s\n", before.device.collecting ? 1 : 0,
              before.device.work.size(), before.device.state.c_str());
  {
    KPROF_OP(Op, {.n = 3});
    static_cast<void>(cudaLaunchKernel(kernel(), dim3(2), dim3(32), nullptr, 0, nullptr));
    opening.join();
    static_cast<void>(cudaLaunchKernel(kernel(), dim3(2), dim3(32), nullptr, 0, nullptr));
  }
  launch(4, 5);
  print_profile(kprof::snapshot());
}

/// The same, but the other thread's recording is to be without CUPTI.
MODE(records_beside_cupti) {
  static_cast<void>(cudaStreamSynchronize(nullptr));
  std::thread opening([] { launch(1); });
  static_cast<void>(usleep(200'000));
  static_cast<void>(kprof::start({.cupti = kprof::cupti_choice::off}));
  opening.join();
  print("the other subscribes", subscribe_to_cupti(false));
  launch(2, 3);
  print_profile(kprof::snapshot());
}

/// The recording is stopped while a thread's first scope is still opening CUPTI, and nothing is
/// recorded from then on; a later recording has all again.
MODE(stops_while_cupti_is_opened) {
  static_cast<void>(cudaStreamSynchronize(nullptr));
  std::thread opening([] { launch(1); });
  static_cast<void>(usleep(200'000));
  kprof::stop();
  opening.join();
  print("the other subscribes", subscribe_to_cupti(false));
  launch(2, 5);
  static_cast<void>(kprof::start());
  launch(3, 4);
  print_profile(kprof::snapshot());
}

/// A thread launches while another one's first scope opens CUPTI.
MODE(launches_while_cupti_is_opened) {
  static_cast<void>(cudaStreamSynchronize(nullptr));
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done)
      static_cast<void>(cudaLaunchKernel(kernel(), dim3(2), dim3(32), nullptr, 0, nullptr));
  });
  launch(1, 2);
  done = true;
  other.join();
  print_profile(kprof::snapshot());
}

/// Twelve steps whose work lags behind the host, each a call of an operator with the step's number:
/// KPROF says which of them are recorded.
MODE(steps_by_a_schedule) {
  kprof::on_profile([](const kprof::profile& run, void*) {
    std::printf("cycle");
    for (const kprof::step_mark& step : run.steps)
      std::printf(" %llu", static_cast<unsigned long long>(step.index));
    std::printf("\n");
    for (const kprof::device_work& w : run.device.work)
      std::printf("in it %s %llu\n", path_of(run, w.scope).c_str(),
                  static_cast<unsigned long long>(w.calls));
  });
  cudaStream_t s = nullptr;
  static_cast<void>(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (int step = 0; step < 12; ++step) {
    launch(step, 3, s);
    KPROF_STEP();
  }
  print_profile(kprof::snapshot());
}
