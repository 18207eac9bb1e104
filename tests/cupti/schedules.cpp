// SPDX-License-Identifier: MIT

// Random programs on the scripted CUDA, each with threads, devices, streams, copies, nested scopes,
// snapshots in between, and graphs that are cloned, put into others, updated, changed in one node,
// or older than the first recording: what kprof attributes is compared with what the program did.
// `schedules FIRST LAST` runs those seeds.

#include "schedules_cuda.hpp"
#include "schedules_truth.hpp"
#include "scripted_cuda.hpp"

#include <kprof/kprof.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Op {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

/// Whether threads use the default stream, or else each its own: a thread's own stream cannot be
/// captured while another thread uses the default stream.
bool uses_default_stream = false;

/// One thread of a random program.
class program {
 public:
  program(unsigned seed, kprof::context from, std::vector<std::string> around)
      : random_(seed), from_(from), scopes_(std::move(around)) {
    check(cudaSetDevice(static_cast<int>(draw(2))));
    for (cudaStream_t& s : streams_) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    take_foreign_graph();
    check(cudaMalloc(&memory_, 4096));
  }

  truth run() {
    {
      kprof::context_guard here{from_};
      work(0);
    }
    for (const captured& g : graphs_) {
      check(cudaGraphExecDestroy(g.exec));
      if (g.graph != nullptr) check(cudaGraphDestroy(g.graph));
    }
    for (cudaStream_t s : streams_) check(cudaStreamDestroy(s));
    check(cudaFree(memory_));
    return truth_;
  }

 private:
  struct node {
    std::vector<std::string> around;
    std::uint32_t scopes_started_here;  // scopes from the innermost that it is the first of
    std::string what;
  };
  struct captured {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    std::vector<node> nodes;
    bool has_child = false;
    bool was_updated = false;
  };

  void take_foreign_graph() {
    const std::lock_guard lock(foreign_lock);
    if (foreign_graphs.empty() || !chance(30)) return;
    const node unknown{{foreign_scope}, 0, name_of(0)};
    graphs_.push_back({nullptr, foreign_graphs.back(), {unknown}});
    foreign_graphs.pop_back();
  }

  unsigned draw(std::size_t below) { return static_cast<unsigned>(random_() % below); }
  bool chance(unsigned percent) { return draw(100) < percent; }
  cudaStream_t stream() {
    if (chance(10)) return uses_default_stream ? nullptr : cudaStreamPerThread;
    return streams_[draw(2)];
  }
  std::string path() const {
    std::string out;
    for (const std::string& s : scopes_) out += (out.empty() ? "" : "/") + s;
    return out;
  }

  void work(int depth) {
    for (unsigned i = 0, steps = 1 + draw(6); i < steps; ++i) {
      const unsigned what = draw(100);
      if (depth < 4 && what < 35) nested(depth);
      else if (what < 45) capture();
      else if (what < 59 && !graphs_.empty()) replay();
      else if (what < 60 && !graphs_.empty()) update();
      else if (what < 61 && !graphs_.empty()) change_one_node();
      else if (what < 62) static_cast<void>(kprof::snapshot());
      else if (what < 65) check(cudaStreamSynchronize(streams_[0]));
      else launch();
    }
  }

  void nested(int depth) {
    const auto n = static_cast<std::int64_t>(draw(3));
    if (chance(60)) {
      KPROF_OP(Op, {.n = n});
      scopes_.push_back("Op n=" + std::to_string(n));
      work(depth + 1);
      scopes_.pop_back();
    } else {
      KPROF_REGION("region");
      scopes_.push_back("region");
      work(depth + 1);
      scopes_.pop_back();
    }
  }

  std::string anything() {
    const unsigned which = draw(8);
    return which == 0 ? "copy" : which == 1 ? "set" : name_of(draw(3));
  }
  /// Launches that, on a stream that may be capturing.
  std::string launch_on(cudaStream_t s, const std::string& what) {
    unsigned which = 0;
    if (what == "copy") {
      check(cudaMemcpyAsync(memory_, host_, 1024, cudaMemcpyHostToDevice, s));
    } else if (what == "set") {
      check(cudaMemsetAsync(memory_, 0, 512, s));
    } else {
      while (what != name_of(which)) ++which;
      check(cudaLaunchKernel(kernel(which), dim3(1 + draw(4)), dim3(64), nullptr, 0, s));
    }
    return what;
  }
  void launch() {
    if (chance(5)) {  // fails, and is no launch
      static_cast<void>(cudaLaunchKernel(kernel(0), dim3(1), dim3(4096), nullptr, 0, streams_[0]));
      static_cast<void>(cudaGetLastError());
    }
    ++truth_.launches;
    ++truth_.runs[path() + ": " + launch_on(stream(), anything())];
  }

  void capture() {
    captured made{};
    std::vector<std::string> what(1 + draw(8));
    for (std::string& w : what) w = anything();
    record(what, made);
    // Work of a copy, and of a copy in another graph, is of the scopes that the original was
    // captured in.
    if (chance(20)) {
      cudaGraph_t clone = nullptr;
      check(cudaGraphClone(&clone, made.graph));
      check(cudaGraphDestroy(made.graph));
      made.graph = clone;
    } else if (chance(20)) {
      made.graph = put_into_another(made.graph);
      made.has_child = true;
    }
    made.exec = instantiate(made.graph);
    if (chance(30)) {  // once more
      check(cudaGraphExecDestroy(made.exec));
      made.exec = instantiate(made.graph);
    }
    graphs_.push_back(std::move(made));
  }

  /// Captures this work, a few launches in each call of an operator.
  void record(const std::vector<std::string>& what, captured& out) {
    cudaStream_t s = chance(20) && !uses_default_stream ? cudaStreamPerThread : streams_[1];
    check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    const std::size_t around = scopes_.size();
    for (std::size_t done = 0; done < what.size();) {
      const bool is_first = done == 0;
      const auto n = static_cast<std::int64_t>(10 + draw(2));
      KPROF_OP(Op, {.n = n});
      scopes_.push_back("Op n=" + std::to_string(n));
      for (unsigned i = 0, many = 1 + draw(3); i < many && done < what.size(); ++i, ++done) {
        const std::uint32_t scopes_started_here = i != 0 ? 0
                                                  : !is_first
                                                      ? 1
                                                      : static_cast<std::uint32_t>(around) + 1;
        out.nodes.push_back({scopes_, scopes_started_here, launch_on(s, what[done])});
      }
      scopes_.pop_back();
    }
    check(cudaStreamEndCapture(s, &out.graph));
  }

  /// The executable graph runs the same work, but of other scopes.
  void update() {
    captured& g = graphs_[draw(graphs_.size())];
    if (!updates_are_told()) return;
    std::vector<std::string> what;
    for (const node& n : g.nodes) what.push_back(n.what);
    captured other{};
    record(what, other);
    if (g.has_child) other.graph = put_into_another(other.graph);
    cudaGraphExecUpdateResultInfo info{};
    check(cudaGraphExecUpdate(g.exec, other.graph, &info));
    if (g.graph != nullptr) check(cudaGraphDestroy(g.graph));
    g.graph = other.graph;
    g.nodes = std::move(other.nodes);
    g.was_updated = true;
  }

  /// One node runs another kernel, or copies and sets less. Its scopes remain those that it was
  /// captured in.
  void change_one_node() {
    captured& g = graphs_[draw(graphs_.size())];
    if (g.graph == nullptr || g.has_child || g.was_updated) return;
    std::vector<cudaGraphNode_t> nodes(g.nodes.size());
    std::size_t count = nodes.size();
    check(cudaGraphGetNodes(g.graph, nodes.data(), &count));
    const unsigned which = draw(count);
    std::string& what = g.nodes[which].what;
    if (what == "copy") {
      check(cudaGraphExecMemcpyNodeSetParams1D(g.exec, nodes[which], memory_, host_, 256,
                                               cudaMemcpyHostToDevice));
    } else if (what == "set") {
      cudaMemsetParams less{};
      less.dst = memory_;
      less.elementSize = 1;
      less.height = 1;
      less.width = 128;
      check(cudaGraphExecMemsetNodeSetParams(g.exec, nodes[which], &less));
    } else {
      const unsigned other = draw(3);
      cudaKernelNodeParams changed{};
      changed.func = const_cast<void*>(kernel(other));
      changed.gridDim = dim3(1 + draw(4));
      changed.blockDim = dim3(64);
      check(cudaGraphExecKernelNodeSetParams(g.exec, nodes[which], &changed));
      what = name_of(other);
    }
  }

  void replay() {
    const captured& g = graphs_[draw(graphs_.size())];
    check(cudaGraphLaunch(g.exec, streams_[0]));
    ++truth_.launches;
    const std::string base = path() + (scopes_.empty() ? "" : "/") + "graph";
    ++truth_.replays[base];
    for (const node& n : g.nodes) {
      std::size_t common = 0;  // scopes that are around the capture as well as the launch
      while (common < n.around.size() && common < scopes_.size() &&
             n.around[common] == scopes_[common])
        ++common;
      std::string where = base;
      for (std::size_t i = common; i < n.around.size(); ++i) {
        where += "/" + n.around[i];
        // Adopted scopes are another thread's calls: a replay here does not call them.
        if (n.around.size() - i <= n.scopes_started_here && i >= adopted_) ++truth_.replays[where];
      }
      if (n.around[0] == foreign_scope) ++truth_.foreign;
      ++truth_.runs[where + ": " + n.what];
    }
  }

  std::mt19937 random_;
  kprof::context from_;
  std::vector<std::string> scopes_;
  std::size_t adopted_ = scopes_.size();
  cudaStream_t streams_[2] = {};
  void* memory_ = nullptr;
  char host_[1024] = {};
  std::vector<captured> graphs_;
  truth truth_;
};

truth run_program(unsigned seed) {
  std::mt19937 random(seed);
  truth all;
  std::vector<truth> parts(1 + random() % 4);
  std::vector<std::thread> threads;
  const bool around = random() % 2 == 0;
  uses_default_stream = random() % 2 == 0;
  const auto start_all = [&](kprof::context from, const std::vector<std::string>& scopes) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      threads.emplace_back([&parts, i, seed, from, scopes] {
        parts[i] = program(seed * 31 + static_cast<unsigned>(i), from, scopes).run();
      });
    for (std::thread& t : threads) t.join();
  };
  if (around) {
    KPROF_OP(Op, {.n = 100});
    start_all(kprof::context::current(), {"Op n=100"});
  } else {
    start_all({}, {});
  }
  for (const truth& part : parts) all.add(part);
  return all;
}

int check_one(unsigned seed) {
  if (!kprof::start({.cupti = kprof::cupti_choice::on})) return 1;
  const truth expected = run_program(seed);
  const kprof::profile p = kprof::snapshot();
  int wrong = differences(runs_of(p), expected.runs, "runs", seed);
  counts replays;
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].replays != 0) replays[path_of(p, i)] += p.nodes[i].replays;
  wrong += differences(replays, expected.replays, "replays", seed);
  const auto& c = p.device.complete;
  const auto same = [&](const char* what, std::uint64_t have, std::uint64_t want) {
    if (have == want) return;
    std::printf("seed %u: %s: %llu instead of %llu\n", seed, what,
                static_cast<unsigned long long>(have), static_cast<unsigned long long>(want));
    ++wrong;
  };
  same("launches", c.launches, expected.launches);
  same("attributed and outside", c.attributed + c.outside, expected.launches);
  same("open", c.open, 0);
  same("unknown", c.unknown, 0);
  same("dropped", c.dropped, 0);
  same("foreign", c.foreign_graphs, expected.foreign);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const auto first = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1),
             last = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 100);
  int wrong = 0;
  std::uint64_t runs = 0;
  make_foreign_graphs(last - first + 1);
  for (unsigned seed = first; seed <= last && wrong < 20; ++seed) wrong += check_one(seed);
  runs = scripted_device_operations();
  if (scripted_misuse() != 0) {
    std::printf("misuse of CUPTI: %s\n", scripted_misuse_text());
    ++wrong;
  }
  std::printf("%u schedules, %llu device operations, %d differences\n", last - first + 1,
              static_cast<unsigned long long>(runs), wrong);
  return wrong == 0 ? 0 : 1;
}
