// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_GRAPHS_LIVES_CUH
#define KPROF_TESTS_GPU_GRAPHS_LIVES_CUH

// Modes of graphs.cu: graphs that are older than the recording, of other threads, captured while
// kprof starts or reads, in the child of a fork, and thrown away.

#include "graphs.cuh"

#include <algorithm>
#include <atomic>
#include <thread>

namespace {

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

/// An operator whose first node in a graph leaves no record is replayed as often as the graph.
void host_first() {
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  cudaGraph_t graph = capture(s, [&] {
    KPROF_OP(Touch, {.id = 1});
    CUDA(cudaLaunchHostFunc(
        s, [](void*) {}, nullptr));
    launch_touch(x.data(), 256, s);
  });
  cudaGraph_t by_hand = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr;
  CUDA(cudaGraphCreate(&by_hand, 0));
  {
    KPROF_OP(Move, {.id = 2});
    CUDA(cudaGraphAddEmptyNode(&first, by_hand, nullptr, 0));
    cudaMemsetParams params{};
    params.dst = x.data(), params.elementSize = 4, params.width = 256, params.height = 1;
    CUDA(cudaGraphAddMemsetNode(&second, by_hand, &first, 1, &params));
  }
  for (const cudaGraph_t g : {graph, by_hand}) {
    cudaGraphExec_t exec = instantiate(g);
    replay(exec, 10, s);
    CUDA(cudaStreamSynchronize(s));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(g));
  }
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  check_replays(p, "Touch id=1", 1, 10, 10);
  CHECK_EQUAL("calls of an operator that begins with an empty node, by replays",
              scopes(p, "Move id=2").replays, 10U);
  CUDA(cudaStreamDestroy(s));
}

/// Nodes that get other parameters are work of the call that set them, where it is another call of
/// the guard that they were captured in.
void parameters() {
  device_array<float> x(256);
  cudaStream_t s = new_stream();
  const auto touch_in_step = [](int id, const std::function<void()>& body) {
    KPROF_REGION("step");
    KPROF_OP(Touch, {.id = id});
    body();
  };
  cudaGraph_t graph = capture(s, [&] {
    touch_in_step(1, [&] { launch_touch(x.data(), 256, s); });
    touch(2, x.data(), s);
  });
  cudaGraphNode_t nodes[2] = {};
  std::size_t count = 2;
  CUDA(cudaGraphGetNodes(graph, nodes, &count));
  const touch_node node(x.data(), 256, 1);
  cudaGraphExec_t exec = instantiate(graph);
  for (int step = 0; step < 40; ++step) {
    touch_in_step(100 + step % 4,
                  [&] { CUDA(cudaGraphExecKernelNodeSetParams(exec, nodes[0], &node.kernel)); });
    {
      KPROF_OP(Touch, {.id = 3});
      CUDA(cudaGraphExecKernelNodeSetParams(exec, nodes[1], &node.kernel));
    }
    replay(exec, 2, s);
    if (step == 20) CUDA(cudaStreamSynchronize(s));
  }
  CUDA(cudaStreamSynchronize(s));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);
  CHECK_EQUAL("kernels of the call that was captured, since set by others",
              directly_in(p, "Touch id=1").kernels, 0U);
  for (int id = 100; id < 104; ++id) {
    const std::string name = "Touch id=" + std::to_string(id);
    CHECK_EQUAL("kernels of a node that " + name + " set", directly_in(p, name).kernels, 20U);
    check_replays(p, name, 10, 20, 20);
  }
  CHECK_EQUAL("kernels of a node that another guard set", directly_in(p, "Touch id=2").kernels,
              80U);
  CHECK_EQUAL("kernels in the other guard", within(p, "Touch id=3").kernels, 0U);
  CHECK_EQUAL("replays of the region around", scopes(p, "step").replays, 80U);
  CHECK("it is told how many were set by others",
        std::any_of(p.notes.begin(), p.notes.end(), [](const std::string& text) {
          return text.find(" 40 times") != std::string::npos;
        }));
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

}  // namespace

#endif
