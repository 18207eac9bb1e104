// SPDX-License-Identifier: MIT
// Graphs, with the callbacks that CUPTI gives for them.
#ifndef KPROF_TESTS_SCRIPTED_CUDA_GRAPHS_HPP
#define KPROF_TESTS_SCRIPTED_CUDA_GRAPHS_HPP

#include "gpu.hpp"

namespace scripted {

struct graph_fields {  // CUpti_GraphData, with what does not apply left out
  CUgraph graph = nullptr, originalGraph = nullptr;
  CUgraphNode node = nullptr, originalNode = nullptr;
  CUgraphNodeType nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
  CUgraphNode dependency = nullptr;
  CUgraphExec graphExec = nullptr;
};
void graph_event(CUpti_CallbackIdResource id, const graph_fields& f);

// The node of an executable graph, nested ones too, that stands for `node` of the graph it was made
// from.
CUgraphNode_st* find_clone(CUgraph_st& graph, const CUgraphNode_st* node);

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph);
cudaError_t run_graph(const api_call& self, CUgraphExec_st& exec, CUstream_st& s);

// Whether a graph can be updated from the other; if not, why.
bool same_shape(const CUgraph_st& a, const CUgraph_st& b, cudaGraphExecUpdateResultInfo& info);
void update(CUgraph_st& mine, CUgraph_st& theirs);
cudaError_t set_parameters(cudaGraphExec_t exec, cudaGraphNode_t node, const work& what);

}  // namespace scripted

#endif
