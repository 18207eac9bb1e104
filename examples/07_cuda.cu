// SPDX-License-Identifier: MIT
//
// Guards in a .cu file compiled by nvcc: the same operator, around the host code that launches a
// kernel. On a machine without a GPU the same work is done on the CPU.
//
//     nvcc -std=c++20 -O2 -I include examples/07_cuda.cu -o cuda_example && ./cuda_example

#include <kprof/kprof.hpp>

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

struct Saxpy {
  std::int64_t n = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 2 * n * size_of(type), .written = n * size_of(type)};
  }
};

__global__ void saxpy_kernel(float a, const float* x, float* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

void saxpy(bool on_gpu, float a, const float* x, float* y, std::int64_t n) {
  KPROF_OP(Saxpy, {.n = n});
  if (on_gpu) {
    saxpy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, x, y, n);
    // so that the guard's host time holds the kernel's; its device time is collected in any case
    cudaDeviceSynchronize();
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] += a * x[i];
  }
}

int main() {
  constexpr std::int64_t n = 1 << 22;
  constexpr std::size_t bytes = n * sizeof(float);
  int gpus = 0;
  const cudaError_t found = cudaGetDeviceCount(&gpus);  // fails where there is no driver
  const bool on_gpu = found == cudaSuccess && gpus > 0;
  if (!on_gpu)
    std::fprintf(stderr, "no GPU (%s): the work is done on the CPU\n", cudaGetErrorString(found));

  std::vector<float> x(n, 1.0F), y(n, 2.0F);
  float *device_x = x.data(), *device_y = y.data();
  if (on_gpu) {
    if (cudaMalloc(&device_x, bytes) != cudaSuccess ||
        cudaMalloc(&device_y, bytes) != cudaSuccess) {
      std::fprintf(stderr, "no device memory: %s\n", cudaGetErrorString(cudaGetLastError()));
      return 1;
    }
    cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(device_y, y.data(), bytes, cudaMemcpyHostToDevice);
  }
  for (int i = 0; i < 10; ++i) saxpy(on_gpu, 3.0F, device_x, device_y, n);
  if (on_gpu) cudaMemcpy(y.data(), device_y, bytes, cudaMemcpyDeviceToHost);

  kprof::report();
  return y[n - 1] == 32.0F ? 0 : 1;
}

// Output:
// kprof · 07_cuda · 70.9 ms · 1 thread on 2 CPUs
// device: there is no NVIDIA driver (libcuda.so.1: cannot open shared object file: No such file or
//   directory); run where nvidia-smi lists a GPU, and in a container with --gpus all; times and rates
//   are the host's
//
// Operators, sorted by self; all f32
//
// operator  parameters  calls     self             share    total   median     mean  GFLOP/s  GB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────
// Saxpy     n=4194304      10  70.7 ms  ████████  100.0%  70.7 ms  7.02 ms  7.07 ms     1.19  7.12
// ────────────────────────────────────────────────────────────────────────────────────────────────
// in operators             10  70.7 ms            100.0%
//
// not shown at width 100: FLOP/B, max, min
// ...
