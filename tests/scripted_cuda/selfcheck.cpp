// SPDX-License-Identifier: MIT
// A client of the scripted CUDA that checks what README.md says of it: selfcheck <case>. It opens
// libcupti at run time, as kprof does.
#include "scripted_cuda.hpp"

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> failures{0};

void check(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "selfcheck.cpp:%d: %s\n", line, what);
}
#define CHECK(condition) check((condition), #condition, __LINE__)

void* library = nullptr;
#define CUPTI(name) reinterpret_cast<decltype(&name)>(dlsym(library, #name))

struct record {
  CUpti_ActivityKind kind{};
  std::uint32_t correlation = 0, stream = 0, device = 0, cbid = 0, graph = 0;
  std::uint64_t start = 0, end = 0, node = 0, bytes = 0, external = 0;
  std::string name;
};

// What the client's callbacks saw. Buffers are only queued in callbacks and read later.
struct seen {
  std::mutex lock;
  std::vector<std::pair<std::uint8_t*, std::size_t>> buffers;
  std::vector<std::string> callbacks;
  std::map<std::uint64_t, std::uint64_t> cloned_from;  // node ids
  std::set<std::uint64_t> created;
  std::set<std::thread::id> delivery_threads;
};
seen& all() {
  static auto* made = new seen;
  return *made;
}
std::size_t buffer_bytes = 1 << 16, most_records = 0, refuse_after = ~std::size_t{0};

void requested(std::uint8_t** data, std::size_t* size, std::size_t* most) {
  *data = refuse_after-- == 0 ? (refuse_after = 0, nullptr)
                              : static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *size = buffer_bytes;
  *most = most_records;
}
void completed(CUcontext, std::uint32_t, std::uint8_t* data, std::size_t, std::size_t valid) {
  const std::lock_guard guard(all().lock);
  all().buffers.emplace_back(data, valid);
  all().delivery_threads.insert(std::this_thread::get_id());
}

void note_graph(CUpti_CallbackId cbid, const CUpti_GraphData& g) {
  std::uint64_t node = 0, original = 0;
  if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) {
    CHECK(CUPTI(cuptiGetGraphNodeId)(g.node, &node) == CUPTI_SUCCESS);
    all().created.insert(node);
  } else if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
    CHECK(CUPTI(cuptiGetGraphNodeId)(g.node, &node) == CUPTI_SUCCESS);
    CHECK(CUPTI(cuptiGetGraphNodeId)(g.originalNode, &original) == CUPTI_SUCCESS);
    CHECK(all().created.count(node) == 1);
    all().cloned_from[node] = original;
  }
}

void called_back(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  std::string text;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    text = "resource " + std::to_string(cbid);
    const std::lock_guard guard(all().lock);
    const auto* graph = static_cast<CUpti_GraphData*>(
        static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
    if (graph != nullptr) note_graph(cbid, *graph);
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    const bool enter = call.callbackSite == CUPTI_API_ENTER;
    if (enter) *call.correlationData = 40U + call.correlationId;
    else
      CHECK(*call.correlationData == 40U + call.correlationId &&
            call.functionReturnValue != nullptr);
    text = std::string(enter ? "+" : "-") + call.functionName + " " +
           std::to_string(call.correlationId);
  }
  const std::lock_guard guard(all().lock);
  all().callbacks.push_back(text);
}

CUpti_SubscriberHandle start(std::initializer_list<CUpti_ActivityKind> kinds,
                             std::initializer_list<CUpti_CallbackDomain> domains) {
  CUpti_SubscriberHandle handle = nullptr;
  CHECK(CUPTI(cuptiSubscribe)(&handle, called_back, nullptr) == CUPTI_SUCCESS);
  for (const auto domain : domains)
    CHECK(CUPTI(cuptiEnableDomain)(1, handle, domain) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, completed) == CUPTI_SUCCESS);
  for (const auto kind : kinds) CHECK(CUPTI(cuptiActivityEnable)(kind) == CUPTI_SUCCESS);
  return handle;
}

record decode(const CUpti_Activity* a) {
  record r;
  r.kind = a->kind;
  const auto timed = [&](const auto& t) {
    r.correlation = t.correlationId, r.start = t.start, r.end = t.end;
  };
  const auto device = [&](const auto& t) {
    timed(t);
    r.stream = t.streamId, r.device = t.deviceId, r.node = t.graphNodeId;
  };
  switch (static_cast<int>(a->kind)) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityKernel5*>(a);
      device(k);
      r.name = k.name;
      r.graph = k.graphId;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityMemcpy4*>(a);
      device(k);
      r.bytes = k.bytes;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP3*>(a);
      device(k);
      r.bytes = k.bytes;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityMemset3*>(a);
      device(k);
      r.bytes = k.bytes;
      break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityAPI*>(a);
      timed(k);
      r.cbid = k.cbid;
      break;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(a);
      r.correlation = k.correlationId;
      r.external = k.externalId;
      break;
    }
    case CUPTI_ACTIVITY_KIND_DEVICE: {
      const auto& k = *reinterpret_cast<const CUpti_ActivityDevice4*>(a);
      r.name = k.name;
      r.device = k.id;
      break;
    }
    default: break;
  }
  return r;
}

// Everything delivered so far, buffer after buffer.
std::vector<record> take() {
  std::vector<std::pair<std::uint8_t*, std::size_t>> buffers;
  {
    const std::lock_guard guard(all().lock);
    buffers.swap(all().buffers);
  }
  std::vector<record> records;
  for (const auto& [data, valid] : buffers) {
    CUpti_Activity* a = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = CUPTI(cuptiActivityGetNextRecord)(data, valid, &a)) == CUPTI_SUCCESS)
      records.push_back(decode(a));
    CHECK(result == CUPTI_ERROR_MAX_LIMIT_REACHED);
    std::free(data);
  }
  return records;
}

std::vector<record> of(const std::vector<record>& records, CUpti_ActivityKind kind) {
  std::vector<record> found;
  std::copy_if(records.begin(), records.end(), std::back_inserter(found),
               [&](const record& r) { return r.kind == kind; });
  return found;
}

std::vector<record> flush(std::uint32_t flag = 0) {
  CHECK(CUPTI(cuptiActivityFlushAll)(flag) == CUPTI_SUCCESS);
  return take();
}

void launch(const char* name, cudaStream_t stream, unsigned blocks = 4) {
  CHECK(cudaLaunchKernel(scripted_kernel(name), dim3(blocks), dim3(128), nullptr, 0, stream) ==
        cudaSuccess);
}

std::size_t dropped() {
  std::size_t count = 0;
  CHECK(CUPTI(cuptiActivityGetNumDroppedRecords)(nullptr, 0, &count) == CUPTI_SUCCESS);
  return count;
}

constexpr auto kernel_kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

// ---- cases

void streams_and_records() {
  start({kernel_kind, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
         CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_RUNTIME,
         CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
         CUPTI_ACTIVITY_KIND_OVERHEAD},
        {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE});
  cudaStream_t a = nullptr, b = nullptr;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking) == cudaSuccess &&
        cudaStreamCreate(&b) == cudaSuccess);
  std::vector<char> host(1000, 'x'), back(1000);
  void *here = nullptr, *there = nullptr;
  CHECK(cudaMalloc(&here, 1000) == cudaSuccess && cudaSetDevice(1) == cudaSuccess &&
        cudaMalloc(&there, 1000) == cudaSuccess);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaMemcpy(here, host.data(), 1000, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpyPeer(there, 1, here, 0, 1000) == cudaSuccess);
  CHECK(cudaMemsetAsync(here, 'y', 10, a) == cudaSuccess);
  CHECK(cudaMemcpyAsync(back.data(), here, 1000, cudaMemcpyDefault, a) == cudaSuccess);
  CHECK(back[9] == 'y' && back[10] == 'x');
  for (int i = 0; i < 50; ++i) {
    launch("first", a);
    launch("second", b);
  }
  CHECK(cudaLaunchKernel(scripted_kernel("first"), dim3(1), dim3(2048), nullptr, 0, a) ==
        cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);

  const auto records = flush();
  const auto kernels = of(records, kernel_kind);
  CHECK(kernels.size() == 100 && scripted_launches() == 100 && scripted_device_operations() == 104);
  CHECK(of(records, CUPTI_ACTIVITY_KIND_MEMCPY).size() == 2 &&
        of(records, CUPTI_ACTIVITY_KIND_MEMCPY2).size() == 1);
  CHECK(of(records, CUPTI_ACTIVITY_KIND_MEMSET).size() == 1 &&
        of(records, CUPTI_ACTIVITY_KIND_MEMSET)[0].bytes == 10);
  CHECK(of(records, CUPTI_ACTIVITY_KIND_DEVICE).size() == 2 &&
        of(records, CUPTI_ACTIVITY_KIND_DEVICE)[0].name == "Scripted GPU");
  CHECK(of(records, CUPTI_ACTIVITY_KIND_OVERHEAD).size() == 2 &&
        of(records, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION).size() == 1);

  std::map<std::uint32_t, record> calls;
  for (const auto& r : of(records, CUPTI_ACTIVITY_KIND_RUNTIME))
    CHECK(calls.emplace(r.correlation, r).second && r.start <= r.end);
  std::map<std::uint32_t, std::uint64_t> ends;
  // in a stream's order, after the launch, never before the one in front of it
  for (const auto& k : kernels) {
    CHECK(calls.count(k.correlation) == 1 &&
          calls[k.correlation].cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
    CHECK(k.start >= calls[k.correlation].start && k.start >= ends[k.stream] && k.end > k.start);
    ends[k.stream] = k.end;
  }
  const auto overlap = [&](const record& k) {
    const auto with = [&](const record& o) {
      return o.stream != k.stream && o.start < k.end && k.start < o.end;
    };
    return std::any_of(kernels.begin(), kernels.end(), with);
  };
  CHECK(std::any_of(kernels.begin(), kernels.end(), overlap));

  const auto& seen_calls = all().callbacks;
  const std::string id = std::to_string(kernels.back().correlation);
  const std::vector<std::string> nested{"+cudaLaunchKernel " + id, "+cuLaunchKernel " + id,
                                        "-cuLaunchKernel " + id, "-cudaLaunchKernel " + id};
  CHECK(std::search(seen_calls.begin(), seen_calls.end(), nested.begin(), nested.end()) !=
        seen_calls.end());
  for (const char* created : {"resource 1", "resource 3"})
    CHECK(std::count(seen_calls.begin(), seen_calls.end(), created) == 2);
}

void own_driver_ids() {
  start({kernel_kind, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER},
        {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API});
  launch("one", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  const auto records = flush();
  const auto kernel = of(records, kernel_kind).at(0),
             driver = of(records, CUPTI_ACTIVITY_KIND_DRIVER).at(0);
  CHECK(driver.cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel &&
        kernel.correlation == driver.correlation);
  for (const auto& r : of(records, CUPTI_ACTIVITY_KIND_RUNTIME))
    CHECK(r.correlation != kernel.correlation);
}

void correlation_without_api_activity() {
  start({kernel_kind}, {CUPTI_CB_DOMAIN_RUNTIME_API});
  launch("one", nullptr);
  CHECK(CUPTI(cuptiActivityEnableRuntimeApi)(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1) ==
        CUPTI_SUCCESS);
  launch("two", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  const auto records = flush();
  const auto kernels = of(records, kernel_kind);
  CHECK(kernels.at(0).correlation == 0 && kernels.at(1).correlation != 0);
  CHECK(of(records, CUPTI_ACTIVITY_KIND_RUNTIME).size() == 1);
}

void events_measure_virtual_time() {
  cudaEvent_t a = nullptr, b = nullptr;
  cudaStream_t s = nullptr, t = nullptr;
  CHECK(cudaEventCreate(&a) == cudaSuccess && cudaEventCreate(&b) == cudaSuccess);
  CHECK(cudaStreamCreate(&s) == cudaSuccess && cudaStreamCreate(&t) == cudaSuccess);
  CHECK(cudaEventRecord(a, s) == cudaSuccess);
  for (int i = 0; i < 100; ++i) launch("k", s);
  CHECK(cudaStreamQuery(s) == cudaErrorNotReady && cudaGetLastError() == cudaSuccess);
  CHECK(cudaEventRecord(b, s) == cudaSuccess && cudaStreamWaitEvent(t, b, 0) == cudaSuccess);
  CHECK(cudaEventSynchronize(b) == cudaSuccess && cudaEventQuery(b) == cudaSuccess &&
        cudaStreamQuery(t) == cudaSuccess);
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, a, b) == cudaSuccess && ms > 0.2F);
}

std::atomic<int> host_functions{0};

void host_functions_run_elsewhere() {
  static std::thread::id mine = std::this_thread::get_id();
  for (int i = 0; i < 10; ++i) {
    launch("k", nullptr);
    const auto count = [](void*) {
      host_functions += std::this_thread::get_id() != mine ? 1 : 100;
    };
    CHECK(cudaLaunchHostFunc(nullptr, count, nullptr) == cudaSuccess);
  }
  CHECK(cudaDeviceSynchronize() == cudaSuccess && host_functions == 10);
}

void graphs() {
  start({kernel_kind, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
         CUPTI_ACTIVITY_KIND_RUNTIME},
        {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE});
  cudaStream_t s = nullptr, t = nullptr;
  cudaEvent_t fork = nullptr, join = nullptr;
  CHECK(cudaStreamCreate(&s) == cudaSuccess && cudaStreamCreate(&t) == cudaSuccess);
  CHECK(cudaEventCreate(&fork) == cudaSuccess && cudaEventCreate(&join) == cudaSuccess);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64) == cudaSuccess);

  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
  launch("root", s);
  CHECK(cudaEventRecord(fork, s) == cudaSuccess && cudaStreamWaitEvent(t, fork, 0) == cudaSuccess);
  launch("left", s);
  launch("right", t);
  CHECK(cudaMemsetAsync(memory, 7, 64, t) == cudaSuccess);
  CHECK(cudaEventRecord(join, t) == cudaSuccess && cudaStreamWaitEvent(s, join, 0) == cudaSuccess);
  cudaStreamCaptureStatus status{};
  CHECK(cudaStreamIsCapturing(t, &status) == cudaSuccess &&
        status == cudaStreamCaptureStatusActive);
  void* other = nullptr;
  CHECK(cudaMalloc(&other, 64) == cudaErrorStreamCaptureUnsupported &&
        cudaGetLastError() != cudaSuccess);
  cudaGraph_t graph = nullptr, outer = nullptr, copy = nullptr;
  CHECK(cudaStreamEndCapture(s, &graph) == cudaSuccess);
  CHECK(scripted_launches() == 0 && all().created.size() == 4 && all().cloned_from.empty());
  const std::set<std::uint64_t> captured = all().created;
  for (const std::uint64_t id : captured)
    CHECK(id >> 32U == *captured.begin() >> 32U && id >> 32U != 0);

  cudaGraphNode_t node = nullptr, first = nullptr;
  char bytes[64] = {};
  const cudaKernelNodeParams parameters{
      const_cast<void*>(scripted_kernel("explicit")), dim3(2), dim3(32), 0, nullptr, nullptr};
  CHECK(cudaGraphCreate(&outer, 0) == cudaSuccess);
  CHECK(cudaGraphAddKernelNode(&first, outer, nullptr, 0, &parameters) == cudaSuccess);
  CHECK(cudaGraphAddChildGraphNode(&node, outer, &first, 1, graph) == cudaSuccess);
  CHECK(cudaGraphAddMemcpyNode1D(&node, outer, &node, 1, bytes, memory, 64,
                                 cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(cudaGraphClone(&copy, outer) == cudaSuccess);
  cudaGraphExec_t one = nullptr, two = nullptr;
  CHECK(cudaGraphInstantiate(&one, outer, 0) == cudaSuccess &&
        cudaGraphInstantiateWithFlags(&two, copy, 0) == cudaSuccess);
  CHECK(cudaGraphUpload(one, s) == cudaSuccess);
  std::uint32_t ids[2] = {};
  CHECK(CUPTI(cuptiGetGraphExecId)(one, &ids[0]) == CUPTI_SUCCESS &&
        CUPTI(cuptiGetGraphExecId)(two, &ids[1]) == CUPTI_SUCCESS);
  CHECK(ids[0] != ids[1]);

  const auto source = [&](std::uint64_t id) {  // through all clones
    for (auto found = all().cloned_from.find(id); found != all().cloned_from.end();
         found = all().cloned_from.find(id))
      id = found->second;
    return id;
  };
  CHECK(flush().size() > 10);
  for (const auto exec : {one, two, one}) CHECK(cudaGraphLaunch(exec, s) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && bytes[63] == 7);
  const auto records = flush();
  std::map<std::uint32_t, std::map<std::string, record>> launches;
  for (const auto& k : of(records, kernel_kind)) {
    CHECK(launches[k.correlation].emplace(k.name, k).second);
    CHECK(k.graph == ids[0] || k.graph == ids[1]);
    CHECK(k.name == "explicit" || captured.count(source(k.node)) == 1);
  }
  CHECK(launches.size() == 3 && scripted_launches() == 12 &&
        of(records, CUPTI_ACTIVITY_KIND_MEMSET).size() == 3);
  for (auto& [correlation, nodes] : launches) {
    CHECK(nodes.size() == 4 && nodes["root"].end <= nodes["left"].start &&
          nodes["root"].end <= nodes["right"].start);
    CHECK(nodes["left"].start < nodes["right"].end && nodes["right"].start < nodes["left"].end);
    CHECK(nodes["explicit"].end <= nodes["root"].start);
  }

  cudaGraphExecUpdateResultInfo info{};
  const cudaKernelNodeParams changed{
      const_cast<void*>(scripted_kernel("changed")), dim3(2), dim3(32), 0, nullptr, nullptr};
  CHECK(cudaGraphExecKernelNodeSetParams(one, first, &changed) == cudaSuccess);
  CHECK(cudaGraphExecUpdate(two, outer, &info) == cudaSuccess &&
        info.result == cudaGraphExecUpdateSuccess);
  CHECK(cudaGraphExecUpdate(two, graph, &info) == cudaErrorGraphExecUpdateFailure &&
        info.result != cudaGraphExecUpdateSuccess);
  const auto calls = [&](const char* text) {
    return std::count(all().callbacks.begin(), all().callbacks.end(), text);
  };
  CHECK(calls("resource 23") == 1 && calls("resource 22") == 7 && calls("resource 18") == 2);
  CHECK(cudaGraphExecDestroy(one) == cudaSuccess && cudaGraphExecDestroy(two) == cudaSuccess &&
        cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(outer) == cudaSuccess && cudaGraphDestroy(copy) == cudaSuccess);

  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated && graph == nullptr);
}

void external_correlation() {
  start({kernel_kind, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION}, {});
  const auto push = CUPTI(cuptiActivityPushExternalCorrelationId);
  const auto pop = CUPTI(cuptiActivityPopExternalCorrelationId);
  std::uint64_t last = 0;
  CHECK(pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &last) == CUPTI_ERROR_QUEUE_EMPTY);
  launch("outside", nullptr);
  CHECK(push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 7) == CUPTI_SUCCESS);
  CHECK(push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 8) == CUPTI_SUCCESS);
  CHECK(push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 9) == CUPTI_SUCCESS);
  launch("inside", nullptr);
  std::thread([] { launch("elsewhere", nullptr); }).join();
  CHECK(pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &last) == CUPTI_SUCCESS && last == 8);
  launch("outer", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  const auto records = flush();
  std::map<std::uint32_t, std::set<std::uint64_t>> ids;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].kind != CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) continue;
    ids[records[i].correlation].insert(records[i].external);
    CHECK(i + 1 < records.size() && records[i + 1].correlation == records[i].correlation);
  }
  for (const auto& k : of(records, kernel_kind)) {
    const std::set<std::uint64_t> expected = k.name == "inside"  ? std::set<std::uint64_t>{8, 9}
                                             : k.name == "outer" ? std::set<std::uint64_t>{7, 9}
                                                                 : std::set<std::uint64_t>{};
    CHECK(ids[k.correlation] == expected);
  }
}

void small_buffers() {
  buffer_bytes = 1024, most_records = 3;
  start({kernel_kind, CUPTI_ACTIVITY_KIND_RUNTIME}, {});
  for (int i = 0; i < 300; ++i) launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  // what is full, on a thread of CUPTI's; the flush delivers the rest
  for (bool delivered = false; !delivered;) {
    const std::lock_guard guard(all().lock);
    delivered = !all().buffers.empty();
  }
  const auto records = flush();
  CHECK(of(records, kernel_kind).size() == 300 &&
        of(records, CUPTI_ACTIVITY_KIND_RUNTIME).size() == 301 && dropped() == 0);
  CHECK(all().delivery_threads.size() == 2 &&
        all().delivery_threads.count(std::this_thread::get_id()) == 1);
}

void refused_buffers() {
  buffer_bytes = 2048, refuse_after = 2;
  start({kernel_kind}, {});
  for (int i = 0; i < 50; ++i) launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(of(flush(), kernel_kind).size() == 18 && dropped() == 32 && dropped() == 0);
}

void every_buffer_is_refused() {  // SCRIPTED_REFUSE=1
  start({kernel_kind}, {});
  for (int i = 0; i < 5; ++i) launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && flush().empty() && dropped() == 5);
}

void forced_flush() {  // SCRIPTED_KERNEL_US=900
  buffer_bytes = 2 << 20;
  start({kernel_kind}, {});
  launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 100; ++i) launch("k", nullptr);
  CHECK(of(flush(), kernel_kind).empty());
  const auto kernels = of(flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), kernel_kind);
  CHECK(kernels.size() == 101);
  CHECK(std::any_of(kernels.begin(), kernels.end(), [](const record& k) { return k.end != 0; }));
  CHECK(std::any_of(kernels.begin(), kernels.end(),
                    [](const record& k) { return k.start == 0 && k.end == 0; }));
  CHECK(cudaDeviceSynchronize() == cudaSuccess && flush().empty());
}

void odd_records() {  // SCRIPTED_ODD=10 SCRIPTED_DROP=7 SCRIPTED_ZERO_TIMES=5 SCRIPTED_REVERSED=6
  start({kernel_kind}, {});
  for (int i = 0; i < 70; ++i) launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  const auto records = flush();
  const auto kernels = of(records, kernel_kind);
  CHECK(kernels.size() == 60 && dropped() == 10 && records.size() == 67);
  CHECK(std::count_if(kernels.begin(), kernels.end(), [](const record& k) { return k.end == 0; }) ==
        12);
  CHECK(std::count_if(kernels.begin(), kernels.end(),
                      [](const record& k) { return k.end < k.start; }) == 8);
}

void threads() {
  buffer_bytes = 4096;
  start({kernel_kind, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION},
        {CUPTI_CB_DOMAIN_RUNTIME_API});
  std::atomic<bool> done{false};
  std::thread flusher([&] {
    while (!done) CHECK(CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS);
  });
  std::vector<std::thread> launchers;
  for (std::uint64_t id = 1; id <= 4; ++id) {
    launchers.emplace_back([id] {
      cudaStream_t s = nullptr;
      CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
      CHECK(CUPTI(cuptiActivityPushExternalCorrelationId)(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2,
                                                          id) == CUPTI_SUCCESS);
      for (int i = 0; i < 500; ++i) launch(id % 2 == 0 ? "even" : "odd", s);
      CHECK(cudaStreamSynchronize(s) == cudaSuccess);
    });
  }
  for (auto& t : launchers) t.join();
  done = true;
  flusher.join();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS);
  const auto records = take();
  std::map<std::uint32_t, std::uint64_t> ids;
  for (const auto& r : of(records, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
    CHECK(ids.emplace(r.correlation, r.external).second);
  const auto kernels = of(records, kernel_kind);
  CHECK(kernels.size() == 2000);
  for (const auto& k : kernels)
    CHECK(ids.count(k.correlation) == 1 && (ids[k.correlation] % 2 == 0) == (k.name == "even"));
}

void older_versions() {  // SCRIPTED_VERSION
  start({kernel_kind, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
         CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_OVERHEAD,
         CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},
        {});
  std::uint32_t version = 0;
  CHECK(CUPTI(cuptiGetVersion)(&version) == CUPTI_SUCCESS &&
        std::to_string(version) == std::getenv("SCRIPTED_VERSION"));
  char from[8] = {}, to[8];
  launch("k", nullptr);
  CHECK(cudaMemcpy(to, from, 8, cudaMemcpyDefault) == cudaSuccess &&
        cudaMemset(to, 1, 8) == cudaSuccess);
  launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS);
  std::ptrdiff_t gap = 0;  // from a kernel's record to the next
  for (const auto& [data, valid] : all().buffers) {
    CUpti_Activity *one = nullptr, *two = nullptr;
    while (CUPTI(cuptiActivityGetNextRecord)(data, valid, &two) == CUPTI_SUCCESS) {
      if (one != nullptr && one->kind == kernel_kind)
        gap = reinterpret_cast<char*>(two) - reinterpret_cast<char*>(one);
      one = two;
    }
  }
  CHECK(gap == (version >= 19 ? 208 : version == 18 ? 200 : 176));
  const auto records = take();
  CHECK(records.size() == 8 && of(records, kernel_kind).size() == 2 &&
        of(records, CUPTI_ACTIVITY_KIND_DEVICE).size() == 2);
}

void no_driver() {
  std::uint32_t version = 0;
  std::uint64_t now = 0;
  CUpti_SubscriberHandle handle = nullptr;
  int count = 7;
  CHECK(CUPTI(cuptiGetVersion)(&version) == CUPTI_SUCCESS &&
        CUPTI(cuptiGetTimestamp)(&now) == CUPTI_SUCCESS && now > 0);
  CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, completed) == CUPTI_SUCCESS &&
        scripted_failed_calls() == 0);
  CHECK(CUPTI(cuptiSubscribe)(&handle, called_back, nullptr) == CUPTI_ERROR_UNKNOWN &&
        scripted_failed_calls() == 1);
  CHECK(CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_ERROR_UNKNOWN &&
        CUPTI(cuptiActivityFlushAll)(0) == CUPTI_ERROR_UNKNOWN);
  CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver && count == 0 &&
        cudaFree(nullptr) == cudaErrorInsufficientDriver);
  CHECK(scripted_cupti_calls() == 5 && scripted_failed_calls() == 3);
}

void no_devices() {  // SCRIPTED_DEVICES=0
  int count = 7;
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0 &&
        cudaFree(nullptr) == cudaErrorNoDevice);
}

// SCRIPTED_LATE_DEVICE=1: DEVICE records only for who came before the first context
void late_devices() {
  CHECK(cudaFree(nullptr) == cudaSuccess);
  start({CUPTI_ACTIVITY_KIND_DEVICE}, {});
  CHECK(flush().empty());
  CHECK(CUPTI(cuptiActivityEnableAndDump)(CUPTI_ACTIVITY_KIND_DEVICE) == CUPTI_SUCCESS &&
        flush().size() == 2);
}

void refusals() {
  CUpti_SubscriberHandle handle = nullptr;
  const char* text = nullptr;
  const auto result = CUPTI(cuptiSubscribe)(&handle, called_back, nullptr);
  if (std::getenv("SCRIPTED_BUSY") != nullptr) {
    CHECK(result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    CHECK(CUPTI(cuptiGetResultString)(result, &text) == CUPTI_SUCCESS);
    CHECK(text == std::string("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"));
  } else if (std::getenv("SCRIPTED_ENABLE_ERROR") != nullptr) {
    CHECK(result == CUPTI_SUCCESS && CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_SUCCESS);
    CHECK(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMSET) == CUPTI_ERROR_NOT_COMPATIBLE);
  } else if (std::getenv("SCRIPTED_NO_PERMISSION") == std::string("enable")) {
    CHECK(result == CUPTI_SUCCESS &&
          CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  } else {
    CHECK(result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  }
  CHECK(scripted_failed_calls() == 1 && scripted_misuse() == 0);
}

void misuse() {
  buffer_bytes = 1024;
  CUpti_SubscriberHandle handle = nullptr;
  const auto flushing = [](void*, CUpti_CallbackDomain domain, CUpti_CallbackId, const void*) {
    // allowed in API callbacks, and only there
    const auto result = CUPTI(cuptiActivityFlushAll)(0);
    CHECK((result == CUPTI_SUCCESS) == (domain == CUPTI_CB_DOMAIN_RUNTIME_API));
  };
  CHECK(CUPTI(cuptiSubscribe)(&handle, flushing, nullptr) == CUPTI_SUCCESS);
  const auto greedy = [](CUcontext, std::uint32_t, std::uint8_t* data, std::size_t, std::size_t) {
    CHECK(dropped() == 0 && CUPTI(cuptiActivityFlushAll)(0) == CUPTI_ERROR_INVALID_OPERATION);
    std::free(data);
  };
  CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, greedy) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiEnableDomain)(1, handle, CUPTI_CB_DOMAIN_RESOURCE) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiEnableCallback)(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API,
                                   CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020) == CUPTI_SUCCESS);
  CHECK(cudaFree(nullptr) == cudaSuccess && scripted_misuse() == 1);
  CHECK(CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_SUCCESS);
  launch("k", nullptr);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS && scripted_misuse() == 2 &&
        scripted_misuse_text() != nullptr);
}

std::mutex client_lock;

// A lock that is held while CUPTI is called, and taken in a buffer callback: the child, which CUDA
// does not know as one yet, ends with an abort. SCRIPTED_DEADLOCK_S=1
void deadlocks_are_found() {
  const pid_t child = fork();
  if (child == 0) {
    buffer_bytes = 1024;
    static std::atomic<bool> called{false};
    const auto locking = [](CUcontext, std::uint32_t, std::uint8_t* data, std::size_t,
                            std::size_t) {
      called = true;
      const std::lock_guard guard(client_lock);
      std::free(data);
    };
    CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, locking) == CUPTI_SUCCESS);
    CHECK(CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_SUCCESS);
    const std::lock_guard guard(client_lock);
    for (int i = 0; i < 5; ++i) launch("k", nullptr);  // fills a buffer
    while (!called) std::this_thread::yield();
    dropped();
    std::_Exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

void forked_child() {
  start({kernel_kind}, {});
  launch("k", nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::uint64_t now = 0;
    bool right = cudaFree(nullptr) == cudaErrorInitializationError && scripted_misuse() == 0;
    right = right && CUPTI(cuptiActivityFlushAll)(0) != CUPTI_SUCCESS &&
            CUPTI(cuptiGetTimestamp)(&now) == CUPTI_SUCCESS;
    std::exit(right && scripted_misuse() == 2 ? 0 : 1);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0 && scripted_misuse() == 0);
  CHECK(cudaDeviceSynchronize() == cudaSuccess && flush().size() == 1);
}

void driver_contexts() {
  CHECK(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) == nullptr);
  start({kernel_kind, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION}, {});
  CHECK(cudaSetDevice(1) == cudaSuccess);
  launch("k", nullptr);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  CHECK(driver != nullptr);
  const auto push =
      reinterpret_cast<decltype(&cuCtxPushCurrent)>(dlsym(driver, "cuCtxPushCurrent_v2"));
  const auto pop =
      reinterpret_cast<decltype(&cuCtxPopCurrent)>(dlsym(driver, "cuCtxPopCurrent_v2"));
  const auto current =
      reinterpret_cast<decltype(&cuCtxGetCurrent)>(dlsym(driver, "cuCtxGetCurrent"));
  const auto wait =
      reinterpret_cast<decltype(&cuCtxSynchronize)>(dlsym(driver, "cuCtxSynchronize"));
  CUcontext zero = nullptr, one = nullptr, popped = nullptr;
  CHECK(cudaSetDevice(1) == cudaSuccess && current(&one) == CUDA_SUCCESS);
  CHECK(cudaSetDevice(0) == cudaSuccess && current(&zero) == CUDA_SUCCESS);
  CHECK(push(one) == CUDA_SUCCESS && wait() == CUDA_SUCCESS);
  // the kernel and its launch; push, synchronize and the record of that
  CHECK(flush().size() == 5);
  int device = 7;
  CHECK(cudaGetDevice(&device) == cudaSuccess && device == 1);
  CHECK(pop(&popped) == CUDA_SUCCESS && popped == one && cudaGetDevice(&device) == cudaSuccess &&
        device == 0 && zero != one);
  CHECK(pop(&popped) == CUDA_ERROR_INVALID_CONTEXT);
}

void missing_symbols() {
  void* other = dlopen(SCRIPTED_CUPTI_MISSING, RTLD_NOW | RTLD_LOCAL);
  CHECK(other != nullptr && dlsym(other, "cuptiSubscribe") != nullptr);
  CHECK(dlsym(other, "cuptiGetGraphNodeId") == nullptr &&
        dlsym(other, "cuptiActivityPushExternalCorrelationId") == nullptr);
  void* wrong = dlopen(SCRIPTED_NOT_CUPTI, RTLD_NOW | RTLD_LOCAL);
  CHECK(wrong != nullptr && dlsym(wrong, "cuptiGetVersion") == nullptr);
}

void truth() {  // SCRIPTED_TRUTH
  start({kernel_kind, CUPTI_ACTIVITY_KIND_MEMCPY}, {});
  char from[8] = {}, to[8];
  launch("_Z4axpyv", nullptr);
  CHECK(cudaMemcpy(to, from, 8, cudaMemcpyDefault) == cudaSuccess);
  const auto records = flush();
  std::FILE* file = std::fopen(scripted_truth_path(), "r");
  char name[64] = {};
  unsigned kind = 0, correlation = 0, stream = 0;
  unsigned long long node = 0, begin = 0, end = 0, bytes = 0;
  std::size_t lines = 0;
  while (std::fscanf(file, "%u %u %63s %u %llu %llu %llu %llu", &kind, &correlation, name, &stream,
                     &node, &begin, &end, &bytes) == 8) {
    const record& r = records.at(lines++);
    CHECK(r.correlation == correlation && r.end == end && r.bytes == bytes);
  }
  CHECK(lines == 2 && records.size() == 2);
  std::fclose(file);
}

// The names of the real library, where the toolkit has one: it answers without a driver.
void names() {
  const auto name = CUPTI(cuptiGetCallbackName);
  const char *mine = nullptr, *theirs = nullptr;
  CHECK(name(CUPTI_CB_DOMAIN_RUNTIME_API, 505, &mine) == CUPTI_SUCCESS &&
        mine == std::string("__cudaLaunchKernel_v13000"));
  CHECK(name(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, &mine) ==
            CUPTI_ERROR_INVALID_PARAMETER &&
        mine == nullptr);
  CHECK(name(CUPTI_CB_DOMAIN_RESOURCE, 1, &mine) == CUPTI_ERROR_INVALID_PARAMETER);
  void* real = dlopen(
      std::getenv("SCRIPTED_REAL_CUPTI") != nullptr ? std::getenv("SCRIPTED_REAL_CUPTI") : "",
      RTLD_NOW | RTLD_LOCAL);
  const auto real_name =
      real == nullptr
          ? nullptr
          : reinterpret_cast<decltype(&cuptiGetCallbackName)>(dlsym(real, "cuptiGetCallbackName"));
  const auto real_text =
      real == nullptr
          ? nullptr
          : reinterpret_cast<decltype(&cuptiGetResultString)>(dlsym(real, "cuptiGetResultString"));
  if (real_name == nullptr || real_text == nullptr || real_name == name) {
    std::puts("the real libcupti is not here to compare with");
    return;
  }
  const auto same = [&] {
    return mine == theirs ||
           (mine != nullptr && theirs != nullptr && std::strcmp(mine, theirs) == 0);
  };
  for (const auto domain : {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API}) {
    for (std::uint32_t cbid = 0; cbid < 900; ++cbid)
      CHECK(name(domain, cbid, &mine) == real_name(domain, cbid, &theirs) && same());
  }
  for (int i = 0; i < 1000; ++i) {
    // it has no name for them
    if (i == CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED || i == CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE)
      continue;
    const auto result = static_cast<CUptiResult>(i);
    CHECK(CUPTI(cuptiGetResultString)(result, &mine) == real_text(result, &theirs) && same());
  }
}

void speed() {
  buffer_bytes = 4 << 20;
  CUpti_SubscriberHandle handle = nullptr;
  const auto nothing = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  CHECK(CUPTI(cuptiSubscribe)(&handle, nothing, nullptr) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiEnableDomain)(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API) == CUPTI_SUCCESS);
  static std::atomic<std::uint64_t> bytes{0};
  const auto drop = [](CUcontext, std::uint32_t, std::uint8_t* data, std::size_t,
                       std::size_t valid) {
    bytes += valid;
    std::free(data);
  };
  CHECK(CUPTI(cuptiActivityRegisterCallbacks)(requested, drop) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiActivityEnable)(kernel_kind) == CUPTI_SUCCESS);
  const void* kernel = scripted_kernel("k");
  constexpr std::uint64_t count = 1'000'000;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < count; ++i)
    cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, nullptr);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(cudaDeviceSynchronize() == cudaSuccess && CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS);
  CHECK(CUPTI(cuptiActivityFlushAll)(0) == CUPTI_SUCCESS &&
        bytes == count * sizeof(CUpti_ActivityKernel10));
  std::printf("%.2f million launches a second\n", static_cast<double>(count) / took.count() / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> cases{
      {"streams_and_records", streams_and_records},
      {"own_driver_ids", own_driver_ids},
      {"threads", threads},
      {"truth", truth},
      {"correlation_without_api_activity", correlation_without_api_activity},
      {"graphs", graphs},
      {"misuse", misuse},
      {"speed", speed},
      {"events_measure_virtual_time", events_measure_virtual_time},
      {"host_functions_run_elsewhere", host_functions_run_elsewhere},
      {"external_correlation", external_correlation},
      {"small_buffers", small_buffers},
      {"refused_buffers", refused_buffers},
      {"forced_flush", forced_flush},
      {"odd_records", odd_records},
      {"older_versions", older_versions},
      {"no_driver", no_driver},
      {"refusals", refusals},
      {"forked_child", forked_child},
      {"no_devices", no_devices},
      {"late_devices", late_devices},
      {"driver_contexts", driver_contexts},
      {"missing_symbols", missing_symbols},
      {"names", names},
      {"every_buffer_is_refused", every_buffer_is_refused},
      {"deadlocks_are_found", deadlocks_are_found}};
  const auto found = cases.find(argc > 1 ? argv[1] : "");
  library = dlopen(SCRIPTED_CUPTI, RTLD_NOW | RTLD_LOCAL);
  if (found == cases.end() || library == nullptr) {
    for (const auto& one : cases) std::puts(one.first.c_str());
    std::fprintf(stderr, "selfcheck: no such case, or %s\n",
                 library == nullptr ? dlerror() : "none");
    return 2;
  }
  found->second();
  if (found->first != "misuse") CHECK(scripted_misuse() == 0);
  return failures == 0 ? 0 : 1;
}
