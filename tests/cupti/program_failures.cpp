// SPDX-License-Identifier: MIT
// A mode of program.cpp for check_failures.py: two recordings with work of every kind, and work
// that the report at the end has to fetch.
#include "program.hpp"

#include <cstdint>

namespace {

void launch_outside() {
  static_cast<void>(cudaLaunchKernel(kernel(), dim3(2), dim3(32), nullptr, 0, nullptr));
}

void copy(std::int64_t n, void* device, cudaStream_t stream) {
  static char host[256];
  KPROF_OP(Op, {.n = n});
  static_cast<void>(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream));
  static_cast<void>(cudaMemsetAsync(device, 1, sizeof host, stream));
  static_cast<void>(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
}

/// Captures two kernels in an operator, and runs them twice in another; once more as what the
/// graph is updated to.
void run_graph(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch(3, 2, stream);
  static_cast<void>(kprof::snapshot());
  std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(stream, &graph)));
  static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));
  KPROF_OP(Op, {.n = 4});
  for (int i = 0; i < 2; ++i) static_cast<void>(cudaGraphLaunch(exec, stream));
  static_cast<void>(cudaStreamSynchronize(stream));
  static_cast<void>(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch(7, 2, stream);
  static_cast<void>(cudaStreamEndCapture(stream, &graph));
  cudaGraphExecUpdateResultInfo result{};
  static_cast<void>(cudaGraphExecUpdate(exec, graph, &result));
  static_cast<void>(cudaGraphLaunch(exec, stream));
}

}  // namespace

MODE(works_in_every_way) {
  void* memory = nullptr;
  static_cast<void>(cudaMalloc(&memory, 256));  // the context is older than the recording
  static_cast<void>(kprof::start());
  launch(8, 3);
  kprof::stop();
  launch(9);
  static_cast<void>(cudaSetDevice(1));
  launch_outside();
  static_cast<void>(cudaDeviceSynchronize());
  static_cast<void>(cudaSetDevice(0));
  static_cast<void>(kprof::start());
  const std::uint64_t before = scripted_device_operations();
  cudaStream_t stream = nullptr;
  static_cast<void>(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  launch(1, 2);
  copy(2, memory, stream);
  run_graph(stream);
  launch_outside();
  static_cast<void>(cudaSetDevice(1));
  launch(5);
  static_cast<void>(cudaSetDevice(0));
  static_cast<void>(kprof::snapshot());
  launch(1);
  print_profile(kprof::snapshot());
  print("did", scripted_device_operations() - before);
  launch(6, 2);
}
