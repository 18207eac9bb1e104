// SPDX-License-Identifier: MIT
//
// A training loop on a GPU: load a batch, forward, backward, exchange gradients on a stream of
// their own, and update the weights by a CUDA graph. You learn what the report says of when things
// happened: what a step takes, what the device did and waited for, and what to do first. The page
// docs/timeline.md follows these sections by hand.
//
//     nvcc -std=c++20 -O2 -I include examples/18_gpu_training.cu -o gpu_training && ./gpu_training

#include <kprof/kprof.hpp>
#include <kprof/ops/collective.hpp>
#include <kprof/ops/gemm.hpp>
#include <kprof/ops/optimizer.hpp>

#include "cuda_check.hpp"

#include <vector>

namespace ops = kprof::ops;

constexpr int width = 512, batch = 256, layers = 3, steps = 20;

/// D = A B, a thread an element.
__global__ void gemm_kernel(int n, int k, const float* a, const float* b, float* d) {
  const int row = static_cast<int>(blockIdx.y),
            column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  d[row * n + column] = sum;
}
/// Stands in for NCCL's kernel of this name: there is one GPU, whose sum is what it has.
__global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL(int n, float* gradient) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) gradient[i] *= 1.0F;
}
__global__ void sgd_kernel(int n, float rate, const float* gradient, float* weights) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) weights[i] -= rate * gradient[i];
}

void gemm(int m, int n, int k, const float* a, const float* b, float* d, cudaStream_t stream) {
  KPROF_OP(ops::Gemm, {.M = m, .N = n, .K = k});
  gemm_kernel<<<dim3(n / 128, m), 128, 0, stream>>>(n, k, a, b, d);
}
void all_reduce(int n, float* gradient, cudaStream_t stream) {
  KPROF_OP(ops::AllReduce, {.n = 2, .S = 4 * n});
  ncclDevKernel_AllReduce_Sum_f32_RING_LL<<<n / 256, 256, 0, stream>>>(n, gradient);
}

struct layer {
  device_array<float> weights{std::vector<float>(width * width, 0.001F)},
      gradient{std::vector<float>(width * width)}, y{std::vector<float>(batch * width)};
  cudaEvent_t reduced = nullptr;
};

/// The host makes the batch, which takes it a while, and sends it to the device.
void load_batch(float* pinned, device_array<float>& x, cudaStream_t stream) {
  KPROF_REGION("load_batch");
  std::uint32_t random = 1;
  for (int pass = 0; pass < 4; ++pass)
    for (int i = 0; i < batch * width; ++i) {
      random = random * 1'664'525 + 1'013'904'223;
      pinned[i] = static_cast<float>(random >> 8U) * 0x1p-24F;
    }
  CUDA_CHECK(
      cudaMemcpyAsync(x.data(), pinned, x.size() * sizeof(float), cudaMemcpyHostToDevice, stream));
}

bool train() {
  device_array<float> x(std::vector<float>(batch * width));
  std::vector<layer> net(layers);
  cudaStream_t compute = nullptr, communication = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreateWithFlags(&communication, cudaStreamNonBlocking));
  cudaEvent_t made = nullptr;
  CUDA_CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  for (layer& l : net) CUDA_CHECK(cudaEventCreateWithFlags(&l.reduced, cudaEventDisableTiming));
  float *pinned = nullptr, *loss = nullptr;
  CUDA_CHECK(cudaMallocHost(&pinned, x.size() * sizeof(float)));
  CUDA_CHECK(cudaMallocHost(&loss, sizeof(float)));

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t update = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(compute, cudaStreamCaptureModeThreadLocal));
  for (layer& l : net) {
    KPROF_OP(ops::Sgd, {.numel = width * width});
    sgd_kernel<<<width * width / 256, 256, 0, compute>>>(width * width, 1e-6F, l.gradient.data(),
                                                         l.weights.data());
  }
  CUDA_CHECK(cudaStreamEndCapture(compute, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&update, graph, 0));
  CUDA_CHECK(cudaDeviceSynchronize());

  for (int step = 0; step < steps; ++step) {
    load_batch(pinned, x, compute);
    {
      KPROF_REGION("forward");
      const float* in = x.data();
      for (layer& l : net)
        gemm(batch, width, width, in, l.weights.data(), l.y.data(), compute), in = l.y.data();
    }
    {
      KPROF_REGION("backward");
      for (int i = layers - 1; i >= 0; --i) {
        layer& l = net[i];
        gemm(width, width, batch, i > 0 ? net[i - 1].y.data() : x.data(), l.y.data(),
             l.gradient.data(), compute);
        CUDA_CHECK(cudaEventRecord(made, compute));
        CUDA_CHECK(cudaStreamWaitEvent(communication, made, 0));
        all_reduce(width * width, l.gradient.data(), communication);
        CUDA_CHECK(cudaEventRecord(l.reduced, communication));
      }
    }
    {
      KPROF_REGION("update");
      CUDA_CHECK(cudaStreamWaitEvent(compute, net[0].reduced, 0));
      CUDA_CHECK(cudaGraphLaunch(update, compute));
    }
    {
      KPROF_REGION("loss");
      CUDA_CHECK(cudaMemcpyAsync(loss, net.back().y.data(), sizeof(float), cudaMemcpyDeviceToHost,
                                 compute));
      CUDA_CHECK(cudaStreamSynchronize(compute));
    }
    KPROF_STEP();
  }
  const bool right = *loss == *loss;
  for (layer& l : net) CUDA_CHECK(cudaEventDestroy(l.reduced));
  CUDA_CHECK(cudaEventDestroy(made));
  CUDA_CHECK(cudaGraphExecDestroy(update));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaFreeHost(loss));
  CUDA_CHECK(cudaFreeHost(pinned));
  CUDA_CHECK(cudaStreamDestroy(communication));
  CUDA_CHECK(cudaStreamDestroy(compute));
  return check(right, "the loss is a number");
}

int main() {
  const bool right = !have_gpu() || train();
  kprof::report({.table = false, .tree = true, .kernels = false, .copies = false});
  return right ? 0 : 1;
}

// Output:
// kprof · 18_gpu_training · 132 ms · 1 thread on 2 CPUs · 16.1 GFLOP at 122 GFLOP/s, 0.2% of the roof
// device 0 · Scripted GPU · compute 9.0 · 132 SMs · 3,352 GB/s · busy 111 ms, 84.1% of wall (run times
//   summed 129 ms)
// no work on device 1
// roof of device 0: f32 66.9 TFLOP/s · tf32 on tensor cores 535 TFLOP/s · 3.35 TB/s
//
// Do first
//   1  The run spends 50% of its device time on f32 products that tensor cores could do. Use mixed
//      precision: f16 or bf16 operands, sums in f32. [G15]                        at most 54.8 ms  41%
//   2  AllReduce 1 MiB, 2 ranks is 26% of the run at 0.1% of the rate that memory allows. What holds
//      it back its kernels may tell (report(kernels)): their occupancy, their last wave, how they read
//      memory. [R2]                                                               at most 33.8 ms  26%
//   3  The device waits for the host in load_batch: 17.2 ms, 13% of its time. Load the next batch
//      meanwhile, on other threads and into pinned memory. [S3]                   at most 17.2 ms  13%
//   4  The device communicates while no kernel computes: 15.9 ms, 12% of its time. Start it as soon as
//      its data is there, on a stream of its own; or send less: fewer bits, or larger batches between
//      two exchanges. [S4]                                                        at most 15.9 ms  12%
//
// Call tree, sorted by device; device is that of a scope and all below it, dev share of 129 ms of
//   device time, share is total, of 131 ms in all scopes; all f32
//
// scope                         calls   device  dev share    total     self  roof  GFLOP/s  GB/s
// ──────────────────────────────────────────────────────────────────────────────────────────────
// backward                         20  65.8 ms      50.9%   243 µs   143 µs  0.2%  123      2.87
// ├─ AllReduce(1 MiB, 2 ranks)     60  33.8 ms      26.2%  52.1 µs  52.1 µs  0.1%    0.232  1.86
// └─ Gemm(512×512×256)             60  31.9 ms      24.7%  47.5 µs  47.5 µs  0.4%  252      3.94
// forward                          20  33.0 ms      25.5%   171 µs  77.8 µs  0.4%  244      3.82
// └─ Gemm(256×512×512)             60  33.0 ms      25.5%  93.5 µs  93.5 µs  0.4%  244      3.82
// update                           20  30.0 ms      23.2%  53.4 µs  53.4 µs  0.2%    1.05   6.30
// └─ graph                         20  30.0 ms      23.2%     0 ns     0 ns  0.2%    1.05   6.30
//    └─ Sgd(262144 update)         60  30.0 ms      23.2%     0 ns     0 ns  0.2%    1.05   6.30
// load_batch                       20   554 µs       0.4%  18.8 ms  18.8 ms
// loss                             20  30.8 µs      <0.1%   111 ms   111 ms
// Sgd(262144 update)                3     0 ns         0%  92.1 µs  92.1 µs   n/a      n/a   n/a
// ──────────────────────────────────────────────────────────────────────────────────────────────
// all scopes                      363   129 ms     100.0%   131 ms   131 ms   n/a      n/a   n/a
//
// not shown at width 100: FLOPs, share, mean
// n/a, captured into a CUDA graph, and no record of a replay names it: Sgd (1 of 2 rows)
//
// Steps
//   thread           steps   median      p99  jitter      min      max    first
//   18_gpu_training     20  6.46 ms  8.74 ms    1.35  4.82 ms  8.76 ms  8.43 ms
//   the first step took 1.30 times the median
//   806 MFLOP a step at 123 GFLOP/s, MFU 0.2% of 66.9 TFLOP/s for f32
//   steps above the median took 15.3 ms more than as many others: 14.0 ms in loss, 945 µs in
//     load_batch
//   device time         forward        backward          update           other
//   all          33.0 ms  25.5%  65.8 ms  50.9%  30.0 ms  23.2%    585 µs  0.5%
//   no layer     33.0 ms  25.5%  65.8 ms  50.9%  30.0 ms  23.2%               -
//   load_batch                -               -               -    554 µs  0.4%
//   loss                      -               -               -  30.8 µs  <0.1%
//
// timeline of the devices
//   device 0  130 ms: busy 85.9%, computing 73.2%, communicating 26.1% (exposed 12.2%), copying 0.5%
//             (exposed 0.5%)
//     idle    18.3 ms, 14.1%: launched late 14.1%
//     late    of this time the host was in calls that wait 4.6%, in other calls 1.8%, in operators
//             0.1%, in regions 92.7%, outside scopes 0.8%; mostly load_batch 17.2 ms, loss 869 µs,
//             outside scopes 145 µs
//   critical  132 ms: computing 64.6%, communicating 19.1%, copying <0.1%, host 15.6%, launching
//             <0.1%, returning to the host 0.7%
//     on it   Gemm 55.5 ms, Sgd 30.1 ms, AllReduce 25.3 ms, load_batch 18.8 ms, outside scopes 1.57 ms
//
// Complete: nothing was lost of 283 scopes and 280 records of the device; kprof 0.1.0 took 829 µs
//   (0.6% of wall time). More: KPROF='report(roofline,kernels,copies,timeline,legend,details)'.
