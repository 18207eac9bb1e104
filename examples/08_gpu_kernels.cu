// SPDX-License-Identifier: MIT
//
// Kernels of one's own under guards: saxpy, a GEMM on tensor cores, a tiled GEMM, GELU and, from
// cuda_rows.cuh, softmax and layer norm. The first two are operators of one's own, with their FLOPs
// and bytes beside them, tested by the compiler; the others are the catalogue's. kprof finds a
// kernel's time by itself, so nothing waits for the device inside a guard. The results are compared
// with the CPU's.
//
//     nvcc -std=c++20 -O2 -I include examples/08_gpu_kernels.cu -o gpu_kernels && ./gpu_kernels

#include <kprof/kprof.hpp>
#include <kprof/ops/gemm.hpp>
#include <kprof/ops/pointwise.hpp>

#include "cuda_check.hpp"
#include "cuda_rows.cuh"

#include <cuda_fp16.h>
#include <mma.h>

#include <vector>

struct Saxpy {  // y += a * x: two FLOPs an element; y is read and written
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const {
    return {.read = 8 * kprof::count{n}, .written = 4 * kprof::count{n}};
  }
};
// C = A * B, with A and B of f16 and C of f32; the catalogue's Gemm cannot know the unit
struct TensorGemm {
  std::int64_t M = 0, N = 0, K = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * M * N * K; }
  constexpr kprof::traffic bytes() const {
    return {.read = 2 * (kprof::count{M} * K + kprof::count{K} * N),
            .written = 4 * kprof::count{M} * N};
  }
  // says which of the device's peaks the rate belongs to
  constexpr kprof::arithmetic arithmetic() const {
    return {.type = kprof::dtype::f16, .on = kprof::arithmetic_unit::tensor_core};
  }
};
using kprof::ops::Gemm;
static_assert(Saxpy{.n = 1000}.flops() == 2000 && Saxpy{.n = 1000}.bytes().total() == 12'000);
static_assert(TensorGemm{.M = 7, .N = 13, .K = 29}.flops() == 5278 &&
              TensorGemm{.M = 7, .N = 13, .K = 29}.bytes().total() == 1524);

__global__ void saxpy_kernel(int n, float a, const float* x, float* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] += a * x[i];
}
void saxpy(int n, float a, const float* x, float* y) {
  KPROF_OP(Saxpy, {.n = n});
  saxpy_kernel<<<(n + 255) / 256, 256>>>(n, a, x, y);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void gelu_kernel(int n, const float* x, float* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = 0.5F * x[i] * (1 + erff(x[i] * 0.70710678F));
}
void gelu(int n, const float* x, float* y) {
  KPROF_OP(kprof::ops::Gelu, {.numel = n});
  gelu_kernel<<<(n + 255) / 256, 256>>>(n, x, y);
  CUDA_CHECK(cudaGetLastError());
}

// M, N and K are multiples of it; for tensor cores, N is one of 4 * tile
constexpr unsigned tile = 16;

// a block a tile of C
__global__ void gemm_tiled(unsigned N, unsigned K, const float* A, const float* B, float* C) {
  __shared__ float a[tile][tile], b[tile][tile];
  const unsigned x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * tile + y,
                 col = blockIdx.x * tile + x;
  float sum = 0;
  for (unsigned k = 0; k < K; k += tile) {
    a[y][x] = A[row * K + k + x];
    b[y][x] = B[(k + y) * N + col];
    __syncthreads();
    for (unsigned i = 0; i < tile; ++i) sum += a[y][i] * b[i][x];
    __syncthreads();
  }
  C[row * N + col] = sum;
}
void gemm(const Gemm& p, const float* A, const float* B, float* C) {
  KPROF_OP(Gemm, p);
  gemm_tiled<<<dim3(p.N / tile, p.M / tile), dim3(tile, tile)>>>(p.N, p.K, A, B, C);
  CUDA_CHECK(cudaGetLastError());
}

// a warp a tile of C
__global__ void gemm_tensor_cores(unsigned N, unsigned K, const half* A, const half* B, float* C) {
  namespace wmma = nvcuda::wmma;
  const unsigned row = blockIdx.y * tile, col = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * tile;
  wmma::fragment<wmma::matrix_a, tile, tile, tile, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, tile, tile, tile, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, tile, tile, tile, float> c;
  wmma::fill_fragment(c, 0.0F);
  for (unsigned k = 0; k < K; k += tile) {
    wmma::load_matrix_sync(a, A + row * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + col, N);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + row * N + col, c, N, wmma::mem_row_major);
}
void gemm(const TensorGemm& p, const half* A, const half* B, float* C) {
  KPROF_OP(TensorGemm, p);
  gemm_tensor_cores<<<dim3(p.N / tile / 4, p.M / tile), 128>>>(p.N, p.K, A, B, C);
  CUDA_CHECK(cudaGetLastError());
}

/// Whole numbers from -3 to 4, so that every product and sum is exact, in f16 with f32 sums too.
template <class T>
std::vector<T> numbers(std::int64_t n, unsigned seed) {
  std::vector<T> out(n);
  for (T& value : out)
    value = static_cast<T>(static_cast<float>((seed = seed * 1664525U + 1013904223U) >> 29) - 3.0F);
  return out;
}

bool try_saxpy(int n) {
  const device_array<float> x(std::vector<float>(n, 1.0F));
  device_array<float> y(std::vector<float>(n, 2.0F));
  for (int i = 0; i < 10; ++i) saxpy(n, 3.0F, x.data(), y.data());
  return check(y.host().back() == 32.0F, "saxpy");
}

bool try_gelu(int n) {
  const device_array<float> x(std::vector<float>(n, 1.0F));
  device_array<float> y(n);
  for (int i = 0; i < 10; ++i) gelu(n, x.data(), y.data());
  return check(y.host().back() > 0.841F && y.host().back() < 0.842F, "gelu");
}

template <class T, class Op>
bool try_gemm(const Op& p) {
  const std::vector<T> a = numbers<T>(p.M * p.K, 1), b = numbers<T>(p.K * p.N, 2);
  const device_array<T> A(a), B(b);
  device_array<float> C(p.M * p.N);
  for (int i = 0; i < 10; ++i) gemm(p, A.data(), B.data(), C.data());
  const std::vector<float> c = C.host();
  bool right = true;
  for (std::int64_t at = 0; at < p.M * p.N; at += 101) {  // some of them
    float sum = 0;
    for (std::int64_t k = 0; k < p.K; ++k)
      sum += static_cast<float>(a[at / p.N * p.K + k]) * static_cast<float>(b[k * p.N + at % p.N]);
    right = right && sum == c[at];
  }
  return check(right, "gemm");
}

bool try_rows(int rows, int cols) {
  const std::vector<float> x = numbers<float>(std::int64_t{rows} * cols, 3);
  const device_array<float> X(x), scale(std::vector<float>(cols, 2.0F)),
      shift(std::vector<float>(cols, 1.0F));
  device_array<float> y(x.size());
  for (int i = 0; i < 10; ++i) softmax(rows, cols, 0.5F, X.data(), y.data());
  bool right = check(softmax_error(cols, 0.5, x, y.host()) < 1e-3, "softmax");
  for (int i = 0; i < 10; ++i)
    layer_norm(rows, cols, X.data(), scale.data(), shift.data(), y.data());
  return check(layer_norm_error(cols, 2, 1, x, y.host()) < 1e-3, "layer norm") && right;
}

int main() {
  bool right = true;
  if (have_gpu()) {
    right = try_saxpy(1 << 24);
    right = try_gelu(4096 * 1024 * 4) && right;
    right = try_gemm<float>(Gemm{.M = 1024, .N = 1024, .K = 1024}) && right;
    right = try_gemm<half>(TensorGemm{.M = 1024, .N = 1024, .K = 1024}) && right;
    right = try_rows(4096, 1024) && right;
  }
  // every section, also those that come unasked only where they say something new
  kprof::report({.tree = true, .kernels = true, .copies = true, .details = true});
  return right ? 0 : 1;
}

// Output:
// kprof · 08_gpu_kernels · 1.17 s · 1 thread on 2 CPUs · 44.0 GFLOP at 37.6 GFLOP/s · operators at
//   37.4% of the roof
// device 0 · Scripted GPU · compute 9.0 · 132 SMs · 3,352 GB/s · busy 14.4 ms, 1.2% of wall
// no work on device 1
// roof of device 0: f32 66.9 TFLOP/s · f16 134 TFLOP/s · tf32 on tensor cores 535 TFLOP/s · f16 on
//   tensor cores 1.07 PFLOP/s · 3.35 TB/s · rates at the device's highest clock, 1980 MHz
//
// Do first
//   1  The device idles behind calls that wait for it (13): 891 ms, 76% of its time. Launch what comes
//      next before waiting, or wait less often: read results a step later, and copy them without
//      blocking. [S1]                                                             at most  891 ms  76%
//   2  The device idles while copies hold the host: 92.2 ms, 8% of its time, in 12 calls. Use
//      cudaMemcpyAsync, from and to pinned memory. [C2]                           at most 92.2 ms   8%
//   3  The device idles while the host allocates or frees its memory: 18.6 ms, 2% of its time, in
//      22 calls. Such calls may wait for the device: allocate once, or by cudaMallocAsync. [S6]
//                                                                                 at most 18.6 ms   2%
//
// Operators, sorted by lost
//
// operator    parameters                calls  device  dev share  TFLOP/s    roof  bound          lost
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Saxpy       n=16777216                   10  117 µs       0.8%     2.86  511.9%  impossible      n/a
// Gelu        16777216 f32                 10  108 µs       0.8%     1.55  370.8%  impossible      n/a
// TensorGemm  M=1024 N=1024 K=1024 f16     10  110 µs       0.8%   196      22.8%  small grid  84.8 µs
// Gemm        1024×1024×1024 f32           10  114 µs       0.8%   188      35.1%  latency     74.3 µs
// Softmax     4096×1024 f32                10  135 µs       0.9%     1.55   74.2%  memory      34.8 µs
// LayerNorm   4096×1024, no stats f32      10  124 µs       0.9%     2.70   80.4%  memory      24.3 µs
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                             60  709 µs       4.9%    62.1    37.4%               444 µs
//
// by type of numbers: f32 51.8%, unknown type 16.6%, tf32 16.1%, 16 bit 15.5% of device time in
//   operators
// impossible, faster than this machine can be: a formula or a ceiling is wrong, or work was skipped
//   or done elsewhere; totals count its work, and rates of totals leave it out if they can: Saxpy,
//   Gelu
// first call far above the median: Saxpy (first 26.8 µs, then 428 ns) and 5 more
// not shown at width 100: GB/s, self, kernels, FLOP/B, dev total, median, total, share, gap and 4 more
// outside any operator: 0 kernels, 14 copies, device 13.7 ms, 95.1%
// outside any operator, by name: copy 13.7 ms (14)
// outside all scopes: 1.17 s, 100.0% of 08_gpu_kernels 12013 (wall 1.17 s, in scopes 118 µs)
//
// Call tree, sorted by device; device is that of a scope and all below it, dev share of 14.4 ms of
//   device time, share is total, of 118 µs in all scopes
//
// scope                                 calls  device  dev share    total   roof  TFLOP/s    TB/s
// ───────────────────────────────────────────────────────────────────────────────────────────────
// Softmax(4096×1024 f32)                   10  135 µs       0.9%  14.9 µs  74.2%     1.55   2.49
// LayerNorm(4096×1024, no stats f32)       10  124 µs       0.9%  20.3 µs  80.4%     2.70   2.70
// Saxpy(n=16777216)                        10  117 µs       0.8%  31.3 µs    n/a     2.86  17.2
// Gemm(1024×1024×1024 f32)                 10  114 µs       0.8%  14.5 µs  35.1%   188      1.10
// TensorGemm(M=1024 N=1024 K=1024 f16)     10  110 µs       0.8%  20.9 µs  22.8%   196      0.764
// Gelu(16777216 f32)                       10  108 µs       0.8%  16.4 µs    n/a     1.55  12.4
// ───────────────────────────────────────────────────────────────────────────────────────────────
// all scopes                               60  709 µs       4.9%   118 µs  37.4%    62.1    5.98
//
// not shown at width 100: self, FLOPs, share, mean
// outside all scopes: 0 kernels, 14 copies, device 13.7 ms, 95.1%
//
// Kernels, sorted by total; share is of 14.4 ms of device time
//
// operator    kernel             calls   total  share     mean    roof  bound       tensor core
// ────────────────────────────────────────────────────────────────────────────────────────────────
// Softmax     softmax_kernel        10  135 µs   0.9%  13.5 µs   74.2%  memory      no (declared)
// LayerNorm   layer_norm_kernel     10  124 µs   0.9%  12.4 µs   80.4%  memory      no (declared)
// Saxpy       saxpy_kernel          10  117 µs   0.8%  11.7 µs  511.9%  impossible  unknown
// Gemm        gemm_tiled            10  114 µs   0.8%  11.4 µs   35.1%  latency     unknown
// TensorGemm  gemm_tensor_cores     10  110 µs   0.8%  11.0 µs   22.8%  small grid  yes (declared)
// Gelu        gelu_kernel           10  108 µs   0.8%  10.8 µs  370.8%  impossible  no (declared)
// ────────────────────────────────────────────────────────────────────────────────────────────────
// all kernels                       60  709 µs   4.9%
//
// not shown at width 100: parameters, pass, waves, FLOPs, occupancy, grid, block, bytes and 6 more
//
// Copies and memsets, sorted by total; share is of 14.4 ms of device time
//
// kind            from      to        device  calls     bytes    total  share  GB/s
// ─────────────────────────────────────────────────────────────────────────────────
// device to host  device    pageable       0      6   168 MiB  8.82 ms  61.4%  20.0
// host to device  pageable  device         0      8  92.0 MiB  4.84 ms  33.7%  20.0
// ─────────────────────────────────────────────────────────────────────────────────
// all copies                                     14   260 MiB  13.7 ms  95.1%  20.0
//
// timeline of the devices
//   device 0  1.17 s: busy 1.2%, computing 0.1%, copying 1.2% (exposed 1.2%)
//     idle    1.15 s, 98.8%: launched late 98.8%, from kernel to kernel <0.1%
//     late    of this time the host was in calls that wait 9.6%, in other calls <0.1%, in operators
//             <0.1%, outside scopes 90.4%; mostly outside scopes 1.15 s, Saxpy 15.8 µs, LayerNorm 11.5
//             µs
//   critical  1.17 s: copying 1.2%, host 90.9%, launching <0.1%, returning to the host 7.9%
//     on it   outside scopes 1.17 s, Saxpy 31.3 µs, TensorGemm 20.9 µs, LayerNorm 20.3 µs, Gelu
//             16.4 µs
//
// Completeness
//   scopes    60 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   device    74 launches = 60 attributed + 14 outside any operator; 74 records of kernels, copies and
//             memsets; none open, dropped, without timing, of unknown launch, lost, ignored, odd,
//             merged, of foreign graphs or unaccounted
//   sync      1 call that waits for a device, 2.93 µs of host time
//   collector CUPTI 13.0 (API 130001)
//   timeline  all 60 scopes, 1.17 s
//   own cost  24.5 ns a scope, 7.71 µs in all (<0.1% of wall time); of that 6 readings of CPU time,
//             1.04 µs each; folding 84.5 µs; an empty scope shows 10.0 ns; collecting 30.0 µs; CUPTI
//             itself 7.72 µs
//   memory    12.8 MiB of 64.0 MiB
//   clock     tsc, 0.385 ns a tick, calibrated twice
//   version   kprof 0.1.0
