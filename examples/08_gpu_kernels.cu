// SPDX-License-Identifier: MIT
//
// Kernels of one's own under guards: saxpy, a GEMM on tensor cores, a tiled GEMM and, from
// cuda_rows.cuh, softmax and layer norm. The first two are operators of one's own, with their FLOPs
// and bytes beside them, tested by the compiler; the others are the catalogue's. kprof finds a
// kernel's time by itself, so nothing waits for the device inside a guard. The results are compared
// with the CPU's.
//
//     nvcc -std=c++20 -O2 -I include examples/08_gpu_kernels.cu -o gpu_kernels && ./gpu_kernels

#include <kprof/kprof.hpp>
#include <kprof/ops/gemm.hpp>

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
    right = try_gemm<float>(Gemm{.M = 1024, .N = 1024, .K = 1024}) && right;
    right = try_gemm<half>(TensorGemm{.M = 1024, .N = 1024, .K = 1024}) && right;
    right = try_rows(4096, 1024) && right;
  }
  // every section, also those that come unasked only where they say something new
  kprof::report({.tree = true, .kernels = true, .copies = true, .details = true});
  return right ? 0 : 1;
}

// Output:
// kprof · 08_gpu_kernels · 909 ms · 1 thread on 2 CPUs · 43.8 GFLOP at 48.2 GFLOP/s, 47.0% of the roof
// device 0 · Scripted GPU · compute 9.0 · 132 SMs · 3,352 GB/s · busy 7.50 ms, 0.8% of wall
// no work on device 1
// roof of device 0: f32 66.9 TFLOP/s · f16 134 TFLOP/s · tf32 on tensor cores 535 TFLOP/s · f16 on
//   tensor cores 1.07 PFLOP/s · 3.35 TB/s
//
// Do first
//   1  The device idles behind calls that wait for it (11): 768 ms, 85% of its time. Launch what comes
//      next before waiting, or wait less often: read results a step later, and copy them without
//      blocking. [S1]                                                             at most  768 ms  84%
//   2  The device idles while copies hold the host: 28.7 ms, 3% of its time, in 12 calls. Use
//      cudaMemcpyAsync, from and to pinned memory. [C2]                           at most 28.7 ms   3%
//   3  The device idles while the host allocates or frees its memory: 15.9 ms, 2% of its time, in
//      18 calls. Such calls may wait for the device: allocate once, or by cudaMallocAsync. [S6]
//                                                                                 at most 15.9 ms   2%
//
// Operators, sorted by lost
//
// operator    parameters                calls   device  dev share  TFLOP/s    TB/s    roof  bound
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Saxpy       n=16777216                   10   117 µs       1.6%     2.86  17.2    511.9%  impossible
// TensorGemm  M=1024 N=1024 K=1024 f16     10  97.8 µs       1.3%   220      0.858   25.6%  small grid
// Gemm        1024×1024×1024 f32           10   106 µs       1.4%   203      1.19    37.9%  latency
// Softmax     4096×1024 f32                10   125 µs       1.7%     1.68   2.69    80.3%  memory
// LayerNorm   4096×1024, no stats f32      10   119 µs       1.6%     2.82   2.82    84.3%  memory
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                             50   565 µs       7.5%    77.6    5.13    47.0%
//
// by type of numbers: f32 43.1%, unknown type 20.8%, tf32 18.8%, 16 bit 17.3% of device time in
//   operators
// impossible, faster than this machine can be: a formula or a ceiling is wrong, or work was skipped:
//   Saxpy
// first call far above the median: Saxpy (first 25.8 µs, then 762 ns) and 4 more
// not shown at width 100: self, kernels, FLOP/B, dev total, lost, median, total, share, gap and 4 more
// outside any operator: 0 kernels, 12 copies, device 6.94 ms, 92.5%
// outside any operator, by name: copy 6.94 ms (12)
// outside all scopes: 909 ms, 100.0% of 08_gpu_kernels 20848 (wall 909 ms, in scopes 111 µs)
//
// Call tree, sorted by device; device is that of a scope and all below it, dev share of 7.50 ms of
//   device time, share is total, of 111 µs in all scopes
//
// scope                                 calls   device  dev share    total   roof  TFLOP/s    TB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────
// Softmax(4096×1024 f32)                   10   125 µs       1.7%  17.6 µs  80.3%     1.68   2.69
// LayerNorm(4096×1024, no stats f32)       10   119 µs       1.6%  24.8 µs  84.3%     2.82   2.82
// Saxpy(n=16777216)                        10   117 µs       1.6%  33.5 µs    n/a     2.86  17.2
// Gemm(1024×1024×1024 f32)                 10   106 µs       1.4%  20.6 µs  37.9%   203      1.19
// TensorGemm(M=1024 N=1024 K=1024 f16)     10  97.8 µs       1.3%  14.5 µs  25.6%   220      0.858
// ────────────────────────────────────────────────────────────────────────────────────────────────
// all scopes                               50   565 µs       7.5%   111 µs  47.0%    77.6    5.13
//
// not shown at width 100: self, FLOPs, share, mean
// outside all scopes: 0 kernels, 12 copies, device 6.94 ms, 92.5%
//
// Kernels, sorted by total; share is of 7.50 ms of device time
//
// operator    kernel             calls    total  share     mean    roof  bound       tensor core
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// Softmax     softmax_kernel        10   125 µs   1.7%  12.5 µs   80.3%  memory      no (declared)
// LayerNorm   layer_norm_kernel     10   119 µs   1.6%  11.9 µs   84.3%  memory      no (declared)
// Saxpy       saxpy_kernel          10   117 µs   1.6%  11.7 µs  511.9%  impossible  unknown
// Gemm        gemm_tiled            10   106 µs   1.4%  10.6 µs   37.9%  latency     unknown
// TensorGemm  gemm_tensor_cores     10  97.8 µs   1.3%  9.78 µs   25.6%  small grid  yes (declared)
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// all kernels                       50   565 µs   7.5%
//
// not shown at width 100: parameters, pass, waves, FLOPs, occupancy, grid, block, bytes and 6 more
//
// Copies and memsets, sorted by total; share is of 7.50 ms of device time
//
// kind            from      to        device  calls     bytes    total  share  GB/s
// ─────────────────────────────────────────────────────────────────────────────────
// device to host  device    pageable       0      5   104 MiB  5.46 ms  72.8%  20.0
// host to device  pageable  device         0      7  28.0 MiB  1.48 ms  19.7%  19.9
// ─────────────────────────────────────────────────────────────────────────────────
// all copies                                     12   132 MiB  6.94 ms  92.5%  19.9
//
// timeline of the devices
//   device 0  904 ms: busy 0.8%, computing 0.1%, copying 0.8% (exposed 0.8%)
//     idle    897 ms: launched late 99.2%
//     late    the host was in calls that wait 5.0%, in other calls <0.1%, in operators <0.1%, outside
//             scopes 95.0%; mostly outside scopes 897 ms, Saxpy 16.4 µs, LayerNorm 11.6 µs
//   critical  909 ms: copying 0.8%, host 96.0%, launching <0.1%, returning to the host 3.2%
//     on it   outside scopes 909 ms, Saxpy 33.5 µs, LayerNorm 24.8 µs, Gemm 20.6 µs, Softmax 17.6 µs
//
// Completeness
//   scopes    50 recorded; none open, left open, dropped, dropped inside kprof, closed by an outer
//             scope, closed elsewhere, invalid or merged
//   device    62 launches = 50 attributed + 12 outside any operator; 62 records of kernels, copies and
//             memsets; none open, dropped, without timing, of unknown launch, lost, ignored, odd,
//             merged, of foreign graphs or unaccounted
//   sync      1 call that waits for a device, 3.08 µs of host time
//   collector CUPTI 13.0 (API 130001)
//   timeline  all 50 scopes, 909 ms
//   own cost  96.6 ns a scope, 8.03 µs in all (<0.1% of wall time); of that 5 readings of CPU time,
//             641 ns each; folding 160 µs; an empty scope shows 29.9 ns; collecting 84.5 µs; CUPTI
//             itself 6.13 µs
//   memory    12.8 MiB of 64.0 MiB
//   clock     tsc, 0.409 ns a tick, calibrated twice
//   version   kprof 0.1.0
