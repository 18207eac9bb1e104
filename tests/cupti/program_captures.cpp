// SPDX-License-Identifier: MIT
// Modes of program.cpp: captures that several threads or recordings take part in, and calls of
// which only a part was recorded.
#include "program.hpp"

#include <atomic>
#include <thread>

namespace {

void launch_bare(int times, cudaStream_t stream) {
  for (int i = 0; i < times; ++i)
    static_cast<void>(cudaLaunchKernel(kernel(), dim3(2), dim3(32), nullptr, 0, stream));
}
cudaStream_t new_stream() {
  cudaStream_t made = nullptr;
  static_cast<void>(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  return made;
}
void replay(cudaGraph_t graph, int times, cudaStream_t stream) {
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < times; ++i) static_cast<void>(cudaGraphLaunch(exec, stream));
}
/// "row n=1: calls 1 replays 100 runs 200 flop 202 rate known".
void print_rows(const kprof::profile& p) {
  for (const kprof::operator_row& row : kprof::operator_table(p))
    std::printf("row %s: calls %llu replays %llu runs %llu flop %.0f rate %s\n",
                row.parameters.c_str(), static_cast<unsigned long long>(row.calls),
                static_cast<unsigned long long>(row.replays),
                static_cast<unsigned long long>(row.kernels + row.copies), row.flops.value,
                row.flops_per_s.known() ? "known" : kprof::explain(row.flops_per_s.why));
}

}  // namespace

/// Two threads capture a part each of one call.
MODE(captures_parts) {
  const cudaStream_t s = new_stream(), other = new_stream();
  cudaEvent_t fork = nullptr, join = nullptr;
  static_cast<void>(cudaEventCreate(&fork));
  static_cast<void>(cudaEventCreate(&join));
  launch(9);
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  static_cast<void>(cudaEventRecord(fork, s));
  static_cast<void>(cudaStreamWaitEvent(other, fork, 0));
  std::atomic<int> arrived{0};
  const auto part = [&](std::uint32_t number, cudaStream_t on) {
    KPROF_PART(Op, (Op{.n = 1}), number, 2);
    launch_bare(2, on);
    for (++arrived; arrived != 2;) std::this_thread::yield();
  };
  std::thread first(part, 0, s), second(part, 1, other);
  first.join();
  second.join();
  static_cast<void>(cudaEventRecord(join, other));
  static_cast<void>(cudaStreamWaitEvent(s, join, 0));
  cudaGraph_t graph = nullptr;
  std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(s, &graph)));
  replay(graph, 100, s);
  print_rows(kprof::snapshot());
}

/// An operator's work is captured by two threads that have its context, and by its own.
MODE(captures_under_a_context) {
  const cudaStream_t s = new_stream();
  launch(9);
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  {
    KPROF_REGION("layer");
    KPROF_OP(Op, {.n = 1});
    const kprof::context here = kprof::context::current();
    for (int i = 0; i < 2; ++i)
      std::thread([&] {
        const kprof::context_guard under{here};
        launch_bare(1, s);
        KPROF_OP(Op, {.n = 2});
        launch_bare(1, s);
      }).join();
  }
  cudaGraph_t graph = nullptr;
  static_cast<void>(cudaStreamEndCapture(s, &graph));
  replay(graph, 100, s);
  const kprof::profile p = kprof::snapshot();
  print_rows(p);
  for (const kprof::scope_node& n : p.nodes)
    if (n.name == "layer" && n.replays != 0)
      std::printf("layer replays %llu\n", static_cast<unsigned long long>(n.replays));
}

/// The capture began before kprof subscribed: the first scope is inside it.
MODE(captures_before_the_first_scope) {
  const cudaStream_t s = new_stream();
  launch_bare(3, s);
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  launch(7, 2, s);
  std::thread([] { static_cast<void>(kprof::snapshot()); }).join();
  cudaGraph_t graph = nullptr;
  std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(s, &graph)));
  launch(1, 2, s);
  print_profile(kprof::snapshot());
}

/// A recording stops inside a capture, which ends while nothing is recorded.
MODE(stops_in_a_capture) {
  const cudaStream_t s = new_stream();
  static_cast<void>(kprof::start());
  launch(1, 2, s);
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  launch(7, 2, s);
  kprof::stop();
  cudaGraph_t graph = nullptr;
  std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(s, &graph)));
  static_cast<void>(kprof::start());
  launch(2, 200, s);
  print_profile(kprof::snapshot());
}

/// Between two recordings an update gives the graph to another operator.
MODE(updates_between_recordings) {
  const cudaStream_t s = new_stream();
  const auto capture = [&](std::int64_t n) {
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    launch(n, 1, s);
    static_cast<void>(cudaStreamEndCapture(s, &graph));
    return graph;
  };
  static_cast<void>(kprof::start());
  const cudaGraph_t first = capture(10), second = capture(20);
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaGraphInstantiate(&exec, first, 0));
  kprof::stop();
  cudaGraphExecUpdateResultInfo result{};
  static_cast<void>(cudaGraphExecUpdate(exec, second, &result));
  static_cast<void>(kprof::start());
  for (int i = 0; i < 5; ++i) static_cast<void>(cudaGraphLaunch(exec, s));
  print_profile(kprof::snapshot());
}

/// One call has ended, another of the same operator is open.
MODE(reports_in_a_call) {
  launch(1);
  KPROF_REGION("around");
  KPROF_OP(Op, {.n = 1});
  launch_bare(1000, nullptr);
  print_rows(kprof::snapshot());
}

/// What a call launches after stop() is not recorded.
MODE(stops_in_a_call) {
  launch(9);
  static_cast<void>(kprof::start());
  launch(9);
  {
    KPROF_REGION("around");
    launch(9);
    KPROF_OP(Op, {.n = 1});
    launch_bare(1, nullptr);
    kprof::stop();
    launch_bare(999, nullptr);
  }
  print_rows(kprof::snapshot());
}

/// A call of several kernels captures another graph's launch between them, again and again.
MODE(captures_launches_of_a_graph) {
  const cudaStream_t s = new_stream(), other = new_stream();
  launch(9);
  cudaGraph_t inner = nullptr, outer = nullptr;
  static_cast<void>(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
  {
    KPROF_OP(Op, {.n = 1});
    launch_bare(1, other);
  }
  static_cast<void>(cudaStreamEndCapture(other, &inner));
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaGraphInstantiate(&exec, inner, 0));
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  {
    KPROF_OP(Op, {.n = 2});
    for (int i = 0; i < 8; ++i) {
      launch_bare(1, s);
      static_cast<void>(cudaGraphLaunch(exec, s));
    }
  }
  std::printf("captured %s\n", cudaGetErrorName(cudaStreamEndCapture(s, &outer)));
  replay(outer, 100, s);
  print_rows(kprof::snapshot());
}

/// A call captures a kernel, another the launch of that graph, and a third adds the graph of this
/// to one that it makes by hand.
MODE(captures_only_a_launch) {
  const cudaStream_t s = new_stream();
  launch(9);
  const auto capture = [&](std::int64_t n, cudaGraphExec_t inner) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    {
      KPROF_OP(Op, {.n = n});
      if (inner == nullptr) launch_bare(1, s);
      else static_cast<void>(cudaGraphLaunch(inner, s));
    }
    static_cast<void>(cudaStreamEndCapture(s, &graph));
    if (inner != nullptr) {
      cudaGraph_t outer = nullptr;
      cudaGraphNode_t child = nullptr;
      static_cast<void>(cudaGraphCreate(&outer, 0));
      KPROF_OP(Op, {.n = n + 1});
      static_cast<void>(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
      graph = outer;
    }
    static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
  };
  const cudaGraphExec_t exec = capture(2, capture(1, nullptr));
  for (int i = 0; i < 100; ++i) static_cast<void>(cudaGraphLaunch(exec, s));
  const kprof::profile p = kprof::snapshot();
  print_rows(p);
  for (const kprof::scope_node& n : p.nodes)
    if (n.captured + n.unlaunched != 0)
      std::printf("captured %llu idle %llu\n", static_cast<unsigned long long>(n.captured),
                  static_cast<unsigned long long>(n.unlaunched));
}

/// Threads without a scope and outside all scopes set the parameters of a graph's nodes.
MODE(sets_nodes_without_scopes) {
  const cudaStream_t s = new_stream();
  launch(9);
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  launch(1, 2, s);
  cudaGraph_t graph = nullptr;
  static_cast<void>(cudaStreamEndCapture(s, &graph));
  cudaGraphNode_t nodes[2] = {};
  std::size_t count = 2;
  static_cast<void>(cudaGraphGetNodes(graph, nodes, &count));
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));
  const auto set = [&](int which) {
    cudaKernelNodeParams changed{};
    changed.func = const_cast<void*>(kernel());
    changed.gridDim = dim3(3), changed.blockDim = dim3(32);
    static_cast<void>(cudaGraphExecKernelNodeSetParams(exec, nodes[which], &changed));
  };
  std::thread(set, 0).join();
  set(1);
  for (int i = 0; i < 10; ++i) static_cast<void>(cudaGraphLaunch(exec, s));
  print_profile(kprof::snapshot());
}

/// A call of two kernels is captured, and another call sets the parameters of one of them.
MODE(sets_some_nodes_of_a_call) {
  const cudaStream_t s = new_stream();
  launch(9);
  const auto op = [&](std::int64_t n, auto what) {
    KPROF_OP(Op, {.n = n});
    what();
  };
  static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  op(1, [&] { launch_bare(2, s); });
  op(1, [&] { launch_bare(2, s); });
  cudaGraph_t graph = nullptr;
  static_cast<void>(cudaStreamEndCapture(s, &graph));
  cudaGraphNode_t nodes[4] = {};
  std::size_t count = 4;
  static_cast<void>(cudaGraphGetNodes(graph, nodes, &count));
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));
  for (const int which : {1, 0}) {
    for (int i = 0; i < 10; ++i) static_cast<void>(cudaGraphLaunch(exec, s));
    op(2 + which, [&] {
      cudaKernelNodeParams changed{};
      changed.func = const_cast<void*>(kernel());
      changed.gridDim = dim3(3), changed.blockDim = dim3(32);
      static_cast<void>(cudaGraphExecKernelNodeSetParams(exec, nodes[which], &changed));
    });
  }
  for (int i = 0; i < 10; ++i) static_cast<void>(cudaGraphLaunch(exec, s));
  print_rows(kprof::snapshot());
}

/// A loop that captures its work anew in each step, of another size, and updates one graph with it.
MODE(updates_in_a_loop) {
  constexpr int steps = 1000;
  const cudaStream_t s = new_stream();
  launch(9);
  cudaGraphExec_t exec = nullptr;
  for (int i = 0; i < steps; ++i) {
    static_cast<void>(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    {
      KPROF_OP(Op, {.n = 100 + i});
      launch_bare(1, s);
    }
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamEndCapture(s, &graph));
    cudaGraphExecUpdateResultInfo result{};
    if (exec == nullptr) static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));
    else static_cast<void>(cudaGraphExecUpdate(exec, graph, &result));
    static_cast<void>(cudaGraphLaunch(exec, s));
    static_cast<void>(cudaStreamSynchronize(s));
    static_cast<void>(cudaGraphDestroy(graph));
  }
  std::uint64_t right = 0;
  for (const kprof::operator_row& row : kprof::operator_table(kprof::snapshot()))
    right += row.replays == 1 && row.kernels == 1 ? 1 : 0;
  std::printf("right %llu of %d\n", static_cast<unsigned long long>(right), steps);
}

/// A recording begins in a call whose first launches nobody has told of.
MODE(starts_in_a_call) {
  launch(9);
  {
    KPROF_OP(Op, {.n = 1});
    kprof::stop();
    launch_bare(99, nullptr);
    static_cast<void>(kprof::start());
    launch_bare(1, nullptr);
  }
  print_rows(kprof::snapshot());
}
