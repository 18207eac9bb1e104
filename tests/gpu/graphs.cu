// SPDX-License-Identifier: MIT
//
// CUDA graphs: the work of a replay belongs to the scopes that captured it, however the graph was
// made, copied and changed.

#include "kernels.cuh"

#include <atomic>
#include <thread>

namespace {

constexpr int many = 1000;  // replays

struct Move {
  std::int64_t id = 0;
};

void replay(cudaGraphExec_t exec, int times, cudaStream_t s) {
  for (int i = 0; i < times; ++i) CUDA(cudaGraphLaunch(exec, s));
}
std::uint64_t replayed_flops(const kprof::profile& p) {
  std::uint64_t sum = 0;
  for (const kprof::scope_node& n : p.nodes)
    sum += (n.calls - n.captured + n.replays) * n.work.flops;
  return sum;
}
void check_replays(const kprof::profile& p, const std::string& name, std::uint64_t captured,
                   std::uint64_t replays, std::uint64_t kernels) {
  CHECK_EQUAL("kernels in " + name, directly_in(p, name).kernels, kernels);
  CHECK_EQUAL("calls of " + name + " that were captured", scopes(p, name).captured, captured);
  CHECK_EQUAL("calls of " + name + " by replays", scopes(p, name).replays, replays);
}

void captured() {
  device_array<float> x(1024);
  cudaStream_t s = new_stream();
  cudaGraph_t graph = nullptr;
  {
    KPROF_REGION("build");
    graph = capture(s, [&] {
      touch(1, x.data(), s);
      touch(1, x.data(), s);
      touch(2, x.data(), s);
      {
        KPROF_OP(Move, {.id = 1});
        CUDA(cudaMemsetAsync(x.data(), 0, 4096, s));
      }
      KPROF_OP(Move, {.id = 2});
      CUDA(cudaMemcpyAsync(x.data() + 512, x.data(), 2048, cudaMemcpyDeviceToDevice, s));
    });
  }
  cudaGraphExec_t exec = instantiate(graph);
  {
    KPROF_REGION("replay");
    replay(exec, many, s);
  }
  for (int i = 0; i < 10; ++i) touch(1, x.data(), s);  // the same operator, launched as ever
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("launches of graphs", graph_launches(p), static_cast<unsigned>(many));
  check_replays(p, "Touch id=1", 2, 2 * many, 2 * many + 10);
  check_replays(p, "Touch id=2", 1, many, many);
  // The driver may do a memset, or a copy, with a kernel: what kind its record has is not a fact.
  CHECK_EQUAL("work of a captured memset", directly_in(p, "Move id=1").runs(),
              static_cast<unsigned>(many));
  CHECK_EQUAL("work of a captured copy", directly_in(p, "Move id=2").runs(),
              static_cast<unsigned>(many));
  const tally set = directly_in(p, "Move id=1"), copied = directly_in(p, "Move id=2");
  note("memset nodes: " + std::to_string(set.sets) + " sets, " + std::to_string(set.kernels) +
       " kernels, " + std::to_string(set.set) +
       " bytes; copy nodes: " + std::to_string(copied.copies) + " copies, " +
       std::to_string(copied.kernels) + " kernels, " + std::to_string(copied.copied) + " bytes");
  CHECK_EQUAL("work under the region that replays", within(p, "replay").runs(), 5U * many);
  CHECK_EQUAL("FLOPs, once a replay", replayed_flops(p), 1000U * (3U * many + 10U));
  CHECK_EQUAL("records of graphs that are not known", p.device.complete.foreign_graphs, 0U);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(s));
}

/// One graph instantiated several times; the graph destroyed while its instances live; launched in
/// and out of scopes.
void instances() {
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  cudaGraph_t graph = capture(s, [&] { touch(1, x.data(), s); });
  cudaGraphExec_t first = instantiate(graph), second = instantiate(graph);
  cudaGraph_t clone = nullptr;
  CUDA(cudaGraphClone(&clone, graph));
  CUDA(cudaGraphDestroy(graph));
  cudaGraphExec_t third = instantiate(clone);
  {
    KPROF_REGION("first");
    replay(first, 10, s);
  }
  {
    KPROF_REGION("second");
    replay(second, 20, s);
  }
  // with its work perhaps still running, and its records not yet read
  CUDA(cudaGraphExecDestroy(first));
  {
    KPROF_OP(Move, {.id = 3});  // an operator around the launch of a graph
    replay(third, 30, s);
  }
  replay(second, 5, s);  // outside of all scopes
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("work under the launches of the first instance", within(p, "first").kernels, 10U);
  CHECK_EQUAL("work under the launches of the second instance", within(p, "second").kernels, 20U);
  CHECK_EQUAL("work under the launches of a clone's instance", within(p, "Move id=3").kernels, 30U);
  check_replays(p, "Touch id=1", 1, 65, 65);
  CUDA(cudaGraphExecDestroy(second));
  CUDA(cudaGraphExecDestroy(third));
  CUDA(cudaGraphDestroy(clone));
  CUDA(cudaStreamDestroy(s));
}

/// A graph inside a graph.
void child() {
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  cudaGraph_t inner = capture(s, [&] {
    touch(1, x.data(), s);
    touch(1, x.data(), s);
  });
  cudaGraph_t whole = nullptr;
  CUDA(cudaGraphCreate(&whole, 0));
  cudaGraphNode_t before = nullptr, inside = nullptr;
  CUDA(cudaGraphAddChildGraphNode(&before, whole, nullptr, 0, inner));
  CUDA(cudaGraphAddChildGraphNode(&inside, whole, &before, 1, inner));
  cudaGraphExec_t exec = instantiate(whole);
  CUDA(cudaGraphDestroy(inner));
  {
    KPROF_REGION("replay");
    replay(exec, many, s);
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels of a graph in a graph, twice", directly_in(p, "Touch id=1").kernels,
              4U * many);
  CHECK_EQUAL("launches of graphs", graph_launches(p), static_cast<unsigned>(many));
  CHECK_EQUAL("calls by replays", scopes(p, "Touch id=1").replays, 4U * many);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(whole));
  CUDA(cudaStreamDestroy(s));
}

/// Nodes made one by one, in operators, without a capture.
void by_hand() {
  device_array<float> x(1024);
  cudaStream_t s = new_stream();
  cudaGraph_t graph = nullptr;
  CUDA(cudaGraphCreate(&graph, 0));
  float* data = x.data();
  int n = 256;
  void* arguments[] = {&data, &n};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(&touch_kernel<float>);
  kernel.gridDim = dim3(1), kernel.blockDim = dim3(256);
  kernel.kernelParams = arguments;
  cudaGraphNode_t first = nullptr, second = nullptr, set = nullptr, copy = nullptr;
  {
    KPROF_OP(Touch, {.id = 1});
    CUDA(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  }
  {
    KPROF_OP(Touch, {.id = 2});
    CUDA(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  }
  {
    KPROF_OP(Move, {.id = 1});
    cudaMemsetParams params{};
    params.dst = data, params.elementSize = 4, params.width = 1024, params.height = 1;
    CUDA(cudaGraphAddMemsetNode(&set, graph, &second, 1, &params));
  }
  {
    KPROF_OP(Move, {.id = 2});
    CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, data + 512, data, 2048,
                                  cudaMemcpyDeviceToDevice));
  }
  cudaGraphExec_t exec = instantiate(graph);
  {
    KPROF_REGION("replay");
    replay(exec, many, s);
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  check_replays(p, "Touch id=1", 1, many, many);
  check_replays(p, "Touch id=2", 1, many, many);
  CHECK_EQUAL("work of a memset node", directly_in(p, "Move id=1").runs(),
              static_cast<unsigned>(many));
  CHECK_EQUAL("work of a copy node", directly_in(p, "Move id=2").runs(),
              static_cast<unsigned>(many));
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(s));
}

/// An instance that takes over another capture of the same shape, and a node that gets other
/// arguments.
void updated() {
  device_array<float> x(4096);
  cudaStream_t s = new_stream();
  cudaGraph_t before = capture(s, [&] {
    touch(1, x.data(), s);
    touch(2, x.data(), s);
  });
  cudaGraphExec_t exec = instantiate(before);
  {
    KPROF_REGION("before");
    replay(exec, 10, s);
  }
  cudaGraph_t after = capture(s, [&] {
    touch(3, x.data() + 256, s);
    touch(4, x.data() + 256, s);
  });
  cudaGraphExecUpdateResultInfo result{};
  CUDA(cudaGraphExecUpdate(exec, after, &result));
  {
    KPROF_REGION("after");
    replay(exec, 20, s);
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels before the update", within(p, "before").kernels, 20U);
  CHECK_EQUAL("kernels after the update", within(p, "after").kernels, 40U);
  const auto counted = [&](const char* region, const char* one, const char* other) {
    return tally_if(p,
                    [&](const kprof::device_work& w) {
                      return w.scope != kprof::device_work::none && is_within(p, w.scope, region) &&
                             (is_called(p, p.nodes[w.scope], one) ||
                              is_called(p, p.nodes[w.scope], other));
                    })
        .kernels;
  };
  CHECK_EQUAL("kernels before the update, in the operators of the first capture",
              counted("before", "Touch id=1", "Touch id=2"), 20U);
  // older ones do not tell of updated nodes
  if (p.device.state.find("CUPTI 13") != std::string::npos)
    CHECK_EQUAL("kernels after the update, in the operators of the second capture",
                counted("after", "Touch id=3", "Touch id=4"), 40U);
  CHECK_EQUAL("kernels in Touch, by whichever capture", directly_in(p, "Touch").kernels, 60U);

  cudaGraphNode_t nodes[2] = {};
  std::size_t count = 2;
  CUDA(cudaGraphGetNodes(after, nodes, &count));
  float* data = x.data();
  int n = 4096;
  void* arguments[] = {&data, &n};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(&touch_kernel<float>);
  kernel.gridDim = dim3(16), kernel.blockDim = dim3(256);
  kernel.kernelParams = arguments;
  cudaGraphExec_t other = instantiate(after);
  CUDA(cudaGraphExecKernelNodeSetParams(other, nodes[0], &kernel));
  {
    KPROF_REGION("larger");
    replay(other, 5, s);
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile q = kprof::snapshot();
  check_complete(q);
  CHECK_EQUAL("kernels after a node got other arguments", within(q, "larger").kernels, 10U);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphExecDestroy(other));
  CUDA(cudaGraphDestroy(before));
  CUDA(cudaGraphDestroy(after));
  CUDA(cudaStreamDestroy(s));
}

/// A graph that was made before kprof listened: its work is of the scope that launches it, and
/// counted as foreign.
void foreign() {
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  cudaGraph_t graph = capture(s, [&] {
    launch_touch(x.data(), 256, s);
    launch_touch(x.data(), 256, s);
  });
  cudaGraphExec_t exec = instantiate(graph);
  replay(exec, 3, s);
  CUDA(cudaStreamSynchronize(s));
  CHECK("kprof starts", kprof::start().ok());
  {
    KPROF_OP(Move, {.id = 1});
    replay(exec, many, s);
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels in the operator that launches the graph", within(p, "Move id=1").kernels,
              2U * many);
  CHECK_EQUAL("records of graphs made before", p.device.complete.foreign_graphs, 2U * many);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(s));
}

/// Captured on one thread, replayed on others, each in scopes of its own and on a stream of its
/// own.
void across_threads() {
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  cudaGraph_t graph = capture(s, [&] { touch(1, x.data(), s); });
  constexpr int workers = 4;
  cudaGraphExec_t exec[workers];
  for (cudaGraphExec_t& one : exec) one = instantiate(graph);
  std::vector<std::thread> threads;
  for (int t = 0; t < workers; ++t)
    threads.emplace_back([&, t] {
      cudaStream_t own = new_stream();
      KPROF_OP(Move, {.id = t});
      replay(exec[t], 100 * (t + 1), own);
      CUDA(cudaStreamSynchronize(own));
      CUDA(cudaStreamDestroy(own));
    });
  for (std::thread& t : threads) t.join();
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  for (int t = 0; t < workers; ++t)
    CHECK_EQUAL("kernels that thread " + std::to_string(t) + " replayed",
                within(p, "Move id=" + std::to_string(t)).kernels,
                100U * static_cast<unsigned>(t + 1));
  check_replays(p, "Touch id=1", 1, 1000, 1000);
  for (cudaGraphExec_t one : exec) CUDA(cudaGraphExecDestroy(one));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(s));
}

/// A snapshot, which waits for devices, must not break a capture: in a global capture no thread may
/// wait for one.
void snapshot_in_capture() {
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  touch(1, x.data(), s);
  CUDA(cudaStreamSynchronize(s));
  std::uint64_t on_another_thread = 0;
  cudaGraph_t graph = capture(
      s,
      [&] {
        touch(2, x.data(), s);
        std::thread([&] {
          on_another_thread = scopes(kprof::snapshot(), "Touch id=1").calls;
        }).join();
        touch(2, x.data(), s);
        CHECK_EQUAL("calls in a snapshot taken inside a capture, on its thread",
                    scopes(kprof::snapshot(), "Touch id=1").calls, 1U);
        touch(2, x.data(), s);
      },
      cudaStreamCaptureModeGlobal);
  CHECK_EQUAL("calls in a snapshot taken during a capture, on another thread", on_another_thread,
              1U);
  CHECK("the capture is whole", graph != nullptr);
  if (graph == nullptr) return;
  cudaGraphExec_t exec = instantiate(graph);
  replay(exec, 10, s);
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  check_replays(p, "Touch id=2", 3, 30, 30);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(s));
}

/// The first guard, with which kprof turns to CUPTI, within a capture, in which little of CUDA may
/// be called.
void started_in_capture() {
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  cudaGraph_t graph = capture(
      s,
      [&] {
        touch(1, x.data(), s);
        touch(1, x.data(), s);
      },
      cudaStreamCaptureModeGlobal);
  cudaGraphExec_t exec = instantiate(graph);
  replay(exec, 10, s);
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  check_replays(p, "Touch id=1", 2, 20, 20);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(s));
}

/// Branches of a capture on several streams, which run at the same time.
void forked() {
  device_array<float> x(1024);
  cudaStream_t s = new_stream(), side = new_stream();
  cudaEvent_t fork = nullptr, join = nullptr;
  CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CUDA(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaGraph_t graph = capture(s, [&] {
    touch(1, x.data(), s);
    CUDA(cudaEventRecord(fork, s));
    CUDA(cudaStreamWaitEvent(side, fork, 0));
    touch(2, x.data(), s);
    touch(3, x.data() + 256, side);
    CUDA(cudaEventRecord(join, side));
    CUDA(cudaStreamWaitEvent(s, join, 0));
    touch(4, x.data(), s);
  });
  cudaGraphExec_t exec = instantiate(graph);
  replay(exec, many, s);
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  for (int id = 1; id <= 4; ++id) check_replays(p, "Touch id=" + std::to_string(id), 1, many, many);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaEventDestroy(fork));
  CUDA(cudaEventDestroy(join));
  CUDA(cudaStreamDestroy(s));
  CUDA(cudaStreamDestroy(side));
}

/// A graph made, launched once and destroyed at each step, while the records of many steps are
/// still to be read.
void thrown_away() {
  constexpr int nodes = 50, steps = 2000;
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  for (int step = 0; step < steps; ++step) {
    cudaGraph_t graph = capture(s, [&] {
      for (int i = 0; i < nodes; ++i) touch(i % 2, x.data(), s);
    });
    cudaGraphExec_t exec = instantiate(graph);
    replay(exec, 1, s);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  for (int id = 0; id < 2; ++id)
    check_replays(p, "Touch id=" + std::to_string(id), nodes / 2 * steps, nodes / 2 * steps,
                  nodes / 2 * steps);
  CHECK_EQUAL("records of graphs that are not known", p.device.complete.foreign_graphs, 0U);
  CUDA(cudaStreamDestroy(s));
}

/// Many nodes, replayed often: CUPTI's pool of records on the device is finite.
void large() {
  const int nodes = 500, times = long_run ? 20'000 : 400;  // 10 million records, or 200,000
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  cudaGraph_t graph = capture(s, [&] {
    for (int i = 0; i < nodes; ++i) touch(i % 10, x.data(), s);
  });
  cudaGraphExec_t exec = instantiate(graph);
  replay(exec, times, s);
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  for (int id = 0; id < 10; ++id)
    check_replays(p, "Touch id=" + std::to_string(id), nodes / 10,
                  static_cast<unsigned>(nodes / 10 * times),
                  static_cast<unsigned>(nodes / 10 * times));
  note("reading and attributing took " + std::to_string(p.device.collecting_ns / 1e6) + " ms for " +
       std::to_string(p.device.complete.records) + " records");
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaStreamDestroy(s));
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "graphs",
                   {{"captured", captured, mode::any},
                    {"instances", instances, mode::any},
                    {"child", child, mode::any},
                    {"by_hand", by_hand, mode::any},
                    {"updated", updated, mode::any},
                    {"foreign", foreign, mode::any},
                    {"across_threads", across_threads, mode::any},
                    {"snapshot_in_capture", snapshot_in_capture, mode::any},
                    {"started_in_capture", started_in_capture, mode::any},
                    {"forked", forked, mode::any},
                    {"thrown_away", thrown_away, mode::any},
                    {"large", large, mode::any}});
}
