// SPDX-License-Identifier: MIT
//
// Guards in a .cu file compiled by nvcc: the same operator, around the host code that launches a kernel. On a machine
// without a GPU the work is done on the CPU, and the report says what ran.
//
//     nvcc -std=c++20 -O2 -I include examples/07_cuda.cu -o cuda_example && ./cuda_example

#include <kprof/kprof.hpp>

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

enum class device : std::uint8_t { cpu, gpu };

struct Saxpy {
  std::int64_t n = 0;
  kprof::dtype type = kprof::dtype::f32;
  device on = device::cpu;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const { return {.read = 2 * n * size_of(type), .written = n * size_of(type)}; }
};

__global__ void saxpy_kernel(float a, const float* x, float* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

void saxpy(device on, float a, const float* x, float* y, std::int64_t n) {
  KPROF_OP(Saxpy, {.n = n, .on = on});
  if (on == device::gpu) {
    saxpy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, x, y, n);
    cudaDeviceSynchronize();   // so that the guard's time holds the kernel's
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] += a * x[i];
  }
}

int main() {
  constexpr std::int64_t n = 1 << 22;
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess) gpus = 0;   // no driver is an answer too
  std::printf("GPUs: %s\n", gpus > 0 ? "yes" : "none, so the work is done on the CPU");

  std::vector<float> x(n, 1.0F), y(n, 2.0F);
  float *on_x = x.data(), *on_y = y.data();
  if (gpus > 0) {
    KPROF_REGION("upload");
    const std::size_t bytes = n * sizeof(float);
    if (cudaMalloc(&on_x, bytes) != cudaSuccess || cudaMalloc(&on_y, bytes) != cudaSuccess) {
      std::fprintf(stderr, "no device memory: %s\n", cudaGetErrorString(cudaGetLastError()));
      return 1;
    }
    cudaMemcpy(on_x, x.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(on_y, y.data(), bytes, cudaMemcpyHostToDevice);
  }
  for (int i = 0; i < 10; ++i) saxpy(gpus > 0 ? device::gpu : device::cpu, 3.0F, on_x, on_y, n);
  if (gpus > 0) cudaMemcpy(y.data(), on_y, n * sizeof(float), cudaMemcpyDeviceToHost);

  kprof::report();
  return y[n - 1] == 32.0F ? 0 : 1;
}
