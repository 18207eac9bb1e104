// SPDX-License-Identifier: MIT
// What devices are, and how launches, copies and memsets become work.
#include "gpu.hpp"

#include <algorithm>
#include <cstring>

namespace scripted {

// An H100-like device. The rates of its copies are in gpu.cpp.
void describe_device(cudaDeviceProp& p, std::uint32_t device) {
  p = {};
  std::strcpy(p.name, "Scripted GPU");
  p.uuid.bytes[0] = 0x5c;
  p.uuid.bytes[15] = static_cast<char>(device);
  p.totalGlobalMem = device_memory;
  p.sharedMemPerBlock = 48 * 1024;
  p.sharedMemPerBlockOptin = 227 * 1024;
  p.sharedMemPerMultiprocessor = 228 * 1024;
  p.reservedSharedMemPerBlock = 1024;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = 1024;
  std::copy_n(std::begin({1024, 1024, 64}), 3, p.maxThreadsDim);
  std::copy_n(std::begin({0x7fffffff, 65535, 65535}), 3, p.maxGridSize);
  p.totalConstMem = 64 * 1024;
  p.major = 9;
  p.textureAlignment = 512;
  p.multiProcessorCount = 132;
  p.canMapHostMemory = p.concurrentKernels = p.ECCEnabled = p.unifiedAddressing = p.managedMemory =
      1;
  p.pciBusID = static_cast<int>(device) + 1;
  p.asyncEngineCount = 3;
  p.memoryBusWidth = 5120;
  p.l2CacheSize = 50 << 20;
  p.maxThreadsPerMultiProcessor = 2048;
  p.maxBlocksPerMultiProcessor = 32;
  p.streamPrioritiesSupported = p.cooperativeLaunch = p.memoryPoolsSupported = p.clusterLaunch = 1;
  p.concurrentManagedAccess = p.pageableMemoryAccess = p.hostRegisterSupported = 1;
}

int attribute_of(cudaDeviceAttr attribute) {
  cudaDeviceProp p;
  describe_device(p, 0);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return p.maxThreadsPerBlock;
    case cudaDevAttrWarpSize: return p.warpSize;
    case cudaDevAttrClockRate: return 1'980'000;
    case cudaDevAttrMemoryClockRate: return 2'619'000;
    case cudaDevAttrGlobalMemoryBusWidth: return p.memoryBusWidth;
    case cudaDevAttrMultiProcessorCount: return p.multiProcessorCount;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrMaxSharedMemoryPerBlock: return 48 * 1024;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return 227 * 1024;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return 228 * 1024;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: return p.regsPerBlock;
    case cudaDevAttrL2CacheSize: return p.l2CacheSize;
    case cudaDevAttrComputeCapabilityMajor: return p.major;
    case cudaDevAttrAsyncEngineCount: return p.asyncEngineCount;
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrUnifiedAddressing: return 1;
    default: return 0;
  }
}

const char* error_name(cudaError_t error) {
  switch (error) {
#define SCRIPTED_NAME(name) \
  case name: return #name
    SCRIPTED_NAME(cudaSuccess);
    SCRIPTED_NAME(cudaErrorInvalidValue);
    SCRIPTED_NAME(cudaErrorMemoryAllocation);
    SCRIPTED_NAME(cudaErrorInitializationError);
    SCRIPTED_NAME(cudaErrorInvalidConfiguration);
    SCRIPTED_NAME(cudaErrorInvalidSymbol);
    SCRIPTED_NAME(cudaErrorInsufficientDriver);
    SCRIPTED_NAME(cudaErrorMissingConfiguration);
    SCRIPTED_NAME(cudaErrorInvalidDeviceFunction);
    SCRIPTED_NAME(cudaErrorNoDevice);
    SCRIPTED_NAME(cudaErrorInvalidDevice);
    SCRIPTED_NAME(cudaErrorInvalidResourceHandle);
    SCRIPTED_NAME(cudaErrorIllegalState);
    SCRIPTED_NAME(cudaErrorNotReady);
    SCRIPTED_NAME(cudaErrorStreamCaptureUnsupported);
    SCRIPTED_NAME(cudaErrorStreamCaptureInvalidated);
    SCRIPTED_NAME(cudaErrorStreamCaptureUnmatched);
    SCRIPTED_NAME(cudaErrorStreamCaptureWrongThread);
    SCRIPTED_NAME(cudaErrorStreamCaptureUnjoined);
    SCRIPTED_NAME(cudaErrorStreamCaptureIsolation);
    SCRIPTED_NAME(cudaErrorStreamCaptureImplicit);
    SCRIPTED_NAME(cudaErrorCapturedEvent);
    SCRIPTED_NAME(cudaErrorGraphExecUpdateFailure);
#undef SCRIPTED_NAME
    default: return "cudaErrorUnknown";
  }
}

bool launchable(const configuration& c) {
  const std::uint64_t threads = std::uint64_t{c.block.x} * c.block.y * c.block.z;
  return threads != 0 && threads <= 1024 && c.block.z <= 64 && c.grid.x != 0 &&
         c.grid.x <= 0x7fffffffU && c.grid.y != 0 && c.grid.y <= 65535 && c.grid.z != 0 &&
         c.grid.z <= 65535 && c.shared_memory <= std::size_t{227} * 1024;
}

work kernel_work(CUkern_st& kernel, const configuration& c) {
  work what;
  what.type = CU_GRAPH_NODE_TYPE_KERNEL;
  what.kernel = &kernel;
  what.op.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  what.op.launch_type = static_cast<std::uint8_t>(c.type);
  what.op.grid = c.grid;
  what.op.block = c.block;
  what.op.cluster = c.cluster;
  what.op.shared_memory = static_cast<std::uint32_t>(c.shared_memory);
  what.op.name = kernel.name.c_str();
  return what;
}

namespace {

std::uint8_t memory_kind(memory kind) {
  constexpr std::uint8_t kinds[] = {
      CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
      CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED};
  return kinds[static_cast<std::size_t>(kind)];
}

bool on_device(const allocation& a) {
  return a.kind == memory::device || a.kind == memory::managed;
}

}  // namespace

work copy_work(const area& where, cudaMemcpyKind kind) {
  const allocation target = find_allocation(where.to), source = find_allocation(where.from);
  bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind == cudaMemcpyDefault) to_device = on_device(target), from_device = on_device(source);

  work what;
  what.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  what.to = static_cast<char*>(where.to);
  what.from = static_cast<const char*>(where.from);
  what.to_pitch = where.to_pitch;
  what.from_pitch = where.from_pitch;
  what.width = where.width;
  what.height = where.height;

  device_op& op = what.op;
  op.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  op.bytes = where.width * where.height;
  op.source_kind = memory_kind(source.kind);
  op.destination_kind = memory_kind(target.kind);
  op.source_device = source.device;
  op.destination_device = target.device;
  if (to_device && from_device && target.kind == memory::device && source.kind == memory::device &&
      target.device != source.device) {
    op.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    op.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  } else if (to_device) {
    op.copy_kind = from_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  } else {
    op.copy_kind = from_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
  }
  return what;
}

work fill_work(void* to, std::size_t pitch, unsigned value, unsigned element_size,
               std::size_t width, std::size_t height) {
  work what;
  what.type = CU_GRAPH_NODE_TYPE_MEMSET;
  what.to = static_cast<char*>(to);
  what.to_pitch = pitch;
  what.width = width;
  what.height = height;
  what.element_size = element_size;
  what.op.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  what.op.value = value;
  what.op.bytes = width * height;
  what.op.destination_kind = memory_kind(find_allocation(to).kind);
  return what;
}

}  // namespace scripted

void scripted_describe_device(cudaDeviceProp* properties, std::uint32_t device) {
  scripted::describe_device(*properties, device);
}
