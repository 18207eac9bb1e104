// SPDX-License-Identifier: MIT
// CUDA's functions for graphs.
#include "graphs.hpp"

#include <algorithm>

using namespace scripted;

namespace {

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                std::size_t count, const work& what) {
  if (graph == nullptr || node == nullptr) return cudaErrorInvalidValue;
  *node = add_node(*graph, {after, after + count}, what);
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
  SCRIPTED_CALL(cudaGraphClone_v10000, (clone, graph), [&](auto&) {
    *clone = clone_graph(*graph);
    graph_event(CUPTI_CBID_RESOURCE_GRAPH_CLONED, {.graph = *clone, .originalGraph = graph});
    return cudaSuccess;
  });
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
    if (same) update(*exec->graph, *graph);
    return same ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  SCRIPTED_CALL(
      cudaGraphExecKernelNodeSetParams_v10010, (exec, node, parameters), [&](const api_call& self) {
        const cuGraphExecKernelNodeSetParams_v2_params driver_parameters{exec, node, nullptr};
        return driver_call(self, CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
                           &driver_parameters, [&](auto&) {
                             cudaError_t result = cudaSuccess;
                             const work what = kernel_work_of(*parameters, result);
                             return result == cudaSuccess ? set_parameters(exec, node, what)
                                                          : result;
                           });
      });
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  SCRIPTED_CALL(cudaGraphExecChildGraphNodeSetParams_v11010, (exec, node, child), [&](auto&) {
    CUgraphNode_st* const mine = find_clone(*exec->graph, node);
    if (mine == nullptr || mine->what.child == nullptr) return cudaErrorInvalidValue;
    cudaGraphExecUpdateResultInfo found{};
    if (!same_shape(*mine->what.child, *child, found)) return cudaErrorGraphExecUpdateFailure;
    return update(*mine->what.child, *child), cudaSuccess;
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
