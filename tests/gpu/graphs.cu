// SPDX-License-Identifier: MIT
//
// CUDA graphs: the work of a replay belongs to the scopes that captured it, however the graph was
// made, copied and changed.

#include "graphs.cuh"
#include "graphs_lives.cuh"

#include <atomic>
#include <thread>

namespace {

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
  const touch_node node(x.data(), 256, 1);
  cudaGraphNode_t first = nullptr, second = nullptr, set = nullptr, copy = nullptr;
  {
    KPROF_OP(Touch, {.id = 1});
    CUDA(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &node.kernel));
  }
  {
    KPROF_OP(Touch, {.id = 2});
    CUDA(cudaGraphAddKernelNode(&second, graph, &first, 1, &node.kernel));
  }
  {
    KPROF_OP(Move, {.id = 1});
    cudaMemsetParams params{};
    params.dst = x.data(), params.elementSize = 4, params.width = 1024, params.height = 1;
    CUDA(cudaGraphAddMemsetNode(&set, graph, &second, 1, &params));
  }
  {
    KPROF_OP(Move, {.id = 2});
    CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, x.data() + 512, x.data(), 2048,
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
  const touch_node larger(x.data(), 4096, 16);
  cudaGraphExec_t other = instantiate(after);
  CUDA(cudaGraphExecKernelNodeSetParams(other, nodes[0], &larger.kernel));
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
                    {"parameters", parameters, mode::any},
                    {"host_first", host_first, mode::any},
                    {"foreign", foreign, mode::any},
                    {"across_threads", across_threads, mode::any},
                    {"snapshot_in_capture", snapshot_in_capture, mode::any},
                    {"started_in_capture", started_in_capture, mode::any},
                    {"forked", forked, mode::any},
                    {"thrown_away", thrown_away, mode::any},
                    {"large", large, mode::any}});
}
