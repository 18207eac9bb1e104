// SPDX-License-Identifier: MIT
//
// Kernels of one's own as operators: saxpy, a tiled GEMM, a GEMM on tensor cores and, from cuda_rows.cuh, softmax and layer
// norm. Each has its FLOPs and bytes beside it, tested by the compiler, and a guard around its launch: kprof finds the
// kernel's time by itself, so nothing waits for the device inside a guard. The results are compared with the CPU's.
//
//     nvcc -std=c++20 -O2 -I include examples/08_gpu_kernels.cu -o gpu_kernels && ./gpu_kernels

#include <kprof/kprof.hpp>

#include "cuda_check.hpp"
#include "cuda_rows.cuh"

#include <cuda_fp16.h>
#include <mma.h>

#include <vector>

struct Saxpy {   // y += a * x: two FLOPs an element; y is read and written
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
  constexpr kprof::traffic bytes() const { return {.read = 8 * kprof::count{n}, .written = 4 * kprof::count{n}}; }
};
struct Gemm {    // C = A * B, with A and B of `type` and C of f32
  std::int64_t M = 0, N = 0, K = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count flops() const { return kprof::count{2} * M * N * K; }
  constexpr kprof::traffic bytes() const {
    return {.read = (kprof::count{M} * K + kprof::count{K} * N) * size_of(type), .written = 4 * kprof::count{M} * N};
  }
  constexpr kprof::arithmetic arithmetic() const {   // says which of the device's peaks the rate belongs to
    return {.type = type, .on = type == kprof::dtype::f16 ? kprof::unit::tensor_core : kprof::unit::cuda_core};
  }
};
static_assert(Saxpy{.n = 1000}.flops() == 2000 && Saxpy{.n = 1000}.bytes().total() == 12'000);
static_assert(Gemm{.M = 7, .N = 13, .K = 29}.flops() == 5278 && Gemm{.M = 7, .N = 13, .K = 29}.bytes().total() == 2684);
static_assert(Gemm{.M = 16, .N = 16, .K = 16, .type = kprof::dtype::f16}.bytes().total() == 2 * 512 + 4 * 256);

__global__ void saxpy_kernel(int n, float a, const float* x, float* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] += a * x[i];
}
void saxpy(int n, float a, const float* x, float* y) {
  KPROF_OP(Saxpy, {.n = n});
  saxpy_kernel<<<(n + 255) / 256, 256>>>(n, a, x, y);
  CUDA_CHECK(cudaGetLastError());
}

constexpr unsigned tile = 16;   // M, N and K are multiples of it; for tensor cores, N is one of 4 * tile

__global__ void gemm_tiled(unsigned N, unsigned K, const float* A, const float* B, float* C) {   // a block a tile of C
  __shared__ float a[tile][tile], b[tile][tile];
  const unsigned x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
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

__global__ void gemm_tensor_cores(unsigned N, unsigned K, const half* A, const half* B, float* C) {   // a warp a tile of C
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
void gemm(const Gemm& p, const half* A, const half* B, float* C) {
  KPROF_OP(Gemm, p);
  gemm_tensor_cores<<<dim3(p.N / tile / 4, p.M / tile), 128>>>(p.N, p.K, A, B, C);
  CUDA_CHECK(cudaGetLastError());
}

/// Whole numbers from -3 to 4, so that every product and sum is exact, in f16 with f32 sums too.
template <class T>
std::vector<T> numbers(std::int64_t n, unsigned seed) {
  std::vector<T> out(n);
  for (T& value : out) value = static_cast<T>(static_cast<float>((seed = seed * 1664525U + 1013904223U) >> 29) - 3.0F);
  return out;
}

bool try_saxpy(int n) {
  const device_array<float> x(std::vector<float>(n, 1.0F));
  device_array<float> y(std::vector<float>(n, 2.0F));
  for (int i = 0; i < 10; ++i) saxpy(n, 3.0F, x.data(), y.data());
  return check(y.host().back() == 32.0F, "saxpy");
}

template <class T>
bool try_gemm(const Gemm& p) {
  const std::vector<T> a = numbers<T>(p.M * p.K, 1), b = numbers<T>(p.K * p.N, 2);
  const device_array<T> A(a), B(b);
  device_array<float> C(p.M * p.N);
  for (int i = 0; i < 10; ++i) gemm(p, A.data(), B.data(), C.data());
  const std::vector<float> c = C.host();
  bool right = true;
  for (std::int64_t at = 0; at < p.M * p.N; at += 101) {   // some of them
    float sum = 0;
    for (std::int64_t k = 0; k < p.K; ++k) sum += static_cast<float>(a[at / p.N * p.K + k]) * static_cast<float>(b[k * p.N + at % p.N]);
    right = right && sum == c[at];
  }
  return check(right, "gemm");
}

bool try_rows(int rows, int cols) {
  const std::vector<float> x = numbers<float>(std::int64_t{rows} * cols, 3);
  const device_array<float> X(x), scale(std::vector<float>(cols, 2.0F)), shift(std::vector<float>(cols, 1.0F));
  device_array<float> y(x.size());
  for (int i = 0; i < 10; ++i) softmax({.rows = rows, .cols = cols}, 0.5F, X.data(), y.data());
  bool right = check(softmax_error(cols, 0.5, x, y.host()) < 1e-3, "softmax");
  for (int i = 0; i < 10; ++i) layer_norm({.rows = rows, .cols = cols}, X.data(), scale.data(), shift.data(), y.data());
  return check(layer_norm_error(cols, 2, 1, x, y.host()) < 1e-3, "layer norm") && right;
}

int main() {
  bool right = true;
  if (have_gpu()) {
    right = try_saxpy(1 << 24);
    right = try_gemm<float>({.M = 1024, .N = 1024, .K = 1024}) && right;
    right = try_gemm<half>({.M = 1024, .N = 1024, .K = 1024, .type = kprof::dtype::f16}) && right;
    right = try_rows(4096, 1024) && right;
  }
  kprof::report();
  return right ? 0 : 1;
}
