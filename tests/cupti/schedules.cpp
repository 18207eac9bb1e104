// SPDX-License-Identifier: MIT

// Random programs on the scripted CUDA, each with threads, streams, copies, graphs, nested scopes
// and snapshots in between: what kprof attributes is compared with what the program knows it did.
// `schedules FIRST LAST` runs those seeds.

#include "find.hpp"
#include "scripted_cuda.hpp"

#include <kprof/kprof.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Op {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

using counts = std::map<std::string, std::uint64_t>;

void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
  std::exit(2);
}

const void* kernel(unsigned i) {
  static const void* const all[] = {scripted_kernel("_Z1av"), scripted_kernel("_Z1bv"),
                                    scripted_kernel("_Z1cv")};
  return all[i % 3];
}
const char* name_of(unsigned i) {
  static const char* const all[] = {"_Z1av", "_Z1bv", "_Z1cv"};
  return all[i % 3];
}

/// What happened, by the program's own account.
struct truth {
  counts runs;     // "path: kernel" or "path: copy" or "path: set"
  counts replays;  // by path
  std::uint64_t launches = 0;

  void add(const truth& other) {
    for (const auto& [what, n] : other.runs) runs[what] += n;
    for (const auto& [what, n] : other.replays) replays[what] += n;
    launches += other.launches;
  }
};

/// One thread of a random program.
class program {
 public:
  program(unsigned seed, kprof::context from, std::vector<std::string> around)
      : random_(seed), from_(from), scopes_(std::move(around)) {
    for (cudaStream_t& s : streams_) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    check(cudaMalloc(&memory_, 4096));
  }

  truth run() {
    {
      kprof::context_guard here{from_};
      work(0);
    }
    for (const captured& g : graphs_) {
      check(cudaGraphExecDestroy(g.exec));
      check(cudaGraphDestroy(g.graph));
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
  };

  unsigned draw(std::size_t below) { return static_cast<unsigned>(random_() % below); }
  bool chance(unsigned percent) { return draw(100) < percent; }
  cudaStream_t stream() { return chance(10) ? nullptr : streams_[draw(2)]; }
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
      else if (what < 60 && !graphs_.empty()) replay();
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

  /// Launches something, on a stream that may be capturing; returns what it is.
  std::string launch_on(cudaStream_t s) {
    const unsigned which = static_cast<unsigned>(random_());
    switch (which % 8) {
      case 0:
        check(cudaMemcpyAsync(memory_, host_, 1024, cudaMemcpyHostToDevice, s));
        return "copy";
      case 1: check(cudaMemsetAsync(memory_, 0, 512, s)); return "set";
      default:
        check(cudaLaunchKernel(kernel(which / 8), dim3(1 + which % 4), dim3(64), nullptr, 0, s));
        return name_of(which / 8);
    }
  }
  void launch() {
    if (chance(5)) {  // fails, and is no launch
      static_cast<void>(cudaLaunchKernel(kernel(0), dim3(1), dim3(4096), nullptr, 0, streams_[0]));
      static_cast<void>(cudaGetLastError());
    }
    ++truth_.launches;
    ++truth_.runs[path() + ": " + launch_on(stream())];
  }

  void capture() {
    captured made{};
    check(cudaStreamBeginCapture(streams_[1], cudaStreamCaptureModeThreadLocal));
    const std::size_t around = scopes_.size();
    for (unsigned op = 0, ops = 1 + draw(3); op < ops; ++op) {
      const auto n = static_cast<std::int64_t>(10 + draw(2));
      KPROF_OP(Op, {.n = n});
      scopes_.push_back("Op n=" + std::to_string(n));
      for (unsigned i = 0, many = 1 + draw(3); i < many; ++i) {
        const std::uint32_t scopes_started_here = i != 0 ? 0
                                                  : op != 0
                                                      ? 1
                                                      : static_cast<std::uint32_t>(around) + 1;
        made.nodes.push_back({scopes_, scopes_started_here, launch_on(streams_[1])});
      }
      scopes_.pop_back();
    }
    check(cudaStreamEndCapture(streams_[1], &made.graph));
    check(cudaGraphInstantiate(&made.exec, made.graph, 0));
    if (chance(30)) {  // once more
      check(cudaGraphExecDestroy(made.exec));
      check(cudaGraphInstantiate(&made.exec, made.graph, 0));
    }
    graphs_.push_back(std::move(made));
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

counts runs_of(const kprof::profile& p) {
  counts out;
  for (const kprof::device_work& w : p.device.work) {
    const std::string where = w.scope == kprof::device_work::none ? "unknown" : path_of(p, w.scope);
    const std::string what = w.task == kprof::device_task::copy  ? "copy"
                             : w.task == kprof::device_task::set ? "set"
                             : w.merged                          ? "merged"
                                                                 : p.device.kernels[w.kernel];
    out[where + ": " + what] += w.calls;
  }
  return out;
}

int differences(const counts& found, const counts& expected, const char* what, unsigned seed) {
  int wrong = 0;
  counts all = found;
  all.insert(expected.begin(), expected.end());
  for (const auto& [key, unused] : all) {
    const auto f = found.find(key), e = expected.find(key);
    const std::uint64_t have = f == found.end() ? 0 : f->second,
                        want = e == expected.end() ? 0 : e->second;
    if (have == want) continue;
    std::printf("seed %u: %s of \"%s\": %llu instead of %llu\n", seed, what, key.c_str(),
                static_cast<unsigned long long>(have), static_cast<unsigned long long>(want));
    ++wrong;
  }
  return wrong;
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
  same("foreign", c.foreign_graphs, 0);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const auto first = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1),
             last = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 100);
  int wrong = 0;
  std::uint64_t runs = 0;
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
