// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_GRAPHS_CUH
#define KPROF_TESTS_GPU_GRAPHS_CUH

// What the modes of graphs.cu share.

#include "kernels.cuh"

#include <cstdint>
#include <string>

namespace {

constexpr int many = 1000;  // replays

struct Move {
  std::int64_t id = 0;
};

/// A node that touches `n` numbers.
struct touch_node {
  touch_node(float* x, int count, unsigned blocks) : data(x), n(count) {
    kernel.func = reinterpret_cast<void*>(&touch_kernel<float>);
    kernel.gridDim = dim3(blocks), kernel.blockDim = dim3(256);
    kernel.kernelParams = arguments;
  }
  touch_node(const touch_node&) = delete;
  touch_node& operator=(const touch_node&) = delete;

  float* data;
  int n;
  void* arguments[2] = {&data, &n};
  cudaKernelNodeParams kernel{};
};

void replay(cudaGraphExec_t exec, int times, cudaStream_t s) {
  for (int i = 0; i < times; ++i) CUDA(cudaGraphLaunch(exec, s));
}
std::uint64_t replayed_flops(const kprof::profile& p) {
  std::uint64_t sum = 0;
  for (const kprof::scope_node& n : p.nodes)
    sum += (n.calls - n.captured + n.replays) * n.work.flops;
  return sum;
}
void check_replays(const kprof::profile& p, const std::string& name, std::uint64_t captured,
                   std::uint64_t replays, std::uint64_t kernels) {
  CHECK_EQUAL("kernels in " + name, directly_in(p, name).kernels, kernels);
  CHECK_EQUAL("calls of " + name + " that were captured", scopes(p, name).captured, captured);
  CHECK_EQUAL("calls of " + name + " by replays", scopes(p, name).replays, replays);
}

}  // namespace

#endif
