// SPDX-License-Identifier: MIT

// Small programs on the scripted CUDA that show what kprof makes of device work in one situation
// each: `program MODE` prints what the last snapshot says, a line each, and ends with 7.

#include "find.hpp"
#include "scripted_cuda.hpp"

#include "../../bench/memory.hpp"

#include <kprof/kprof.hpp>
#include <kprof/model/summary.hpp>

#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

bool device_hangs = false;

}  // namespace

/// In front of the scripted runtime's: where there is no driver, kprof waits for the device by
/// this.
extern "C" cudaError_t cudaDeviceSynchronize() {
  while (device_hangs) pause();
  cudaError_t (*next)() = nullptr;
  void* const found = dlsym(RTLD_NEXT, "cudaDeviceSynchronize");
  std::memcpy(&next, &found, sizeof next);
  return next();
}

namespace {

struct Op {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

const void* kernel() {
  static const void* const k = scripted_kernel("_Z6kernelPf");
  return k;
}

void launch(std::int64_t n, int times = 1, cudaStream_t stream = nullptr) {
  KPROF_OP(Op, {.n = n});
  for (int i = 0; i < times; ++i)
    static_cast<void>(cudaLaunchKernel(kernel(), dim3(2), dim3(32), nullptr, 0, stream));
}

void print(const char* what, unsigned long long n) { std::printf("%s %llu\n", what, n); }

void print_profile(const kprof::profile& p) {
  const auto& c = p.device.complete;
  std::printf("collecting %d\nstate %s\n", p.device.collecting ? 1 : 0, p.device.state.c_str());
  print("scopes", p.complete.recorded);
  print("launches", c.launches);
  print("attributed", c.attributed);
  print("outside", c.outside);
  print("open", c.open);
  print("unknown", c.unknown);
  print("records", c.records);
  print("dropped", c.dropped);
  print("untimed", c.untimed);
  print("ignored", c.ignored);
  print("odd", c.odd);
  for (const auto& w : p.device.work)
    std::printf("work %s: %s %llu %s\n",
                w.scope == kprof::device_work::none ? "unknown" : path_of(p, w.scope).c_str(),
                w.kernel == kprof::device_work::none ? "copy" : p.device.kernels[w.kernel].c_str(),
                static_cast<unsigned long long>(w.calls),
                w.calls > w.untimed && w.total_ns > 0 ? "timed" : "untimed");
  std::fflush(stdout);
}

/// Whether a call of kprof made a call of CUPTI.
bool calls_cupti(void (*what)()) {
  const std::uint64_t before = scripted_cupti_calls();
  what();
  return scripted_cupti_calls() != before;
}

void plain() {
  launch(1, 3);
  launch(2);
  static_cast<void>(cudaLaunchKernel(kernel(), dim3(1), dim3(32), nullptr, 0, nullptr));
  print_profile(kprof::snapshot());
}

/// What is wrong stays wrong: no further calls.
void refused() {
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

void restarts() {
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

void pauses() {
  launch(1, 2);
  kprof::pause();
  launch(2, 4);
  kprof::resume();
  launch(3, 1);
  print_profile(kprof::snapshot());
}

void forks() {
  launch(1, 2);
  static_cast<void>(kprof::snapshot());
  const pid_t child = fork();
  if (child == 0) {
    KPROF_OP(Op, {.n = 5});
    const kprof::profile p = kprof::snapshot();
    std::printf("child %d %s\n", p.device.collecting ? 1 : 0, p.device.state.c_str());
    std::fflush(stdout);
    kprof::stop();
    static_cast<void>(kprof::start());
    _exit(scripted_misuse() == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  print("child ended with", static_cast<unsigned long long>(WEXITSTATUS(status)));
  launch(2, 3);
  print_profile(kprof::snapshot());
}

/// What is said first holds from the first scope on.
void pauses_first() {
  static_cast<void>(cudaFree(nullptr));
  kprof::pause();
  launch(1, 2);
  kprof::resume();
  launch(2, 3);
  print_profile(kprof::snapshot());
}

/// Another client has subscribed between two recordings.
void starts_again_beside_another() {
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

void turns_it_off() {
  static_cast<void>(kprof::start());
  launch(1, 2);
  static_cast<void>(kprof::start({.cupti = kprof::cupti_choice::off}));
  launch(2, 3);
  print_profile(kprof::snapshot());
}

void turns_all_off() {
  static_cast<void>(kprof::start());
  launch(1, 2);
  static_cast<void>(kprof::start({.enabled = false}));
  launch(2, 3);
  print_profile(kprof::snapshot());
}

/// Contexts of two devices are older than kprof's subscription, and work in them is long.
void old_contexts() {
  for (const int device : {0, 1}) {
    static_cast<void>(cudaSetDevice(device));
    static_cast<void>(cudaFree(nullptr));
  }
  launch(1, 60);
  static_cast<void>(cudaSetDevice(0));
  launch(2);
  std::thread([] { print_profile(kprof::snapshot()); }).join();  // which has no context of its own
}

/// While a snapshot waits for the device, another thread begins to capture.
void captures_during_a_snapshot() {
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

/// What threads that have ended launched still runs when a new recording begins.
void restarts_over_ended_threads() {
  launch(9);
  std::thread([] { launch(1, 40); }).join();
  static_cast<void>(kprof::start());
  launch(2);
  print_profile(kprof::snapshot());
}

/// Launches without a record, for which nothing makes kprof read.
void copies_nothing() {
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

/// Another thread is loading CUPTI at the time of the fork.
void forks_during_the_start() {
  std::thread first([] { launch(1); });
  usleep(300'000);
  const pid_t child = fork();
  if (child == 0) {
    static_cast<void>(kprof::snapshot());
    kprof::stop();
    _exit(0);
  }
  int status = 1;
  pid_t ended = 0;
  for (int i = 0; i < 200 && (ended = waitpid(child, &status, WNOHANG)) == 0; ++i) usleep(50'000);
  if (ended == 0) kill(child, SIGKILL), waitpid(child, &status, 0);
  print("child ended with",
        WIFEXITED(status) ? static_cast<unsigned long long>(WEXITSTATUS(status)) : 99ULL);
  first.join();
  print_profile(kprof::snapshot());
}

/// An operator that launches in every fourth call; and one launch that fails.
void launches_now_and_then() {
  for (int i = 0; i < 40; ++i) launch(1000, i % 4 == 0 ? 1 : 0);
  {
    KPROF_OP(Op, {.n = 1000});
    static_cast<void>(cudaLaunchKernel(kernel(), dim3(0), dim3(32), nullptr, 0, nullptr));
  }
  for (const kprof::operator_row& row : kprof::operator_table(kprof::snapshot()))
    print("FLOPs in the rate", static_cast<unsigned long long>(std::llround(
                                   row.flops_per_s.value * row.device_total_ns * 1e-9)));
}

/// A snapshot does not disturb a capture, and has the rest later.
void captures() {
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

/// A stream that is being captured is destroyed: that is not waited for for ever.
void abandons_a_capture() {
  cudaStream_t s = nullptr, other = nullptr;
  launch(1);
  static_cast<void>(cudaStreamCreate(&s));
  static_cast<void>(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  static_cast<void>(cudaStreamDestroy(s));
  launch(1, 2, other);
  print_profile(kprof::snapshot());
}

/// More threads at once than there are large buffers: each has one while it lives.
void many_threads() {
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

/// Nothing is asked for: the report that KPROF wants comes at the end, with what was still running.
void exits() { launch(1, 3); }

/// The same for work that never ends. The report at the end is registered after CUDA's own
/// handlers.
void ends_before_its_work() {
  static_cast<void>(cudaFree(nullptr));
  static_cast<void>(kprof::start({.report = {.width = 120}, .outputs = {{"report"}}}));
  launch(1, 3);
  device_hangs = true;
}

void leaves_with_threads() {
  std::thread([] {
    for (int i = 0; i < 1000; ++i) launch(1);
    std::exit(7);
  }).join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    void (*run)();
  } modes[] = {{"plain", plain},
               {"refused", refused},
               {"restarts", restarts},
               {"pauses", pauses},
               {"forks", forks},
               {"captures", captures},
               {"abandons_a_capture", abandons_a_capture},
               {"many_threads", many_threads},
               {"exits", exits},
               {"leaves_with_threads", leaves_with_threads},
               {"pauses_first", pauses_first},
               {"starts_again_beside_another", starts_again_beside_another},
               {"turns_it_off", turns_it_off},
               {"turns_all_off", turns_all_off},
               {"old_contexts", old_contexts},
               {"captures_during_a_snapshot", captures_during_a_snapshot},
               {"restarts_over_ended_threads", restarts_over_ended_threads},
               {"copies_nothing", copies_nothing},
               {"forks_during_the_start", forks_during_the_start},
               {"launches_now_and_then", launches_now_and_then},
               {"ends_before_its_work", ends_before_its_work}};
  for (const auto& m : modes) {
    if (mode != m.name) continue;
    m.run();
    if (scripted_misuse() != 0) std::printf("misuse %s\n", scripted_misuse_text());
    return 7;
  }
  return 2;
}
