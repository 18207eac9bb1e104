// SPDX-License-Identifier: MIT
//
// A library that is not one's own: transformer blocks on cuBLAS. The GEMMs are cuBLAS's under
// guards with the catalogue's Gemm; kprof gives their kernels to the operator around the call,
// however many there are and whatever they are called. GELU, softmax and layer norm are kernels of
// one's own, and the catalogue's operators too: nothing is declared here. Regions name layers and
// their halves. You see which GEMM of which layer runs far below the others.
//
//     nvcc -std=c++20 -O2 -I include examples/11_transformer_cublas.cu -o transformer -lcublas &&
//     ./transformer

#include <kprof/kprof.hpp>
#include <kprof/ops/activation.hpp>
#include <kprof/ops/gemm.hpp>

#include "cuda_check.hpp"
#include "cuda_rows.cuh"

#include <cublas_v2.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

using kprof::ops::Gelu;
using kprof::ops::Gemm;

/// A matrix in row-major order: where it begins, elements from row to row, and from one of a batch
/// to the next.
struct matrix {
  float* at;
  std::int64_t row, next = 0;
};

/// C = A * B, and + C with `beta`, in f32 that tensor cores take as tf32.
void gemm(cublasHandle_t blas, Gemm p, const matrix& A, const matrix& B, const matrix& C) {
  p.dtypeA = p.dtypeB = kprof::dtype::tf32;
  KPROF_OP(Gemm, p);
  const float one = 1, beta = p.beta ? 1 : 0;
  // cuBLAS counts by columns and sees every matrix transposed: C' = B' * A'.
  const cublasStatus_t status = cublasGemmStridedBatchedEx(
      blas, p.transB ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, p.N, p.M, p.K, &one, B.at,
      CUDA_R_32F, B.row, B.next, A.at, CUDA_R_32F, A.row, A.next, &beta, C.at, CUDA_R_32F, C.row,
      C.next, p.batch, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT);
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(status));
  std::exit(1);
}

__global__ void gelu_kernel(int n, float* x) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = 0.5F * x[i] * (1 + erff(x[i] * 0.70710678F));
}
void gelu(const Gelu& p, float* x) {
  KPROF_OP(Gelu, p);
  gelu_kernel<<<(p.numel + 255) / 256, 256>>>(p.numel, x);
  CUDA_CHECK(cudaGetLastError());
}

constexpr int tokens = 1024, width = 768, heads = 12, depth = width / heads, hidden = 4 * width,
              layers = 4;

/// Of eight bits each, so that tf32 holds them as they are.
std::vector<float> numbers(std::size_t n, unsigned seed) {
  std::vector<float> out(n);
  for (float& value : out)
    value = (static_cast<float>((seed = seed * 1664525U + 1013904223U) >> 24) - 127.5F) / 4096;
  return out;
}

struct layer {
  device_array<float> ones{std::vector<float>(width, 1.0F)}, zeros{std::vector<float>(width, 0.0F)};
  device_array<float> qkv, out, up, down;
  explicit layer(unsigned seed)
      : qkv(numbers(width * 3 * width, seed)),
        out(numbers(width * width, seed + 1)),
        up(numbers(width * hidden, seed + 2)),
        down(numbers(hidden * width, seed + 3)) {}
};
struct scratch {
  device_array<float> normal{tokens * width}, qkv{tokens * 3 * width},
      scores{std::size_t{heads} * tokens * tokens};
  device_array<float> mixed{tokens * width}, between{tokens * hidden};
};

void forward(cublasHandle_t blas, layer& l, scratch& s, float* x) {
  const matrix X{x, width}, normal{s.normal.data(), width};
  {
    KPROF_REGION("attention");
    const matrix q{s.qkv.data(), 3 * width, depth}, k{q.at + width, 3 * width, depth},
        v{k.at + width, 3 * width, depth};
    const matrix scores{s.scores.data(), tokens, tokens * tokens},
        mixed{s.mixed.data(), width, depth};
    layer_norm(tokens, width, x, l.ones.data(), l.zeros.data(), s.normal.data());
    gemm(blas, {.M = tokens, .N = 3 * width, .K = width}, normal, {l.qkv.data(), 3 * width},
         {q.at, 3 * width});
    gemm(blas, {.M = tokens, .N = tokens, .K = depth, .batch = heads, .transB = true}, q, k,
         scores);
    softmax(heads * tokens, tokens, 1 / std::sqrt(static_cast<float>(depth)), scores.at, scores.at);
    gemm(blas, {.M = tokens, .N = depth, .K = tokens, .batch = heads}, scores, v, mixed);
    gemm(blas, {.M = tokens, .N = width, .K = width, .beta = true}, {mixed.at, width},
         {l.out.data(), width}, X);
  }
  KPROF_REGION("mlp");
  layer_norm(tokens, width, x, l.ones.data(), l.zeros.data(), s.normal.data());
  gemm(blas, {.M = tokens, .N = hidden, .K = width}, normal, {l.up.data(), hidden},
       {s.between.data(), hidden});
  gelu({.numel = tokens * hidden}, s.between.data());
  gemm(blas, {.M = tokens, .N = width, .K = hidden, .beta = true}, {s.between.data(), hidden},
       {l.down.data(), width}, X);
}

double dot(std::int64_t n, const float* a, std::int64_t a_next, const float* b,
           std::int64_t b_next) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += double{a[i * a_next]} * b[i * b_next];
  return sum;
}
/// Whether what the last layer left behind is what a calculation on the CPU gives, for one token
/// and one head.
bool is_right(const layer& l, const scratch& s, int token, int head) {
  const std::vector<float> qkv = s.qkv.host(), shares = s.scores.host(), mixed = s.mixed.host();
  const std::vector<float> normal = s.normal.host(), between = s.between.host(), up = l.up.host();
  const float *q = &qkv[token * 3 * width + head * depth], *k = &qkv[width + head * depth],
              *v = k + width;
  const float* row = &shares[(std::int64_t{head} * tokens + token) * tokens];
  std::vector<float> scores(tokens);
  double sum = 0, mix = 0, neuron = 0;  // the largest errors of the last two
  for (int j = 0; j < tokens; ++j)
    scores[j] = dot(depth, q, 1, k + std::int64_t{j} * 3 * width, 1), sum += row[j];
  for (int c = 0; c < depth; ++c)
    mix = worse(mix, std::fabs(dot(tokens, row, 1, v + c, 3 * width) -
                               mixed[token * width + head * depth + c]));
  for (int o = 0; o < hidden; o += 97) {
    const double in = dot(width, &normal[token * width], 1, &up[o], hidden);
    neuron = worse(neuron, std::fabs(0.5 * in * (1 + std::erf(in * 0.70710678)) -
                                     between[token * hidden + o]));
  }
  bool right = check(std::fabs(sum - 1) < 1e-4, "a row of the softmax does not add up to 1");
  right =
      check(softmax_error(tokens, 1 / std::sqrt(double{depth}), scores, {row, row + tokens}) < 0.02,
            "the attention's shares") &&
      right;
  right = check(mix < 2e-4, "the attention's values") && right;
  return check(neuron < 5e-3, "the mlp's first GEMM") && right;
}

bool run() {
  cublasHandle_t blas = nullptr;
  if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS)
    return std::fprintf(stderr, "cuBLAS does not start\n"), false;
  std::vector<std::unique_ptr<layer>> model;
  for (unsigned i = 0; i < layers; ++i) model.push_back(std::make_unique<layer>(4 * i + 1));
  device_array<float> x(numbers(tokens * width, 99));
  scratch s;
  for (int pass = 0; pass < 10; ++pass) {
    KPROF_REGION("forward");
    for (int i = 0; i < layers; ++i) {
      KPROF_REGION("layer " + std::to_string(i));
      forward(blas, *model[i], s, x.data());
    }
  }
  const bool right = is_right(*model.back(), s, tokens - 1, heads - 1);
  cublasDestroy(blas);
  return right;
}

int main() {
  bool right = true;
  if (!kernels_compute()) std::fprintf(stderr, "no GPU: cuBLAS has nothing to run on\n");
  else if (have_gpu()) right = run();
  // every section, also those that come unasked only where they say something new
  kprof::report({.tree = true, .kernels = true, .copies = true, .details = true});
  return right ? 0 : 1;
}
