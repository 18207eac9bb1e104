// SPDX-License-Identifier: MIT
// The runtime API of the scripted libcudart.so.13: launches, devices and errors.
#include "gpu.hpp"

#include <cuda_profiler_api.h>

#include <algorithm>
#include <atomic>
#include <utility>

using namespace scripted;

namespace {

std::atomic<void (*)()> before_return{nullptr};  // of the next launch

cudaError_t launch(CUpti_runtime_api_trace_cbid id, const void* parameters, CUkern_st* kernel,
                   const configuration& c, void** arguments, cudaStream_t stream,
                   CUpti_driver_api_trace_cbid driver_id = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
  return call(
      id, parameters,
      [&](const api_call& self) -> cudaError_t {
        if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
        if (!kernel->loaded.load(std::memory_order_relaxed) && !kernel->loaded.exchange(true)) {
          const hooks* h = shared().hook.load(std::memory_order_acquire);
          if (h != nullptr) h->lazily_loaded(self, self.start, host_now());
        }
        const auto shared_memory = static_cast<unsigned>(c.shared_memory);
        const cuLaunchKernel_params driver_parameters{reinterpret_cast<CUfunction>(kernel),
                                                      c.grid.x,
                                                      c.grid.y,
                                                      c.grid.z,
                                                      c.block.x,
                                                      c.block.y,
                                                      c.block.z,
                                                      shared_memory,
                                                      stream,
                                                      arguments,
                                                      nullptr};
        const cudaError_t done = driver_call(self, driver_id, &driver_parameters,
                                             [&](const api_call& driver) -> cudaError_t {
                                               if (!launchable(c))
                                                 return cudaErrorInvalidConfiguration;
                                               work what = kernel_work(*kernel, c);
                                               return submit(driver, resolve(stream), what);
                                             });
        if (before_return.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
          if (void (*const what)() = before_return.exchange(nullptr); what != nullptr) what();
        return done;
      },
      needs::context, kernel == nullptr ? nullptr : kernel->name.c_str());
}

// The next call that needs a context makes another one, at the same address.
void reset_device(std::uint32_t device) {
  static std::atomic<std::uint32_t> ids{16};
  gpu& g = gpu_of(device);
  wait_until(g.latest());
  const std::lock_guard guard(g.creating);
  resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, device, nullptr, nullptr);
  g.context.id = ++ids;
  g.exists = false;
  this_thread().per_thread[device] = nullptr;
  current_thread().context = nullptr;
}

}  // namespace

extern "C" {

void scripted_before_launch_returns(void (*what)()) { before_return = what; }

// ---- what nvcc's own code calls

void** __cudaRegisterFatBinary(void*) { return new void* {nullptr}; }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void** handle) { delete handle; }
char __cudaInitModule(void**) { return 1; }
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_memory,
                                     CUstream_st* stream) {
  runtime_thread& t = this_thread();
  if (t.configurations == 4) return 1;
  t.configuration[t.configurations++] = {grid, block, shared_memory, stream};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_memory,
                                       void* stream) {
  runtime_thread& t = this_thread();
  if (t.configurations == 0) return cudaErrorMissingConfiguration;
  const auto& top = t.configuration[--t.configurations];
  *grid = top.grid;
  *block = top.block;
  *shared_memory = top.shared_memory;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = find_kernel(function);
  return *kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_memory, cudaStream_t stream) {
  const cudaLaunchKernel_v7000_params parameters{kernel,    grid,          block,
                                                 arguments, shared_memory, stream};
  return launch(CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, &parameters, kernel,
                {grid, block, {0, 0, 0}, shared_memory}, arguments, stream);
}

// ---- launches

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_memory, cudaStream_t stream) {
  const cudaLaunchKernel_v7000_params parameters{function,  grid,          block,
                                                 arguments, shared_memory, stream};
  return launch(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, &parameters, find_kernel(function),
                {grid, block, {0, 0, 0}, shared_memory}, arguments, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  const cudaLaunchKernelExC_v11060_params parameters{config, function, arguments};
  configuration c{config->gridDim, config->blockDim, {0, 0, 0}, config->dynamicSmemBytes};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& a = config->attrs[i];
    if (a.id == cudaLaunchAttributeClusterDimension)
      c.cluster = {a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z};
    if (a.id == cudaLaunchAttributeCooperative && a.val.cooperative != 0)
      c.type = CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE;
  }
  return launch(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, &parameters,
                find_kernel(function), c, arguments, config->stream,
                CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_memory,
                                        cudaStream_t stream) {
  const cudaLaunchCooperativeKernel_v9000_params parameters{function,  grid,          block,
                                                            arguments, shared_memory, stream};
  return launch(
      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000, &parameters,
      find_kernel(function),
      {grid, block, {0, 0, 0}, shared_memory, CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE},
      arguments, stream, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  SCRIPTED_CALL(cudaLaunchHostFunc_v10000, (stream, function, argument), [&](const api_call& self) {
    work what;
    what.type = CU_GRAPH_NODE_TYPE_HOST;
    what.function = function;
    what.argument = argument;
    return submit(self, resolve(stream), what);
  });
}

// ---- kernels

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  SCRIPTED_CALL(cudaFuncGetAttributes_v3020, (attributes, function), [&](auto&) {
    *attributes = {};
    if (find_kernel(function) == nullptr) return cudaErrorInvalidDeviceFunction;
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = 48 * 1024;
    return cudaSuccess;
  });
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  SCRIPTED_CALL(cudaFuncSetAttribute_v9000, (function, attribute, value),
                [](auto&) { return cudaSuccess; });
}
cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  SCRIPTED_CALL(cudaGetKernel_v12000, (kernel, function),
                [&](auto&) { return __cudaGetKernel(kernel, function); });
}
cudaError_t cudaFuncGetName(const char** name, const void* function) {
  SCRIPTED_CALL(cudaFuncGetName_v12030, (name, function), [&](auto&) {
    const CUkern_st* kernel = find_kernel(function);
    if (kernel != nullptr) *name = kernel->name.c_str();
    return kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block, std::size_t shared_memory) {
  SCRIPTED_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050,
                (blocks, function, block, shared_memory),
                [&](auto&) { return *blocks = 2048 / std::clamp(block, 64, 1024), cudaSuccess; });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function, int block,
                                                                   std::size_t shared_memory,
                                                                   unsigned flags) {
  SCRIPTED_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000,
                (blocks, function, block, shared_memory, flags),
                [&](auto&) { return *blocks = 2048 / std::clamp(block, 64, 1024), cudaSuccess; });
}

// ---- devices

cudaError_t cudaDeviceReset() {
  return call(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020, nullptr,
              [&](auto&) { return reset_device(this_thread().device), cudaSuccess; });
}
cudaError_t cudaGetDeviceCount(int* count) {
  SCRIPTED_CALL(
      cudaGetDeviceCount_v3020, (count),
      [&](auto&) {
        *count = 0;
        if (shared().set.no_driver) return cudaErrorInsufficientDriver;
        if (devices() == 0) return cudaErrorNoDevice;
        return *count = static_cast<int>(devices()), cudaSuccess;
      },
      needs::nothing);
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || static_cast<std::uint32_t>(device) >= devices())
    return this_thread().last_error = cudaErrorInvalidDevice;
  this_thread().device = static_cast<std::uint32_t>(device);  // the call makes its context
  SCRIPTED_CALL(cudaSetDevice_v3020, (device), [](auto&) { return cudaSuccess; });
}
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  SCRIPTED_CALL(cudaInitDevice_v12000, (device, device_flags, flags),
                [](auto&) { return cudaSuccess; });
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  SCRIPTED_CALL(
      cudaSetDeviceFlags_v3020, (flags), [](auto&) { return cudaSuccess; }, needs::nothing);
}
cudaError_t cudaGetDevice(int* device) {
  SCRIPTED_CALL(
      cudaGetDevice_v3020, (device),
      [&](auto&) {
        if (shared().set.no_driver) return cudaErrorInsufficientDriver;
        return *device = static_cast<int>(this_thread().device), cudaSuccess;
      },
      needs::nothing);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  SCRIPTED_CALL(
      cudaDeviceGetAttribute_v5000, (value, attribute, device),
      [&](auto&) {
        if (shared().set.no_driver) return cudaErrorInsufficientDriver;
        return *value = attribute_of(attribute), cudaSuccess;
      },
      needs::nothing);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  SCRIPTED_CALL(
      cudaGetDeviceProperties_v12000, (properties, device),
      [&](auto&) {
        if (shared().set.no_driver) return cudaErrorInsufficientDriver;
        if (device < 0 || static_cast<std::uint32_t>(device) >= devices())
          return cudaErrorInvalidDevice;
        describe_device(*properties, static_cast<std::uint32_t>(device));
        return cudaSuccess;
      },
      needs::nothing);
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  SCRIPTED_CALL(cudaDeviceSetLimit_v3020, (limit, value), [](auto&) { return cudaSuccess; });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  SCRIPTED_CALL(cudaDeviceCanAccessPeer_v4000, (can, device, peer),
                [&](auto&) { return *can = device != peer, cudaSuccess; });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  SCRIPTED_CALL(cudaDeviceEnablePeerAccess_v4000, (peer, flags), [](auto&) { return cudaSuccess; });
}
cudaError_t cudaDriverGetVersion(int* version) {
  SCRIPTED_CALL(
      cudaDriverGetVersion_v3020, (version),
      [&](auto&) { return *version = shared().set.no_driver ? 0 : 13000, cudaSuccess; },
      needs::nothing);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  SCRIPTED_CALL(
      cudaRuntimeGetVersion_v3020, (version), [&](auto&) { return *version = 13000, cudaSuccess; },
      needs::nothing);
}
cudaError_t cudaProfilerStart() {
  return call(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000, nullptr,
              [](auto&) { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return call(CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000, nullptr,
              [](auto&) { return cudaSuccess; });
}

// ---- errors

cudaError_t cudaGetLastError() {
  const cudaError_t last = this_thread().last_error;
  call(
      CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, nullptr, [&](auto&) { return last; },
      needs::nothing);
  this_thread().last_error = cudaSuccess;
  return last;
}
cudaError_t cudaPeekAtLastError() {
  const cudaError_t last = this_thread().last_error;
  return call(
      CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020, nullptr, [&](auto&) { return last; },
      needs::nothing);
}
const char* cudaGetErrorName(cudaError_t error) { return error_name(error); }
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : error_name(error);
}

}  // extern "C"
