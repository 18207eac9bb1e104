// SPDX-License-Identifier: MIT
// The driver API with which a tool uses a device itself: kernels from PTX text, whose entry has the
// parameters of kprof's (include/kprof/machine/gpu_kernels.hpp). A round of a loop takes a fixed
// time, so that rates come out as a device's might: 55 TFLOP/s of fma.rn.f32 on 132
// multiprocessors, 600 of an mma, 3 TB/s of memory and 6 of what L2 holds.
#include "driver_calls.hpp"
#include "gpu.hpp"
#include "graphs.hpp"

#include "scripted_cuda.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

using namespace scripted;

struct CUmod_st {
  std::string text;
};

// A module's function: the kernel that its launches are records of.
struct CUfunc_st {
  CUkern_st* kernel;
  const CUmod_st* module;
};

namespace {

// `body` is not called where SCRIPTED_FAIL makes the call fail.
template <class Body>
CUresult driver(CUpti_driver_api_trace_cbid id, const char* name, const Body& body) {
  const cudaError_t result = call_driver(id, nullptr, [&](const api_call& self) -> cudaError_t {
    return scripted_call_fails(name) ? cudaErrorUnknown : body(self);
  });
  return static_cast<CUresult>(static_cast<int>(result));
}

CUdeviceptr address(const void* at) { return reinterpret_cast<CUdeviceptr>(at); }
template <class T>
T* pointer(CUdeviceptr at) {
  return reinterpret_cast<T*>(at);
}

// As a kernel reads it.
std::uint64_t parameter(void** params, int i) {
  std::uint64_t word = 0;
  std::memcpy(&word, params[i], sizeof word);
  return word;
}

std::uint64_t duration_of(const std::string& text, void** params) {
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  const auto rounds = static_cast<double>(parameter(params, 1));
  if (!has("ld.global.cg")) return static_cast<std::uint64_t>(rounds * (has("mma") ? 3700 : 1250));
  const auto bytes = static_cast<double>(parameter(params, 5));
  const int arrays = !has("st.global.cs") ? 1 : has("fma.rn.f32") ? 3 : 2;
  const double bytes_per_ns = bytes < 32e6 ? 6000 : 3000;
  return static_cast<std::uint64_t>(rounds * bytes * arrays / bytes_per_ns) + 1;
}

cudaError_t copy(const api_call& self, void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind, CUstream stream) {
  work what = copy_work({to, bytes, from, bytes, bytes, 1}, kind);
  what.op.asynchronous = true;
  return submit(self, resolve(stream), what);
}

cudaDeviceProp properties_of(CUdevice device) {
  cudaDeviceProp found;
  describe_device(found, static_cast<std::uint32_t>(device));
  return found;
}

}  // namespace

// The name of the function is the name of its id but for what is behind it.
#define DRIVER(name, id, ...) driver(CUPTI_DRIVER_TRACE_CBID_##id, #name, __VA_ARGS__)

extern "C" {

CUresult scripted_cuDeviceGet(CUdevice* device, int ordinal) {
  return DRIVER(cuDeviceGet, cuDeviceGet, [&](auto&) {
    if (ordinal < 0 || static_cast<std::uint32_t>(ordinal) >= devices())
      return cudaErrorInvalidDevice;
    return *device = ordinal, cudaSuccess;
  });
}
CUresult scripted_cuDeviceGetName(char* name, int size, CUdevice) {
  return DRIVER(cuDeviceGetName, cuDeviceGetName, [&](auto&) {
    return std::strncpy(name, "Scripted GPU", static_cast<std::size_t>(size)), cudaSuccess;
  });
}
CUresult scripted_cuDeviceGetCount(int* count) {
  return DRIVER(cuDeviceGetCount, cuDeviceGetCount,
                [&](auto&) { return *count = static_cast<int>(devices()), cudaSuccess; });
}
CUresult scripted_cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return DRIVER(cuDeviceTotalMem, cuDeviceTotalMem_v2,
                [&](auto&) { return *bytes = properties_of(device).totalGlobalMem, cudaSuccess; });
}
CUresult scripted_cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  return DRIVER(cuDeviceGetAttribute, cuDeviceGetAttribute, [&](auto&) {
    const cudaDeviceProp p = properties_of(device);
    switch (which) {
      case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return *value = 1'980'000, cudaSuccess;
      case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return *value = 2'619'000, cudaSuccess;
      case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return *value = 5120, cudaSuccess;
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return *value = p.multiProcessorCount, cudaSuccess;
      case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return *value = p.l2CacheSize, cudaSuccess;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return *value = p.major, cudaSuccess;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return *value = p.minor, cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}
CUresult scripted_cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return DRIVER(cuDeviceGetUuid, cuDeviceGetUuid_v2, [&](auto&) {
    return std::memcpy(uuid, properties_of(device).uuid.bytes, sizeof *uuid), cudaSuccess;
  });
}
CUresult scripted_cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return DRIVER(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, [&](auto&) {
    *flags = 0;
    *active = gpu_of(static_cast<std::uint32_t>(device)).exists ? 1 : 0;
    return cudaSuccess;
  });
}
CUresult scripted_cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return DRIVER(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, [&](auto&) {
    return *context = &gpu_of(static_cast<std::uint32_t>(device)).context, cudaSuccess;
  });
}
CUresult scripted_cuDevicePrimaryCtxRelease(CUdevice) {
  return DRIVER(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2,
                [](auto&) { return cudaSuccess; });
}
CUresult scripted_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return DRIVER(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, [&](auto&) {
    const auto before = static_cast<CUstreamCaptureMode>(this_thread().capture_mode);
    this_thread().capture_mode = static_cast<cudaStreamCaptureMode>(*mode);
    return *mode = before, cudaSuccess;
  });
}

CUresult scripted_cuStreamCreate(CUstream* stream, unsigned flags) {
  return DRIVER(cuStreamCreate, cuStreamCreate, [&](auto&) {
    gpu& g = gpu_of(this_thread().device);
    auto* made = new CUstream_st;
    made->device = this_thread().device;
    made->blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
    const std::lock_guard guard(g.lock);
    made->id = g.next_stream++;
    return keep(made), *stream = made, cudaSuccess;
  });
}
CUresult scripted_cuStreamDestroy(CUstream stream) {
  return DRIVER(cuStreamDestroy, cuStreamDestroy_v2, [&](auto&) {
    if (!forget(stream)) return cudaErrorInvalidResourceHandle;
    return delete stream, cudaSuccess;
  });
}
CUresult scripted_cuEventCreate(CUevent* event, unsigned) {
  return DRIVER(cuEventCreate, cuEventCreate, [&](auto&) {
    *event = new CUevent_st;
    return keep(*event), cudaSuccess;
  });
}
CUresult scripted_cuEventDestroy(CUevent event) {
  return DRIVER(cuEventDestroy, cuEventDestroy_v2, [&](auto&) {
    if (!forget(event)) return cudaErrorInvalidResourceHandle;
    return delete event, cudaSuccess;
  });
}
CUresult scripted_cuEventRecord(CUevent event, CUstream stream) {
  return DRIVER(cuEventRecord, cuEventRecord, [&](const api_call& self) {
    CUstream_st& s = resolve(stream);
    gpu& g = gpu_of(s.device);
    const std::lock_guard guard(g.lock);
    event->time = begin_locked(g, s, self.start);
    if (const hooks* h = shared().hook.load(std::memory_order_acquire))
      h->synchronized({CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN, self.correlation, g.context.id,
                       s.id, event->id, 0, 0});
    return cudaSuccess;
  });
}
// Who asks again finds that the time has come: the GPUs' clock skips ahead.
CUresult scripted_cuEventQuery(CUevent event) {
  return DRIVER(cuEventQuery, cuEventQuery, [&](auto&) {
    const std::uint64_t now = gpu_now();
    if (event->time <= now) return cudaSuccess;
    shared().skipped.fetch_add(event->time - now, std::memory_order_relaxed);
    return cudaErrorNotReady;
  });
}
CUresult scripted_cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  return DRIVER(cuEventElapsedTime, cuEventElapsedTime, [&](auto&) {
    *ms = static_cast<float>(static_cast<double>(end->time - begin->time) / 1e6);
    return cudaSuccess;
  });
}

CUresult scripted_cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return DRIVER(cuMemGetInfo, cuMemGetInfo_v2,
                [&](auto&) { return *free = *total = device_memory, cudaSuccess; });
}
CUresult scripted_cuMemAlloc(CUdeviceptr* at, std::size_t bytes) {
  return DRIVER(cuMemAlloc, cuMemAlloc_v2, [&](auto&) {
    if (capturing_forbids_unsafe_calls()) return cudaErrorStreamCaptureUnsupported;
    void* made = nullptr;
    const cudaError_t result = allocate(&made, bytes, memory::device);
    return *at = address(made), result;
  });
}
CUresult scripted_cuMemFree(CUdeviceptr at) {
  return DRIVER(cuMemFree, cuMemFree_v2, [&](auto&) { return release(pointer<void>(at)); });
}
CUresult scripted_cuMemHostAlloc(void** at, std::size_t bytes, unsigned) {
  return DRIVER(cuMemHostAlloc, cuMemHostAlloc,
                [&](auto&) { return allocate(at, bytes, memory::pinned); });
}
CUresult scripted_cuMemFreeHost(void* at) {
  return DRIVER(cuMemFreeHost, cuMemFreeHost, [&](auto&) { return release(at); });
}
// Nothing is written, or all of the memory would be the host's.
CUresult scripted_cuMemsetD32Async(CUdeviceptr at, unsigned value, std::size_t words,
                                   CUstream stream) {
  return DRIVER(cuMemsetD32Async, cuMemsetD32Async, [&](const api_call& self) {
    work what = fill_work(pointer<void>(at), words * 4, value, 4, words * 4, 1);
    what.type = CU_GRAPH_NODE_TYPE_EMPTY;
    what.op.asynchronous = true;
    return submit(self, resolve(stream), what);
  });
}
CUresult scripted_cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes,
                                    CUstream stream) {
  return DRIVER(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, [&](const api_call& self) {
    return copy(self, pointer<void>(to), from, bytes, cudaMemcpyHostToDevice, stream);
  });
}
CUresult scripted_cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes,
                                    CUstream stream) {
  return DRIVER(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, [&](const api_call& self) {
    return copy(self, to, pointer<const void>(from), bytes, cudaMemcpyDeviceToHost, stream);
  });
}

CUresult scripted_cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                 const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  const cuGraphExecMemsetNodeSetParams_params parameters{exec, node, p, nullptr};
  const auto set = [&](auto&) {
    return set_parameters(exec, node,
                          fill_work(pointer<void>(p->dst), p->pitch, p->value, p->elementSize,
                                    p->width * p->elementSize, p->height));
  };
  return static_cast<CUresult>(
      call_driver(CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams, &parameters, set));
}

CUresult scripted_cuModuleLoadData(CUmodule* module, const void* text) {
  return DRIVER(cuModuleLoadData, cuModuleLoadData, [&](const api_call& self) -> cudaError_t {
    const std::string_view given = static_cast<const char*>(text);
    if (given.substr(0, 9) != ".version ") return cudaErrorInvalidPtx;
    *module = new CUmod_st{std::string{given}};
    keep(*module);
    if (const hooks* h = shared().hook.load(std::memory_order_acquire))
      h->lazily_loaded(self, self.start, self.start + 1'000'000'000);  // as long as no other
    resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, this_thread().device, nullptr, nullptr);
    return cudaSuccess;
  });
}
CUresult scripted_cuModuleUnload(CUmodule module) {
  return DRIVER(cuModuleUnload, cuModuleUnload, [&](auto&) {
    if (!forget(module)) return cudaErrorInvalidResourceHandle;
    resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, this_thread().device, nullptr, nullptr);
    return delete module, cudaSuccess;
  });
}
CUresult scripted_cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return DRIVER(cuModuleGetFunction, cuModuleGetFunction, [&](auto&) -> cudaError_t {
    if (module->text.find(std::string{".entry "} + name + "(") == std::string::npos)
      return cudaErrorSymbolNotFound;
    // It goes with its module, which is one at a time.
    static thread_local CUfunc_st found;
    found = {static_cast<CUkern_st*>(const_cast<void*>(scripted_kernel(name))), module};
    return *function = &found, cudaSuccess;
  });
}
CUresult scripted_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned, CUstream stream, void** params,
                                 void**) {
  return DRIVER(cuLaunchKernel, cuLaunchKernel, [&](const api_call& self) {
    const configuration c{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}};
    if (!launchable(c)) return cudaErrorInvalidValue;
    work what = kernel_work(*function->kernel, c);
    what.op.takes = duration_of(function->module->text, params);
    const cudaError_t result = submit(self, resolve(stream), what);
    if (result != cudaSuccess) return result;
    const std::uint64_t clocks[] = {what.op.start, what.op.start * 3 / 2, what.op.end,
                                    what.op.end * 3 / 2};  // 1.5 GHz
    std::memcpy(pointer<void>(parameter(params, 0)), clocks, sizeof clocks);
    return result;
  });
}

}  // extern "C"
