// SPDX-License-Identifier: MIT

// Millions of launches in little memory: `long_run MILLIONS [MIB]` checks that totals are exact,
// that nothing was dropped and that memory did not grow by more than MIB, with plain launches and
// with replays of a graph.

#include "scripted_cuda.hpp"

#include "../../bench/memory.hpp"

#include <kprof/kprof.hpp>

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Op {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
};

int failures = 0;
void check(bool holds, const char* what, double value) {
  if (holds) return;
  std::printf("FAILED: %s (%g)\n", what, value);
  ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t launches =
      static_cast<std::uint64_t>(argc > 1 ? std::atof(argv[1]) * 1e6 : 1e6);
  constexpr std::uint64_t nodes = 100;
  const double before = bench::resident_mib("VmRSS:");
  if (!kprof::start({.cupti = kprof::cupti_choice::on, .memory = std::size_t{16} << 20U})) return 2;
  const void* const kernel = scripted_kernel("_Z6kernelPf");
  cudaStream_t stream = nullptr;
  static_cast<void>(cudaStreamCreate(&stream));

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  static_cast<void>(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (std::uint64_t i = 0; i < nodes; ++i) {
    KPROF_OP(Op, {.n = 1000});
    static_cast<void>(cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, stream));
  }
  static_cast<void>(cudaStreamEndCapture(stream, &graph));
  static_cast<void>(cudaGraphInstantiate(&exec, graph, 0));

  const std::uint64_t replays = launches / nodes;
  const auto run = [&](std::uint64_t many, std::uint64_t graphs) {
    for (std::uint64_t i = 0; i < many; ++i) {
      KPROF_OP(Op, {.n = static_cast<std::int64_t>(i % 8)});
      static_cast<void>(cudaLaunchKernel(kernel, dim3(1), dim3(32), nullptr, 0, stream));
      // CUDA itself lets no more than about that many wait
      if (i % 1000 == 999) static_cast<void>(cudaStreamSynchronize(stream));
    }
    for (std::uint64_t i = 0; i < graphs; ++i) {
      static_cast<void>(cudaGraphLaunch(exec, stream));
      if (i % 5 == 4) static_cast<void>(cudaStreamSynchronize(stream));
    }
    static_cast<void>(cudaStreamSynchronize(stream));
  };
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) run(launches / 10, replays / 10);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const kprof::profile p = kprof::snapshot();
  const double after = bench::resident_mib("VmRSS:");

  const auto& c = p.device.complete;
  std::uint64_t in_graph = 0, by_itself = 0, replayed = 0;
  for (const auto& w : p.device.work) {
    const bool graphed = w.scope < p.nodes.size() && p.nodes[w.scope].replays != 0;
    (graphed ? in_graph : by_itself) += w.calls;
    if (graphed) replayed += p.nodes[w.scope].replays;
  }
  const std::uint64_t all = launches / 10 * 10, graphs = replays / 10 * 10;
  std::printf(
      "%llu records in %.1f s, %.1f MiB more, %llu dropped; reading took %.0f ns a record\n",
      static_cast<unsigned long long>(c.records), seconds, after - before,
      static_cast<unsigned long long>(c.dropped),
      p.device.collecting_ns / static_cast<double>(c.records));
  check(c.dropped == 0, "dropped records", static_cast<double>(c.dropped));
  check(by_itself == all, "kernels by themselves", static_cast<double>(by_itself));
  check(in_graph == graphs * nodes, "kernels of the graph", static_cast<double>(in_graph));
  check(replayed == graphs * nodes, "replays of the operator", static_cast<double>(replayed));
  check(c.launches == all + graphs && c.attributed == all + graphs && c.outside == 0, "launches",
        static_cast<double>(c.attributed));
  check(c.open == 0 && c.unknown == 0, "launches and records that did not meet",
        static_cast<double>(c.open + c.unknown));
  check(p.cost.memory <= p.cost.memory_limit, "memory held, of 16 MiB",
        static_cast<double>(p.cost.memory) / 1048576);
  // the scripted CUDA's own is in it
  check(after - before < (argc > 2 ? std::atof(argv[2]) : 24), "growth in MiB", after - before);
  check(scripted_misuse() == 0, "misuse of CUPTI", scripted_misuse());
  return failures == 0 ? 0 : 1;
}
