// SPDX-License-Identifier: MIT
//
// cuBLAS: whatever kernels it launches belong to the operator around the call, and the rate that
// follows from the operator's FLOPs and the device's time is the one that events show for the same
// work.

#include "check.hpp"

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <functional>

namespace {

struct Gemm {
  std::int64_t M = 0, N = 0, K = 0;
  kprof::dtype type = kprof::dtype::f32;
  constexpr kprof::count flops() const { return kprof::count{2} * M * N * K; }
  constexpr kprof::arithmetic arithmetic() const {
    return {.type = type,
            .on = type == kprof::dtype::f32 ? kprof::arithmetic_unit::cuda_core
                                            : kprof::arithmetic_unit::tensor_core};
  }
};
static_assert(Gemm{.M = 1024, .N = 512, .K = 2048}.flops() == 2'147'483'648);

void must(cublasStatus_t status) {
  library_must(status == CUBLAS_STATUS_SUCCESS, "cuBLAS", cublasGetStatusString(status));
}

template <class T>
__global__ void fill_kernel(T* x, std::size_t n, unsigned seed) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    // zeros would draw less power, and run faster
    const unsigned r = (static_cast<unsigned>(i) + seed) * 2654435761U;
    x[i] = static_cast<T>(static_cast<float>(r >> 8) / 8388608.0F - 1.0F);
  }
}

constexpr int n = 8192, repeats = 20;

void measure(kprof::dtype type, const std::function<void()>& gemm) {
  for (int i = 0; i < 3; ++i) gemm();
  CUDA(cudaDeviceSynchronize());
  CHECK("kprof starts", kprof::start().ok());
  cudaEvent_t begin = nullptr, end = nullptr;
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  CUDA(cudaEventRecord(begin));
  for (int i = 0; i < repeats; ++i) {
    KPROF_OP(Gemm, {.M = n, .N = n, .K = n, .type = type});
    gemm();
  }
  CUDA(cudaEventRecord(end));
  CUDA(cudaEventSynchronize(end));
  float ms = 0;
  CUDA(cudaEventElapsedTime(&ms, begin, end));
  const kprof::profile p = kprof::snapshot();
  check_complete(p);

  const tally t = directly_in(p, "Gemm");
  std::uint64_t flops = 0;
  for (const kprof::scope_node& node : p.nodes)
    if (is_called(p, node, "Gemm")) flops += node.calls * node.work.flops;
  CHECK_EQUAL("FLOPs of all calls", flops, 2ULL * n * n * n * repeats);
  CHECK("each call has a kernel", t.kernels >= repeats);
  CHECK_EQUAL("work in the operator is all that there is", t.runs(), everything(p).runs());
  const double by_kprof = static_cast<double>(flops) / t.ns / 1e3,
               by_events = static_cast<double>(flops) / (ms * 1e6) / 1e3;
  note(std::to_string(by_kprof) + " TFLOP/s by kprof, " + std::to_string(by_events) +
       " by events, " + std::to_string(t.kernels) + " kernels");
  for (const std::string& name : p.device.kernels) note("kernel " + name.substr(0, 100));
  // events hold the gaps between kernels too
  CHECK_WITHIN("TFLOP/s, as by events", by_kprof, 0.995 * by_events, 1.03 * by_events);
}

template <class T>
void multiply(kprof::dtype type, cudaDataType_t data, cublasComputeType_t compute) {
  constexpr std::size_t elements = std::size_t{n} * n;
  cudaDeviceProp props{};
  CUDA(cudaGetDeviceProperties(&props, 0));
  if (type != kprof::dtype::f32 && props.major < 8) return note("this GPU has no such arithmetic");
  device_array<T> a(elements), b(elements), c(elements);
  fill_kernel<<<1024, 256>>>(a.data(), elements, 1U);
  fill_kernel<<<1024, 256>>>(b.data(), elements, 7U);
  CUDA(cudaGetLastError());
  cublasHandle_t blas = nullptr;
  must(cublasCreate(&blas));
  const float one = 1, zero = 0;
  measure(type, [&] {
    must(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data(), data, n, b.data(),
                      data, n, &zero, c.data(), data, n, compute, CUBLAS_GEMM_DEFAULT));
  });
  must(cublasDestroy(blas));
}

void f32() { multiply<float>(kprof::dtype::f32, CUDA_R_32F, CUBLAS_COMPUTE_32F_PEDANTIC); }
void tf32() { multiply<float>(kprof::dtype::tf32, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32); }
void bf16() { multiply<__nv_bfloat16>(kprof::dtype::bf16, CUDA_R_16BF, CUBLAS_COMPUTE_32F); }

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "gemm",
                   {{"f32", f32, mode::gpu}, {"tf32", tf32, mode::gpu}, {"bf16", bf16, mode::gpu}});
}
