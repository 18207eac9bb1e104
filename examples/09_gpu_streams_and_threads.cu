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
// kprof · 09_gpu_streams_and_threads · 108 ms · 21 threads on 2 CPUs · 10.7 GFLOP at 99.0 GFLOP/s
// device 0 · Scripted GPU · compute 9.0 · 132 SMs · 3,352 GB/s · busy 31.4 ms, 29.0% of wall (run
//   times summed 34.8 ms)
// no work on device 1
// roof of device 0: 3.35 TB/s · rates at the device's highest clock, 1980 MHz
//
// Do first
//   1  Transfer pinned takes 387 µs in most calls and 17.2 ms or more in one of a hundred. Look for
//      what interrupts it: other threads, allocation, waiting for data. The same holds for 1 other.
//      [S8]                                                                       at most 37.8 ms  18%
//   2  The device copies while no kernel computes: 30.4 ms, 33% of its time. Copy on a stream of its
//      own, into a second buffer, while kernels use the first. [C4]               at most 30.4 ms  15%
//   3  The device works 29% of the time. Give it more at once: larger batches, and fewer places where
//      the host waits. [S2]
//
// Operators, sorted by lost
//
// operator    parameters                calls   device  dev share  TFLOP/s   GB/s  roof  bound
// ────────────────────────────────────────────────────────────────────────────────────────────
// Transfer    all 4 rows: n=1048576       160  33.8 ms      97.2%      n/a   39.7   n/a  n/a
//               to=host pinned             60  12.7 ms      36.5%      n/a   39.7   n/a  n/a
//               pinned                     60  12.7 ms      36.5%      n/a   39.7   n/a  n/a
//               to=host                    20  4.22 ms      12.2%      n/a   39.7   n/a  n/a
//               to=device pinned=false     20  4.22 ms      12.1%      n/a   39.7   n/a  n/a
// Polynomial  n=1048576 degree=64          80   964 µs       2.8%   11.1    696     n/a  n/a
// ────────────────────────────────────────────────────────────────────────────────────────────
// in operators                            240  34.8 ms     100.0%    0.309   57.9   n/a
// in regions, outside operators                   0 ns         0%
//
// n/a, no flops() declared: Transfer
// n/a, this machine's highest rate is not known: Transfer, Polynomial
// first call far above the median: Transfer n=1048576 (first 3.52 ms, then 374 µs) and 1 more
// not shown at width 100: self, lost, kernels, FLOP/B, dev total, median, total, share, gap and 4 more
// outside all scopes: 27.0 ms, 86.6% of 09_gpu_streams_ 22330 (wall 31.2 ms, in scopes 4.19 ms, off
//   the CPU 21.2 ms)
// outside all scopes: 16.7 ms, 69.5% of 09_gpu_streams_ 22329 (wall 24.1 ms, in scopes 7.36 ms, off
//   the CPU 11.3 ms)
// outside all scopes: 16.6 ms, 68.9% of 09_gpu_streams_ 22331 (wall 24.1 ms, in scopes 7.51 ms, off
//   the CPU 12.2 ms)
// outside all scopes: 146 ms, 43.7% of 18 more threads (wall 333 ms, in scopes 187 ms, off the CPU
//   235 ms)
//
// Call tree, sorted by device; device is that of a scope and all below it, dev share of 34.8 ms of
//   device time, share is total, of 206 ms in all scopes
//
// scope                                  calls   device  dev share    total     self  TFLOP/s   GB/s
// ──────────────────────────────────────────────────────────────────────────────────────────────────
// batch                                      5  34.8 ms     100.0%   101 ms   101 ms    0.309   57.9
// ├─ Transfer(n=1048576 to=host pinned)     60  12.7 ms      36.5%  15.3 ms  15.3 ms      n/a   39.7
// ├─ Transfer(n=1048576 pinned)             60  12.7 ms      36.5%  61.0 ms  61.0 ms      n/a   39.7
// ├─ Transfer(n=1048576 to=host)            20  4.22 ms      12.2%  6.33 ms  6.33 ms      n/a   39.7
// ├─ Transfer(n=1048576)                    20  4.22 ms      12.1%  22.0 ms  22.0 ms      n/a   39.7
// └─ Polynomial(n=1048576 degree=64)        80   964 µs       2.8%   382 µs   382 µs   11.1    696
// ──────────────────────────────────────────────────────────────────────────────────────────────────
// all scopes                               245  34.8 ms     100.0%   206 ms   206 ms    0.309   57.9
//
// not shown at width 100: FLOPs, share, mean
//
// Kernels, sorted by total; share is of 34.8 ms of device time
//
// operator    kernel             calls   total  share     mean  roof  bound  tensor core
// ──────────────────────────────────────────────────────────────────────────────────────
// Polynomial  polynomial_kernel     80  964 µs   2.8%  12.1 µs   n/a  n/a    unknown
// ──────────────────────────────────────────────────────────────────────────────────────
// all kernels                       80  964 µs   2.8%
//
// not shown at width 100: parameters, region, waves, FLOPs, occupancy, grid, block, bytes and 6 more
//
// Copies and memsets, sorted by total; share is of 34.8 ms of device time
//
// kind            from      to        device  calls     bytes    total  share  GB/s
// ─────────────────────────────────────────────────────────────────────────────────
// device to host  device    pinned         0     60   240 MiB  12.7 ms  36.5%  19.9
// host to device  pinned    device         0     60   240 MiB  12.7 ms  36.5%  19.9
// device to host  device    pageable       0     20  80.0 MiB  4.22 ms  12.2%  19.9
// host to device  pageable  device         0     20  80.0 MiB  4.22 ms  12.1%  19.9
// ─────────────────────────────────────────────────────────────────────────────────
// all copies                                    160   640 MiB  33.8 ms  97.2%  19.9
//
// timeline of the devices
//   device 0  93.2 ms: busy 33.7%, computing 1.0%, copying 32.8% (exposed 32.7%)
//     idle    61.8 ms: launched late 66.3%, from kernel to kernel <0.1%
//     late    the host was in calls that wait 7.3%, in other calls 41.2%, in operators 0.3%, outside
//             scopes 51.2%; mostly outside scopes 36.3 ms, Transfer 25.3 ms, Polynomial 234 µs
//   critical  108 ms: host 100.0%
//     on it   batch 101 ms, outside scopes 7.22 ms
//
// Completeness
//   scopes    245 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   device    240 launches = 240 attributed + 0 outside any operator; 240 records of kernels, copies
//             and memsets; none open, dropped, without timing, of unknown launch, lost, ignored, odd,
//             merged, of foreign graphs or unaccounted
//   sync      81 calls that wait for a device, 54.6 ms of host time
//   collector CUPTI 13.0 (API 130001)
//   timeline  all 245 scopes, 108 ms
//   own cost  110 ns a scope, 256 µs in all (0.2% of wall time, all threads summed); of that
//             216 readings of CPU time, 1.06 µs each; folding 2.28 ms; an empty scope shows 30.0 ns;
//             collecting 3.19 ms; CUPTI itself 1.14 µs
//   memory    13.9 MiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, calibrated twice
//   version   kprof 0.1.0
