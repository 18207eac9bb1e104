// SPDX-License-Identifier: MIT
//
// Which calls the launches of cuBLAS and cuDNN come through, and whether kprof listens to each: the
// id of every kernel's record must be that of a call it takes for a launch. The libraries are
// opened, not linked: one that is missing is skipped.

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
  std::vector<event> outer;  // the calls around the one looked at
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
#define CALL(library, name, ...)                                                                 \
  library_must(                                                                                  \
      function_of<decltype(name)>(library, #name)(__VA_ARGS__) == decltype(name(__VA_ARGS__)){}, \
      #name, "it returns an error")

void cublas() {
#if HAS_CUBLAS
  void* const library = open_any({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  cublasHandle_t blas = nullptr;
  CALL(library, cublasCreate_v2, &blas);
  constexpr int most = 2048;
  device_array<float> a(std::size_t{most} * most), b(std::size_t{most} * most),
      c(std::size_t{most} * most);
  const float one = 1, zero = 0;
  // Spelt out, since the header has an overload of its own for C++.
  using gemm_ex = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                 int, const void*, const void*, cudaDataType_t, int, const void*,
                                 cudaDataType_t, int, const void*, void*, cudaDataType_t, int,
                                 cublasComputeType_t, cublasGemmAlgo_t);
  const auto multiply = function_of<gemm_ex>(library, "cublasGemmEx");
  const auto gemm = [&](cudaDataType_t type, cublasComputeType_t compute, int m, int k) {
    const cublasStatus_t status =
        multiply(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, m, k, &one, a.data(), type, most, b.data(),
                 type, most, &zero, c.data(), type, most, compute, CUBLAS_GEMM_DEFAULT);
    library_must(status == CUBLAS_STATUS_SUCCESS, "cublasGemmEx", "it returns an error");
  };
  tell_library("cublas", [&] {
    for (const int size : {16, 256, most}) {  // small and large, and one that is long only in K
      for (const int m : {64, size}) {
        gemm(CUDA_R_32F, CUBLAS_COMPUTE_32F, m, size);
        gemm(CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, m, size);
        gemm(CUDA_R_16BF, CUBLAS_COMPUTE_32F, m, size);
      }
    }
  });
#else
  skip("it was built without cuBLAS");
#endif
}

#if HAS_CUDNN
/// A 3 x 3 convolution of 8 images of 64 channels.
class convolution {
 public:
  convolution(void* library, cudnnHandle_t handle, cudnnDataType_t type, cudnnTensorFormat_t format)
      : library_(library), handle_(handle) {
    CALL(library, cudnnCreateTensorDescriptor, &x_);
    CALL(library, cudnnCreateFilterDescriptor, &w_);
    CALL(library, cudnnCreateConvolutionDescriptor, &conv_);
    CALL(library, cudnnSetTensor4dDescriptor, x_, format, type, 8, 64, 56, 56);
    CALL(library, cudnnSetFilter4dDescriptor, w_, type, format, 64, 64, 3, 3);
    CALL(library, cudnnSetConvolution2dDescriptor, conv_, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
         CUDNN_DATA_FLOAT);
    CALL(library, cudnnSetConvolutionMathType, conv_,
         type == CUDNN_DATA_FLOAT ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
    CALL(library, cudnnGetConvolutionForwardWorkspaceSize, handle, x_, w_, conv_, x_, algorithm,
         &workspace_);
  }
  std::size_t workspace() const { return workspace_; }
  void run(const void* in, const void* weights, void* workspace, void* out) const {
    const float one = 1, zero = 0;
    CALL(library_, cudnnConvolutionForward, handle_, &one, x_, in, w_, weights, conv_, algorithm,
         workspace, workspace_, &zero, x_, out);
  }

 private:
  static constexpr auto algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;

  void* library_;
  cudnnHandle_t handle_;
  cudnnTensorDescriptor_t x_ = nullptr;  // of y too: nothing changes its shape
  cudnnFilterDescriptor_t w_ = nullptr;
  cudnnConvolutionDescriptor_t conv_ = nullptr;
  std::size_t workspace_ = 0;
};
#endif

void cudnn() {
#if HAS_CUDNN
  void* const library = open_any({"libcudnn.so.9", "libcudnn.so"});  // hands on to its parts
  cudnnHandle_t handle = nullptr;
  CALL(library, cudnnCreate, &handle);
  const convolution f32(library, handle, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW),
      bf16(library, handle, CUDNN_DATA_BFLOAT16, CUDNN_TENSOR_NHWC);
  constexpr std::size_t elements = std::size_t{8} * 64 * 56 * 56;
  device_array<float> in(elements), out(elements), weights(std::size_t{64} * 64 * 9);
  device_array<char> workspace(std::max({f32.workspace(), bf16.workspace(), std::size_t{1}}));
  tell_library("cudnn", [&] {
    f32.run(in.data(), weights.data(), workspace.data(), out.data());
    bf16.run(in.data(), weights.data(), workspace.data(), out.data());
  });
#else
  skip("it was built without cuDNN");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "facts_libraries",
                   {{"cublas", cublas, mode::gpu}, {"cudnn", cudnn, mode::gpu}});
}
