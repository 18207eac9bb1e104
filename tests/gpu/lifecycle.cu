// SPDX-License-Identifier: MIT
//
// Sessions that begin, pause and end; programs that end without ending them; forks; and a collector
// that cannot work, which must cost the program nothing but its device's part of the report.

#include "kernels.cuh"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

namespace {

void touches(int times, std::int64_t id) {
  device_array<float> x(256);
  for (int i = 0; i < times; ++i) touch(id, x.data());
  CUDA(cudaDeviceSynchronize());
}

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

/// The first guards of several threads at once, which launch from then on: whoever is first starts
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
int run_self(const std::string& environment, const char* which);
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

// ---- ends of programs

std::string self() {
  char path[4096] = "";
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  return {path, n > 0 ? static_cast<std::size_t>(n) : 0};
}
std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string scratch_file(const char* name) {
  const char* folder = std::getenv("TMPDIR");
  return std::string{folder == nullptr ? "/tmp" : folder} + "/kprof-gpu-" +
         std::to_string(getpid()) + '-' + name;
}
/// Runs this program in another mode, with more in its environment. Returns how it ended, as a
/// shell says it.
int run_self(const std::string& environment, const char* which) {
  std::fflush(stdout);
  const int status =
      std::system(("timeout 60 env " + environment + " '" + self() + "' " + which).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status)
                           : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/// The report at the end of a program that ends in one way or another, with work perhaps still
/// running.
void exit_with_report(const char* which, int ended, const std::vector<const char*>& wanted) {
  const std::string path = scratch_file(which);
  const std::string what = std::string{"a program that ends by "} + which;
  CHECK_EQUAL(what + ": its exit status",
              run_self("'KPROF=report(path=" + path + ",width=200)'", which), ended);
  const std::string text = contents(path);
  std::remove(path.c_str());
  for (const char* line : wanted)
    CHECK(what + ": its report has " + line, text.find(line) != std::string::npos);
  if (text.empty()) note("there is no report");
}
void child_return() { touches(10, 5); }
void child_exit_inside() {
  device_array<float> x(256);
  KPROF_OP(Touch, {.id = 5});
  for (int i = 0; i < 10; ++i) launch_touch(x.data(), 256);
  std::exit(0);
}
void child_in_flight() {
  device_array<float> x(256);
  for (int i = 0; i < 10; ++i) touch(5, x.data());
  if (kernels_compute()) launch_spin(200'000'000);
  std::exit(0);  // nothing has been waited for
}
void child_thread() {  // a thread launches until the process ends
  std::thread([] {
    float* x = nullptr;
    CUDA(cudaMalloc(&x, 1024));
    for (;;) touch(5, x);
  }).detach();
  usleep(200'000);
}
void exits() {
  exit_with_report("child_return", 0,
                   {"Touch", "id=5", "10 attributed", "none open, dropped, without timing"});
  exit_with_report("child_exit_inside", 0,
                   {"Touch", "id=5", "10 attributed", "none open, dropped, without timing"});
  exit_with_report("child_in_flight", 0,
                   {"Touch", "id=5", "10 attributed", "none open, dropped, without timing"});
  exit_with_report("child_thread", 0, {"Touch", "id=5"});
}

// ---- forks

int wait_for(pid_t child) {
  for (int i = 0; i < 600; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    usleep(50'000);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}
void forked() {
  device_array<float> x(256);
  for (int i = 0; i < 10; ++i) touch(1, x.data());
  CUDA(cudaDeviceSynchronize());
  const std::string parent_prefix = check_prefix;
  for (const bool exits_at_once : {true, false}) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {  // runs on, on the host
      check_prefix = parent_prefix + (exits_at_once ? " (child that ends with _exit)"
                                                    : " (child that ends with exit)");
      checks_failed = 0;
      for (int i = 0; i < 3; ++i) { KPROF_OP(Touch, {.id = 2}); }
      const kprof::profile p = kprof::snapshot();
      CHECK_EQUAL("scopes are recorded", scopes(p, "Touch id=2").calls, 3U);
      check_not_collecting(p, "fork");
      std::fflush(stdout);
      if (exits_at_once) _exit(checks_failed == 0 ? 0 : 1);
      std::exit(checks_failed == 0 ? 0 : 1);
    }
    CHECK_EQUAL(exits_at_once ? "a child that ends with _exit ends well"
                              : "a child that ends with exit ends well",
                wait_for(child), 0);
    touch(3, x.data());
  }
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels of the parent before the forks", directly_in(p, "Touch id=1").kernels, 10U);
  CHECK_EQUAL("kernels of the parent after each fork", directly_in(p, "Touch id=3").kernels, 2U);
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
