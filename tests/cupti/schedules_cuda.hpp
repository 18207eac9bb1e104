// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_CUPTI_SCHEDULES_CUDA_HPP
#define KPROF_TESTS_CUPTI_SCHEDULES_CUDA_HPP

// What random programs use of CUDA.

#include "scripted_cuda.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

inline void check(cudaError_t e) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e));
  std::exit(2);
}

inline const void* kernel(unsigned i) {
  static const void* const all[] = {scripted_kernel("_Z1av"), scripted_kernel("_Z1bv"),
                                    scripted_kernel("_Z1cv")};
  return all[i % 3];
}
inline const char* name_of(unsigned i) {
  static const char* const all[] = {"_Z1av", "_Z1bv", "_Z1cv"};
  return all[i % 3];
}

/// The kernel of that name.
inline unsigned number_of(const std::string& name) {
  unsigned i = 0;
  while (i < 2 && name != name_of(i)) ++i;
  return i;
}

inline constexpr const char* foreign_scope = "(graph captured before recording)";
/// Executable graphs of one kernel that were made before kprof listened to CUPTI.
inline std::vector<cudaGraphExec_t> foreign_graphs;
inline std::mutex foreign_lock;

inline cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}
/// A node of an executable graph sets fewer bytes; `by_driver`: by the driver's function.
inline void set_memset_node(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, bool by_driver) {
  static const auto of_driver = reinterpret_cast<decltype(&cuGraphExecMemsetNodeSetParams)>(
      dlsym(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), "cuGraphExecMemsetNodeSetParams"));
  if (by_driver) {
    CUDA_MEMSET_NODE_PARAMS less{};
    less.dst = reinterpret_cast<CUdeviceptr>(to);
    less.elementSize = 1, less.height = 1, less.width = 128;
    return check(static_cast<cudaError_t>(of_driver(exec, node, &less, nullptr)));
  }
  cudaMemsetParams less{};
  less.dst = to;
  less.elementSize = 1, less.height = 1, less.width = 128;
  check(cudaGraphExecMemsetNodeSetParams(exec, node, &less));
}
/// A graph whose only node is this graph, which is destroyed.
inline cudaGraph_t put_into_another(cudaGraph_t child) {
  cudaGraph_t parent = nullptr;
  cudaGraphNode_t node = nullptr;
  check(cudaGraphCreate(&parent, 0));
  check(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
  check(cudaGraphDestroy(child));
  return parent;
}
inline void make_foreign_graphs(std::size_t how_many) {
  cudaStream_t s = nullptr;
  check(cudaStreamCreate(&s));
  for (std::size_t i = 0; i < how_many; ++i) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    check(cudaLaunchKernel(kernel(0), dim3(1), dim3(64), nullptr, 0, s));
    check(cudaStreamEndCapture(s, &graph));
    foreign_graphs.push_back(instantiate(graph));
    check(cudaGraphDestroy(graph));
  }
}
/// CUPTI 12 does not tell of updates.
inline bool updates_are_told() {
  const char* const version = std::getenv("SCRIPTED_VERSION");
  return version == nullptr || std::atoi(version) >= 130000;
}

#endif
