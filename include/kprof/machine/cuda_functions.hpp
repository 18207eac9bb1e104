// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_CUDA_FUNCTIONS_HPP
#define KPROF_MACHINE_CUDA_FUNCTIONS_HPP

// The functions of the CUDA driver that kprof measures a GPU with, of the driver that the program
// has loaded. Included by measure_gpu.hpp.

#include <kprof/build_options.hpp>
#include <kprof/collect/cuda_driver.hpp>
#include <kprof/machine/rounds.hpp>
#include <kprof/status.hpp>

#include <dlfcn.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// Pointers to functions, and nothing else. All return a CUresult, of which 0 is success. Handles
/// are pointers, memory of a device a number.
struct cuda_functions {
  int (*error_name)(int error, const char** name);
  int (*device)(int* device, int ordinal);
  int (*device_name)(char* name, int size, int device);
  int (*context_state)(int device, unsigned* flags, int* is_active);  // of the primary one
  int (*retain)(void** context, int device);
  int (*release)(int device);
  int (*push)(void* context);
  int (*pop)(void** context);
  int (*exchange_capture_mode)(int* mode);
  int (*make_stream)(void** stream, unsigned flags);
  int (*destroy_stream)(void* stream);
  int (*make_event)(void** event, unsigned flags);
  int (*destroy_event)(void* event);
  int (*record)(void* event, void* stream);
  int (*query)(void* event);
  int (*elapsed)(float* ms, void* begin, void* end);
  int (*memory)(std::size_t* free, std::size_t* total);
  int (*allocate)(std::uint64_t* at, std::size_t bytes);
  int (*release_memory)(std::uint64_t at);
  int (*allocate_host)(void** at, std::size_t bytes, unsigned flags);
  int (*release_host)(void* at);
  int (*fill)(std::uint64_t at, unsigned value, std::size_t words, void* stream);
  int (*to_device)(std::uint64_t to, const void* from, std::size_t bytes, void* stream);
  int (*to_host)(void* to, std::uint64_t from, std::size_t bytes, void* stream);
  int (*load)(void** module, const void* text);
  int (*unload)(void* module);
  int (*function)(void** function, void* module, const char* name);
  int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** params,
                void** extra);
  /// Nanoseconds, of the host.
  std::int64_t (*now)() = [] { return read_clock_ns(CLOCK_MONOTONIC); };
};

/// Looks the functions up in the driver, which must be loaded. It stays loaded.
[[gnu::cold]] inline status find_cuda_functions(cuda_functions& out) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return {"the program has not loaded the NVIDIA driver"};
  // In the order of the members.
  static constexpr const char* names[] = {"cuGetErrorName",
                                          "cuDeviceGet",
                                          "cuDeviceGetName",
                                          "cuDevicePrimaryCtxGetState",
                                          "cuDevicePrimaryCtxRetain",
                                          "cuDevicePrimaryCtxRelease_v2",
                                          "cuCtxPushCurrent_v2",
                                          "cuCtxPopCurrent_v2",
                                          "cuThreadExchangeStreamCaptureMode",
                                          "cuStreamCreate",
                                          "cuStreamDestroy_v2",
                                          "cuEventCreate",
                                          "cuEventDestroy_v2",
                                          "cuEventRecord",
                                          "cuEventQuery",
                                          "cuEventElapsedTime",
                                          "cuMemGetInfo_v2",
                                          "cuMemAlloc_v2",
                                          "cuMemFree_v2",
                                          "cuMemHostAlloc",
                                          "cuMemFreeHost",
                                          "cuMemsetD32Async",
                                          "cuMemcpyHtoDAsync_v2",
                                          "cuMemcpyDtoHAsync_v2",
                                          "cuModuleLoadData",
                                          "cuModuleUnload",
                                          "cuModuleGetFunction",
                                          "cuLaunchKernel"};
  static_assert(sizeof names + sizeof out.now == sizeof out);
  const char* missing = nullptr;
  char* to = reinterpret_cast<char*>(&out);
  for (const char* const name : names) {
    void* const found = dlsym(driver, name);
    if (found == nullptr) missing = name;
    std::memcpy(to, &found, sizeof found);
    to += sizeof found;
  }
  if (cupti::driver_version == 0) cupti::ask_version(driver);
  dlclose(driver);
  if (missing != nullptr) return {std::string{"the NVIDIA driver lacks "} + missing};
  return {};
}

}  // namespace detail
KPROF_DETAIL_END

#endif
