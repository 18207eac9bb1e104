// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CUPTI_SCHEDULES_GRAPHS_HPP
#define KPROF_TESTS_CUPTI_SCHEDULES_GRAPHS_HPP

// The graphs of a thread of a random program: which work is in them, and of which scopes.

#include "schedules_launches.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

class random_graphs : public random_launches {
 public:
  using random_launches::random_launches;

 protected:
  struct node {
    scopes around;
    std::uint32_t started = 0;  // scopes from the innermost that it is the first of
    std::string what;
    std::uint64_t told = 0;   // `stops` when kprof last heard of it
    std::uint64_t graph = 0;  // that it was captured into
  };
  struct captured {
    cudaGraph_t graph = nullptr;  // that it was instantiated from
    cudaGraphExec_t exec = nullptr;
    std::vector<node> template_nodes, nodes;  // of the graph, of the executable one
    bool copies_are_known = false;            // by the nodes of the graph
  };

  bool has_graphs() const { return !graphs_.empty(); }
  void take_foreign_graph() {
    const std::lock_guard lock(foreign_lock);
    if (foreign_graphs.empty() || !chance(30)) return;
    captured& made = graphs_.emplace_back();
    made.exec = foreign_graphs.back();
    made.nodes = {foreign_node(name_of(0))};
    foreign_graphs.pop_back();
  }
  void destroy_graphs() {
    while (!graphs_.empty()) destroy(graphs_.size() - 1);
  }
  void destroy_one() { destroy(draw(graphs_.size())); }

  void capture() {
    captured made{};
    std::vector<std::string> what(1 + draw(8));
    for (std::string& w : what) w = anything();
    made.graph = record(what, made.template_nodes, true);
    // Work of a copy, and of a copy in another graph, is of the scopes that the original was
    // captured in.
    if (chance(20)) {
      cudaGraph_t clone = nullptr;
      check(cudaGraphClone(&clone, made.graph));
      check(cudaGraphDestroy(made.graph));
      made.graph = clone;
    } else if (chance(20)) {
      made.graph = put_into_another(made.graph);
      if (listening) scopes_.captured_others();
    } else if (chance(20)) {
      made.graph = put_among_others(made.graph, made.template_nodes);
    }
    instantiate_anew(made);
    if (chance(30)) {  // once more
      check(cudaGraphExecDestroy(made.exec));
      instantiate_anew(made);
    }
    if (chance(30)) destroy_template(made);
    graphs_.push_back(std::move(made));
  }

  /// The executable graph runs the same work, but of other scopes.
  void update() {
    captured& g = graphs_[draw(graphs_.size())];
    if (!updates_are_told()) return;
    std::vector<node> other;
    cudaGraph_t from = nullptr;
    if (g.graph != nullptr && chance(50)) {  // as it was captured
      check(cudaGraphClone(&from, g.graph));
      other = g.template_nodes;
    } else {
      std::vector<std::string> what;
      for (const node& n : g.nodes) what.push_back(n.what);
      from = record(what, other, false);
      if (g.graph != nullptr && has_child(g.graph)) {
        from = put_into_another(from);
        if (listening) scopes_.captured_others();
      }
    }
    cudaGraphExecUpdateResultInfo info{};
    if (cudaGraphExecUpdate(g.exec, from, &info) == cudaSuccess) take_over(g.nodes, 0, other);
    else static_cast<void>(cudaGetLastError());
    check(cudaGraphDestroy(from));
  }
  /// A child graph becomes a copy of another graph, in an executable one.
  void update_child() {
    captured& g = graphs_[draw(graphs_.size())];
    if (!updates_are_told() || g.graph == nullptr) return;
    std::size_t first = 0;
    const cudaGraphNode_t child = child_of(g.graph, first);
    if (child == nullptr) return;
    cudaGraph_t inner = nullptr;
    check(cudaGraphChildGraphNodeGetGraph(child, &inner));
    if (has_child(inner)) return;
    std::vector<std::string> what;
    for (std::size_t i = 0; i < leaves(inner).size(); ++i) what.push_back(g.nodes[first + i].what);
    std::vector<node> other;
    const cudaGraph_t from = record(what, other, false);
    if (cudaGraphExecChildGraphNodeSetParams(g.exec, child, from) == cudaSuccess)
      take_over(g.nodes, first, other);
    else static_cast<void>(cudaGetLastError());
    check(cudaGraphDestroy(from));
  }

  /// Nodes run another kernel, or copy and set less: of the call that says so, where it is another
  /// call of the guard that captured them.
  void set_nodes() {
    captured& g = graphs_[draw(graphs_.size())];
    if (g.graph == nullptr) return;
    const unsigned which = draw(g.nodes.size());
    const bool same_guard = chance(70);
    const auto body = [&] {
      set_node(g, which);
      if (chance(30)) set_node(g, draw(g.nodes.size()));
    };
    const auto n = static_cast<std::int64_t>(same_guard ? 10 + draw(4) : draw(3));
    if (chance(20)) return body();
    within_op(same_guard ? scope::captured_op : scope::op, n, [&] {
      if (chance(70)) body();
      else within({"inner", scope::captured_region}, 0, body);
    });
  }

  void replay(bool and_destroy = false) {
    const unsigned which = draw(graphs_.size());
    const captured& g = graphs_[which];
    check(cudaGraphLaunch(g.exec, streams_[0]));
    if (listening) count_replay(g);
    if (and_destroy) destroy(which);  // its records come later
  }

  /// The program has made these while kprof did not listen.
  void make_again() {
    captured& g = graphs_[draw(graphs_.size())];
    if (g.graph == nullptr) return;
    check(cudaGraphExecDestroy(g.exec));
    instantiate_anew(g);
  }

 private:
  node foreign_node(const std::string& what) const {
    return {{{foreign_scope, scope::foreign}}, 0, what, stops};
  }
  static bool is_foreign(const node& n) { return n.around[0].guard == scope::foreign; }
  static bool has_child(cudaGraph_t g) {
    std::size_t before = 0;
    return child_of(g, before) != nullptr;
  }

  void instantiate_anew(captured& g) {
    g.exec = instantiate(g.graph);
    g.copies_are_known = listening;
    g.nodes = g.template_nodes;
    for (node& n : g.nodes) n = listening ? told_now(n) : foreign_node(n.what);
  }
  static node told_now(node n) {
    n.told = stops;
    return n;
  }
  void destroy(std::size_t which) {
    captured& g = graphs_[which];
    check(cudaGraphExecDestroy(g.exec));
    destroy_template(g);
    graphs_.erase(graphs_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  void destroy_template(captured& g) {
    if (g.graph != nullptr) check(cudaGraphDestroy(g.graph));
    g.graph = nullptr;
    g.template_nodes.clear();
  }
  /// An update has made these nodes, from the first on, copies of others. What kprof was not told
  /// it cannot know: then only what they run is another.
  void take_over(std::vector<node>& into, std::size_t first, const std::vector<node>& from) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::uint64_t graph = into[first + i].graph;
      if (listening) into[first + i] = told_now(from[i]), into[first + i].graph = graph;
      else into[first + i].what = from[i].what;
    }
  }

  node captured_here(std::uint64_t graph, const std::string& what) {
    if (!listening) return foreign_node(what);
    return {scopes_.now(), scopes_.captured(graph), what, stops, graph};
  }
  /// Captures this work, a few launches in each call of an operator; `with_graphs`: and launches
  /// graphs in between.
  cudaGraph_t record(const std::vector<std::string>& what, std::vector<node>& out,
                     bool with_graphs) {
    cudaStream_t s = chance(20) && !uses_default_stream ? cudaStreamPerThread : streams_[1];
    check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    const std::uint64_t number = ++graph_numbers_;
    for (std::size_t done = 0; done < what.size();) {
      const auto launch_some = [&] {
        if (with_graphs && has_graphs() && chance(10)) launch_into(s, out);
        for (unsigned i = 0, many = 1 + draw(3); i < many && done < what.size(); ++i, ++done) {
          launch_on(s, what[done]);
          out.push_back(captured_here(number, what[done]));
        }
      };
      within_op(scope::captured_op, 10 + draw(2), [&] {
        if (chance(80)) launch_some();
        else within({"inner", scope::captured_region}, 0, launch_some);
      });
      if (with_graphs && has_graphs() && chance(5))
        within_op(scope::captured_op, 15, [&] { launch_into(s, out); });
    }
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(s, &graph));
    return graph;
  }
  /// A graph that is launched on a stream that is being captured is copied.
  void launch_into(cudaStream_t s, std::vector<node>& out) {
    const captured& g = graphs_[draw(graphs_.size())];
    if (g.nodes.size() > 20) return;
    check(cudaGraphLaunch(g.exec, s));
    if (listening) scopes_.captured_others();
    for (const node& n : g.nodes) out.push_back(listening ? told_now(n) : foreign_node(n.what));
  }
  /// A graph of a kernel, the child and a kernel. The child is destroyed.
  cudaGraph_t put_among_others(cudaGraph_t child, std::vector<node>& nodes) {
    cudaGraph_t parent = nullptr;
    check(cudaGraphCreate(&parent, 0));
    const std::uint64_t number = ++graph_numbers_;
    cudaGraphNode_t last = nullptr;
    const auto add_kernel = [&] {
      cudaKernelNodeParams p{};
      p.func = const_cast<void*>(kernel(0));
      p.gridDim = dim3(1), p.blockDim = dim3(64);
      const cudaGraphNode_t before = last;
      check(cudaGraphAddKernelNode(&last, parent, &before, before == nullptr ? 0 : 1, &p));
      return captured_here(number, name_of(0));
    };
    node first, end;
    within_op(scope::captured_op, 12, [&] { first = add_kernel(); });
    const auto add_child = [&] {
      const cudaGraphNode_t before = last;
      check(cudaGraphAddChildGraphNode(&last, parent, &before, 1, child));
      if (listening) scopes_.captured_others();
    };
    if (chance(50)) within_op(scope::captured_op, 14, add_child);
    else add_child();
    check(cudaGraphDestroy(child));
    within_op(scope::captured_op, 13, [&] { end = add_kernel(); });
    nodes.insert(nodes.begin(), first);
    nodes.push_back(end);
    return parent;
  }

  static std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t g) {
    std::size_t count = 0;
    check(cudaGraphGetNodes(g, nullptr, &count));
    std::vector<cudaGraphNode_t> out(count);
    check(cudaGraphGetNodes(g, out.data(), &count));
    return out;
  }
  static cudaGraph_t inside(cudaGraphNode_t n) {
    cudaGraphNodeType type{};
    check(cudaGraphNodeGetType(n, &type));
    cudaGraph_t inner = nullptr;
    if (type == cudaGraphNodeTypeGraph) check(cudaGraphChildGraphNodeGetGraph(n, &inner));
    return inner;
  }
  /// The nodes that do work, also those of graphs in it, in the order of their capture.
  static std::vector<cudaGraphNode_t> leaves(cudaGraph_t g) {
    std::vector<cudaGraphNode_t> out;
    for (const cudaGraphNode_t n : nodes_of(g)) {
      const cudaGraph_t inner = inside(n);
      if (inner == nullptr) {
        out.push_back(n);
        continue;
      }
      const std::vector<cudaGraphNode_t> of = leaves(inner);
      out.insert(out.end(), of.begin(), of.end());
    }
    return out;
  }
  /// The first node that is a graph, and how many leaves are before it.
  static cudaGraphNode_t child_of(cudaGraph_t g, std::size_t& before) {
    for (const cudaGraphNode_t n : nodes_of(g)) {
      if (inside(n) != nullptr) return n;
      ++before;
    }
    return nullptr;
  }

  void set_node(captured& g, unsigned which) {
    const cudaGraphNode_t handle = leaves(g.graph)[which];
    node& its = g.nodes[which];
    if (its.what == "copy") {
      check(cudaGraphExecMemcpyNodeSetParams1D(g.exec, handle, memory_, host_, 256,
                                               cudaMemcpyHostToDevice));
    } else if (its.what == "set") {
      set_memset_node(g.exec, handle, memory_, chance(50));
    } else {
      const unsigned other = draw(3);
      cudaKernelNodeParams changed{};
      changed.func = const_cast<void*>(kernel(other));
      changed.gridDim = dim3(1 + draw(4));
      changed.blockDim = dim3(64);
      check(cudaGraphExecKernelNodeSetParams(g.exec, handle, &changed));
      its.what = name_of(other);
    }
    if (!listening || !g.copies_are_known || is_foreign(its)) return;
    if (!scopes_.sets_node_of(its.around) || its.around == scopes_.now()) return;
    each_of_call(g.nodes, which, [&](node& n) { n.around = scopes_.now(), n.told = stops; });
  }

  void count_replay(const captured& g) {
    ++truth_.launches;
    scopes_.launched(false);
    const scopes& here = scopes_.now();
    const std::string base = path_of(here) + (here.empty() ? "" : "/") + "graph";
    ++truth_.replays[base];
    for (const node& n : g.nodes) {
      // Scopes that are around the capture as well as the launch are not told again.
      const auto common =
          std::mismatch(n.around.begin(), n.around.end(), here.begin(), here.end()).first;
      std::string where = base;
      for (auto s = common; s != n.around.end(); ++s) {
        where += "/" + s->name;
        if (n.around.end() - s <= static_cast<std::ptrdiff_t>(n.started)) ++truth_.replays[where];
      }
      if (is_foreign(n)) ++truth_.foreign;
      else if (n.told != stops) ++truth_.older;
      ++truth_.runs[where + ": " + n.what];
    }
  }

  static inline std::atomic<std::uint64_t> graph_numbers_{0};
  std::vector<captured> graphs_;
};

#endif
