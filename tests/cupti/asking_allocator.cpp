// SPDX-License-Identifier: MIT
// A program whose allocator asks kprof where it is, in calls that build graphs, instantiate them
// and set their nodes: kprof allocates there with locks that the answer takes.

#include "program.hpp"

#include <cstdlib>
#include <functional>
#include <new>

namespace {

bool asks = false;
int answers = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  if (asks) {
    asks = false;
    static_cast<void>(kprof::context::current());
    ++answers;
    asks = true;
  }
  void* const at = std::malloc(bytes == 0 ? 1 : bytes);
  if (at == nullptr) throw std::bad_alloc{};
  return at;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

int main() {
  static_cast<void>(kprof::start());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = nullptr;
  static_cast<void>(cudaGraphCreate(&graph, 0));
  cudaKernelNodeParams kernel{};
  kernel.func = const_cast<void*>(scripted_kernel("_Z6kernelPf"));
  kernel.gridDim = dim3(1), kernel.blockDim = dim3(32);
  const auto in_operator = [](std::int64_t n, const std::function<void()>& call) {
    KPROF_OP(Op, {.n = n});
    asks = true;
    call();
    asks = false;
  };
  in_operator(
      1, [&] { static_cast<void>(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel)); });
  in_operator(2, [&] { static_cast<void>(cudaGraphInstantiate(&exec, graph, 0)); });
  for (std::int64_t n = 3; n < 100; ++n)
    in_operator(n,
                [&] { static_cast<void>(cudaGraphExecKernelNodeSetParams(exec, node, &kernel)); });
  static_cast<void>(cudaGraphLaunch(exec, nullptr));
  const kprof::profile p = kprof::snapshot();
  int runs = 0;
  for (const kprof::device_work& w : p.device.work)
    if (path_of(p, w.scope) == "graph/Op n=99") runs += static_cast<int>(w.calls);
  std::printf("%d answers, %d runs\n", answers, runs);
  return answers > 100 && runs == 1 ? 0 : 1;
}
