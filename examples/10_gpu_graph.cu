// SPDX-License-Identifier: MIT
//
// CUDA graphs: a small network is captured once, through guards as always, and replayed a thousand times. The host runs no
// guard in a replay, and still the report knows whose each kernel is: it counts the FLOPs of an operator once for each
// replay, and shows the replays where they were launched, with the scopes of the capture below.
//
//     nvcc -std=c++20 -O2 -I include examples/10_gpu_graph.cu -o gpu_graph && ./gpu_graph

#include <kprof/kprof.hpp>

#include "cuda_check.hpp"

#include <vector>

/// y = relu(x * W + b); T tokens of I features in, O out.
struct Linear {
  std::int64_t T = 0, I = 0, O = 0;
  bool relu = false;
  constexpr kprof::count flops() const { return (kprof::count{2} * I + 1 + (relu ? 1 : 0)) * T * O; }   // bias and relu 1 each
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * (kprof::count{T} * I + kprof::count{I} * O + O), .written = 4 * kprof::count{T} * O};
  }
};
/// The input, from host memory to the device's.
struct Load {
  std::int64_t n = 0;
  constexpr kprof::traffic bytes() const { return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}}; }
};
static_assert(Linear{.T = 10, .I = 5, .O = 20}.flops() == 2000 + 200);
static_assert(Linear{.T = 10, .I = 5, .O = 20, .relu = true}.bytes().total() == 4 * (50 + 100 + 20 + 200));

__global__ void linear_kernel(int I, int O, bool relu, const float* x, const float* W, const float* b, float* y) {
  const int t = static_cast<int>(blockIdx.y), o = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (o >= O) return;
  float sum = b[o];
  for (int i = 0; i < I; ++i) sum += x[t * I + i] * W[i * O + o];
  y[t * O + o] = relu ? fmaxf(sum, 0.0F) : sum;
}
void linear(const Linear& p, const float* x, const float* W, const float* b, float* y, cudaStream_t stream) {
  KPROF_OP(Linear, p);
  linear_kernel<<<dim3((p.O + 127) / 128, p.T), 128, 0, stream>>>(p.I, p.O, p.relu, x, W, b, y);
  CUDA_CHECK(cudaGetLastError());
}
void load(const Load& p, const float* from, float* to, cudaStream_t stream) {
  KPROF_OP(Load, p);
  CUDA_CHECK(cudaMemcpyAsync(to, from, p.n * sizeof(float), cudaMemcpyHostToDevice, stream));
}

constexpr int tokens = 32, width = 256, hidden = 1024, replays = 1000;

bool run() {
  const device_array<float> up(std::vector<float>(width * hidden, 0.5F)), up_bias(std::vector<float>(hidden, -100.0F));
  const device_array<float> down(std::vector<float>(hidden * width, 0.25F)), down_bias(std::vector<float>(width, 1.0F));
  device_array<float> x(tokens * width), between(tokens * hidden), y(tokens * width);
  float* input = nullptr;   // pinned: a graph's copies read it at each replay
  CUDA_CHECK(cudaMallocHost(&input, tokens * width * sizeof(float)));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t network = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    KPROF_REGION("network");
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    load({.n = tokens * width}, input, x.data(), stream);
    linear({.T = tokens, .I = width, .O = hidden, .relu = true}, x.data(), up.data(), up_bias.data(), between.data(), stream);
    linear({.T = tokens, .I = hidden, .O = width}, between.data(), down.data(), down_bias.data(), y.data(), stream);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&network, graph, 0));
  }
  {
    KPROF_REGION("inference");
    for (int i = 0; i < tokens * width; ++i) input[i] = 1.0F;
    for (int i = 0; i < replays; ++i) CUDA_CHECK(cudaGraphLaunch(network, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  CUDA_CHECK(cudaGraphExecDestroy(network));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
  CUDA_CHECK(cudaFreeHost(input));
  const float expected = (0.5F * width - 100.0F) * 0.25F * hidden + 1.0F;
  const std::vector<float> result = y.host();
  return check(result.front() == expected && result.back() == expected, "the network's output");
}

/// A profile is a plain value: here, the FLOPs of a run, once for each call that worked and once for each replay.
std::uint64_t flops_of(const kprof::profile& run) {
  std::uint64_t sum = 0;
  for (const kprof::scope_node& node : run.nodes) sum += (node.calls - node.captured + node.replays) * node.work.flops;
  return sum;
}

int main() {
  bool right = true;
  if (have_gpu()) {
    right = run();
    const kprof::profile profile = kprof::snapshot();
    constexpr kprof::count pass = Linear{.T = tokens, .I = width, .O = hidden, .relu = true}.flops() + Linear{.T = tokens, .I = hidden, .O = width}.flops();
    if (!profile.device.collecting) std::fprintf(stderr, "replays are not seen: %s\n", profile.device.state.c_str());
    else if (flops_of(profile) != replays * pass.value()) right = false, std::fprintf(stderr, "wrong: the FLOPs of the replays\n");
  }
  kprof::report();
  return right ? 0 : 1;
}
