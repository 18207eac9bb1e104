// SPDX-License-Identifier: MIT
#include "records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace scripted {

std::size_t record_size(CUpti_ActivityKind kind) {
  const std::uint64_t v = shared().set.version;
  switch (static_cast<int>(kind)) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return v >= 130000 ? sizeof(CUpti_ActivityKernel10)
             : v >= 19   ? sizeof(CUpti_ActivityKernel9)
             : v >= 18   ? sizeof(CUpti_ActivityKernel8)
             : v >= 17   ? sizeof(CUpti_ActivityKernel7)
             : v >= 15   ? sizeof(CUpti_ActivityKernel6)
                         : sizeof(CUpti_ActivityKernel5);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return v >= 26   ? sizeof(CUpti_ActivityMemcpy6)
             : v >= 17 ? sizeof(CUpti_ActivityMemcpy5)
                       : sizeof(CUpti_ActivityMemcpy4);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return v >= 17 ? sizeof(CUpti_ActivityMemcpyPtoP4) : sizeof(CUpti_ActivityMemcpyPtoP3);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return v >= 17 ? sizeof(CUpti_ActivityMemset4) : sizeof(CUpti_ActivityMemset3);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return v >= 26 ? sizeof(CUpti_ActivitySynchronization2)
                     : sizeof(CUpti_ActivitySynchronization);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return v >= 130000 ? sizeof(CUpti_ActivityCudaEvent2) : sizeof(CUpti_ActivityCudaEvent);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return v >= 22   ? sizeof(CUpti_ActivityOverhead3)
             : v >= 20 ? sizeof(CUpti_ActivityOverhead2)
                       : sizeof(CUpti_ActivityOverhead);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return v >= 21 ? sizeof(CUpti_ActivityDevice5) : sizeof(CUpti_ActivityDevice4);
    case odd_kind: return sizeof(odd);
    default: return 0;
  }
}

CUpti_ActivityKind kind_at(const std::uint8_t* record) {
  CUpti_ActivityKind kind;
  std::memcpy(&kind, record, sizeof kind);
  return kind;
}

namespace {

bool of_device(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL ||
         kind == CUPTI_ACTIVITY_KIND_MEMCPY || kind == CUPTI_ACTIVITY_KIND_MEMCPY2 ||
         kind == CUPTI_ACTIVITY_KIND_MEMSET;
}

// Every kind of record that of_device() names has these at the same place.
struct timed_record {
  CUpti_ActivityKind kind;
  std::uint32_t various[3];
  std::uint64_t start, end;
};
static_assert(offsetof(timed_record, end) == offsetof(CUpti_ActivityKernel5, end));
static_assert(offsetof(timed_record, end) == offsetof(CUpti_ActivityMemcpy4, end));
static_assert(offsetof(timed_record, end) == offsetof(CUpti_ActivityMemcpyPtoP3, end));
static_assert(offsetof(timed_record, end) == offsetof(CUpti_ActivityMemset3, end));

template <class Record>
Record read_record(const std::uint8_t* at) {
  Record r{};
  std::memcpy(static_cast<void*>(&r), at, std::min(sizeof r, record_size(kind_at(at))));
  return r;
}

template <class Record>
void write_truth(std::FILE* file, const Record& r, const char* name, std::uint64_t bytes) {
  std::fprintf(file, "%d %u %s %u %llu %llu %llu %llu\n", static_cast<int>(r.kind), r.correlationId,
               name, r.streamId, static_cast<unsigned long long>(r.graphNodeId),
               static_cast<unsigned long long>(r.start), static_cast<unsigned long long>(r.end),
               static_cast<unsigned long long>(bytes));
}

// What all records of copies and memsets have.
template <class Record>
Record transfer_record(const device_op& op, std::uint32_t correlation) {
  Record r{};
  r.kind = op.kind;
  r.bytes = op.bytes;
  r.start = op.start;
  r.end = op.end;
  r.deviceId = op.device;
  r.contextId = op.context;
  r.streamId = op.stream;
  r.correlationId = correlation;
  r.graphNodeId = op.graph_node;
  r.graphId = op.graph;
  r.channelID = op.stream;
  r.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  return r;
}

template <class Record>
Record copy_record(const device_op& op, std::uint32_t correlation) {
  auto r = transfer_record<Record>(op, correlation);
  r.copyKind = op.copy_kind;
  r.srcKind = op.source_kind;
  r.dstKind = op.destination_kind;
  r.flags = op.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  return r;
}

}  // namespace

void void_unfinished(std::uint8_t* data, std::size_t used, std::uint64_t now) {
  for (std::size_t at = 0; at < used; at += record_size(kind_at(data + at))) {
    if (!of_device(kind_at(data + at))) continue;
    timed_record r;
    std::memcpy(&r, data + at, sizeof r);
    if (r.end > now) r.start = r.end = 0;
    std::memcpy(data + at, &r, sizeof r);
  }
}

void write_truth(std::FILE* file, const std::uint8_t* data, std::size_t used) {
  for (std::size_t at = 0; at < used; at += record_size(kind_at(data + at))) {
    const auto write_copy = [&](const auto& r) { write_truth(file, r, "-", r.bytes); };
    switch (static_cast<int>(kind_at(data + at))) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const auto r = read_record<CUpti_ActivityKernel10>(data + at);
        write_truth(file, r, r.name, 0);
        break;
      }
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        write_copy(read_record<CUpti_ActivityMemcpy6>(data + at));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        write_copy(read_record<CUpti_ActivityMemcpyPtoP4>(data + at));
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        write_copy(read_record<CUpti_ActivityMemset4>(data + at));
        break;
      default: break;
    }
  }
}

CUpti_ActivityKernel10 kernel_record(const device_op& op, std::uint32_t correlation) {
  CUpti_ActivityKernel10 r{};
  r.kind = op.kind;
  r.registersPerThread = 32;
  r.start = op.start;
  r.end = r.completed = op.end;
  const settings& set = shared().set;
  static std::atomic<std::uint64_t> kernel_records{0};
  const std::uint64_t number = kernel_records.fetch_add(1, std::memory_order_relaxed) + 1;
  if (set.zero_times != 0 && number % set.zero_times == 0) r.start = r.end = r.completed = 0;
  else if (set.reversed != 0 && number % set.reversed == 0) r.end = r.completed = r.start - 1'000;
  else if (set.ahead != 0 && number % set.ahead == 0) r.end = ~std::uint64_t{0} - 1;
  r.deviceId = op.device;
  r.contextId = op.context;
  r.streamId = op.stream;
  r.gridX = static_cast<int>(op.grid.x);
  r.gridY = static_cast<int>(op.grid.y);
  r.gridZ = static_cast<int>(op.grid.z);
  r.blockX = static_cast<int>(op.block.x);
  r.blockY = static_cast<int>(op.block.y);
  r.blockZ = static_cast<int>(op.block.z);
  r.dynamicSharedMemory = static_cast<int>(op.shared_memory);
  r.sharedMemoryExecuted = static_cast<std::uint32_t>(set.carve_out);
  r.correlationId = correlation;
  r.gridId = static_cast<std::int64_t>(number);
  r.name = op.name;
  r.launchType = op.launch_type;
  r.graphNodeId = op.graph_node;
  r.graphId = op.graph;
  r.channelID = op.stream;
  r.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
  r.clusterX = op.cluster.x;
  r.clusterY = op.cluster.y;
  r.clusterZ = op.cluster.z;
  return r;
}

CUpti_ActivityMemcpy6 memcpy_record(const device_op& op, std::uint32_t correlation) {
  auto r = copy_record<CUpti_ActivityMemcpy6>(op, correlation);
  r.copyCount = 1;
  return r;
}

CUpti_ActivityMemcpyPtoP4 peer_copy_record(const device_op& op, std::uint32_t correlation) {
  auto r = copy_record<CUpti_ActivityMemcpyPtoP4>(op, correlation);
  r.srcDeviceId = op.source_device;
  r.srcContextId = op.source_device + 1;
  r.dstDeviceId = op.destination_device;
  r.dstContextId = op.destination_device + 1;
  return r;
}

CUpti_ActivityMemset4 memset_record(const device_op& op, std::uint32_t correlation) {
  auto r = transfer_record<CUpti_ActivityMemset4>(op, correlation);
  r.value = op.value;
  r.flags = op.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
  r.memoryKind = op.destination_kind;
  return r;
}

CUpti_ActivityDevice5 device_record(std::uint32_t device) {
  cudaDeviceProp p;
  scripted_describe_device(&p, device);
  static const char* name = "Scripted GPU";
  CUpti_ActivityDevice5 r{};
  r.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  r.flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS;
  r.globalMemoryBandwidth = 3'352'320'000;  // kB/s
  r.globalMemorySize = p.totalGlobalMem;
  r.constantMemorySize = static_cast<std::uint32_t>(p.totalConstMem);
  r.l2CacheSize = static_cast<std::uint32_t>(p.l2CacheSize);
  r.numThreadsPerWarp = 32;
  r.coreClockRate = 1'980'000;  // kHz
  r.numMemcpyEngines = 3;
  r.numMultiprocessors = static_cast<std::uint32_t>(p.multiProcessorCount);
  r.maxWarpsPerMultiprocessor = 64;
  r.maxBlocksPerMultiprocessor = 32;
  r.maxSharedMemoryPerMultiprocessor = 228 * 1024;
  r.maxRegistersPerMultiprocessor = r.maxRegistersPerBlock = 65536;
  r.maxSharedMemoryPerBlock = 48 * 1024;
  r.maxThreadsPerBlock = r.maxBlockDimX = r.maxBlockDimY = 1024;
  r.maxBlockDimZ = 64;
  r.maxGridDimX = 0x7fffffff;
  r.maxGridDimY = r.maxGridDimZ = 65535;
  r.computeCapabilityMajor = static_cast<std::uint32_t>(p.major);
  r.computeCapabilityMinor = static_cast<std::uint32_t>(p.minor);
  r.id = device;
  r.eccEnabled = 1;
  std::memcpy(r.uuid.bytes, p.uuid.bytes, sizeof r.uuid.bytes);
  r.name = name;
  r.isCudaVisible = 1;
  return r;
}

}  // namespace scripted
