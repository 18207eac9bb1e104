// SPDX-License-Identifier: MIT
// Modes of program.cpp: captures, contexts, many threads, and launches without records.
#include "program.hpp"

#include "../../bench/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

/// A snapshot does not disturb a capture; a later one has the rest.
MODE(captures) {
  cudaStream_t s = nullptr;
  static_cast<void>(cudaStreamCreate(&s));
  launch(1, 2);
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  launch(7, 2, s);
  static_cast<void>(kprof::snapshot());
  cudaGraph_t graph = nullptr;
  std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(s, &graph)));
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 10; ++i) static_cast<void>(cudaGraphLaunch(exec, s));
  print_profile(kprof::snapshot());
}

/// A stream is destroyed while it is being captured: snapshots do not wait for its end.
MODE(abandons_a_capture) {
  cudaStream_t s = nullptr, other = nullptr;
  launch(1);
  static_cast<void>(cudaStreamCreate(&s));
  static_cast<void>(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  static_cast<void>(cudaStreamDestroy(s));
  launch(1, 2, other);
  print_profile(kprof::snapshot());
}

/// While a snapshot waits for the device, another thread begins to capture.
MODE(captures_during_a_snapshot) {
  cudaStream_t s = nullptr;
  launch(1);  // so that kprof sees the context being made
  static_cast<void>(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  launch(1, 2);
  std::thread capturing([s] {
    usleep(40'000);
    static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 20; ++i) {
      launch(3, 1, s);
      usleep(30'000);
    }
    cudaGraph_t graph = nullptr;
    std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(s, &graph)));
  });
  static_cast<void>(kprof::snapshot());
  capturing.join();
  print_profile(kprof::snapshot());
}

/// Contexts of two devices are older than kprof's subscription, and work in them is long.
MODE(old_contexts) {
  for (const int device : {0, 1}) {
    static_cast<void>(cudaSetDevice(device));
    static_cast<void>(cudaFree(nullptr));
  }
  launch(1, 60);
  static_cast<void>(cudaSetDevice(0));
  launch(2);
  std::thread([] { print_profile(kprof::snapshot()); }).join();  // which has no context of its own
}

/// More threads at once than there are large buffers: each has one while it lives.
MODE(many_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> begun{0}, done{0};
  for (int i = 0; i < 120; ++i)
    threads.emplace_back([&] {
      cudaStream_t s = nullptr;
      static_cast<void>(cudaStreamCreate(&s));
      for (++begun; begun < 120;) std::this_thread::yield();
      for (int n = 0; n < 20; ++n) {
        launch(1, 5, s);
        static_cast<void>(cudaStreamSynchronize(s));
      }
      for (++done; done < 120;) std::this_thread::yield();
    });
  for (std::thread& t : threads) t.join();
  print_profile(kprof::snapshot());
}

/// Launches that leave no record, so that no record makes kprof take them from the log.
MODE(copies_nothing) {
  void* memory = nullptr;
  static_cast<void>(cudaMalloc(&memory, 64));
  launch(2);
  static_cast<void>(kprof::snapshot());
  const char none = 0;
  const double before = bench::resident_mib("VmRSS:");
#ifdef KPROF_TEST_SANITIZED
  constexpr int copies = 50'000;
#else
  constexpr int copies = 2'000'000;
#endif
  for (int i = 0; i < copies; ++i) {
    KPROF_OP(Op, {.n = 1});
    static_cast<void>(cudaMemcpyAsync(memory, &none, 0, cudaMemcpyHostToDevice, nullptr));
  }
  print("copies", copies);
  print("growth_mib",
        static_cast<unsigned long long>(std::max(0.0, bench::resident_mib("VmRSS:") - before)));
  print_profile(kprof::snapshot());
}
