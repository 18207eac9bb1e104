// SPDX-License-Identifier: MIT
//
// What CUPTI tells of CUDA graphs: the callbacks of capturing, cloning, instantiating and updating,
// the ids of graphs and nodes in the records of a replay, and what the records of memset and copy
// nodes are.

#include "facts.hpp"
#include "kernels.cuh"

#include <set>

namespace {

void launch(cudaGraphExec_t exec, cudaStream_t s) {
  CUDA(cudaGraphLaunch(exec, s));
  CUDA(cudaStreamSynchronize(s));
}

// ---- ids

/// Two instances of one graph: whose ids the records of each have.
void ids() {
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  callback_log::begin({CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE});
  activity_log::begin();
  enable_work();
  const cudaGraph_t graph = capture(s, [&] {
    launch_touch(x.data(), 256, s);
    launch_touch(x.data(), 256, s);
  });
  const cudaGraphExec_t execs[] = {instantiate(graph), instantiate(graph)};
  std::set<std::uint64_t> captured, cloned;
  for (const event& e : callback_log::events()) {
    if (e.domain != CUPTI_CB_DOMAIN_RESOURCE || e.node == 0) continue;
    if (e.id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
      cloned.insert(e.node), captured.insert(e.original_node);
  }
  std::uint32_t graph_id = 0, exec_ids[2] = {};
  CUPTI(cuptiGetGraphId, graph, &graph_id);
  for (int i = 0; i < 2; ++i) CUPTI(cuptiGetGraphExecId, execs[i], &exec_ids[i]);
  std::size_t of_exec = 0, of_graph = 0, of_clone = 0, of_capture = 0, upper = 0;
  std::vector<record> all;
  for (int i = 0; i < 2; ++i) {
    activity_log::forget();
    launch(execs[i], s);
    finish_work();
    for (const record& r : activity_log::work()) {
      of_exec += r.graph == exec_ids[i] ? 1 : 0, of_graph += r.graph == graph_id ? 1 : 0;
      of_clone += cloned.count(r.node), of_capture += captured.count(r.node);
      upper += r.node >> 32U == r.graph ? 1 : 0;
      all.push_back(r);
    }
  }
  CHECK_EQUAL("records of two replays of two kernels", all.size(), 4U);
  CHECK_EQUAL("records with the id of a node that was called back as cloned", of_clone, all.size());
  std::set<std::uint64_t> nodes;
  std::set<std::uint32_t> launches;
  for (const record& r : all) nodes.insert(r.node), launches.insert(r.correlation);
  const std::string others = "the executable's in " + how_many(of_exec, all.size()) +
                             ", the captured graph's in " + how_many(of_graph, all.size());
  fact("graph.record_graph_id", of_exec == all.size() ? "that of cuptiGetGraphExecId"
                                : of_graph == all.size()
                                    ? "that of cuptiGetGraphId of what was captured"
                                    : others);
  const std::string mixed = "the instance's in " + how_many(of_clone, all.size()) +
                            ", the captured one's in " + how_many(of_capture, all.size());
  fact("graph.record_node_id",
       of_clone == all.size() && of_capture == 0 ? "that of the instance's node" : mixed);
  fact("graph.node_id_upper_half",
       upper == all.size() ? "the record's graph id" : "is not the record's graph id");
  fact("graph.instances_differ", yes_or_no(nodes.size() == 4));
  fact("graph.one_correlation_a_launch",
       launches == std::set<std::uint32_t>{0} ? "all ids are 0" : yes_or_no(launches.size() == 2));
}

/// A graph in a graph: whose ids the records of the inner graph's nodes have.
void inner_ids() {
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  callback_log::begin({CUPTI_CB_DOMAIN_RESOURCE});
  activity_log::begin();
  enable_work();
  const cudaGraph_t inner = capture(s, [&] {
    launch_touch(x.data(), 256, s);
    launch_touch(x.data(), 256, s);
  });
  cudaGraph_t outer = nullptr;
  cudaGraphNode_t child = nullptr;
  CUDA(cudaGraphCreate(&outer, 0));
  CUDA(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  callback_log::forget();
  const cudaGraphExec_t exec = instantiate(outer);
  std::set<std::uint64_t> told, later;
  std::set<CUgraphNode> destroyed;
  for (const event& e : callback_log::events())
    if (e.id == CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING) destroyed.insert(e.handle);
  for (const event& e : callback_log::events()) {
    if (e.id != CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED || destroyed.count(e.handle) != 0) continue;
    told.insert(e.node);
    std::uint64_t id = 0;
    CUPTI(cuptiGetGraphNodeId, e.handle, &id);
    later.insert(id);
  }
  std::uint32_t exec_id = 0;
  CUPTI(cuptiGetGraphExecId, exec, &exec_id);
  launch(exec, s);
  finish_work();
  std::size_t as_told = 0, as_later = 0, of_exec = 0;
  const std::vector<record> all = activity_log::work();
  for (const record& r : all) {
    as_told += told.count(r.node), as_later += later.count(r.node);
    of_exec += r.node >> 32U == exec_id ? 1 : 0;
  }
  CHECK_EQUAL("records of the inner graph's kernels", all.size(), 2U);
  CHECK_EQUAL("records with the id that a copied node has once the call is over", as_later,
              all.size());
  fact("graph.inner_node_id", as_told == all.size() ? "that which was called back"
                              : as_later == all.size()
                                  ? "another one, which the node has when the call is over"
                                  : "one that no copied node has");
  fact("graph.inner_node_id_upper_half",
       of_exec == all.size() ? "that of the executable graph" : "not that of the executable graph");
}

/// Which of the two nodes in the callback of an update is the executable graph's.
void updated_ids() {
  device_array<float> x(1024);
  const cudaStream_t s = new_stream();
  launch_touch(x.data(), 256, s);
  callback_log::begin({CUPTI_CB_DOMAIN_RESOURCE});
  const auto of = [&](int n) { return capture(s, [&] { launch_touch(x.data(), n, s); }); };
  const cudaGraphExec_t exec = instantiate(of(256));
  const cudaGraph_t other = of(512);
  std::uint32_t exec_id = 0, other_id = 0;
  CUPTI(cuptiGetGraphExecId, exec, &exec_id);
  CUPTI(cuptiGetGraphId, other, &other_id);
  callback_log::forget();
  cudaGraphExecUpdateResultInfo result{};
  CUDA(cudaGraphExecUpdate(exec, other, &result));
  std::string text = "no callback";
  for (const event& e : callback_log::events()) {
    if (e.id != CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED) continue;
    const std::uint64_t node = e.node >> 32U, original = e.original_node >> 32U;
    text = node == other_id && original == exec_id   ? "the original"
           : node == exec_id && original == other_id ? "the node"
                                                     : "neither";
  }
  fact("graph.updated_node", text);
  CHECK("an update tells which node is updated", text == "the original" || text == "the node");
}

/// Whether a node's type is known when it is created.
void types() {
  device_array<char> x(1024);
  const cudaStream_t s = new_stream();
  launch_touch(reinterpret_cast<float*>(x.data()), 16, s);
  callback_log::begin({CUPTI_CB_DOMAIN_RESOURCE});
  const cudaGraph_t inner =
      capture(s, [&] { launch_touch(reinterpret_cast<float*>(x.data()), 16, s); });
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  CUDA(cudaGraphCreate(&graph, 0));
  cudaMemsetParams set{};
  set.dst = x.data(), set.elementSize = 1, set.width = 1024, set.height = 1;
  cudaHostNodeParams host{};
  host.fn = [](void*) {};
  CUDA(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  CUDA(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, x.data(), x.data() + 512, 512,
                                cudaMemcpyDeviceToDevice));
  CUDA(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
  CUDA(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  CUDA(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner));
  std::size_t right = 0, all = 0;
  std::string types;
  for (const event& e : callback_log::events()) {
    if (e.id != CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) continue;
    cudaGraphNodeType is{};
    CUDA(cudaGraphNodeGetType(e.handle, &is));
    ++all, right += static_cast<int>(is) == static_cast<int>(e.type) ? 1 : 0;
    types += (types.empty() ? "" : ", ") + std::to_string(static_cast<int>(e.type)) + " of a " +
             std::to_string(static_cast<int>(is));
  }
  CHECK_EQUAL("nodes that were created", all, 7U);
  note("types when created, and later: " + types);
  fact("graph.type_when_created", how_many(right, all));
}

// ---- callbacks

/// "created 2, cloned 2", in the order they come, with what repeats folded: "(created, cloned) x
/// 3".
std::string told_of_nodes(const std::vector<event>& events) {
  std::vector<std::string> steps;
  for (const event& e : events) {
    if (e.domain != CUPTI_CB_DOMAIN_RESOURCE) continue;
    switch (e.id) {
      case CUPTI_CBID_RESOURCE_GRAPH_CREATED: steps.emplace_back("graph created"); break;
      case CUPTI_CBID_RESOURCE_GRAPH_CLONED: steps.emplace_back("graph cloned"); break;
      case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED: steps.emplace_back("node created"); break;
      case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED: steps.emplace_back("node cloned"); break;
      case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED: steps.emplace_back("exec created"); break;
      case CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED: steps.emplace_back("node updated"); break;
      case CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS:
        steps.emplace_back("node's parameters set");
        break;
      default: break;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t period = 1, times = 1;
    for (const std::size_t p : {1U, 2U}) {  // of one step, or of two that take turns
      std::size_t t = 1;
      const auto same = [&](std::size_t at) {
        const auto begin = steps.begin() + static_cast<long>(i);
        return at + p <= steps.size() && std::equal(begin, begin + static_cast<long>(p),
                                                    steps.begin() + static_cast<long>(at));
      };
      while (same(i + t * p)) ++t;
      if (t > 1 && t * p > times * period) period = p, times = t;
    }
    if (!text.empty()) text += ", ";
    const std::string once = period == 1 ? steps[i] : '(' + steps[i] + ", " + steps[i + 1] + ')';
    text += times == 1 ? once : once + " x " + std::to_string(times);
    i += period * times;
  }
  return text.empty() ? "no callback" : text;
}
void tell_nodes(const std::string& key, const std::function<void()>& body) {
  callback_log::forget();
  body();
  fact("graph." + key, told_of_nodes(callback_log::events()));
}

void callbacks() {
  device_array<float> x(256);
  const cudaStream_t s = new_stream();
  launch_touch(x.data(), 256, s);
  callback_log::begin({CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE});
  cudaGraph_t graph = nullptr, clone = nullptr, parent = nullptr;
  cudaGraphExec_t exec = nullptr;
  tell_nodes("callbacks_of_capture", [&] {
    graph = capture(s, [&] {
      for (int i = 0; i < 3; ++i) launch_touch(x.data(), 256, s);
    });
  });
  std::size_t created = 0, inside = 0;  // between the begin and the end of a launch's call
  for (const event& e : callback_log::events()) {
    if (e.domain != CUPTI_CB_DOMAIN_RESOURCE || e.id != CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
      continue;
    ++created;
    inside += e.depth > 0 ? 1 : 0;
  }
  fact("graph.created_inside_the_captured_call", how_many(inside, created));
  CHECK_EQUAL("captured nodes that were created inside the call that is captured", inside, 3U);
  tell_nodes("callbacks_of_clone", [&] { CUDA(cudaGraphClone(&clone, graph)); });
  tell_nodes("callbacks_of_child", [&] {
    cudaGraphNode_t child = nullptr;
    CUDA(cudaGraphCreate(&parent, 0));
    CUDA(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
  });
  const cudaGraph_t other = capture(s, [&] {
    for (int i = 0; i < 3; ++i) launch_touch(x.data(), 128, s);
  });
  tell_nodes("callbacks_of_instantiate", [&] { exec = instantiate(graph); });
  tell_nodes("callbacks_of_instantiate_with_child", [&] { instantiate(parent); });
  tell_nodes("callbacks_of_update", [&] {
    cudaGraphExecUpdateResultInfo result{};
    CUDA(cudaGraphExecUpdate(exec, other, &result));
  });
  tell_nodes("callbacks_of_launch", [&] { launch(exec, s); });
}

// ---- kinds

/// What the record of the single node of a graph is: "memset", "kernel"; with its bytes where it
/// has any.
std::string record_of(cudaStream_t s, const std::function<void()>& body) {
  const cudaGraphExec_t exec = instantiate(capture(s, body));
  activity_log::forget();
  launch(exec, s);
  finish_work();
  std::string text;
  for (const record& r : activity_log::work()) {
    if (!text.empty()) text += ", ";
    text += r.kind == CUPTI_ACTIVITY_KIND_MEMSET   ? "memset"
            : r.kind == CUPTI_ACTIVITY_KIND_MEMCPY ? "copy"
                                                   : "kernel";
    if (r.bytes != 0) text += " of " + std::to_string(r.bytes) + " bytes";
  }
  CHECK("a node has a record", !text.empty());
  return text.empty() ? "no record" : text;
}

void kinds() {
  constexpr std::size_t mib = 1U << 20;
  device_array<char> a(4 * mib), b(4 * mib);
  char* pinned = nullptr;
  CUDA(cudaMallocHost(&pinned, mib));
  const cudaStream_t s = new_stream();
  activity_log::begin();
  enable_work();
  const auto set = [&](std::size_t bytes) {
    return record_of(s, [&] { CUDA(cudaMemsetAsync(a.data(), 1, bytes, s)); });
  };
  fact("graph.memset_of_1_byte", set(1));
  fact("graph.memset_of_4_KiB", set(4096));
  fact("graph.memset_of_1_MiB", set(mib));
  const auto copy = [&](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return record_of(s, [&] { CUDA(cudaMemcpyAsync(to, from, bytes, kind, s)); });
  };
  fact("graph.copy_on_the_device_of_4_KiB",
       copy(b.data(), a.data(), 4096, cudaMemcpyDeviceToDevice));
  fact("graph.copy_on_the_device_of_1_MiB",
       copy(b.data(), a.data(), mib, cudaMemcpyDeviceToDevice));
  fact("graph.copy_to_the_device_of_1_MiB", copy(b.data(), pinned, mib, cudaMemcpyHostToDevice));
  CUDA(cudaFreeHost(pinned));
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "facts_graphs",
                   {{"ids", ids, mode::any},
                    {"inner_ids", inner_ids, mode::any},
                    {"updated_ids", updated_ids, mode::any},
                    {"types", types, mode::any},
                    {"callbacks", callbacks, mode::any},
                    {"kinds", kinds, mode::any}});
}
