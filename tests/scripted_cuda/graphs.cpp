// SPDX-License-Identifier: MIT
// Graphs, with the callbacks that CUPTI gives for them.
#include "graphs.hpp"

#include <algorithm>

namespace scripted {

namespace {

std::atomic<std::uint32_t> graph_ids{0};

}  // namespace

void graph_event(CUpti_CallbackIdResource id, const graph_fields& f) {
  CUpti_GraphData data{f.graph,    f.originalGraph, f.node,     f.originalNode,
                       f.nodeType, f.dependency,    f.graphExec};
  resource(id, this_thread().device, nullptr, &data);
}

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
  made->id = (std::uint64_t{graph.id} << 32U) | graph.next_node++;
  made->graph = &graph;
  made->what = what;
  made->after = std::move(after);
  if (what.child != nullptr) made->what.child = clone_graph(*what.child);
  // The node's type is not told yet: 0, which is a kernel's.
  graph_event(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, {.graph = &graph, .node = made});
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

CUgraphNode_st* find_clone(CUgraph_st& graph, const CUgraphNode_st* node) {
  for (const auto& mine : graph.nodes) {
    if (mine->original == node) return mine.get();
    if (mine->what.child == nullptr) continue;
    if (CUgraphNode_st* inner = find_clone(*mine->what.child, node)) return inner;
  }
  return nullptr;
}

// The nodes of graphs in an executable graph become its own: they get other ids, of which CUPTI
// does not tell. It tells that the nodes that stood for these graphs are gone.
static void take_inner_nodes(CUgraph_st& into, CUgraph_st& from) {
  for (const auto& node : from.nodes) {
    if (node->what.child != nullptr) {
      graph_event(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING,
                  {.graph = &from, .node = node.get(), .nodeType = node->what.type});
      take_inner_nodes(into, *node->what.child);
    } else if (&from != &into) {
      node->id = (std::uint64_t{into.id} << 32U) | into.next_node++;
    }
  }
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  if (graph == nullptr || exec == nullptr) return cudaErrorInvalidValue;
  graph_event(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, {.graph = graph});
  auto* made = new CUgraphExec_st;
  keep(made);
  made->graph = clone_graph(*graph);
  made->id = made->graph->id;
  take_inner_nodes(*made->graph, *made->graph);
  graph_event(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, {.graph = graph, .graphExec = made});
  *exec = made;
  return cudaSuccess;
}

// ---- launch

// Gives every node its time, after those it depends on, and collects the work. Returns the end of
// the last.
static std::uint64_t place(CUstream_st& s, CUgraph_st& graph, std::uint32_t exec,
                           std::uint64_t begin, std::vector<work>& placed) {
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

// CUPTI 13 names the executable graph's node as the original, and no graph.
void update(CUgraph_st& mine, CUgraph_st& theirs) {
  for (std::size_t i = mine.nodes.size(); i-- > 0;) {
    CUgraphNode_st &node = *mine.nodes[i], &from = *theirs.nodes[i];
    if (node.what.child != nullptr) update(*node.what.child, *from.what.child);
    CUgraph_st* child = node.what.child;
    node.what = from.what;
    node.what.child = child;
    if (shared().set.version < 130000 || child != nullptr) continue;
    graph_event(CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED,
                {.node = &from, .originalNode = &node, .nodeType = node.what.type});
    graph_event(CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS,
                {.node = &node, .originalNode = node.original, .nodeType = node.what.type});
  }
}

cudaError_t set_parameters(cudaGraphExec_t exec, cudaGraphNode_t node, const work& what) {
  CUgraphNode_st* mine = find_clone(*exec->graph, node);
  if (mine == nullptr || mine->what.type != what.type) return cudaErrorInvalidValue;
  mine->what = what;
  if (shared().set.version >= 130000) {
    graph_event(CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS,
                {.node = mine, .originalNode = node, .nodeType = what.type});
  }
  return cudaSuccess;
}

}  // namespace scripted
