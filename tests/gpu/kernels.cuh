// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_KERNELS_CUH
#define KPROF_TESTS_GPU_KERNELS_CUH

// The suite's kernels and operators. Kernels of known duration wait on the device's own clocks:
// their times are facts that hold on every GPU.

#include "check.hpp"

#include <functional>

/// One kernel of a block. `id` tells calls apart.
struct Touch {
  std::int64_t id = 0;
  constexpr kprof::count flops() const { return 1000; }
};
/// Waits so many nanoseconds.
struct Spin {
  std::int64_t ns = 0;
};

template <class T>  // a template, so that a file that does not use it is not warned of it
__global__ void touch_kernel(T* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] += T{1};
}

/// %globaltimer counts nanoseconds, in steps of 32 to 1024 of them.
template <class T>
__global__ void spin_kernel(T ns) {
  T begin = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < ns);
}

/// Waits so many cycles of its multiprocessor.
template <class T>
__global__ void cycles_kernel(T cycles) {
  const T begin = clock64();
  while (clock64() - begin < cycles) {}
}

inline void launch_touch(float* x, int n, cudaStream_t stream = nullptr) {
  touch_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, n);
  CUDA(cudaGetLastError());
}
inline void launch_spin(std::int64_t ns, cudaStream_t stream = nullptr) {
  spin_kernel<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(ns));
  CUDA(cudaGetLastError());
}

inline cudaStream_t new_stream() {
  cudaStream_t s = nullptr;
  CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  return s;
}
inline cudaGraph_t capture(cudaStream_t s, const std::function<void()>& body,
                           cudaStreamCaptureMode how = cudaStreamCaptureModeThreadLocal) {
  cudaGraph_t graph = nullptr;
  CUDA(cudaStreamBeginCapture(s, how));
  body();
  CUDA(cudaStreamEndCapture(s, &graph));
  return graph;
}
inline cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

inline void touch(std::int64_t id, float* x, cudaStream_t stream = nullptr) {
  KPROF_OP(Touch, {.id = id});
  launch_touch(x, 256, stream);
}
inline void spin(std::int64_t ns, cudaStream_t stream = nullptr) {
  KPROF_OP(Spin, {.ns = ns});
  launch_spin(ns, stream);
}

#endif
