// SPDX-License-Identifier: MIT
//
// Which calls the launches of cuBLAS and cuDNN come through, and whether kprof listens to each: the id of every kernel's
// record must be that of a call it takes for a launch. The libraries are opened, not linked: one that is missing is skipped.

#include "facts.hpp"

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#define HAS_CUBLAS 1
#else
#define HAS_CUBLAS 0
#endif
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#define HAS_CUDNN 1
#else
#define HAS_CUDNN 0
#endif

#include <set>

namespace {

[[noreturn]] void skip(const std::string& why) {
  std::printf("SKIP %s: %s\n", check_prefix.c_str(), why.c_str());
  std::exit(77);
}

/// Runs it twice, the first time unseen, and tells the calls through which its kernels came.
[[maybe_unused]] void tell_library(const std::string& key, const std::function<void()>& work) {
  callback_log::begin({CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API});
  activity_log::begin();
  enable_work();
  work();
  finish_work();
  callback_log::forget();
  activity_log::forget();
  work();
  finish_work();
  std::set<std::uint32_t> launches;
  std::set<std::string> calls;
  std::vector<event> outer;   // the calls around the one looked at
  for (const event& e : callback_log::events()) {
    if (!e.is_call()) continue;
    outer.resize(std::min<std::size_t>(outer.size(), e.depth));
    outer.push_back(e);
    if (!is_launch(e)) continue;
    launches.insert(e.correlation);
    calls.insert(told(outer));
  }
  std::size_t known = 0;
  const std::vector<record> records = activity_log::work();
  for (const record& r : records) known += launches.count(r.correlation);
  CHECK("it launches something", !records.empty());
  CHECK_EQUAL("records whose id is of a call that kprof listens to", known, records.size());
  std::string all;
  for (const std::string& call : calls) all += (all.empty() ? "" : ", ") + call;
  fact("callbacks." + key, all.empty() ? "no callback" : all);
}

[[maybe_unused]] void* open_any(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* found = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return found;
  skip(std::string{*names.begin()} + " was not found");
}
template <class Function>
Function* function_of(void* library, const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) skip(std::string{"the library has no "} + name);
  return found;
}
#define CALL(library, name, ...) must(function_of<decltype(name)>(library, #name)(__VA_ARGS__) == decltype(name(__VA_ARGS__)){}, #name)
void must(bool worked, const char* name) {
  if (worked) return;
  report_check(false, std::string{"the library works, "} + name, "it returns an error");
  std::exit(1);
}

void cublas() {
#if HAS_CUBLAS
  void* const library = open_any({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  cublasHandle_t blas = nullptr;
  must(function_of<decltype(cublasCreate_v2)>(library, "cublasCreate_v2")(&blas) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  const auto gemm = function_of<decltype(cublasSgemm_v2)>(library, "cublasSgemm_v2");
  constexpr int most = 2048;
  device_array<float> a(std::size_t{most} * most), b(std::size_t{most} * most), c(std::size_t{most} * most);
  const float one = 1, zero = 0;
  tell_library("cublas", [&] {
    for (const int k : {16, 256, most}) {   // small and large, and one that is long only in K
      must(gemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, k, k, k, &one, a.data(), most, b.data(), most, &zero, c.data(), most) == CUBLAS_STATUS_SUCCESS, "cublasSgemm");
      must(gemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, 64, 64, most, &one, a.data(), most, b.data(), most, &zero, c.data(), most) == CUBLAS_STATUS_SUCCESS, "cublasSgemm");
    }
  });
#else
  skip("it was built without cuBLAS");
#endif
}

void cudnn() {
#if HAS_CUDNN
  void* const library = open_any({"libcudnn.so.9", "libcudnn.so"});

  cudnnHandle_t handle = nullptr;
  cudnnTensorDescriptor_t x = nullptr, y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t conv = nullptr;
  CALL(library, cudnnCreate, &handle);
  CALL(library, cudnnCreateTensorDescriptor, &x);
  CALL(library, cudnnCreateTensorDescriptor, &y);
  CALL(library, cudnnCreateFilterDescriptor, &w);
  CALL(library, cudnnCreateConvolutionDescriptor, &conv);
  CALL(library, cudnnSetTensor4dDescriptor, x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 8, 64, 56, 56);
  CALL(library, cudnnSetTensor4dDescriptor, y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 8, 64, 56, 56);
  CALL(library, cudnnSetFilter4dDescriptor, w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 64, 64, 3, 3);
  CALL(library, cudnnSetConvolution2dDescriptor, conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  constexpr auto algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  std::size_t workspace_bytes = 0;
  CALL(library, cudnnGetConvolutionForwardWorkspaceSize, handle, x, w, conv, y, algorithm, &workspace_bytes);
  constexpr std::size_t elements = std::size_t{8} * 64 * 56 * 56;
  device_array<float> in(elements), out(elements), weights(std::size_t{64} * 64 * 9);
  device_array<char> workspace(std::max<std::size_t>(workspace_bytes, 1));
  const float one = 1, zero = 0;
  tell_library("cudnn", [&] {
    CALL(library, cudnnConvolutionForward, handle, &one, x, in.data(), w, weights.data(), conv, algorithm, workspace.data(), workspace_bytes, &zero, y, out.data());
  });
#else
  skip("it was built without cuDNN");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "facts_libraries", {{"cublas", cublas, mode::gpu}, {"cudnn", cudnn, mode::gpu}});
}
