// SPDX-License-Identifier: MIT

// Programs whose reports want the devices measured, or what was measured before.

#include "program.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <cstring>

namespace {

/// A profile as a report gets it.
kprof::profile reported() {
  kprof::profile p = kprof::snapshot();
  kprof::detail::add_ceilings_for_report(p);
  return p;
}

void print_ceilings(const kprof::profile& p) {
  if (!p.machine.gpus.empty()) {
    const kprof::gpu_ceilings& g = p.machine.gpus[0];
    unsigned long long measured = 0, roofs = 0;
    for (const kprof::gpu_arithmetic_ceiling& a : g.arithmetic) {
      measured += a.measured_operations > 0 ? 1U : 0U;
      roofs += a.table_operations > 0 && a.operations == a.measured_operations ? 1U : 0U;
    }
    print("kernels", measured);
    print("roofs", roofs);
    print("slower", g.memory_bytes < g.table_memory_bytes ? 1 : 0);
    print("sheet", static_cast<unsigned long long>(g.table_memory_bytes / 1e9 + 0.5));
    print("dated", g.measured.size());
    print("copies", g.to_device_bytes > 0 && g.from_device_bytes > 0 ? 1 : 0);
    for (const std::string& note : g.notes) std::printf("gpu note %s\n", note.c_str());
  }
  for (const std::string& kernel : p.device.kernels) std::printf("kernel %s\n", kernel.c_str());
}

CUcontext current_context() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* const found = driver == nullptr ? nullptr : dlsym(driver, "cuCtxGetCurrent");
  CUresult (*get)(CUcontext*) = nullptr;
  std::memcpy(&get, &found, sizeof get);
  CUcontext now = nullptr;
  return get != nullptr && get(&now) == CUDA_SUCCESS ? now : nullptr;
}

}  // namespace

/// Measures in the middle of an operator, and between others.
MODE(measures_devices) {
  launch(1, 3);
  const CUcontext before = current_context();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  {
    KPROF_OP(Op, {.n = 7});
    static_cast<void>(cudaLaunchKernel(kernel(), dim3(2), dim3(32), nullptr, 0, nullptr));
    print_ceilings(reported());
  }
  print("same context", before == current_context() && before != nullptr ? 1 : 0);
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  print("same mode", mode == cudaStreamCaptureModeGlobal ? 1 : 0);
  print("own kernels", scripted_launches() - 4);
  launch(2, 2);
  static_cast<void>(cudaDeviceSynchronize());
  const std::uint64_t after = scripted_launches();
  const kprof::profile last = reported();
  print("again", scripted_launches() - after);
  print("overhead", static_cast<unsigned long long>(last.device.complete.overhead_ns));
  print_profile(last);
}

/// What one report of a run knows.
MODE(reports_once) {
  launch(1, 3);
  const kprof::profile run = reported();
  print("own kernels", scripted_launches() - 3);
  print_ceilings(run);
  print_profile(run);
}

/// A capture is left alone, and the next report measures.
MODE(measures_after_a_capture) {
  launch(1, 3);
  cudaStream_t stream = nullptr;
  static_cast<void>(cudaStreamCreate(&stream));
  static_cast<void>(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch(2, 1, stream);
  static_cast<void>(reported());
  print("within", scripted_launches() - 3);
  cudaGraph_t graph = nullptr;
  print("captured", cudaStreamEndCapture(stream, &graph) == cudaSuccess ? 1 : 0);
  const kprof::profile run = reported();
  print("own kernels", scripted_launches() - 3);
  print_profile(run);
}

/// The report at the end of the process measures before CUDA shuts down.
MODE(ends_after_its_work) { launch(1, 3); }
