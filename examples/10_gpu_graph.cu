// SPDX-License-Identifier: MIT
//
// CUDA graphs: a small network is captured once, through guards as always, and replayed a thousand
// times. The host runs no guard in a replay, and still the report knows whose each kernel is: it
// counts the FLOPs of an operator once for each replay, and shows the replays where they were
// launched, with the scopes of the capture below.
//
//     nvcc -std=c++20 -O2 -I include examples/10_gpu_graph.cu -o gpu_graph && ./gpu_graph

#include <kprof/kprof.hpp>

#include "cuda_check.hpp"

#include <vector>

/// y = relu(x * W + b); T tokens of I features in, O out.
struct Linear {
  std::int64_t T = 0, I = 0, O = 0;
  bool relu = false;
  // bias and relu 1 each
  constexpr kprof::count flops() const {
    return (kprof::count{2} * I + 1 + (relu ? 1 : 0)) * T * O;
  }
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * (kprof::count{T} * I + kprof::count{I} * O + O),
            .written = 4 * kprof::count{T} * O};
  }
};
/// The input, from host memory to the device's.
struct Load {
  std::int64_t n = 0;
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}};
  }
};
static_assert(Linear{.T = 10, .I = 5, .O = 20}.flops() == 2000 + 200);
static_assert(Linear{.T = 10, .I = 5, .O = 20, .relu = true}.bytes().total() ==
              4 * (50 + 100 + 20 + 200));

__global__ void linear_kernel(int I, int O, bool relu, const float* x, const float* W,
                              const float* b, float* y) {
  const int t = static_cast<int>(blockIdx.y),
            o = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (o >= O) return;
  float sum = b[o];
  for (int i = 0; i < I; ++i) sum += x[t * I + i] * W[i * O + o];
  y[t * O + o] = relu ? fmaxf(sum, 0.0F) : sum;
}
void linear(const Linear& p, const float* x, const float* W, const float* b, float* y,
            cudaStream_t stream) {
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
  const device_array<float> up(std::vector<float>(width * hidden, 0.5F)),
      up_bias(std::vector<float>(hidden, -100.0F));
  const device_array<float> down(std::vector<float>(hidden * width, 0.25F)),
      down_bias(std::vector<float>(width, 1.0F));
  device_array<float> x(tokens * width), between(tokens * hidden), y(tokens * width);
  float* input = nullptr;  // pinned: a graph's copies read it at each replay
  CUDA_CHECK(cudaMallocHost(&input, tokens * width * sizeof(float)));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t network = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    KPROF_REGION("network");
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    load({.n = tokens * width}, input, x.data(), stream);
    linear({.T = tokens, .I = width, .O = hidden, .relu = true}, x.data(), up.data(),
           up_bias.data(), between.data(), stream);
    linear({.T = tokens, .I = hidden, .O = width}, between.data(), down.data(), down_bias.data(),
           y.data(), stream);
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

/// A profile is a plain value: here, the FLOPs of a run, once for each call that worked and once
/// for each replay.
std::uint64_t flops_of(const kprof::profile& run) {
  std::uint64_t sum = 0;
  for (const kprof::scope_node& node : run.nodes)
    sum += (node.calls - node.captured + node.replays) * node.work.flops;
  return sum;
}

int main() {
  bool right = true;
  if (have_gpu()) {
    right = run();
    const kprof::profile profile = kprof::snapshot();
    constexpr kprof::count pass =
        Linear{.T = tokens, .I = width, .O = hidden, .relu = true}.flops() +
        Linear{.T = tokens, .I = hidden, .O = width}.flops();
    if (!profile.device.collecting)
      std::fprintf(stderr, "replays are not seen: %s\n", profile.device.state.c_str());
    else if (flops_of(profile) != replays * pass.value())
      right = false, std::fprintf(stderr, "wrong: the FLOPs of the replays\n");
  }
  // every section, also those that come unasked only where they say something new
  kprof::report({.tree = true, .kernels = true, .copies = true, .details = true});
  return right ? 0 : 1;
}

// Output:
// kprof · 10_gpu_graph · 27.3 ms · 1 thread on 2 CPUs · 33.6 GFLOP at 1.23 TFLOP/s
// device 0 · Scripted GPU · compute 9.0 · 132 SMs · 3,352 GB/s · busy 25.6 ms, 93.8% of wall
// no work on device 1
//
// Operators, sorted by device
//
// operator  parameters           calls   device            dev share  kernels     self  GFLOP/s   GB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Linear    all 2: T=32          2,002  22.5 ms  ████████      87.7%    2,000  27.2 µs    1,498  108
//             I=1024 O=256       1,001  11.3 ms  ████          44.2%    1,000  9.08 µs    1,483  107
//             I=256 O=1024 relu  1,001  11.1 ms  ████          43.5%    1,000  18.1 µs    1,513  109
// Load      n=8192               1,001  3.15 ms  █▏            12.3%        0  37.2 µs      n/a   20.8
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                   3,003  25.6 ms               100.0%           64.4 µs    1,313   97.5
// in regions, outside operators            0 ns                   0%           25.7 ms
//
// n/a, no flops() declared: Load
// not shown at width 100: FLOP/B, dev total, median, total, share, gap, copies, mean, max, min
// outside any operator: 0 kernels, 1 copy, device 3.12 µs, <0.1%
// outside any operator, by name: copy 3.12 µs (1)
// outside all scopes: 1.44 ms, 5.3% of 10_gpu_graph 23292 (wall 27.2 ms, in scopes 25.8 ms)
//
// Call tree, sorted by device; device is that of a scope and all below it, dev share of 25.6 ms of
//   device time, share is total, of 25.8 ms in all scopes
//
// scope                                          calls   device  dev share    total  GFLOP/s   GB/s
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// inference                                          1  25.6 ms     100.0%  25.7 ms    1,313   97.5
// └─ graph                                       1,000  25.6 ms     100.0%     0 ns    1,313   97.5
//    └─ network                                  1,000  25.6 ms     100.0%     0 ns    1,313   97.5
//       ├─ Linear(T=32 I=1024 O=256 relu=false)  1,000  11.3 ms      44.2%     0 ns    1,483  107
//       ├─ Linear(T=32 I=256 O=1024 relu=true)   1,000  11.1 ms      43.5%     0 ns    1,513  109
//       └─ Load(n=8192)                          1,000  3.15 ms      12.3%     0 ns      n/a   20.8
// network                                            1     0 ns         0%   108 µs      n/a    n/a
// ├─ Load(n=8192)                                    1     0 ns         0%  37.2 µs      n/a    n/a
// ├─ Linear(T=32 I=256 O=1024 relu=true)             1     0 ns         0%  18.1 µs      n/a    n/a
// └─ Linear(T=32 I=1024 O=256 relu=false)            1     0 ns         0%  9.08 µs      n/a    n/a
//
// not shown at width 100: self, FLOPs, share, mean
// outside all scopes: 0 kernels, 1 copy, device 3.12 µs, <0.1%
//
// Kernels, sorted by total; share is of 25.6 ms of device time
//
// operator  parameters             region   kernel         calls    total  share     mean  tensor core
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Linear    T=32 I=1024 O=256 re…  network  linear_kernel  1,000  11.3 ms  44.2%  11.3 µs  unknown
// Linear    T=32 I=256 O=1024 re…  network  linear_kernel  1,000  11.1 ms  43.5%  11.1 µs  unknown
//
// not shown at width 100: FLOPs, grid, block, bytes, registers, shared, min, max, device, stream
// cut at width 100: parameters; whole with width=189, or KPROF='report(width=189)'
//
// Copies and memsets, sorted by total; share is of 25.6 ms of device time
//
// kind            from    to        device  calls     bytes    total  share  GB/s
// ───────────────────────────────────────────────────────────────────────────────
// host to device  pinned  device         0  1,000  31.3 MiB  3.15 ms  12.3%  10.4
// device to host  device  pageable       0      1  32.0 KiB  3.12 µs  <0.1%  10.5
//
// Completeness
//   scopes    5 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   device    1,001 launches = 1,000 attributed + 1 outside any operator; 3,001 records of kernels,
//             copies and memsets; none open, dropped, without timing, of unknown launch, lost,
//             ignored, odd, merged, of foreign graphs or unaccounted
//   sync      3 calls that wait for a device, 11.6 ms of host time
//   collector CUPTI 13.0 (API 130001)
//   timeline  all 5 scopes, 27.3 ms
//   own cost  77.9 ns a scope, 390 ns in all (<0.1% of wall time); folding 274 µs; an empty scope
//             shows 20.0 ns; collecting 3.04 ms; CUPTI itself 270 ns
//   memory    12.9 MiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, 0.16 ns off its calibration at most
//   version   kprof 0.1.0
