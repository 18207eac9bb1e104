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
// kprof · 10_gpu_graph · 32.9 ms · 1 thread on 2 CPUs · 33.6 GFLOP at 1.02 TFLOP/s, 2.8% of the roof
// device 0 · Scripted GPU · compute 9.0 · 132 SMs · 3,352 GB/s · busy 25.6 ms, 77.7% of wall
// no work on device 1
// roof of device 0: f32 66.9 TFLOP/s · tf32 on tensor cores 535 TFLOP/s · 3.35 TB/s · rates at the
//   device's highest clock, 1980 MHz
//
// Do first
//   1  linear_kernel of Linear I=1024 O=256 has 64 blocks for 132 multiprocessors. Use more and
//      smaller blocks, split the reduction, or run it beside other work. [G3]     at most 5.83 ms  18%
//   2  The device copies while no kernel computes: 3.15 ms, 12% of its time. Copy on a stream of its
//      own, into a second buffer, while kernels use the first. [C4]               at most 3.15 ms  10%
//   3  Copies to the device are 1,000 of 32.8 kB on average. Gather them into few large ones. [C3]
//                                                                                 at most  419 µs   1%
//
// Operators, sorted by lost; f32 where a type is known
//
// operator  parameters           calls   device  dev share  GFLOP/s   GB/s  roof  bound          lost
// ───────────────────────────────────────────────────────────────────────────────────────────────────
// Linear    all 2 rows: T=32     2,002  22.5 ms      87.7%    1,498  108    3.2%  small grid  21.7 ms
//             I=1024 O=256       1,001  11.3 ms      44.2%    1,483  107    3.2%  small grid  11.0 ms
//             I=256 O=1024 relu  1,001  11.1 ms      43.5%    1,513  109    3.3%  small grid  10.8 ms
// Load      n=8192               1,001  3.15 ms      12.3%      n/a   20.8   n/a  n/a             n/a
// ───────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                   3,003  25.6 ms     100.0%    1,313   97.5  2.8%              24.9 ms
// in regions, outside operators            0 ns         0%
//
// n/a, no flops() declared: Load
// n/a, this machine's highest rate is not known: Load
// not shown at width 100: self, kernels, FLOP/B, dev total, median, total, share, gap and 4 more
// outside any operator: 0 kernels, 1 copy, device 3.12 µs, <0.1%
// outside any operator, by name: copy 3.12 µs (1)
// outside all scopes: 3.08 ms, 10.7% of 10_gpu_graph 15806 (wall 28.8 ms, in scopes 25.7 ms, off the
//   CPU 24.2 ms)
//
// Call tree, sorted by device; device is that of a scope and all below it, dev share of 25.6 ms of
//   device time, share is total, of 25.7 ms in all scopes; f32 where a type is known
//
// scope                                    calls   device  dev share    total  roof  GFLOP/s   GB/s
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// inference                                    1  25.6 ms     100.0%  25.6 ms  2.8%    1,313   97.5
// └─ graph                                 1,000  25.6 ms     100.0%     0 ns  2.8%    1,313   97.5
//    └─ network                            1,000  25.6 ms     100.0%     0 ns  2.8%    1,313   97.5
//       ├─ Linear(T=32 I=1024 O=256)       1,000  11.3 ms      44.2%     0 ns  3.2%    1,483  107
//       ├─ Linear(T=32 I=256 O=1024 relu)  1,000  11.1 ms      43.5%     0 ns  3.3%    1,513  109
//       └─ Load(n=8192)                    1,000  3.15 ms      12.3%     0 ns   n/a      n/a   20.8
// network                                      1     0 ns         0%  92.1 µs   n/a      n/a    n/a
// ├─ Load(n=8192)                              1     0 ns         0%  39.9 µs   n/a      n/a    n/a
// ├─ Linear(T=32 I=256 O=1024 relu)            1     0 ns         0%  18.8 µs   n/a      n/a    n/a
// └─ Linear(T=32 I=1024 O=256)                 1     0 ns         0%  3.78 µs   n/a      n/a    n/a
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// all scopes                               5,005  25.6 ms     100.0%  25.7 ms  2.8%    1,313    n/a
//
// not shown at width 100: self, FLOPs, share, mean
// outside all scopes: 0 kernels, 1 copy, device 3.12 µs, <0.1%
//
// Kernels, sorted by total; share is of 25.6 ms of device time
//
// operator  parameters         kernel                calls    total  share     mean  roof  tensor core
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Linear    T=32 I=1024 O=256  linear_kernel         1,000  11.3 ms  44.2%  11.3 µs  3.2%  unknown
// Linear    … I=256 O=1024 …   linear_kernel         1,000  11.1 ms  43.5%  11.1 µs  3.3%  unknown
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// all kernels                                        2,000  22.5 ms  87.7%
//
// not shown at width 100: bound, region, waves, FLOPs, occupancy, grid, block, bytes and 6 more
// cut at width 100: parameters; whole with width=226, or KPROF='report(width=226)'
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
//   device 0  25.7 ms: busy 99.8%, computing 87.5%, copying 12.3% (exposed 12.3%)
//     idle    58.0 µs, 0.2%: launched late 0.2%, from kernel to kernel <0.1%
//     late    of this time the host was in calls that wait 63.6%, in other calls 4.8%, in regions
//             0.5%, outside scopes 31.1%; mostly inference 32.0 µs, outside scopes 26.0 µs
//   critical  32.9 ms: computing 68.2%, copying 9.6%, host 15.6%, launching <0.1%, from kernel to
//             kernel <0.1%, returning to the host 6.6%
//     on it   Linear 22.5 ms, outside scopes 7.21 ms, Load 3.19 ms, inference 36.9 µs, network 29.7 µs
//
// Completeness
//   scopes    5 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   device    1,001 launches = 1,000 attributed + 1 outside any operator; 3,001 records of kernels,
//             copies and memsets; none open, dropped, without timing, of unknown launch, lost,
//             ignored, odd, merged, of foreign graphs or unaccounted
//   sync      3 calls that wait for a device, 21.3 ms of host time
//   collector CUPTI 13.0 (API 130001)
//   timeline  all 5 scopes, 32.9 ms
//   own cost  18.4 ns a scope, 1.35 µs in all (<0.1% of wall time); of that 2 readings of CPU time,
//             631 ns each; folding 102 µs, 102 µs of it for snapshots; an empty scope shows 10.0 ns;
//             collecting 523 µs; CUPTI itself 261 ns
//   memory    13.7 MiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, 0.19 ns off its calibration at most
//   version   kprof 0.1.0
