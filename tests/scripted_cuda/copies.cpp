// SPDX-License-Identifier: MIT
// The runtime API of the scripted libcudart.so.13: memory, copies and memsets.
#include "gpu.hpp"

#include <algorithm>
#include <cstring>
#include <map>

using namespace scripted;

namespace {

CUpti_driver_api_trace_cbid driver_copy(std::uint8_t kind, bool asynchronous) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return asynchronous ? CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2
                          : CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return asynchronous ? CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2
                          : CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return asynchronous ? CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2
                          : CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return asynchronous ? CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync
                          : CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer;
    default:
      return asynchronous ? CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync
                          : CUPTI_DRIVER_TRACE_CBID_cuMemcpy;
  }
}

// A copy on `stream`; one that is not asynchronous returns when it is done.
cudaError_t copy(const api_call& self, const area& where, cudaMemcpyKind kind, cudaStream_t stream,
                 bool asynchronous) {
  if (where.width == 0 || where.height == 0) return cudaSuccess;
  if (where.to == nullptr || where.from == nullptr) return cudaErrorInvalidValue;
  if (!asynchronous && capturing_forbids_unsafe_calls()) return cudaErrorStreamCaptureImplicit;
  work what = copy_work(where, kind);
  what.op.asynchronous = asynchronous;
  CUstream_st& s = resolve(stream);
  auto id = driver_copy(what.op.copy_kind, asynchronous);
  if (where.height > 1)
    id = asynchronous ? CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2
                      : CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2;
  const cuMemcpyAsync_params parameters{reinterpret_cast<CUdeviceptr>(where.to),
                                        reinterpret_cast<CUdeviceptr>(where.from), what.op.bytes,
                                        stream};
  return driver_call(self, id, &parameters, [&](const api_call& driver) {
    const cudaError_t result = submit(driver, s, what);
    if (result == cudaSuccess && !asynchronous) wait_until(what.op.end);
    return result;
  });
}

cudaError_t fill(const api_call& self, void* to, std::size_t pitch, int value, std::size_t width,
                 std::size_t height, cudaStream_t stream, bool asynchronous) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (to == nullptr) return cudaErrorInvalidValue;
  work what = fill_work(to, pitch, static_cast<unsigned char>(value), 1, width, height);
  what.op.asynchronous = asynchronous;
  const auto id = asynchronous ? CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async
                               : CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2;
  const cuMemsetD8Async_params parameters{
      reinterpret_cast<CUdeviceptr>(to), static_cast<unsigned char>(value), width * height, stream};
  return driver_call(self, id, &parameters,
                     [&](const api_call& driver) { return submit(driver, resolve(stream), what); });
}

cudaError_t safely(cudaError_t (*what)(void**, std::size_t, memory), void** pointer,
                   std::size_t size, memory kind) {
  return capturing_forbids_unsafe_calls() ? cudaErrorStreamCaptureUnsupported
                                          : what(pointer, size, kind);
}

cudaError_t free_after_work(void* pointer) {
  if (capturing_forbids_unsafe_calls()) return cudaErrorStreamCaptureUnsupported;
  wait_until(gpu_of(this_thread().device).latest());
  return release(pointer);
}

// ---- variables of device code

struct variable {
  void* memory;
  std::size_t size;
};

struct variables {
  std::mutex lock;
  std::map<const void*, variable> by_symbol;
};

variables& all_variables() {
  static auto* made = new variables;
  return *made;
}

variable& make_variable(const void* symbol, std::size_t size) {
  void* made = nullptr;
  allocate(&made, std::max<std::size_t>(size, 1), memory::device);
  std::memset(made, 0, size);
  variables& all = all_variables();
  const std::lock_guard guard(all.lock);
  return all.by_symbol[symbol] = {made, size};
}

const variable* find_variable(const void* symbol) {
  variables& all = all_variables();
  const std::lock_guard guard(all.lock);
  const auto found = all.by_symbol.find(symbol);
  return found == all.by_symbol.end() ? nullptr : &found->second;
}

}  // namespace

extern "C" {

void __cudaRegisterVar(void**, char* variable, char*, const char*, int, std::size_t size, int,
                       int) {
  make_variable(variable, size);
}
void __cudaRegisterManagedVar(void**, void** variable, char*, const char*, int, std::size_t size,
                              int, int) {
  *variable = make_variable(variable, size).memory;
}

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  SCRIPTED_CALL(cudaMalloc_v3020, (pointer, size),
                [&](auto&) { return safely(allocate, pointer, size, memory::device); });
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  SCRIPTED_CALL(cudaMallocPitch_v3020, (pointer, pitch, width, height), [&](auto&) {
    *pitch = (width + 511) / 512 * 512;
    return safely(allocate, pointer, *pitch * height, memory::device);
  });
}
cudaError_t cudaMallocHost(void** pointer, std::size_t size) {
  SCRIPTED_CALL(cudaMallocHost_v3020, (pointer, size),
                [&](auto&) { return safely(allocate, pointer, size, memory::pinned); });
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  SCRIPTED_CALL(cudaHostAlloc_v3020, (pointer, size, flags),
                [&](auto&) { return safely(allocate, pointer, size, memory::pinned); });
}
cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned flags) {
  SCRIPTED_CALL(cudaMallocManaged_v6000, (pointer, size, flags),
                [&](auto&) { return safely(allocate, pointer, size, memory::managed); });
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  SCRIPTED_CALL(cudaMallocAsync_v11020, (pointer, size, stream),
                [&](auto&) { return allocate(pointer, size, memory::device); });
}
cudaError_t cudaFree(void* pointer) {
  SCRIPTED_CALL(cudaFree_v3020, (pointer), [&](auto&) { return free_after_work(pointer); });
}
cudaError_t cudaFreeHost(void* pointer) {
  SCRIPTED_CALL(cudaFreeHost_v3020, (pointer), [&](auto&) { return free_after_work(pointer); });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  SCRIPTED_CALL(cudaFreeAsync_v11020, (pointer, stream), [&](auto&) { return release(pointer); });
}
cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags) {
  SCRIPTED_CALL(cudaHostRegister_v4000, (pointer, size, flags),
                [&](auto&) { return register_host(pointer, size), cudaSuccess; });
}
cudaError_t cudaHostUnregister(void* pointer) {
  SCRIPTED_CALL(cudaHostUnregister_v4000, (pointer),
                [&](auto&) { return forget_host(pointer), cudaSuccess; });
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  SCRIPTED_CALL(cudaHostGetDevicePointer_v3020, (device, host, flags),
                [&](auto&) { return *device = host, cudaSuccess; });
}
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  SCRIPTED_CALL(cudaMemGetInfo_v3020, (available, total), [&](auto&) {
    *total = *available = device_memory;
    return cudaSuccess;
  });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  SCRIPTED_CALL(cudaPointerGetAttributes_v4000, (attributes, pointer), [&](auto&) {
    constexpr cudaMemoryType types[] = {cudaMemoryTypeUnregistered, cudaMemoryTypeHost,
                                        cudaMemoryTypeDevice, cudaMemoryTypeManaged};
    const allocation found = find_allocation(pointer);
    *attributes = {};
    attributes->type = types[static_cast<std::size_t>(found.kind)];
    attributes->device = static_cast<int>(found.device);
    attributes->devicePointer =
        found.kind == memory::pageable ? nullptr : const_cast<void*>(pointer);
    attributes->hostPointer = found.kind == memory::device ? nullptr : const_cast<void*>(pointer);
    return cudaSuccess;
  });
}
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t size, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  SCRIPTED_CALL(cudaMemPrefetchAsync_v12020, (pointer, size, location, flags, stream),
                [](auto&) { return cudaSuccess; });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  SCRIPTED_CALL(cudaMemcpy_v3020, (to, from, size, kind), [&](const api_call& self) {
    return copy(self, {to, size, from, size, size, 1}, kind, nullptr, false);
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  SCRIPTED_CALL(cudaMemcpyAsync_v3020, (to, from, size, kind, stream), [&](const api_call& self) {
    return copy(self, {to, size, from, size, size, 1}, kind, stream, true);
  });
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  SCRIPTED_CALL(
      cudaMemcpy2D_v3020, (to, to_pitch, from, from_pitch, width, height, kind),
      [&](const api_call& self) {
        return copy(self, {to, to_pitch, from, from_pitch, width, height}, kind, nullptr, false);
      });
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  SCRIPTED_CALL(
      cudaMemcpy2DAsync_v3020, (to, to_pitch, from, from_pitch, width, height, kind, stream),
      [&](const api_call& self) {
        return copy(self, {to, to_pitch, from, from_pitch, width, height}, kind, stream, true);
      });
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t size) {
  SCRIPTED_CALL(cudaMemcpyPeer_v4000, (to, to_device, from, from_device, size),
                [&](const api_call& self) {
                  return copy(self, {to, size, from, size, size, 1}, cudaMemcpyDeviceToDevice,
                              nullptr, false);
                });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t size, cudaStream_t stream) {
  SCRIPTED_CALL(
      cudaMemcpyPeerAsync_v4000, (to, to_device, from, from_device, size, stream),
      [&](const api_call& self) {
        return copy(self, {to, size, from, size, size, 1}, cudaMemcpyDeviceToDevice, stream, true);
      });
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t size,
                               std::size_t offset, cudaMemcpyKind kind) {
  SCRIPTED_CALL(
      cudaMemcpyToSymbol_v3020, (symbol, from, size, offset, kind), [&](const api_call& self) {
        const variable* v = find_variable(symbol);
        if (v == nullptr || offset + size > v->size) return cudaErrorInvalidSymbol;
        return copy(self, {static_cast<char*>(v->memory) + offset, size, from, size, size, 1}, kind,
                    nullptr, false);
      });
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t size, std::size_t offset,
                                 cudaMemcpyKind kind) {
  SCRIPTED_CALL(
      cudaMemcpyFromSymbol_v3020, (to, symbol, size, offset, kind), [&](const api_call& self) {
        const variable* v = find_variable(symbol);
        if (v == nullptr || offset + size > v->size) return cudaErrorInvalidSymbol;
        return copy(self, {to, size, static_cast<char*>(v->memory) + offset, size, size, 1}, kind,
                    nullptr, false);
      });
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  SCRIPTED_CALL(cudaGetSymbolAddress_v3020, (pointer, symbol), [&](auto&) {
    const variable* v = find_variable(symbol);
    if (v != nullptr) *pointer = v->memory;
    return v == nullptr ? cudaErrorInvalidSymbol : cudaSuccess;
  });
}
cudaError_t cudaMemset(void* to, int value, std::size_t size) {
  SCRIPTED_CALL(cudaMemset_v3020, (to, value, size), [&](const api_call& self) {
    return fill(self, to, size, value, size, 1, nullptr, false);
  });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t size, cudaStream_t stream) {
  SCRIPTED_CALL(cudaMemsetAsync_v3020, (to, value, size, stream), [&](const api_call& self) {
    return fill(self, to, size, value, size, 1, stream, true);
  });
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  SCRIPTED_CALL(cudaMemset2DAsync_v3020, (to, pitch, value, width, height, stream),
                [&](const api_call& self) {
                  return fill(self, to, pitch, value, width, height, stream, true);
                });
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  SCRIPTED_CALL(cudaMemset2D_v3020, (to, pitch, value, width, height), [&](const api_call& self) {
    return fill(self, to, pitch, value, width, height, nullptr, false);
  });
}

}  // extern "C"
