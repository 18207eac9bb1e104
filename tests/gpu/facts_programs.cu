// SPDX-License-Identifier: MIT
//
// What decides how kprof can live beside programs of some kinds: the records of a conditional
// node's body, which calls break a capture that another thread has begun, and what CUPTI keeps of
// each subscription that has ended.

#include "facts.hpp"
#include "programs.cuh"

#include <unistd.h>

#include <atomic>
#include <set>

namespace {

// ---- conditional nodes

/// A loop of `repeats` around a kernel, and one kernel behind it; launched twice.
void conditional() {
#if CUDART_VERSION >= 13000
  constexpr int repeats = 3, launches = 2;
  device_array<float> x(1024);
  device_array<int> left(1);
  const cudaStream_t s = new_stream();
  launch_touch(x.data(), 256, s);
  CUDA(cudaStreamSynchronize(s));
  callback_log::begin(
      {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RESOURCE});
  activity_log::begin();
  enable_work();
  const graph_with_loop loop;
  capture_into(loop.body, nullptr, s, [&] {
    launch_touch(x.data(), 512, s);  // two blocks
    count_down<<<3, 1, 0, s>>>(left.data(), loop.again);
  });
  capture_into(loop.graph, &loop.node, s, [&] { launch_touch(x.data(), 1024, s); });  // four blocks
  callback_log::forget();
  const cudaGraphExec_t exec = instantiate(loop.graph);
  std::set<std::uint64_t> told, later;
  for (const event& e : callback_log::events()) {
    if (e.id != CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) continue;
    std::uint64_t id = 0;
    told.insert(e.node);
    if (CUPTI_FUNCTION(cuptiGetGraphNodeId)(e.handle, &id) == CUPTI_SUCCESS) later.insert(id);
  }
  std::uint32_t exec_id = 0;
  CUPTI(cuptiGetGraphExecId, exec, &exec_id);
  callback_log::forget();
  const int from = repeats;
  for (int i = 0; i < launches; ++i) {
    CUDA(cudaMemcpyAsync(left.data(), &from, sizeof from, cudaMemcpyHostToDevice, s));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
  }
  std::set<std::uint32_t> calls;
  for (const event& e : callback_log::events())
    if (e.is_call()) calls.insert(e.correlation);
  finish_work();
  std::size_t all = 0, of_call = 0, without = 0, as_told = 0, as_later = 0, of_exec = 0, nodes = 0;
  std::set<std::uint32_t> ids;
  std::size_t behind = 0, behind_of_call = 0;
  for (const record& r : activity_log::work()) {
    if (r.kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    note("kernel of " + std::to_string(r.grid_x) + " blocks: correlation " +
         std::to_string(r.correlation) + ", graph " + std::to_string(r.graph) + ", node " +
         std::to_string(r.node >> 32U) + ':' + std::to_string(r.node & 0xFFFFFFFFU) + ", " +
         std::to_string(r.end - r.start) + " ns");
    if (r.grid_x == 4) ++behind, behind_of_call += calls.count(r.correlation);
    if (r.grid_x != 2) continue;
    ++all, of_call += calls.count(r.correlation), without += r.correlation == 0 ? 1 : 0;
    as_told += told.count(r.node), as_later += later.count(r.node);
    of_exec += r.graph == exec_id ? 1 : 0, nodes += r.node != 0 ? 1 : 0;
    ids.insert(r.correlation);
  }
  CHECK_EQUAL("records of the kernel in the body", all, 1U * repeats * launches);
  CHECK_EQUAL("records of the kernel behind it", behind, 1U * launches);
  fact("conditional.body_correlation", of_call == all    ? "that of the launch"
                                       : without == all  ? "all ids are 0"
                                       : ids.size() == 1 ? "one for all, of no call"
                                       : ids.size() == all
                                           ? "one for each, of no call"
                                           : "of no call: " + std::to_string(ids.size()) +
                                                 " ids in " + std::to_string(all) + " records");
  fact("conditional.body_node", as_told == all    ? "that which was called back"
                                : as_later == all ? "the one it has when the call is over"
                                : nodes == 0      ? "0"
                                                  : "one that no copied node has");
  fact("conditional.body_graph", of_exec == all ? "the executable graph's" : "another");
  fact("conditional.behind_correlation",
       behind_of_call == behind ? "that of the launch" : "of no call");
#else
  skip("built with a CUDA before 13, whose calls for them differ");
#endif
}

// ---- captures

/// Whether a capture that another thread has begun ends well, with `call` made meanwhile.
bool survives(cudaStreamCaptureMode how, float* x, const std::function<void()>& call) {
  std::atomic<int> stage{0};
  cudaError_t ended = cudaErrorUnknown;
  std::thread other([&] {
    const cudaStream_t s = new_stream();
    cudaGraph_t graph = nullptr;
    CUDA(cudaStreamBeginCapture(s, how));
    touch_kernel<<<1, 32, 0, s>>>(x, 32);
    stage = 1;
    while (stage != 2) usleep(50);
    touch_kernel<<<1, 32, 0, s>>>(x, 32);
    ended = cudaStreamEndCapture(s, &graph);
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
    CUDA(cudaStreamDestroy(s));
  });
  while (stage != 1) usleep(50);
  call();
  stage = 2;
  other.join();
  static_cast<void>(cudaGetLastError());
  return ended == cudaSuccess;
}
void tell_captures(const std::string& key, float* x, const std::function<void()>& call) {
  std::string broken;
  for (const capture_mode& m : capture_modes)
    if (!survives(m.mode, x, call)) broken += (broken.empty() ? "" : ", ") + std::string{m.name};
  fact("capture." + key, broken.empty() ? "none" : broken);
}
void in_relaxed_mode(const std::function<void()>& call) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
  call();
  CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
}

void captures() {
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  launch_touch(x.data(), 32, s);
  CUDA(cudaDeviceSynchronize());
  CHECK("a capture ends well that nothing disturbs",
        survives(cudaStreamCaptureModeGlobal, x.data(), [] {}));
  const auto wait = [] { static_cast<void>(cudaDeviceSynchronize()); };
  tell_captures("broken_by_a_wait", x.data(), wait);
  tell_captures("broken_by_a_relaxed_wait", x.data(), [&] { in_relaxed_mode(wait); });
  tell_captures("broken_by_a_relaxed_wait_for_a_stream", x.data(),
                [&] { in_relaxed_mode([&] { static_cast<void>(cudaStreamSynchronize(s)); }); });
  CUpti_SubscriberHandle subscriber = nullptr;
  const auto nothing = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  tell_captures("broken_by_subscribing", x.data(), [&] {
    if (subscriber != nullptr) CUPTI(cuptiUnsubscribe, subscriber);
    CUPTI(cuptiSubscribe, &subscriber, nothing, nullptr);
    CUPTI(cuptiEnableDomain, 1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  });
  activity_log::begin();
  tell_captures("broken_by_enabling", x.data(), [] { enable_work(); });
  tell_captures("broken_by_a_flush", x.data(), [] { CUPTI(cuptiActivityFlushAll, 0); });
}

// ---- subscriptions

/// How much a process grows by subscriptions and collecting that begin and end, with CUPTI alone.
void subscriptions() {
  constexpr int rounds = 300;
  const launching_threads others([](int, float* x, cudaStream_t s) { launch_touch(x, 256, s); });
  activity_log::begin();
  const auto grown = [](const char* what, const std::function<void()>& round) {
    double before = 0;
    for (int i = 0; i < rounds; ++i) {
      if (i == rounds / 3) activity_log::forget(), before = resident_kib();
      round();
    }
    activity_log::forget();
    note(std::to_string((resident_kib() - before) / (rounds - rounds / 3)) + " KiB a round of " +
         what);
  };
  const auto subscribed = [](const std::function<void()>& inside) {
    CUpti_SubscriberHandle subscriber = nullptr;
    CUPTI(
        cuptiSubscribe, &subscriber,
        [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}, nullptr);
    CUPTI(cuptiEnableDomain, 1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
    inside();
    usleep(1000);
    CUPTI(cuptiUnsubscribe, subscriber);
  };
  const auto collected = [] {
    enable_work();
    usleep(1000);
    for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                          CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
      CUPTI(cuptiActivityDisable, kind);
    CUPTI(cuptiActivityFlushAll, 1);
    activity_log::forget();
  };
  grown("nothing", [] { usleep(1000); });
  grown("subscribing", [&] { subscribed([] {}); });
  grown("collecting", collected);
  grown("both", [&] { subscribed(collected); });
  CHECK("subscriptions and collecting begin and end", true);
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "facts_programs",
                   {{"conditional", conditional, mode::gpu},
                    {"captures", captures, mode::gpu},
                    {"subscriptions", subscriptions, mode::gpu}});
}
