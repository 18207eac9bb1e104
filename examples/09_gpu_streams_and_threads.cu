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
// kprof · 09_gpu_streams_and_threads · 50.2 ms · 21 threads on 2 CPUs · 10.7 GFLOP at 214 GFLOP/s
// device 0 · Scripted GPU · compute 9.0 · 132 SMs · 3,352 GB/s · busy 26.9 ms, 53.6% of wall (run
//   times summed 34.8 ms)
// no work on device 1
// roof of device 0: 3.35 TB/s
//
// Do first
//   1  Transfer pinned takes 413 µs in most calls and 6.32 ms or more in one of a hundred. Look for
//      what interrupts it: other threads, allocation, waiting for data. The same holds for 1 other.
//      [S8]                                                                       at most 17.8 ms  12%
//
// Operators, sorted by lost
//
// operator    parameters           calls   device  dev share     self  TFLOP/s   GB/s  roof  bound
// ────────────────────────────────────────────────────────────────────────────────────────────────
// Transfer    all 4: n=1048576       160  33.8 ms      97.2%  97.3 ms      n/a   39.7   n/a  n/a
//               pinned                60  12.7 ms      36.5%  42.6 ms      n/a   39.7   n/a  n/a
//               to=host pinned        60  12.7 ms      36.5%  24.9 ms      n/a   39.7   n/a  n/a
//               to=host               20  4.22 ms      12.1%  7.84 ms      n/a   39.7   n/a  n/a
//               (default)             20  4.22 ms      12.1%  22.0 ms      n/a   39.7   n/a  n/a
// Polynomial  n=1048576 degree=64     80   967 µs       2.8%   201 µs   11.1    694     n/a  n/a
// ────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                       240  34.8 ms     100.0%  97.5 ms    0.309   57.9   n/a
// in regions, outside operators              0 ns         0%  47.1 ms
//
// n/a, no flops() declared: Transfer
// n/a, the operator does not say what type it computes with: Polynomial
// n/a, this machine's highest rate is not known: Transfer
// first call far above the median: Transfer n=1048576 pinned (first 2.13 ms, then 413 µs)
// not shown at width 100: kernels, FLOP/B, dev total, lost, median, total, share, gap and 4 more
// outside all scopes: 8.00 ms, 66.3% of 09_gpu_streams_ 9802 (wall 12.1 ms, in scopes 4.07 ms, off the
//   CPU 6.82 ms)
// outside all scopes: 7.48 ms, 68.1% of 09_gpu_streams_ 9801 (wall 11.0 ms, in scopes 3.50 ms, off the
//   CPU 3.64 ms)
// outside all scopes: 5.84 ms, 62.9% of 09_gpu_streams_ 9811 (wall 9.28 ms, in scopes 3.45 ms, off the
//   CPU 5.77 ms)
// outside all scopes: 53.3 ms, 28.5% of 18 more threads (wall 187 ms, in scopes 134 ms, off the CPU
//   103 ms)
//
// Call tree, sorted by device; device is that of a scope and all below it, dev share of 34.8 ms of
//   device time, share is total, of 145 ms in all scopes
//
// scope                                  calls   device  dev share    total     self  TFLOP/s   GB/s
// ──────────────────────────────────────────────────────────────────────────────────────────────────
// batch                                      5  34.8 ms     100.0%  47.1 ms  47.1 ms    0.309   57.9
// ├─ Transfer(n=1048576 pinned)             60  12.7 ms      36.5%  42.6 ms  42.6 ms      n/a   39.7
// ├─ Transfer(n=1048576 to=host pinned)     60  12.7 ms      36.5%  24.9 ms  24.9 ms      n/a   39.7
// ├─ Transfer(n=1048576 to=host)            20  4.22 ms      12.1%  7.84 ms  7.84 ms      n/a   39.7
// ├─ Transfer(n=1048576)                    20  4.22 ms      12.1%  22.0 ms  22.0 ms      n/a   39.7
// └─ Polynomial(n=1048576 degree=64)        80   967 µs       2.8%   201 µs   201 µs   11.1    694
// ──────────────────────────────────────────────────────────────────────────────────────────────────
// all scopes                               245  34.8 ms     100.0%   145 ms   145 ms    0.309   57.9
//
// not shown at width 100: FLOPs, share, mean
//
// Kernels, sorted by total; share is of 34.8 ms of device time
//
// operator    kernel             calls   total  share     mean  roof  bound  tensor core
// ──────────────────────────────────────────────────────────────────────────────────────
// Polynomial  polynomial_kernel     80  967 µs   2.8%  12.1 µs   n/a  n/a    unknown
// ──────────────────────────────────────────────────────────────────────────────────────
// all kernels                       80  967 µs   2.8%
//
// not shown at width 100: parameters, region, waves, FLOPs, occupancy, grid, block, bytes and 6 more
//
// Copies and memsets, sorted by total; share is of 34.8 ms of device time
//
// kind            from      to        device  calls     bytes    total  share  GB/s
// ─────────────────────────────────────────────────────────────────────────────────
// host to device  pinned    device         0     60   240 MiB  12.7 ms  36.5%  19.9
// device to host  device    pinned         0     60   240 MiB  12.7 ms  36.5%  19.9
// device to host  device    pageable       0     20  80.0 MiB  4.22 ms  12.1%  19.9
// host to device  pageable  device         0     20  80.0 MiB  4.22 ms  12.1%  19.9
// ─────────────────────────────────────────────────────────────────────────────────
// all copies                                    160   640 MiB  33.8 ms  97.2%  19.9
//
// Completeness
//   scopes    245 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   device    240 launches = 240 attributed + 0 outside any operator; 240 records of kernels, copies
//             and memsets; none open, dropped, without timing, of unknown launch, lost, ignored, odd,
//             merged, of foreign graphs or unaccounted
//   sync      81 calls that wait for a device, 34.1 µs of host time
//   collector CUPTI 13.0 (API 130001)
//   timeline  all 245 scopes, 50.2 ms
//   own cost  70.9 ns a scope, 69.8 µs in all (0.1% of wall time, all threads summed); of that
//             224 readings of CPU time, 234 ns each; folding 1.68 ms; an empty scope shows 33.8 ns;
//             collecting 2.24 ms; CUPTI itself 663 ns
//   memory    13.6 MiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, calibrated twice
//   version   kprof 0.1.0
