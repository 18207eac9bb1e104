// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_GRAPHS_LIVES_CUH
#define KPROF_TESTS_GPU_GRAPHS_LIVES_CUH

// Modes of graphs.cu: graphs that are older than the recording, of other threads, captured while
// kprof starts or reads, in the child of a fork, and thrown away.

#include "graphs.cuh"

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
