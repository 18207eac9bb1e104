// SPDX-License-Identifier: MIT
// Graphs, with the callbacks that CUPTI gives for them.
#include "gpu.hpp"

#include <algorithm>

using namespace scripted;

namespace {

std::atomic<std::uint32_t> graph_ids{0};

struct graph_fields {  // CUpti_GraphData, with what does not apply left out
  CUgraph graph = nullptr, originalGraph = nullptr;
  CUgraphNode node = nullptr, originalNode = nullptr;
  CUgraphNodeType nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
  CUgraphNode dependency = nullptr;
  CUgraphExec graphExec = nullptr;
};

void graph_event(CUpti_CallbackIdResource id, const graph_fields& f) {
  CUpti_GraphData data{f.graph,    f.originalGraph, f.node,     f.originalNode,
                       f.nodeType, f.dependency,    f.graphExec};
  resource(id, this_thread().device, nullptr, &data);
}

}  // namespace

namespace scripted {

CUgraph_st* make_graph() {
  auto* made = new CUgraph_st;
  keep(made);
  made->id = ++graph_ids;
  graph_event(CUPTI_CBID_RESOURCE_GRAPH_CREATED, {.graph = made});
  return made;
}

CUgraphNode_st* add_node(CUgraph_st& graph, std::vector<CUgraphNode_st*> after, const work& what) {
  graph_event(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING,
              {.graph = &graph, .nodeType = what.type});
  auto* made = graph.nodes.emplace_back(std::make_unique<CUgraphNode_st>()).get();
  made->id = (std::uint64_t{graph.id} << 32U) | ++graph.next_node;
  made->graph = &graph;
  made->what = what;
  made->after = std::move(after);
  if (what.child != nullptr) made->what.child = clone_graph(*what.child);
  graph_event(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
              {.graph = &graph, .node = made, .nodeType = what.type});
  for (CUgraphNode_st* earlier : made->after) {
    graph_event(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED,
                {.graph = &graph, .node = made, .nodeType = what.type, .dependency = earlier});
  }
  return made;
}

// CUPTI reports a node that a clone makes as created, and then as cloned.
CUgraph_st* clone_graph(CUgraph_st& original) {
  CUgraph_st* made = make_graph();
  made->original = &original;
  graph_event(CUPTI_CBID_RESOURCE_GRAPH_CLONED, {.graph = made, .originalGraph = &original});
  for (const auto& node : original.nodes) {
    std::vector<CUgraphNode_st*> after;
    for (const CUgraphNode_st* earlier : node->after) {
      const auto same = [&](const auto& copy) { return copy->original == earlier; };
      after.push_back(std::find_if(made->nodes.begin(), made->nodes.end(), same)->get());
    }
    CUgraphNode_st* copy = add_node(*made, std::move(after), node->what);
    copy->original = node.get();
    graph_event(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, {.graph = made,
                                                       .originalGraph = &original,
                                                       .node = copy,
                                                       .originalNode = node.get(),
                                                       .nodeType = node->what.type});
  }
  return made;
}

void destroy_graph(CUgraph_st* graph) {
  if (graph == nullptr) return;
  for (const auto& node : graph->nodes) {
    graph_event(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
                {.graph = graph, .node = node.get(), .nodeType = node->what.type});
    destroy_graph(node->what.child);
  }
  graph_event(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, {.graph = graph});
  forget(graph);
  delete graph;
}

}  // namespace scripted

namespace {

// The node of an executable graph, nested ones too, that stands for `node` of the graph it was made
// from.
CUgraphNode_st* find_clone(CUgraph_st& graph, const CUgraphNode_st* node) {
  for (const auto& mine : graph.nodes) {
    if (mine->original == node) return mine.get();
    if (mine->what.child == nullptr) continue;
    if (CUgraphNode_st* inner = find_clone(*mine->what.child, node)) return inner;
  }
  return nullptr;
}

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, const work& what) {
  if (graph == nullptr || node == nullptr) return cudaErrorInvalidValue;
  *node = add_node(*graph, {after, after + count}, what);
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  if (graph == nullptr || exec == nullptr) return cudaErrorInvalidValue;
  graph_event(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, {.graph = graph});
  auto* made = new CUgraphExec_st;
  keep(made);
  made->graph = clone_graph(*graph);
  made->id = ++graph_ids;
  graph_event(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, {.graph = graph, .graphExec = made});
  *exec = made;
  return cudaSuccess;
}

// ---- launch

// Gives every node its time, after those it depends on, and collects the work. Returns the end of
// the last.
std::uint64_t place(CUstream_st& s, CUgraph_st& graph, std::uint32_t exec, std::uint64_t begin,
                    std::vector<work>& placed) {
  std::uint64_t last = begin;
  for (const auto& node : graph.nodes) {
    std::uint64_t start = begin;
    for (const CUgraphNode_st* earlier : node->after) start = std::max(start, earlier->end);
    if (node->what.child != nullptr) {
      node->end = place(s, *node->what.child, exec, start, placed);
    } else {
      work& what = placed.emplace_back(node->what);
      what.op.start = start;
      node->end = what.op.end =
          start + (what.op.kind == CUPTI_ACTIVITY_KIND_INVALID ? 0 : duration_locked(s, what.op));
      what.op.graph_node = node->id;
      what.op.graph = exec;
    }
    last = std::max(last, node->end);
  }
  return last;
}

cudaError_t run_graph(const api_call& self, CUgraphExec_st& exec, CUstream_st& s) {
  static thread_local std::vector<work> placed;
  placed.clear();
  gpu& g = gpu_of(s.device);
  {
    const std::lock_guard guard(g.lock);
    const std::uint64_t end =
        place(s, *exec.graph, exec.id, begin_locked(g, s, self.start + 2'000), placed);
    end_locked(g, s, self.start, end);
  }
  for (work& what : placed) {
    what.op.device = s.device;
    what.op.context = g.context.id;
    what.op.stream = s.id;
    what.op.correlation = self.correlation;
    what.op.api_recorded = self.recorded || self.outer_recorded;
    if (what.type == CU_GRAPH_NODE_TYPE_HOST) {
      run_later(what.op.end, what.function, what.argument);
    } else if (what.op.kind != CUPTI_ACTIVITY_KIND_INVALID) {
      perform(what);
      ran(what.op);
    }
  }
  return cudaSuccess;
}

// ---- update

bool same_shape(const CUgraph_st& a, const CUgraph_st& b, cudaGraphExecUpdateResultInfo& info) {
  info = {cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
  if (a.nodes.size() != b.nodes.size()) return false;
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const CUgraphNode_st &mine = *a.nodes[i], &theirs = *b.nodes[i];
    info.errorNode = b.nodes[i].get();
    if (mine.after.size() != theirs.after.size()) return false;
    if (mine.what.type != theirs.what.type)
      return info.result = cudaGraphExecUpdateErrorNodeTypeChanged, false;
    if (mine.what.child != nullptr && !same_shape(*mine.what.child, *theirs.what.child, info))
      return false;
  }
  info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  return true;
}

void update(CUgraphExec_st& exec, CUgraph_st& mine, CUgraph_st& theirs) {
  for (std::size_t i = 0; i < mine.nodes.size(); ++i) {
    CUgraphNode_st &node = *mine.nodes[i], &from = *theirs.nodes[i];
    if (node.what.child != nullptr) update(exec, *node.what.child, *from.what.child);
    CUgraph_st* child = node.what.child;
    node.what = from.what;
    node.what.child = child;
    if (shared().set.version < 130000) continue;  // CUPTI has told of it since CUDA 13.0
    graph_event(CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED, {.graph = &mine,
                                                         .originalGraph = &theirs,
                                                         .node = &node,
                                                         .originalNode = &from,
                                                         .nodeType = node.what.type,
                                                         .graphExec = &exec});
  }
}

cudaError_t set_parameters(cudaGraphExec_t exec, cudaGraphNode_t node, const work& what) {
  CUgraphNode_st* mine = find_clone(*exec->graph, node);
  if (mine == nullptr || mine->what.type != what.type) return cudaErrorInvalidValue;
  mine->what = what;
  if (shared().set.version >= 130000) {
    graph_event(CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS, {.graph = mine->graph,
                                                            .node = mine,
                                                            .originalNode = node,
                                                            .nodeType = what.type,
                                                            .graphExec = exec});
  }
  return cudaSuccess;
}

work kernel_work_of(const cudaKernelNodeParams& p, cudaError_t& result) {
  CUkern_st* kernel = find_kernel(p.func);
  const configuration c{p.gridDim, p.blockDim, {0, 0, 0}, p.sharedMemBytes};
  if (kernel == nullptr) result = cudaErrorInvalidDeviceFunction;
  else if (!launchable(c)) result = cudaErrorInvalidConfiguration;
  else return kernel_work(*kernel, c);
  return {};
}

work fill_work_of(const cudaMemsetParams& p) {
  return fill_work(p.dst, p.pitch, p.value, p.elementSize, p.width * p.elementSize, p.height);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  SCRIPTED_CALL(cudaGraphCreate_v10000, (graph, flags),
                [&](auto&) { return *graph = make_graph(), cudaSuccess; });
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  SCRIPTED_CALL(cudaGraphAddKernelNode_v10000, (node, graph, after, count, parameters), [&](auto&) {
    cudaError_t result = cudaSuccess;
    const work what = kernel_work_of(*parameters, result);
    return result == cudaSuccess ? add(node, graph, after, count, what) : result;
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, std::size_t count, void* to,
                                     const void* from, std::size_t size, cudaMemcpyKind kind) {
  SCRIPTED_CALL(
      cudaGraphAddMemcpyNode1D_v11010, (node, graph, after, count, to, from, size, kind),
      [&](auto&) {
        return add(node, graph, after, count, copy_work({to, size, from, size, size, 1}, kind));
      });
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  SCRIPTED_CALL(cudaGraphAddMemsetNode_v10000, (node, graph, after, count, parameters),
                [&](auto&) { return add(node, graph, after, count, fill_work_of(*parameters)); });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, std::size_t count) {
  SCRIPTED_CALL(cudaGraphAddEmptyNode_v10000, (node, graph, after, count),
                [&](auto&) { return add(node, graph, after, count, {}); });
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  SCRIPTED_CALL(cudaGraphAddHostNode_v10000, (node, graph, after, count, parameters), [&](auto&) {
    work what;
    what.type = CU_GRAPH_NODE_TYPE_HOST;
    what.function = parameters->fn;
    what.argument = parameters->userData;
    return add(node, graph, after, count, what);
  });
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, std::size_t count,
                                       cudaGraph_t child) {
  SCRIPTED_CALL(cudaGraphAddChildGraphNode_v10000, (node, graph, after, count, child), [&](auto&) {
    work what;
    what.type = CU_GRAPH_NODE_TYPE_GRAPH;
    what.child = child;
    return add(node, graph, after, count, what);
  });
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  SCRIPTED_CALL(cudaGraphChildGraphNodeGetGraph_v10000, (node, graph),
                [&](auto&) { return *graph = node->what.child, cudaSuccess; });
}
cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  SCRIPTED_CALL(cudaGraphClone_v10000, (clone, graph),
                [&](auto&) { return *clone = clone_graph(*graph), cudaSuccess; });
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  SCRIPTED_CALL(cudaGraphNodeFindInClone_v10000, (node, original, clone), [&](auto&) {
    *node = find_clone(*clone, original);
    return *node == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  SCRIPTED_CALL(cudaGraphNodeGetType_v10000, (node, type), [&](auto&) {
    *type = static_cast<cudaGraphNodeType>(node->what.type);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  SCRIPTED_CALL(cudaGraphGetNodes_v10000, (graph, nodes, count), [&](auto&) {
    if (nodes != nullptr) {
      *count = std::min(*count, graph->nodes.size());
      for (std::size_t i = 0; i < *count; ++i) nodes[i] = graph->nodes[i].get();
    } else {
      *count = graph->nodes.size();
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  SCRIPTED_CALL(cudaGraphInstantiate_v12000, (exec, graph, flags),
                [&](auto&) { return instantiate(exec, graph); });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  SCRIPTED_CALL(cudaGraphInstantiateWithFlags_v11040, (exec, graph, flags),
                [&](auto&) { return instantiate(exec, graph); });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  SCRIPTED_CALL(cudaGraphExecUpdate_v10020, (exec, graph, info), [&](auto&) {
    cudaGraphExecUpdateResultInfo found{};
    const bool same = same_shape(*exec->graph, *graph, found);
    if (info != nullptr) *info = found;
    if (same) update(*exec, *exec->graph, *graph);
    return same ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  SCRIPTED_CALL(cudaGraphExecKernelNodeSetParams_v10010, (exec, node, parameters), [&](auto&) {
    cudaError_t result = cudaSuccess;
    const work what = kernel_work_of(*parameters, result);
    return result == cudaSuccess ? set_parameters(exec, node, what) : result;
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                               const void* from, std::size_t size,
                                               cudaMemcpyKind kind) {
  SCRIPTED_CALL(
      cudaGraphExecMemcpyNodeSetParams1D_v11010, (exec, node, to, from, size, kind), [&](auto&) {
        return set_parameters(exec, node, copy_work({to, size, from, size, size, 1}, kind));
      });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  SCRIPTED_CALL(cudaGraphExecMemsetNodeSetParams_v10020, (exec, node, parameters),
                [&](auto&) { return set_parameters(exec, node, fill_work_of(*parameters)); });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  SCRIPTED_CALL(cudaGraphUpload_v10000, (exec, stream), [](auto&) { return cudaSuccess; });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  SCRIPTED_CALL(cudaGraphLaunch_v10000, (exec, stream), [&](const api_call& self) {
    const cuGraphLaunch_params parameters{exec, stream};
    return driver_call(self, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &parameters,
                       [&](const api_call& driver) -> cudaError_t {
                         if (exec == nullptr) return cudaErrorInvalidValue;
                         CUstream_st& s = resolve(stream);
                         if (!s.capturing) return run_graph(driver, *exec, s);
                         work what;  // a launch that is captured becomes a child graph
                         what.type = CU_GRAPH_NODE_TYPE_GRAPH;
                         what.child = exec->graph;
                         return capture_work(s, what);
                       });
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  SCRIPTED_CALL(cudaGraphExecDestroy_v10000, (exec), [&](auto&) {
    graph_event(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
                {.graph = exec->graph, .graphExec = exec});
    destroy_graph(exec->graph);
    forget(exec);
    delete exec;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  SCRIPTED_CALL(cudaGraphDestroy_v10000, (graph),
                [&](auto&) { return destroy_graph(graph), cudaSuccess; });
}

}  // extern "C"
