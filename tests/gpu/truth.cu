// SPDX-License-Identifier: MIT
//
// Operators of the catalogue by plain kernels, which do little beside what the formulas say, for
// truth.py to hold these against hardware counters. No library but CUDA's runtime.
//
//     truth --list        the cases
//     truth CASE          one call between cudaProfilerStart and cudaProfilerStop, a line of JSON,
//                         and checks of its result

#include "truth.hpp"

#include <cuda_bf16.h>
#include <mma.h>

namespace {

namespace ops = kprof::ops;

// ---- y = a x + y

__global__ void saxpy_kernel(std::size_t n, float a, const float* x, float* y) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    y[i] = a * x[i] + y[i];
}

void saxpy() {
  constexpr std::size_t n = std::size_t{1} << 28U;  // 1 GiB each
  device_array<float> x(n), y(n);
  fill(x, n, 1);
  fill(y, n, 2);
  count(ops::Axpy{.n = n, .type = kprof::dtype::f32}, "f32", [&] {
    saxpy_kernel<<<1 << 16, 256>>>(n, 2.5F, x.data(), y.data());
    CUDA(cudaGetLastError());
  });
  // called twice
  check_samples(y, n, 64, 1, 1e-5, [](std::size_t i) {
    return exactly_at<float>(i, 2) + 2 * 2.5 * exactly_at<float>(i, 1);
  });
}

// ---- rows: a warp has one, and keeps it in shared memory so that it is read once

constexpr int lanes = 32, rows = 32768, cols = 4096;  // 512 MiB
constexpr std::size_t elements = std::size_t{rows} * cols;

/// Combined over the lanes; lane 0 has it. Only lanes whose result is used do anything, as few
/// operations as there can be.
template <class Combine>
__device__ float combined(float mine, const Combine& combine) {
  const int lane = static_cast<int>(threadIdx.x);
  for (int step = lanes / 2; step > 0; step /= 2) {
    const float other = __shfl_down_sync(~0U, mine, step);
    if (lane < step) mine = combine(mine, other);
  }
  return mine;
}
__device__ float from_lane_0(float x) { return __shfl_sync(~0U, x, 0); }

__global__ void softmax_kernel(const float* x, float* y) {
  __shared__ float row[cols];
  x += std::size_t{blockIdx.x} * cols, y += std::size_t{blockIdx.x} * cols;
  const int lane = static_cast<int>(threadIdx.x);
  float most = x[lane];
  row[lane] = most;
  for (int i = lane + lanes; i < cols; i += lanes) most = fmaxf(most, row[i] = x[i]);
  most = from_lane_0(combined(most, [](float a, float b) { return fmaxf(a, b); }));
  float sum = 0;
  for (int i = lane; i < cols; i += lanes) sum += row[i] = __expf(row[i] - most);
  sum = combined(sum, [](float a, float b) { return a + b; });
  float scale = 0;
  if (lane == 0) scale = __frcp_rn(sum);
  scale = from_lane_0(scale);
  for (int i = lane; i < cols; i += lanes) y[i] = row[i] * scale;
}

void softmax() {
  device_array<float> x(elements), y(elements);
  fill(x, elements, 1);
  count(ops::Softmax{.rows = rows, .cols = cols, .type = kprof::dtype::f32}, "f32", [&] {
    softmax_kernel<<<rows, lanes>>>(x.data(), y.data());
    CUDA(cudaGetLastError());
  });
  check_samples(y, elements, 64, 1.0 / cols, 1e-4, [](std::size_t i) {
    double sum = 0;
    for (std::size_t j = i / cols * cols; j < (i / cols + 1) * cols; ++j)
      sum += std::exp(exactly_at<float>(j, 1));
    return std::exp(exactly_at<float>(i, 1)) / sum;
  });
}

constexpr float epsilon = 1e-5F;

__global__ void layer_norm_kernel(const float* x, const float* gamma, const float* beta, float* y,
                                  float* mean, float* reciprocal_deviation) {
  __shared__ float row[cols];
  x += std::size_t{blockIdx.x} * cols, y += std::size_t{blockIdx.x} * cols;
  const int lane = static_cast<int>(threadIdx.x);
  const auto add = [](float a, float b) { return a + b; };
  float sum = 0;
  for (int i = lane; i < cols; i += lanes) sum += row[i] = x[i];
  const float center = from_lane_0(combined(sum, add)) / cols;
  float squares = 0;
  for (int i = lane; i < cols; i += lanes) {
    const float d = row[i] - center;
    squares += d * d;
  }
  squares = combined(squares, add);
  float scale = 0;
  if (lane == 0) {
    scale = rsqrtf(squares / cols + epsilon);
    mean[blockIdx.x] = center, reciprocal_deviation[blockIdx.x] = scale;
  }
  scale = from_lane_0(scale);
  for (int i = lane; i < cols; i += lanes) y[i] = (row[i] - center) * scale * gamma[i] + beta[i];
}

void layer_norm() {
  device_array<float> x(elements), y(elements), gamma(cols), beta(cols), mean(rows),
      deviation(rows);
  fill(x, elements, 1);
  fill(gamma, cols, 2);
  fill(beta, cols, 3);
  count(ops::LayerNorm{.rows = rows, .cols = cols, .type = kprof::dtype::f32}, "f32", [&] {
    layer_norm_kernel<<<rows, lanes>>>(x.data(), gamma.data(), beta.data(), y.data(), mean.data(),
                                       deviation.data());
    CUDA(cudaGetLastError());
  });
  check_samples(y, elements, 64, 1, 1e-4, [](std::size_t i) {
    const std::size_t first = i / cols * cols;
    double sum = 0, squares = 0;
    for (std::size_t j = first; j < first + cols; ++j) sum += exactly_at<float>(j, 1);
    for (std::size_t j = first; j < first + cols; ++j)
      squares += std::pow(exactly_at<float>(j, 1) - sum / cols, 2);
    const double normal =
        (exactly_at<float>(i, 1) - sum / cols) / std::sqrt(squares / cols + epsilon);
    return normal * exactly_at<float>(i % cols, 2) + exactly_at<float>(i % cols, 3);
  });
}

// ---- C = A B on tensor cores: A by rows, B by columns, 64 x 64 of C a warp, 2 x 2 warps a block

namespace wmma = nvcuda::wmma;
constexpr int size = 8192, step = 16, fragments = 4, tile = step * fragments, block = 2 * tile;

__global__ void tensor_core_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  const std::size_t m = blockIdx.y * std::size_t{block} + warp / 2 * tile,
                    n = blockIdx.x * std::size_t{block} + warp % 2 * tile;
  wmma::fragment<wmma::accumulator, step, step, step, float> sum[fragments][fragments];
  wmma::fragment<wmma::matrix_a, step, step, step, __nv_bfloat16, wmma::row_major> left[fragments];
  wmma::fragment<wmma::matrix_b, step, step, step, __nv_bfloat16, wmma::col_major> right;
  for (auto& line : sum)
    for (auto& part : line) wmma::fill_fragment(part, 0.0F);
  for (int k = 0; k < size; k += step) {
    for (int i = 0; i < fragments; ++i)
      wmma::load_matrix_sync(left[i], a + (m + i * step) * size + k, size);
    for (int j = 0; j < fragments; ++j) {
      wmma::load_matrix_sync(right, b + (n + j * step) * size + k, size);
      for (int i = 0; i < fragments; ++i) wmma::mma_sync(sum[i][j], left[i], right, sum[i][j]);
    }
  }
  for (int i = 0; i < fragments; ++i)
    for (int j = 0; j < fragments; ++j)
      wmma::store_matrix_sync(c + (m + i * step) * size + n + j * step, sum[i][j], size,
                              wmma::mem_row_major);
}

void tensor_core() {
  constexpr std::size_t n = std::size_t{size} * size;  // 128 MiB each, and 256 MiB
  device_array<__nv_bfloat16> a(n), b(n);
  device_array<float> c(n);
  fill(a, n, 1);
  fill(b, n, 2);
  using kprof::dtype;
  count(ops::Gemm{.M = size,
                  .N = size,
                  .K = size,
                  .dtypeA = dtype::bf16,
                  .dtypeB = dtype::bf16,
                  .dtypeC = dtype::f32},
        "bf16", [&] {
          tensor_core_kernel<<<dim3(size / block, size / block), 4 * lanes>>>(a.data(), b.data(),
                                                                              c.data());
          CUDA(cudaGetLastError());
        });
  check_samples(c, n, 64, std::sqrt(size) / 3, 1e-3, [](std::size_t i) {
    double sum = 0;
    const std::size_t row = i / size * size, column = i % size * size;
    for (std::size_t k = 0; k < size; ++k)
      sum += exactly_at<__nv_bfloat16>(row + k, 1) * exactly_at<__nv_bfloat16>(column + k, 2);
    return sum;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "truth",
                   {{"saxpy", saxpy, mode::any},
                    {"softmax", softmax, mode::any},
                    {"layer_norm", layer_norm, mode::any},
                    {"tensor_core", tensor_core, mode::any}});
}
