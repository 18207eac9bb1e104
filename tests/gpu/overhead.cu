// SPDX-License-Identifier: MIT
//
// One loop of kernels of a given length, guarded, launched one by one or as a graph, timed on the host. overhead.py runs it
// with and without kprof and compares. It is built twice: "overhead", and "overhead_bare" with -DKPROF_ENABLE=0.
//
//     overhead --calibrate                        prints the cycles of a microsecond under load
//     overhead CYCLES KERNELS plain|graph         prints one line of JSON

#include <kprof/kprof.hpp>

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Spin {
  std::int64_t cycles = 0, step = 0;
};

__global__ void spin_kernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
}

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "overhead: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

using seconds = std::chrono::duration<double>;
std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

constexpr int nodes = 100;   // kernels of a graph

void spin(std::int64_t cycles, std::int64_t step, cudaStream_t s) {
  KPROF_OP(Spin, {.cycles = cycles, .step = step});
  spin_kernel<<<1, 1, 0, s>>>(cycles);
  must(cudaGetLastError());
}

int calibrate() {
  constexpr long long cycles = 2'000'000;
  cudaEvent_t begin = nullptr, end = nullptr;
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  for (int i = 0; i < 300; ++i) spin_kernel<<<1, 1>>>(cycles);   // until the clocks have risen
  must(cudaEventRecord(begin));
  for (int i = 0; i < 50; ++i) spin_kernel<<<1, 1>>>(cycles);
  must(cudaEventRecord(end));
  must(cudaEventSynchronize(end));
  float ms = 0;
  must(cudaEventElapsedTime(&ms, begin, end));
  std::printf("%.3f\n", 50.0 * cycles / (ms * 1e3));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--calibrate") == 0) return calibrate();
  if (argc != 4) return std::fprintf(stderr, "usage: overhead --calibrate | overhead CYCLES KERNELS plain|graph\n"), 2;
  const std::int64_t cycles = std::atoll(argv[1]), kernels = std::atoll(argv[2]) / nodes * nodes;
  const bool graph = std::strcmp(argv[3], "graph") == 0;

  cudaStream_t s = nullptr;
  must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  cudaGraphExec_t exec = nullptr;
  if (graph) {
    cudaGraph_t captured = nullptr;
    must(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; ++i) spin(cycles, i % 10, s);
    must(cudaStreamEndCapture(s, &captured));
    must(cudaGraphInstantiate(&exec, captured, 0));
  }
  const auto loop = [&](std::int64_t n) {
    if (!graph) {
      for (std::int64_t i = 0; i < n; ++i) spin(cycles, i % 10, s);
      return;
    }
    for (std::int64_t i = 0; i < n / nodes; ++i) {
      KPROF_REGION("replay");
      must(cudaGraphLaunch(exec, s));
    }
  };
  loop(kernels / 10 / nodes * nodes + nodes);   // warms up: the first launch loads the kernel, the first guard starts kprof
  must(cudaStreamSynchronize(s));

  const auto begin = now();
  loop(kernels);
  const auto launched = now();
  must(cudaStreamSynchronize(s));
  const auto done = now();
  const kprof::profile p = kprof::snapshot();
  const auto read = now();
  std::string state = p.device.state;
  for (char& c : state)
    if (c == '"' || c == '\\') c = '\'';
  std::printf("{\"kernels\": %lld, \"launch_ns\": %.1f, \"total_ns\": %.1f, \"snapshot_ms\": %.3f, \"records\": %llu, \"dropped\": %llu, \"memory\": %llu, \"state\": \"%s\"}\n",
              static_cast<long long>(kernels), seconds(launched - begin).count() * 1e9 / static_cast<double>(kernels),
              seconds(done - begin).count() * 1e9 / static_cast<double>(kernels), seconds(read - done).count() * 1e3,
              static_cast<unsigned long long>(p.device.complete.records), static_cast<unsigned long long>(p.device.complete.dropped),
              static_cast<unsigned long long>(p.cost.memory), state.c_str());
  return 0;
}
