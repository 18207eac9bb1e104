// SPDX-License-Identifier: MIT
// Streams, copies, events, host functions, correlation ids and graphs.
#include "selfcheck.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

CASE(streams_and_records) {
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

CASE(own_driver_ids) {
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

CASE(correlation_without_api_activity) {
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

CASE(events_measure_virtual_time) {
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

CASE(host_functions_run_elsewhere) {
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

CASE(graphs) {
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
    CHECK(k.node >> 32U == k.graph);
    // Nodes of the inner graph have become the executable graph's own, untold.
    if (k.name == "explicit") CHECK(source(k.node) != k.node);
    else CHECK(all().created.count(k.node) == 0);
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
  CHECK(calls("resource 23") == 7 && calls("resource 22") == 6 && calls("resource 18") == 2);
  CHECK(cudaGraphExecDestroy(one) == cudaSuccess && cudaGraphExecDestroy(two) == cudaSuccess &&
        cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(outer) == cudaSuccess && cudaGraphDestroy(copy) == cudaSuccess);

  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated && graph == nullptr);
}

CASE(external_correlation) {
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

}  // namespace
