// SPDX-License-Identifier: MIT

// Small programs on the scripted CUDA that show what kprof makes of device work in one situation
// each: `program MODE` prints what the last snapshot says, a line each, and ends with 7. The modes
// are in program_recordings.cpp, program_threads.cpp and program_ends.cpp.

#include "program.hpp"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>

bool device_hangs = false;

/// In front of the scripted runtime's: what the driver waits for a device by.
extern "C" CUresult scripted_context_synchronize() {
  if (device_hangs) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    const bool is_open = sigismember(&mask, SIGUSR1) == 0;
    std::fprintf(stderr, "%s",
                 is_open ? "a thread that waits may run the program's handlers\n" : "");
  }
  while (device_hangs) pause();
  CUresult (*next)() = nullptr;
  void* const found = dlsym(RTLD_NEXT, "scripted_context_synchronize");
  std::memcpy(&next, &found, sizeof next);
  return next();
}

const void* kernel() {
  static const void* const k = scripted_kernel("_Z6kernelPf");
  return k;
}

void launch(std::int64_t n, int times, cudaStream_t stream) {
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
  print("cut", c.cut_buffers);
  print("foreign", c.foreign_buffers);
  print("foreign_graphs", c.foreign_graphs);
  for (const auto& d : p.device.devices)
    if (d.sum_ns > 0)
      std::printf("device %u busy, %s\n", d.id,
                  d.sum_ns < p.wall_ns * 1000 ? "in time" : "too long");
  for (const auto& w : p.device.work)
    std::printf("work %s: %s %llu %s\n",
                w.scope == kprof::device_work::none ? "unknown" : path_of(p, w.scope).c_str(),
                w.kernel == kprof::device_work::none ? "copy" : p.device.kernels[w.kernel].c_str(),
                static_cast<unsigned long long>(w.calls),
                w.calls > w.untimed && w.total_ns > 0 ? "timed" : "untimed");
  for (const auto& row : kprof::operator_table(p))
    std::printf("rate %s %s\n", row.parameters.c_str(),
                row.flops_per_s.known() ? "known" : kprof::explain(row.flops_per_s.why));
  for (const std::string& note : p.notes) std::printf("note %s\n", note.c_str());
  std::fflush(stdout);
}

static std::map<std::string, void (*)()>& modes() {
  static std::map<std::string, void (*)()> all;
  return all;
}
registered_mode::registered_mode(const char* name, void (*run)()) { modes()[name] = run; }

int main(int argc, char** argv) {
  const auto mode = modes().find(argc > 1 ? argv[1] : "");
  if (mode == modes().end()) return 2;
  mode->second();
  if (scripted_misuse() != 0) std::printf("misuse %s\n", scripted_misuse_text());
  return 7;
}
