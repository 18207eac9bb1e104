// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_ATTRIBUTION_WAYS_CUH
#define KPROF_TESTS_GPU_ATTRIBUTION_WAYS_CUH

// Modes of attribution.cu: all ways to launch, the driver's calls, and launches that fail.

#include "kernels.cuh"

#include <cstdint>
#include <string>

namespace {

/// The default streams, and the ways to launch that the runtime has.
void ways() {
  device_array<float> x(256);
  float* data = x.data();
  int n = 256;
  void* arguments[] = {&data, &n};
  const void* const kernel = reinterpret_cast<const void*>(&touch_kernel<float>);
  touch(1, data, cudaStreamLegacy);
  touch(2, data, cudaStreamPerThread);
  {
    KPROF_OP(Touch, {.id = 3});
    CUDA(cudaLaunchKernel(kernel, dim3(1), dim3(256), arguments, 0, nullptr));
  }
  {
    KPROF_OP(Touch, {.id = 4});
    cudaLaunchConfig_t how{};
    how.gridDim = dim3(1), how.blockDim = dim3(256);
    CUDA(cudaLaunchKernelExC(&how, kernel, arguments));
  }
  {
    KPROF_OP(Touch, {.id = 5});
    CUDA(cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(256), arguments, 0, nullptr));
  }
  {
    KPROF_OP(Touch, {.id = 6});  // no work of the device
    CUDA(cudaLaunchHostFunc(
        nullptr, [](void*) {}, nullptr));
  }
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  const char* const names[] = {"on the legacy default stream", "on the default stream of a thread",
                               "by cudaLaunchKernel", "by cudaLaunchKernelExC",
                               "by cudaLaunchCooperativeKernel"};
  for (int i = 0; i < 5; ++i)
    CHECK_EQUAL(std::string{"kernels launched "} + names[i],
                directly_in(p, "Touch id=" + std::to_string(i + 1)).kernels, 1U);
  CHECK_EQUAL("work launched by cudaLaunchHostFunc", directly_in(p, "Touch id=6").runs(), 0U);
}

/// Launches by the driver's own functions, which libraries such as cuBLAS use.
void driver() {
  device_array<float> x(256);
  float* data = x.data();
  int n = 256;
  void* arguments[] = {&data, &n};
  cudaFunction_t function = nullptr;
  CUDA(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&touch_kernel<float>)));
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CUDA(
      cudaGetDriverEntryPointByVersion("cuLaunchKernel", &entry, 12000, cudaEnableDefault, &found));
  using launch_kernel = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, void*, void**, void**);
  const auto launch = reinterpret_cast<launch_kernel>(entry);
  CHECK("the driver has cuLaunchKernel", launch != nullptr);
  if (launch == nullptr) return;
  for (int i = 0; i < 10; ++i) {
    KPROF_OP(Touch, {.id = 1});
    CHECK_EQUAL("cuLaunchKernel works",
                launch(function, 1, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr), 0);
  }
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels launched by cuLaunchKernel", directly_in(p, "Touch id=1").kernels, 10U);
}

/// Launches that fail launch nothing and are not counted.
void failures() {
  device_array<float> x(256);
  touch(1, x.data());
  for (int i = 0; i < 3; ++i) {
    KPROF_OP(Touch, {.id = 2});
    touch_kernel<<<1, 4096>>>(x.data(), 256);  // more threads than a block may have
    CHECK("a block of 4096 threads is refused", cudaGetLastError() != cudaSuccess);
  }
  touch(3, x.data());
  CUDA(cudaDeviceSynchronize());
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("launches that worked", p.device.complete.launches, 2U);
  CHECK_EQUAL("work of launches that failed", directly_in(p, "Touch id=2").runs(), 0U);
  CHECK_EQUAL("kernels after them", directly_in(p, "Touch id=3").kernels, 1U);
}

}  // namespace

#endif
