// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_GPU_TRUTH_HPP
#define KPROF_TESTS_GPU_TRUTH_HPP

// What the programs share whose operators are held against hardware counters: data, one call that
// counts, and a line that says what kprof declares of it. truth.py runs each case under ncu and
// compares.
//
//   {"case": "saxpy", "operator": "Axpy", "parameters": "n=268435456 type=f32", "flops": 536870912,
//   ...}

#include "check.hpp"

#include <kprof/ops.hpp>

#include <cuda_profiler_api.h>

// ---- data

/// Element i of an array: random, from -1 to 1, never 0. Zeros would draw less power, and hide what
/// is read wrongly.
__host__ __device__ inline float value_at(std::size_t i, unsigned seed) {
  unsigned r = static_cast<unsigned>(i) * 2654435761U ^ seed * 2246822519U;
  r = (r ^ r >> 16U) * 2246822507U;
  r = (r ^ r >> 13U) * 3266489909U;
  r ^= r >> 16U;
  return static_cast<float>(r >> 8U | 1U) / 8388608.0F - 1.0F;
}
/// The same as the device has it, rounded to T.
template <class T>
double exactly_at(std::size_t i, unsigned seed) {
  return static_cast<double>(static_cast<float>(static_cast<T>(value_at(i, seed))));
}

template <class T>
__global__ void fill_kernel(T* x, std::size_t n, unsigned seed) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    x[i] = static_cast<T>(value_at(i, seed));
}
template <class T>
void fill(device_array<T>& x, std::size_t n, unsigned seed) {
  fill_kernel<<<1024, 256>>>(x.data(), n, seed);
  CUDA(cudaGetLastError());
}

/// Compares some elements with what the host computes, `reference(i)`, where kernels are executed.
/// `scale`: how large a typical element is.
template <class T, class Reference>
void check_samples(device_array<T>& output, std::size_t n, int samples, double scale,
                   double tolerance, const Reference& reference) {
  if (!kernels_compute()) return;
  CUDA(cudaDeviceSynchronize());
  double worst = 0;
  for (int s = 0; s < samples; ++s) {
    const std::size_t i = s == 0 ? n - 1 : std::size_t{2654435761U} * s % n;
    T got{};
    CUDA(cudaMemcpy(&got, output.data() + i, sizeof got, cudaMemcpyDeviceToHost));
    const double error =
        std::fabs(static_cast<double>(static_cast<float>(got)) - reference(i)) / scale;
    if (!(error <= worst)) worst = error;  // also what is not a number
  }
  CHECK_WITHIN("the result is right, " + std::to_string(samples) + " elements; the largest error",
               worst, 0.0, tolerance);
}

/// Rounding to `type` costs so much of a typical sum.
inline double tolerance_of(kprof::dtype type) { return type == kprof::dtype::f32 ? 1e-3 : 2e-2; }

// ---- the call that counts

/// What a report would say of a call: from an empty one, recorded by kprof. CUPTI is left to the
/// profiler that counts.
struct recorded_call {
  kprof::scope_node node;
  std::string parameters;
};
template <class Op>
recorded_call recorded(const Op& op) {
  CHECK("kprof starts", kprof::start({.nvtx = false, .cupti = kprof::cupti_choice::off}).ok());
  { KPROF_OP(Op, op); }
  const kprof::profile run = kprof::snapshot();
  for (const kprof::scope_node& node : run.nodes)
    if (node.kind == kprof::scope_kind::op) return {node, parameter_text(run, node)};
  report_check(false, "the call is recorded", "the profile has no operator");
  return {};
}

/// Calls twice: once before anything counts, for code to be loaded and kernels to be chosen, and
/// once in the range that counts. `unit` says which instructions do the operator's work: "f32"
/// those of the CUDA cores, "tf32", "bf16" and "f16" those of the tensor cores with operands of
/// that type.
template <class Op, class Call>
void count(const Op& op, const char* unit, const Call& call) {
  const auto [node, parameters] = recorded(op);
  CHECK("the operator declares FLOPs and bytes",
        node.work.valid && node.work.has_flops && node.work.has_bytes);
  std::uint64_t transcendentals = 0;
  if constexpr (requires { op.transcendentals(); }) transcendentals = op.transcendentals().value();
  call();
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaProfilerStart());
  call();
  CUDA(cudaDeviceSynchronize());
  CUDA(cudaProfilerStop());
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "{\"case\": \"%s\", \"operator\": \"%s\", \"parameters\": \"%s\", \"flops\": %llu, "
      "\"bytes_read\": %llu, \"bytes_written\": %llu, "
      "\"transcendentals\": %llu, \"unit\": \"%s\"}\n",
      check_prefix.substr(check_prefix.find('.') + 1).c_str(), node.name.c_str(),
      parameters.c_str(), number(node.work.flops), number(node.work.bytes_read),
      number(node.work.bytes_written), number(transcendentals), unit);
  std::fflush(stdout);
}

#endif
