// SPDX-License-Identifier: MIT
//
// Sessions that begin, pause and end; programs that end without ending them; forks; and a collector
// that cannot work, which must cost the program nothing but its device's part of the report.

#include "kernels.cuh"
#include "lifecycle_ends.cuh"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

namespace {

// ---- sessions

void restarted() {
  touches(3, 0);  // the session starts by itself at the first guard
  const kprof::profile first = kprof::snapshot();
  check_complete(first);
  CHECK_EQUAL("kernels of the session that started by itself", everything(first).kernels, 3U);
  for (int round = 1; round <= 5; ++round) {
    CHECK("kprof starts", kprof::start().ok());
    touches(10 * round, round);
    kprof::stop();
    touches(7, 99);  // not recorded
    const kprof::profile p = kprof::snapshot();
    check_complete(p);
    CHECK_EQUAL("kernels of session " + std::to_string(round),
                directly_in(p, "Touch id=" + std::to_string(round)).kernels,
                10U * static_cast<unsigned>(round));
    CHECK_EQUAL("kernels of all others in it", everything(p).kernels,
                10U * static_cast<unsigned>(round));
  }
}

// without a stop: what was recorded is forgotten, also what is still to be read
void started_again() {
  touches(100, 1);
  device_array<float> x(256);
  for (int i = 0; i < 50; ++i) touch(2, x.data());
  CHECK("kprof starts", kprof::start().ok());
  for (int i = 0; i < 20; ++i) touch(3, x.data());
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels before the start",
              directly_in(p, "Touch id=1").kernels + directly_in(p, "Touch id=2").kernels, 0U);
  CHECK_EQUAL("kernels after the start", directly_in(p, "Touch id=3").kernels, 20U);
  CHECK_EQUAL("kernels in all", everything(p).kernels, 20U);
}

void paused() {
  touches(10, 1);
  kprof::pause();
  touches(20, 2);
  kprof::resume();
  touches(5, 1);
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels before and after the pause", directly_in(p, "Touch id=1").kernels, 15U);
  CHECK_EQUAL("kernels in the pause", everything(p).kernels - 15U, 0U);
}

void attached_late() {  // when a context, streams and kernels have long been in use
  device_array<float> x(256);
  cudaStream_t s = nullptr;
  CUDA(cudaStreamCreate(&s));
  for (int i = 0; i < 100; ++i) launch_touch(x.data(), 256, s);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < 10; ++i) touch(1, x.data(), s);
  launch_touch(x.data(), 256, s);
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels since the first guard, in the operator",
              directly_in(p, "Touch id=1").kernels, 10U);
  CHECK_EQUAL("kernels since the first guard, outside", outside_scopes(p).kernels, 1U);
  CUDA(cudaStreamDestroy(s));
}

/// Several threads open their first guards at once and launch from then on; the first guard starts
/// the session.
void child_first_guards() {
  std::atomic<bool> done = false;
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; ++t)
    workers.emplace_back([&, t] {
      device_array<float> x(256);
      cudaStream_t s = nullptr;
      CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      while (!done) {
        for (int i = 0; i < 100; ++i) touch(t, x.data(), s);
        CUDA(cudaStreamSynchronize(s));
      }
      CUDA(cudaStreamDestroy(s));
    });
  usleep(20'000);
  static_cast<void>(kprof::start());
  usleep(20'000);
  done = true;
  for (std::thread& worker : workers) worker.join();
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  // A call that was open at the start counts, but the kernel that it had launched by then does not.
  const auto more = static_cast<double>(scopes(p, "Touch").calls) -
                    static_cast<double>(directly_in(p, "Touch").kernels);
  CHECK_WITHIN("calls beyond the kernels, one a thread at most", more, 0, 4);
}
void first_guards() {
  for (int i = 0; i < 10; ++i)
    CHECK_EQUAL("four threads begin at once, exit status", run_self("", "child_first_guards"), 0);
}

/// Threads launch while another starts, stops and reads sessions. What counts is that it ends, and
/// that the last is right.
void threads_and_sessions() {
  std::atomic<bool> done = false;
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; ++t)
    workers.emplace_back([&, t] {
      device_array<float> x(256);
      cudaStream_t s = nullptr;
      CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      while (!done) {
        for (int i = 0; i < 20; ++i) touch(t, x.data(), s);
        CUDA(cudaStreamSynchronize(s));
      }
      CUDA(cudaStreamDestroy(s));
    });
  for (int round = 0; round < 20; ++round) {
    static_cast<void>(kprof::start());
    usleep(5000);
    static_cast<void>(kprof::snapshot());
    if (round % 3 == 0) kprof::stop();
    else if (round % 3 == 1) kprof::pause();
    usleep(1000);
  }
  done = true;
  for (std::thread& worker : workers) worker.join();
  CHECK("kprof starts", kprof::start().ok());
  touches(10, 77);
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels of the last session", everything(p).kernels, 10U);
}

void device_reset() {
  touches(10, 1);
  CUDA(cudaDeviceReset());
  touches(20, 2);
  const kprof::profile p = kprof::snapshot();
  CHECK_EQUAL("kernels after a reset of the device", directly_in(p, "Touch id=2").kernels, 20U);
  CHECK_EQUAL("kernels before it, found or known to be missing",
              directly_in(p, "Touch id=1").kernels + p.device.complete.open, 10U);
  note(std::to_string(directly_in(p, "Touch id=1").kernels) +
       " of 10 kernels before the reset were found");
}

// ---- collectors that cannot work

/// The program works, its scopes are recorded, and the report says why there is nothing of the
/// device.
void runs_without_records(const char* reason) {
  touches(10, 1);
  const kprof::profile p = kprof::snapshot();
  check_not_collecting(p, reason);
  CHECK_EQUAL("scopes are recorded", scopes(p, "Touch id=1").calls, 10U);
  std::string text;
  CHECK("the report can be written", kprof::write_text(p, {}, text).ok());
  CHECK("the report says why", text.find(reason) != std::string::npos);
}

struct other_client {
  void* library = nullptr;
  void* handle = nullptr;
  int (*unsubscribe)(void*) = nullptr;
  int result = -1;

  other_client() {
    const char* named = std::getenv("KPROF_CUPTI");
    for (const char* name :
         {named, "libcupti.so.13", "libcupti.so.12", "libcupti.so",
          "/usr/local/cuda/lib64/libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"})
      if (library == nullptr && name != nullptr && *name != '\0') library = dlopen(name, RTLD_NOW);
    if (library == nullptr) return;
    using callback = void (*)(void*, int, unsigned, const void*);
    int (*subscribe)(void**, callback, void*) = nullptr;
    void* found = dlsym(library, "cuptiSubscribe");
    std::memcpy(&subscribe, &found, sizeof found);
    found = dlsym(library, "cuptiUnsubscribe");
    std::memcpy(&unsubscribe, &found, sizeof found);
    if (subscribe != nullptr)
      result = subscribe(
          &handle, [](void*, int, unsigned, const void*) {}, nullptr);
  }
};

void other_before() {
  other_client other;
  CHECK_EQUAL("another client can subscribe first", other.result, 0);
  runs_without_records("another CUPTI client");
}
void other_after() {
  touches(10, 1);
  const other_client other;
  CHECK("another client cannot subscribe second", other.result != 0);
  touches(5, 1);
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels before and after it tried", directly_in(p, "Touch id=1").kernels, 15U);
}
void other_between() {  // when kprof has stopped, others may have CUPTI
  touches(10, 1);
  kprof::stop();
  const other_client other;
  CHECK_EQUAL("another client can subscribe once kprof has stopped", other.result, 0);
  if (other.result == 0) CHECK_EQUAL("and unsubscribe", other.unsubscribe(other.handle), 0);
  const kprof::profile p = kprof::snapshot();
  CHECK_EQUAL("kernels recorded until then", directly_in(p, "Touch id=1").kernels, 10U);
}

void child_no_library() { runs_without_records("/nonexistent"); }
void child_no_cupti() { runs_without_records("lacks cupti"); }
void child_off() {
  touches(10, 1);
  const kprof::profile p = kprof::snapshot();
  CHECK("nothing is collected", !p.device.collecting);
  CHECK_EQUAL("nothing is recorded", p.nodes.size(), 0U);
}
void child_cupti_off() { runs_without_records("KPROF=cupti=off"); }
void disabled() {
  CHECK_EQUAL("a program whose KPROF_CUPTI leads nowhere ends well",
              run_self("KPROF_CUPTI=/nonexistent/libcupti.so", "child_no_library"), 0);
  CHECK_EQUAL("a program whose KPROF_CUPTI is another library ends well",
              run_self("KPROF_CUPTI=libm.so.6", "child_no_cupti"), 0);
  CHECK_EQUAL("a program with KPROF=off ends well", run_self("KPROF=off", "child_off"), 0);
  CHECK_EQUAL("a program with KPROF=cupti=off ends well",
              run_self("KPROF=cupti=off", "child_cupti_off"), 0);
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "lifecycle",
                   {{"restarted", restarted, mode::any},
                    {"started_again", started_again, mode::any},
                    {"paused", paused, mode::any},
                    {"attached_late", attached_late, mode::any},
                    {"first_guards", first_guards, mode::any},
                    {"threads_and_sessions", threads_and_sessions, mode::any},
                    {"device_reset", device_reset, mode::gpu},
                    {"exits", exits, mode::any},
                    {"forked", forked, mode::any},
                    {"other_before", other_before, mode::any},
                    {"other_after", other_after, mode::any},
                    {"other_between", other_between, mode::any},
                    {"disabled", disabled, mode::any},
                    {"child_first_guards", child_first_guards, mode::helper},
                    {"child_return", child_return, mode::helper},
                    {"child_exit_inside", child_exit_inside, mode::helper},
                    {"child_in_flight", child_in_flight, mode::helper},
                    {"child_thread", child_thread, mode::helper},
                    {"child_no_library", child_no_library, mode::helper},
                    {"child_no_cupti", child_no_cupti, mode::helper},
                    {"child_off", child_off, mode::helper},
                    {"child_cupti_off", child_cupti_off, mode::helper}});
}
