// SPDX-License-Identifier: MIT
//
// Several host threads, each with a stream: work on the device belongs to the operator whose guard
// was open on the thread that launched it, whenever and on whatever stream it runs. A context
// carries the place where work was handed out to the threads that launch it, so that the call tree
// shows the work there. You see copies too, from pinned memory and from pageable memory, beside
// kernels of other streams that run at the same time.
//
//     nvcc -std=c++20 -O2 -I include examples/09_gpu_streams_and_threads.cu -o gpu_streams &&
//     ./gpu_streams

#include <kprof/kprof.hpp>

#include "cuda_check.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

enum class place : std::uint8_t { host, device };

/// A copy is an operator like any other: it moves bytes and computes nothing.
struct Transfer {
  std::int64_t n = 0;
  place to = place::device;
  bool pinned = false;
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}};
  }
};
/// x = a * x + b, so many times over.
struct Polynomial {
  std::int64_t n = 0, degree = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n * degree; }
  constexpr kprof::traffic bytes() const {
    return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}};
  }
};
static_assert(Transfer{.n = 1000}.bytes().total() == 8000);
static_assert(Polynomial{.n = 1000, .degree = 3}.flops() == 6000);

__global__ void polynomial_kernel(int n, int degree, float a, float b, float* x) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float value = x[i];
  for (int k = 0; k < degree; ++k) value = a * value + b;
  x[i] = value;
}

void transfer(const Transfer& p, void* to, const void* from, cudaStream_t stream) {
  KPROF_OP(Transfer, p);
  CUDA_CHECK(cudaMemcpyAsync(to, from, p.n * sizeof(float),
                             p.to == place::host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice,
                             stream));
}
void polynomial(const Polynomial& p, float a, float b, float* x, cudaStream_t stream) {
  KPROF_OP(Polynomial, p);
  polynomial_kernel<<<(p.n + 255) / 256, 256, 0, stream>>>(p.n, p.degree, a, b, x);
  CUDA_CHECK(cudaGetLastError());
}

constexpr int n = 1 << 20;  // of a part
constexpr int threads = 4, parts = 16;

/// A part in host memory; some of it pinned, so that copies need not wait for the host.
struct part {
  explicit part(bool is_pinned) : pinned(is_pinned) {
    if (pinned) CUDA_CHECK(cudaMallocHost(&data, n * sizeof(float)));
    else data = new float[n];
    for (int i = 0; i < n; ++i) data[i] = 1.0F;
  }
  ~part() {
    if (pinned) cudaFreeHost(data);
    else delete[] data;
  }
  part(const part&) = delete;
  part& operator=(const part&) = delete;

  bool pinned;
  float* data = nullptr;
};

/// What each thread does: takes part after part, until none is left.
void work(kprof::context from, std::vector<std::unique_ptr<part>>& all,
          std::atomic<std::size_t>& next) {
  // without it, the scopes below would begin a tree of their own
  const kprof::context_guard under{from};
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    device_array<float> x(n);
    for (std::size_t i = next++; i < all.size(); i = next++) {
      part& p = *all[i];
      transfer({.n = n, .to = place::device, .pinned = p.pinned}, x.data(), p.data, stream);
      // 1 goes to 2, but for a 2^-64th of it
      polynomial({.n = n, .degree = 64}, 0.5F, 1.0F, x.data(), stream);
      transfer({.n = n, .to = place::host, .pinned = p.pinned}, p.data, x.data(), stream);
      CUDA_CHECK(cudaStreamSynchronize(stream));
    }
  }
  CUDA_CHECK(cudaStreamDestroy(stream));
}

bool run() {
  std::vector<std::unique_ptr<part>> all;
  for (int i = 0; i < parts; ++i) all.push_back(std::make_unique<part>(i % 4 != 0));
  for (int batch = 0; batch < 5; ++batch) {
    KPROF_REGION("batch");
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
      workers.emplace_back(work, kprof::context::current(), std::ref(all), std::ref(next));
    for (std::thread& worker : workers) worker.join();
  }
  bool right = true;
  for (const auto& p : all) right = right && p->data[0] == 2.0F && p->data[n - 1] == 2.0F;
  return check(right, "a part");
}

int main() {
  const bool right = !have_gpu() || run();
  // every section, also those that come unasked only where they say something new
  kprof::report({.tree = true, .kernels = true, .copies = true, .details = true});
  return right ? 0 : 1;
}

// Output:
// kprof · 09_gpu_streams_and_threads · 104 ms · 21 threads on 2 CPUs · 10.7 GFLOP at 103 GFLOP/s
// device 0 · Scripted GPU · compute 9.0 · 132 SMs · 3,352 GB/s · busy 29.0 ms, 27.9% of wall (run
//   times summed 34.8 ms)
// no work on device 1
// roof of device 0: 3.35 TB/s · rates at the device's highest clock, 1980 MHz
//
// Do first
//   1  Transfer pinned takes 445 µs in most calls and 9.63 ms or more in one of a hundred. Look for
//      what interrupts it: other threads, allocation, waiting for data. The same holds for 1 other.
//      [S8]                                                                       at most 34.9 ms  16%
//   2  The device copies while no kernel computes: 28.0 ms, 30% of its time. Copy on a stream of its
//      own, into a second buffer, while kernels use the first. [C4]               at most 28.0 ms  13%
//   3  The device works 28% of the time. Give it more at once: larger batches, and fewer places where
//      the host waits. [S2]
//
// Operators, sorted by device
//
// operator    parameters                calls   device  dev share  kernels     self  TFLOP/s   GB/s
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// Transfer    all 4 rows: n=1048576       160  33.8 ms      97.2%        0   116 ms      n/a   39.7
//               pinned                     60  12.7 ms      36.5%        0  61.6 ms      n/a   39.7
//               to=host pinned             60  12.7 ms      36.5%        0  30.6 ms      n/a   39.7
//               to=host                    20  4.22 ms      12.2%        0  6.21 ms      n/a   39.7
//               to=device pinned=false     20  4.22 ms      12.1%        0  17.1 ms      n/a   39.7
// Polynomial  n=1048576 degree=64          80   964 µs       2.8%       80   387 µs   11.1    696
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                            240  34.8 ms     100.0%            116 ms    0.309   57.9
// in regions, outside operators                   0 ns         0%           96.3 ms
//
// not shown, n/a in every row: roof, bound, lost
// n/a, no flops() declared: Transfer
// n/a, the operator does not say what type it computes with: Polynomial
// n/a, this machine's highest rate is not known: Transfer
// first call far above the median: Transfer n=1048576 pinned (first 3.48 ms, then 445 µs) and 1 more
// not shown at width 100: FLOP/B, dev total, median, total, share, gap, copies, mean, max, min
// outside all scopes: 15.2 ms, 73.9% of 09_gpu_streams_ 11189 (wall 20.5 ms, in scopes 5.37 ms, off
//   the CPU 15.0 ms)
// outside all scopes: 11.5 ms, 54.1% of 09_gpu_streams_ 11184 (wall 21.3 ms, in scopes 9.75 ms, off
//   the CPU 10.3 ms)
// outside all scopes: 10.6 ms, 58.0% of 09_gpu_streams_ 11187 (wall 18.3 ms, in scopes 7.68 ms, off
//   the CPU 7.11 ms)
// outside all scopes: 92.2 ms, 32.7% of 18 more threads (wall 282 ms, in scopes 189 ms, off the CPU
//   186 ms)
//
// Call tree, sorted by device; device is that of a scope and all below it, dev share of 34.8 ms of
//   device time, share is total, of 212 ms in all scopes
//
// scope                                  calls   device  dev share    total     self  TFLOP/s   GB/s
// ──────────────────────────────────────────────────────────────────────────────────────────────────
// batch                                      5  34.8 ms     100.0%  96.3 ms  96.3 ms    0.309   57.9
// ├─ Transfer(n=1048576 pinned)             60  12.7 ms      36.5%  61.6 ms  61.6 ms      n/a   39.7
// ├─ Transfer(n=1048576 to=host pinned)     60  12.7 ms      36.5%  30.6 ms  30.6 ms      n/a   39.7
// ├─ Transfer(n=1048576 to=host)            20  4.22 ms      12.2%  6.21 ms  6.21 ms      n/a   39.7
// ├─ Transfer(n=1048576)                    20  4.22 ms      12.1%  17.1 ms  17.1 ms      n/a   39.7
// └─ Polynomial(n=1048576 degree=64)        80   964 µs       2.8%   387 µs   387 µs   11.1    696
// ──────────────────────────────────────────────────────────────────────────────────────────────────
// all scopes                               245  34.8 ms     100.0%   212 ms   212 ms    0.309   57.9
//
// not shown at width 100: FLOPs, share, mean
//
// Kernels, sorted by total; share is of 34.8 ms of device time
//
// operator    parameters         region  kernel             calls   total  share     mean  tensor core
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Polynomial  n=1048576 …        batch   polynomial_kernel     80  964 µs   2.8%  12.0 µs  unknown
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// all kernels                                                  80  964 µs   2.8%
//
// not shown at width 100: waves, FLOPs, occupancy, grid, block, bytes, registers, shared and 4 more
// cut at width 100: parameters; whole with width=205, or KPROF='report(width=205)'
//
// Copies and memsets, sorted by total; share is of 34.8 ms of device time
//
// kind            from      to        device  calls     bytes    total  share  GB/s
// ─────────────────────────────────────────────────────────────────────────────────
// host to device  pinned    device         0     60   240 MiB  12.7 ms  36.5%  19.9
// device to host  device    pinned         0     60   240 MiB  12.7 ms  36.5%  19.9
// device to host  device    pageable       0     20  80.0 MiB  4.22 ms  12.2%  19.9
// host to device  pageable  device         0     20  80.0 MiB  4.22 ms  12.1%  19.9
// ─────────────────────────────────────────────────────────────────────────────────
// all copies                                    160   640 MiB  33.8 ms  97.2%  19.9
//
// timeline of the devices
//   device 0  92.4 ms: busy 31.4%, computing 1.0%, copying 30.7% (exposed 30.4%)
//     idle    63.4 ms, 68.6%: launched late 68.6%
//     late    of this time the host was in calls that wait 4.1%, in other calls 23.4%, in operators
//             0.1%, outside scopes 72.3%; mostly outside scopes 48.6 ms, Transfer 14.5 ms, Polynomial
//             186 µs
//   critical  104 ms: host 100.0%
//     on it   batch 96.3 ms, outside scopes 7.55 ms
//
// Completeness
//   scopes    245 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   device    240 launches = 240 attributed + 0 outside any operator; 240 records of kernels, copies
//             and memsets; none open, dropped, without timing, of unknown launch, lost, ignored, odd,
//             merged, of foreign graphs or unaccounted
//   sync      81 calls that wait for a device, 30.2 ms of host time
//   collector CUPTI 13.0 (API 130001)
//   timeline  all 245 scopes, 104 ms
//   own cost  24.5 ns a scope, 157 µs in all (0.2% of wall time, all threads summed); of that
//             218 readings of CPU time, 691 ns each; folding 817 µs; an empty scope shows 10.0 ns;
//             collecting 1.24 ms; CUPTI itself 390 ns
//   memory    13.9 MiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, calibrated twice
//   version   kprof 0.1.0
