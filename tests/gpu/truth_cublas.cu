// SPDX-License-Identifier: MIT
//
// The catalogue's matrix product as cuBLAS runs it, for truth.py to hold its formulas against
// hardware counters. As truth.cu otherwise.

#include "truth.hpp"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

namespace ops = kprof::ops;
using kprof::dtype;

void must(cublasStatus_t status) {
  library_must(status == CUBLAS_STATUS_SUCCESS, "cuBLAS", cublasGetStatusString(status));
}

// ---- products of matrices, by columns; A is transposed, so that both operands have K contiguous

template <class T>
void multiply(dtype type, const char* unit, cudaDataType_t data, cublasComputeType_t compute) {
  constexpr int size = 8192;
  constexpr std::size_t n = std::size_t{size} * size;  // 256 MiB each of f32
  device_array<T> a(n), b(n), c(n);
  fill(a, n, 1);
  fill(b, n, 2);
  cublasHandle_t blas = nullptr;
  must(cublasCreate(&blas));
  const float one = 1, zero = 0;
  count(ops::Gemm{.M = size, .N = size, .K = size, .dtypeA = type, .transA = true}, unit, [&] {
    must(cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, size, size, size, &one, a.data(), data, size,
                      b.data(), data, size, &zero, c.data(), data, size, compute,
                      CUBLAS_GEMM_DEFAULT));
  });
  check_samples(c, n, 64, std::sqrt(size) / 3, tolerance_of(type), [](std::size_t i) {
    double sum = 0;
    for (std::size_t k = 0; k < size; ++k)
      sum += exactly_at<T>(i % size * size + k, 1) * exactly_at<T>(i / size * size + k, 2);
    return sum;
  });
  must(cublasDestroy(blas));
}

void gemm_f32() { multiply<float>(dtype::f32, "f32", CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC); }
void gemm_tf32() { multiply<float>(dtype::tf32, "tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32); }
void gemm_bf16() { multiply<__nv_bfloat16>(dtype::bf16, "bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F); }
void gemm_f16() { multiply<__half>(dtype::f16, "f16", CUDA_R_16F, CUBLAS_COMPUTE_32F); }

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "truth_cublas",
                   {{"gemm_f32", gemm_f32, mode::gpu},
                    {"gemm_tf32", gemm_tf32, mode::gpu},
                    {"gemm_bf16", gemm_bf16, mode::gpu},
                    {"gemm_f16", gemm_f16, mode::gpu}});
}
