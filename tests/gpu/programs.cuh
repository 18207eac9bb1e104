// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_PROGRAMS_CUH
#define KPROF_TESTS_GPU_PROGRAMS_CUH

// What features.cu and facts_programs.cu share: both try kprof, or CUPTI alone, with what programs
// of other kinds do.

#include "../../bench/memory.hpp"
#include "kernels.cuh"

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace {

struct capture_mode {
  cudaStreamCaptureMode mode;
  const char* name;
};
constexpr capture_mode capture_modes[] = {{cudaStreamCaptureModeGlobal, "global"},
                                          {cudaStreamCaptureModeThreadLocal, "of a thread"},
                                          {cudaStreamCaptureModeRelaxed, "relaxed"}};

#if CUDART_VERSION >= 13000

/// Has a loop go on until `left` is 0; of several blocks one counts.
template <class T>
__global__ void count_down(T* left, cudaGraphConditionalHandle again) {
  if (blockIdx.x != 0) return;
  *left -= 1;
  cudaGraphSetConditional(again, *left > 0 ? 1 : 0);
}

/// A graph with a node that repeats its body for as long as the body says so.
struct graph_with_loop {
  graph_with_loop() {
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = again;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    body = params.conditional.phGraph_out[0];
  }

  cudaGraph_t graph = nullptr, body = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphConditionalHandle again{};
};

/// Captures what `launches` does on the stream into a graph, behind a node of it or at its begin.
inline void capture_into(cudaGraph_t graph, const cudaGraphNode_t* behind, cudaStream_t s,
                         const std::function<void()>& launches) {
  CUDA(cudaStreamBeginCaptureToGraph(s, graph, behind, nullptr, behind == nullptr ? 0 : 1,
                                     cudaStreamCaptureModeRelaxed));
  launches();
  CUDA(cudaGetLastError());
  CUDA(cudaStreamEndCapture(s, nullptr));
}

#endif

/// Three threads that call launch(thread, numbers, stream) again and again.
class launching_threads {
 public:
  explicit launching_threads(void (*launch)(int thread, float* x, cudaStream_t s)) {
    for (int t = 0; t < 3; ++t)
      threads_.emplace_back([this, launch, t] {
        device_array<float> x(256);
        const cudaStream_t s = new_stream();
        while (!done_) {
          for (int i = 0; i < 64; ++i) launch(t, x.data(), s);
          CUDA(cudaStreamSynchronize(s));
        }
        CUDA(cudaStreamDestroy(s));
      });
  }
  ~launching_threads() {
    done_ = true;
    for (std::thread& t : threads_) t.join();
  }
  launching_threads(const launching_threads&) = delete;
  launching_threads& operator=(const launching_threads&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

inline double resident_kib() { return 1024 * bench::resident_mib("VmRSS:"); }

}  // namespace

#endif
