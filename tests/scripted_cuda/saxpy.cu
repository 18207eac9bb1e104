// SPDX-License-Identifier: MIT
// An ordinary CUDA program: what nvcc makes of it runs on the scripted CUDA unmodified.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "scripted_cuda.hpp"

__constant__ float factor;
__managed__ int calls;

template <class T>
__global__ void saxpy(T a, const T* x, T* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] += factor * a * x[i];
}
__global__ void together(int* done) {
  cooperative_groups::this_grid().sync();
  *done = 1;
}

#define CHECK(call)                                                                 \
  if (const cudaError_t error = (call); error != cudaSuccess) {                     \
    std::fprintf(stderr, "saxpy.cu:%d: %s\n", __LINE__, cudaGetErrorString(error)); \
    return 1;                                                                       \
  }

int main() {
  constexpr int n = 1 << 16;
  const std::vector<float> host(n, 1.0F);
  const float one = 1.0F;
  float *x = nullptr, *y = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  CHECK(cudaMalloc(&x, n * sizeof *x));
  CHECK(cudaMallocManaged(&y, n * sizeof *y));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaMemcpyAsync(x, host.data(), n * sizeof *x, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyToSymbol(factor, &one, sizeof one));
  CHECK(cudaEventRecord(begin, stream));
  saxpy<float><<<n / 256, 256, 0, stream>>>(2.0F, x, y, n);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(end, stream));

  int* done = &calls;
  void* arguments[] = {&done};
  CHECK(cudaLaunchCooperativeKernel(together, dim3(4), dim3(32), arguments, 0, stream));

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  saxpy<double><<<1, 32, 0, stream>>>(1.0, nullptr, nullptr, 0);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));

  float ms = 0.0F;
  int blocks = 0, threads = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  CHECK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, saxpy<float>));
  CHECK(cudaDeviceSynchronize());
  return scripted_launches() == 3 && ms > 0.0F && calls == 0 && x[n - 1] == 1.0F ? 0 : 1;
}
