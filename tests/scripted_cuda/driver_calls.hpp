// SPDX-License-Identifier: MIT
// The functions of the driver API with which a tool uses a device itself: name, parameters,
// arguments. libcuda.so.1 exports them, libcudart has what they do, as scripted_<name>.
#ifndef KPROF_TESTS_SCRIPTED_CUDA_DRIVER_CALLS_HPP
#define KPROF_TESTS_SCRIPTED_CUDA_DRIVER_CALLS_HPP

#include <cuda.h>

#include <cstddef>

#undef cuEventElapsedTime  // tools ask for the one that every driver has

// clang-format off
#define SCRIPTED_DRIVER_CALLS(X)                                                                   \
  X(cuDeviceGet, (CUdevice* device, int ordinal), (device, ordinal))                               \
  X(cuDeviceGetName, (char* name, int size, CUdevice device), (name, size, device))                \
  X(cuDeviceGetCount, (int* count), (count))                                                       \
  X(cuDeviceTotalMem, (std::size_t* bytes, CUdevice device), (bytes, device))                      \
  X(cuDeviceGetAttribute, (int* value, CUdevice_attribute which, CUdevice device),                 \
    (value, which, device))                                                                        \
  X(cuDeviceGetUuid, (CUuuid* uuid, CUdevice device), (uuid, device))                              \
  X(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned* flags, int* active),                   \
    (device, flags, active))                                                                       \
  X(cuDevicePrimaryCtxRetain, (CUcontext* context, CUdevice device), (context, device))            \
  X(cuDevicePrimaryCtxRelease, (CUdevice device), (device))                                        \
  X(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode* mode), (mode))                        \
  X(cuStreamCreate, (CUstream* stream, unsigned flags), (stream, flags))                           \
  X(cuStreamDestroy, (CUstream stream), (stream))                                                  \
  X(cuEventCreate, (CUevent* event, unsigned flags), (event, flags))                               \
  X(cuEventDestroy, (CUevent event), (event))                                                      \
  X(cuEventRecord, (CUevent event, CUstream stream), (event, stream))                              \
  X(cuEventQuery, (CUevent event), (event))                                                        \
  X(cuEventElapsedTime, (float* ms, CUevent begin, CUevent end), (ms, begin, end))                 \
  X(cuMemGetInfo, (std::size_t* free, std::size_t* total), (free, total))                          \
  X(cuMemAlloc, (CUdeviceptr* at, std::size_t bytes), (at, bytes))                                 \
  X(cuMemFree, (CUdeviceptr at), (at))                                                             \
  X(cuMemHostAlloc, (void** at, std::size_t bytes, unsigned flags), (at, bytes, flags))            \
  X(cuMemFreeHost, (void* at), (at))                                                               \
  X(cuMemsetD32Async, (CUdeviceptr at, unsigned value, std::size_t words, CUstream stream),        \
    (at, value, words, stream))                                                                    \
  X(cuMemcpyHtoDAsync, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream),     \
    (to, from, bytes, stream))                                                                     \
  X(cuMemcpyDtoHAsync, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream),           \
    (to, from, bytes, stream))                                                                     \
  X(cuModuleLoadData, (CUmodule* module, const void* text), (module, text))                        \
  X(cuModuleUnload, (CUmodule module), (module))                                                   \
  X(cuModuleGetFunction, (CUfunction* function, CUmodule module, const char* name),                \
    (function, module, name))                                                                      \
  X(cuLaunchKernel,                                                                                \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,     \
     unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void** params,          \
     void** extra),                                                                                \
    (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, params, extra))
// clang-format on

#define SCRIPTED_DECLARE(name, parameters, arguments) CUresult scripted_##name parameters;
extern "C" {
SCRIPTED_DRIVER_CALLS(SCRIPTED_DECLARE)
}
#undef SCRIPTED_DECLARE
// a program's call, not a tool's
extern "C" CUresult scripted_cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                            const CUDA_MEMSET_NODE_PARAMS* params,
                                                            CUcontext context);

#endif
