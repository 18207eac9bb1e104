// SPDX-License-Identifier: MIT
#ifndef KPROF_EXAMPLES_CUDA_ROWS_CUH
#define KPROF_EXAMPLES_CUDA_ROWS_CUH

// Softmax and layer norm of the rows of an f32 matrix: kernels, a block a row, and their launches
// under guards with the catalogue's operators. Used by 08_gpu_kernels.cu and
// 11_transformer_cublas.cu.

#include <kprof/guard.hpp>
#include <kprof/ops/norm.hpp>
#include <kprof/ops/softmax.hpp>

#include "cuda_check.hpp"

#include <cmath>
#include <vector>

/// Combines a value of each of a block's 256 threads, and gives the result to all.
template <class Combine>
__device__ float over_block(float value, Combine combine) {
  __shared__ float part[256];
  part[threadIdx.x] = value;
  __syncthreads();
  for (unsigned n = 128; n > 0; n /= 2) {
    if (threadIdx.x < n) part[threadIdx.x] = combine(part[threadIdx.x], part[threadIdx.x + n]);
    __syncthreads();
  }
  value = part[0];
  __syncthreads();  // before the next call writes over it
  return value;
}
__device__ inline float sum_over_block(float value) {
  return over_block(value, [](float a, float b) { return a + b; });
}

static __global__ void softmax_kernel(int cols, float factor, const float* x, float* y) {
  x += std::int64_t{blockIdx.x} * cols, y += std::int64_t{blockIdx.x} * cols;
  float highest = x[0] * factor, sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < cols; i += 256)
    highest = fmaxf(highest, x[i] * factor);
  highest = over_block(highest, [](float a, float b) { return fmaxf(a, b); });
  for (int i = static_cast<int>(threadIdx.x); i < cols; i += 256)
    sum += y[i] = expf(x[i] * factor - highest);
  sum = sum_over_block(sum);
  for (int i = static_cast<int>(threadIdx.x); i < cols; i += 256) y[i] /= sum;
}

static __global__ void layer_norm_kernel(int cols, const float* x, const float* scale,
                                         const float* shift, float* y) {
  x += std::int64_t{blockIdx.x} * cols, y += std::int64_t{blockIdx.x} * cols;
  float sum = 0, squares = 0;
  for (int i = static_cast<int>(threadIdx.x); i < cols; i += 256) sum += x[i];
  const float mean = sum_over_block(sum) / static_cast<float>(cols);
  for (int i = static_cast<int>(threadIdx.x); i < cols; i += 256)
    squares += (x[i] - mean) * (x[i] - mean);
  const float per_deviation = rsqrtf(sum_over_block(squares) / static_cast<float>(cols) + 1e-5F);
  for (int i = static_cast<int>(threadIdx.x); i < cols; i += 256)
    y[i] = (x[i] - mean) * per_deviation * scale[i] + shift[i];
}

/// y = softmax(factor * x).
inline void softmax(std::int64_t rows, std::int64_t cols, float factor, const float* x, float* y) {
  KPROF_OP(kprof::ops::Softmax, {.rows = rows, .cols = cols});
  softmax_kernel<<<rows, 256>>>(cols, factor, x, y);
  CUDA_CHECK(cudaGetLastError());
}
inline void layer_norm(std::int64_t rows, std::int64_t cols, const float* x, const float* scale,
                       const float* shift, float* y) {
  // the kernel keeps no statistics for a backward pass
  KPROF_OP(kprof::ops::LayerNorm, {.rows = rows, .cols = cols, .stats = false});
  layer_norm_kernel<<<rows, 256>>>(cols, x, scale, shift, y);
  CUDA_CHECK(cudaGetLastError());
}

/// The largest errors in the last row of `y`, against a calculation on the CPU; those of softmax
/// relative to 1 / cols.
inline double softmax_error(int cols, double factor, const std::vector<float>& x,
                            const std::vector<float>& y) {
  double sum = 0, worst = 0;
  for (std::size_t i = x.size() - cols; i < x.size(); ++i) sum += std::exp(factor * x[i]);
  for (std::size_t i = x.size() - cols; i < x.size(); ++i)
    worst = worse(worst, std::fabs(std::exp(factor * x[i]) / sum - y[i]) * cols);
  return worst;
}
inline double layer_norm_error(int cols, double scale, double shift, const std::vector<float>& x,
                               const std::vector<float>& y) {
  double mean = 0, variance = 0, worst = 0;
  for (std::size_t i = x.size() - cols; i < x.size(); ++i) mean += x[i] / cols;
  for (std::size_t i = x.size() - cols; i < x.size(); ++i)
    variance += (x[i] - mean) * (x[i] - mean) / cols;
  for (std::size_t i = x.size() - cols; i < x.size(); ++i)
    worst =
        worse(worst, std::fabs((x[i] - mean) / std::sqrt(variance + 1e-5) * scale + shift - y[i]));
  return worst;
}

#endif
