// SPDX-License-Identifier: MIT
// Modes of program.cpp: captures, contexts, many threads, and launches without records.
#include "program.hpp"

#include "../../bench/memory.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
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

/// Two operators, of which one has work that still runs when the profile is taken in a capture.
MODE(reports_during_a_capture) {
  cudaStream_t s = nullptr, busy = nullptr;
  static_cast<void>(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  static_cast<void>(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking));
  launch(1, 2, busy);
  static_cast<void>(kprof::snapshot());
  for (int i = 0; i < 9; ++i) launch(2, 1, busy);
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  launch(7, 2, s);
  print_profile(kprof::snapshot());
  cudaGraph_t graph = nullptr;
  std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(s, &graph)));
  const kprof::profile p = kprof::snapshot();
  for (const auto& row : kprof::operator_table(p))
    std::printf("then %s %d\n", row.parameters.c_str(), row.flops_per_s.known() ? 1 : 0);
}

/// An executable graph is older than kprof's subscription, and is launched before and after an
/// update from a graph that an operator captured.
MODE(updates_an_old_graph) {
  cudaStream_t s = nullptr;
  static_cast<void>(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  cudaGraph_t old = nullptr, captured = nullptr;
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  static_cast<void>(cudaLaunchKernel(kernel(), dim3(2), dim3(32), nullptr, 0, s));
  static_cast<void>(cudaStreamEndCapture(s, &old));
  static_cast<void>(cudaGraphInstantiate(&exec, old, 0));
  launch(1);
  for (int i = 0; i < 5; ++i) static_cast<void>(cudaGraphLaunch(exec, s));
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  launch(7, 1, s);
  static_cast<void>(cudaStreamEndCapture(s, &captured));
  cudaGraphExecUpdateResultInfo result{};
  print("updated", static_cast<unsigned long long>(cudaGraphExecUpdate(exec, captured, &result)));
  for (int i = 0; i < 3; ++i) static_cast<void>(cudaGraphLaunch(exec, s));
  print_profile(kprof::snapshot());
}

static kprof::profile meanwhile;

/// A snapshot of another thread while a launch has not returned, whose kernel has a record already;
/// and one in which two threads launch.
MODE(reports_during_a_launch) {
  launch(1, 2);
  static const auto look = [] { std::thread([] { meanwhile = kprof::snapshot(); }).join(); };
  scripted_before_launch_returns([] { look(); });
  launch(7, 1);
  const auto show = [](const char* when, const kprof::profile& p) {
    const auto& c = p.device.complete;
    std::printf(
        "%s launches %llu attributed %llu unknown %llu records %llu\n", when,
        static_cast<unsigned long long>(c.launches), static_cast<unsigned long long>(c.attributed),
        static_cast<unsigned long long>(c.unknown), static_cast<unsigned long long>(c.records));
  };
  show("meanwhile", meanwhile);
  scripted_before_launch_returns([] {
    std::thread([] {
      scripted_before_launch_returns([] { look(); });
      launch(8, 1);
    }).join();
  });
  launch(9, 1);
  show("in both", meanwhile);
  print_profile(kprof::snapshot());
}

/// Calls what() on another thread, and waits for it.
template <class What>
static void on_another_thread(What what) {
  std::thread(what).join();
}

/// A capture of this thread's own default stream, while another thread captures its own, which has
/// the same handle.
MODE(captures_streams_of_threads) {
  launch(1, 2);
  static_cast<void>(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
  launch(7, 2, cudaStreamPerThread);
  on_another_thread([] {
    cudaGraph_t graph = nullptr;
    static_cast<void>(
        cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    launch(8, 2, cudaStreamPerThread);
    std::printf("other captured %s\n",
                cudaGetErrorName(cudaStreamEndCapture(cudaStreamPerThread, &graph)));
  });
  on_another_thread([] { static_cast<void>(kprof::snapshot()); });
  cudaGraph_t graph = nullptr;
  std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(cudaStreamPerThread, &graph)));
  print_profile(kprof::snapshot());
}

/// An end of a capture by another thread, or by a stream that only joined it, fails, as does a
/// second begin, and the capture goes on.
MODE(fails_to_end_a_capture) {
  cudaStream_t origin = nullptr, joined = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  cudaGraph_t graph = nullptr;
  static_cast<void>(cudaStreamCreate(&origin));
  static_cast<void>(cudaStreamCreate(&joined));
  static_cast<void>(cudaEventCreate(&fork));
  static_cast<void>(cudaEventCreate(&join));
  const auto say = [](const char* what, cudaError_t result) {
    std::printf("%s %s\n", what, cudaGetErrorName(result));
  };
  launch(1, 2);
  static_cast<void>(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
  static_cast<void>(cudaEventRecord(fork, origin));
  static_cast<void>(cudaStreamWaitEvent(joined, fork, 0));
  launch(7, 2, joined);
  say("ends", cudaStreamEndCapture(joined, &graph));
  on_another_thread([&] { say("another ends", cudaStreamEndCapture(origin, &graph)); });
  say("begins", cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
  on_another_thread([] { static_cast<void>(kprof::snapshot()); });
  static_cast<void>(cudaEventRecord(join, joined));
  static_cast<void>(cudaStreamWaitEvent(origin, join, 0));
  say("captured", cudaStreamEndCapture(origin, &graph));
  print_profile(kprof::snapshot());
}

/// A capture that a forbidden call invalidates is over once its end fails.
MODE(captures_in_vain) {
  cudaStream_t s = nullptr;
  cudaGraph_t graph = nullptr;
  launch(1);
  static_cast<void>(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  static_cast<void>(cudaStreamSynchronize(s));
  std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(s, &graph)));
  static_cast<void>(cudaGetLastError());
  launch(1, 10);
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

/// A library's constructor asks for a profile, and so holds the loader's lock, when the first
/// records come.
static std::atomic<bool> is_constructing{false};
extern "C" void kprof_test_in_constructor() {
  is_constructing = true;
  usleep(300'000);
  static_cast<void>(kprof::snapshot());
}
MODE(reads_beside_a_constructor) {
  static_cast<void>(kprof::start());
  launch(1, 1);
  std::thread loads([] {
    if (dlopen(std::getenv("SCRIPTED_LIBRARY"), RTLD_NOW) == nullptr)
      std::printf("%s\n", dlerror());
  });
  while (!is_constructing) usleep(1000);
  launch(2, 40'000);  // full buffers are read as they come
  loads.join();
  print_profile(kprof::snapshot());
}
