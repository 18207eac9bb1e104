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
  constexpr kprof::arithmetic arithmetic() const { return {.type = kprof::dtype::f32}; }
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
// kprof · 10_gpu_graph · 32.3 ms · 1 thread on 2 CPUs · 33.6 GFLOP at 1.04 TFLOP/s
// device 0 · Scripted GPU · compute 9.0 · 132 SMs · 3,352 GB/s · busy 25.6 ms, 79.2% of wall
// no work on device 1
// roof of device 0: 3.35 TB/s · rates at the device's highest clock, 1980 MHz
//
// Do first
//   1  linear_kernel of Linear I=1024 O=256 has 64 blocks for 132 multiprocessors. Use more and
//      smaller blocks, split the reduction, or run it beside other work. [G3]     at most 5.83 ms  18%
//   2  The device copies while no kernel computes: 3.15 ms, 12% of its time. Copy on a stream of its
//      own, into a second buffer, while kernels use the first. [C4]               at most 3.15 ms  10%
//   3  Copies to the device are 1,000 of 32.8 kB on average. Gather them into few large ones. [C3]
//                                                                                 at most  419 µs   1%
//
// Operators, sorted by device
//
// operator  parameters           calls   device            dev share  kernels     self  GFLOP/s   GB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Linear    all 2 rows: T=32     2,002  22.5 ms  ████████      87.7%    2,000  29.0 µs    1,498  108
//             I=1024 O=256       1,001  11.3 ms  ████          44.2%    1,000  5.38 µs    1,483  107
//             I=256 O=1024 relu  1,001  11.1 ms  ████          43.5%    1,000  23.6 µs    1,513  109
// Load      n=8192               1,001  3.15 ms  █▏            12.3%        0  31.5 µs      n/a   20.8
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                   3,003  25.6 ms               100.0%           60.4 µs    1,313   97.5
// in regions, outside operators            0 ns                   0%           25.7 ms
//
// not shown, n/a in every row: roof, bound, lost
// n/a, no flops() declared: Load
// n/a, the operator does not say what type it computes with: Linear
// n/a, this machine's highest rate is not known: Load
// not shown at width 100: FLOP/B, dev total, median, total, share, gap, copies, mean, max, min
// outside any operator: 0 kernels, 1 copy, device 3.12 µs, <0.1%
// outside any operator, by name: copy 3.12 µs (1)
// outside all scopes: 1.52 ms, 5.6% of 10_gpu_graph 11135 (wall 27.3 ms, in scopes 25.8 ms, off the
//   CPU 24.0 ms)
//
// Call tree, sorted by device; device is that of a scope and all below it, dev share of 25.6 ms of
//   device time, share is total, of 25.8 ms in all scopes
//
// scope                                    calls   device  dev share    total     self  GFLOP/s   GB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// inference                                    1  25.6 ms     100.0%  25.7 ms  25.7 ms    1,313   97.5
// └─ graph                                 1,000  25.6 ms     100.0%     0 ns     0 ns    1,313   97.5
//    └─ network                            1,000  25.6 ms     100.0%     0 ns     0 ns    1,313   97.5
//       ├─ Linear(T=32 I=1024 O=256)       1,000  11.3 ms      44.2%     0 ns     0 ns    1,483  107
//       ├─ Linear(T=32 I=256 O=1024 relu)  1,000  11.1 ms      43.5%     0 ns     0 ns    1,513  109
//       └─ Load(n=8192)                    1,000  3.15 ms      12.3%     0 ns     0 ns      n/a   20.8
// network                                      1     0 ns         0%  93.1 µs  32.7 µs      n/a    n/a
// ├─ Load(n=8192)                              1     0 ns         0%  31.5 µs  31.5 µs      n/a    n/a
// ├─ Linear(T=32 I=256 O=1024 relu)            1     0 ns         0%  23.6 µs  23.6 µs      n/a    n/a
// └─ Linear(T=32 I=1024 O=256)                 1     0 ns         0%  5.38 µs  5.38 µs      n/a    n/a
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// all scopes                               5,005  25.6 ms     100.0%  25.8 ms  25.8 ms    1,313    n/a
//
// not shown at width 100: FLOPs, share, mean
// outside all scopes: 0 kernels, 1 copy, device 3.12 µs, <0.1%
//
// Kernels, sorted by total; share is of 25.6 ms of device time
//
// operator  parameters              kernel                calls    total  share     mean  tensor core
// ───────────────────────────────────────────────────────────────────────────────────────────────────
// Linear    T=32 I=1024 O=256       linear_kernel         1,000  11.3 ms  44.2%  11.3 µs  unknown
// Linear    T=32 I=256 O=1024 relu  linear_kernel         1,000  11.1 ms  43.5%  11.1 µs  unknown
// ───────────────────────────────────────────────────────────────────────────────────────────────────
// all kernels                                             2,000  22.5 ms  87.7%
//
// not shown at width 100: region, waves, FLOPs, occupancy, grid, block, bytes, registers and 5 more
//
// Copies and memsets, sorted by total; share is of 25.6 ms of device time
//
// kind            from    to        device  calls     bytes    total  share  GB/s
// ───────────────────────────────────────────────────────────────────────────────
// host to device  pinned  device         0  1,000  31.3 MiB  3.15 ms  12.3%  10.4
// device to host  device  pageable       0      1  32.0 KiB  3.12 µs  <0.1%  10.5
// ───────────────────────────────────────────────────────────────────────────────
// all copies                                1,001  31.3 MiB  3.15 ms  12.3%  10.4
//
// timeline of the devices
//   device 0  25.7 ms: busy 99.5%, computing 87.2%, copying 12.2% (exposed 12.2%)
//     idle    134 µs: launched late 0.5%, from kernel to kernel <0.1%
//     late    the host was in calls that wait 72.4%, in other calls 2.2%, in regions 3.1%, outside
//             scopes 22.2%; mostly inference 89.0 µs, outside scopes 44.9 µs
//   critical  32.3 ms: computing 69.5%, copying 9.8%, host 20.5%, launching <0.1%, from kernel to
//             kernel <0.1%, returning to the host 0.3%
//     on it   Linear 22.5 ms, outside scopes 6.54 ms, Load 3.18 ms, inference 92.6 µs, network 32.7 µs
//
// Completeness
//   scopes    5 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   device    1,001 launches = 1,000 attributed + 1 outside any operator; 3,001 records of kernels,
//             copies and memsets; none open, dropped, without timing, of unknown launch, lost,
//             ignored, odd, merged, of foreign graphs or unaccounted
//   sync      3 calls that wait for a device, 22.8 ms of host time
//   collector CUPTI 13.0 (API 130001)
//   timeline  all 5 scopes, 32.3 ms
//   own cost  25.2 ns a scope, 1.97 µs in all (<0.1% of wall time); of that 2 readings of CPU time,
//             921 ns each; folding 265 µs; an empty scope shows 10.0 ns; collecting 1.38 ms; CUPTI
//             itself 370 ns
//   memory    13.4 MiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, 9.75 ns off its calibration at most
//   version   kprof 0.1.0
