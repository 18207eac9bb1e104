// SPDX-License-Identifier: MIT
//
// The catalogue's convolution as cuDNN runs it, for truth.py to hold its formulas against hardware
// counters. As truth.cu otherwise.

#include "truth.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cudnn.h>

namespace {

namespace ops = kprof::ops;
using kprof::dtype;

void must(cudnnStatus_t status) {
  library_must(status == CUDNN_STATUS_SUCCESS, "cuDNN", cudnnGetErrorString(status));
}

// ---- convolutions of 3 x 3 taps with padding, so that input and output differ in their channels
// alone

// 392 MiB of f32 each way
constexpr std::size_t images = 256, extent = 56, channels = 128, filters = 128, taps = 3;

/// Where the element [n, c, h, w] lies, in cuDNN's own order or with the channels last, as tensor
/// cores want them.
struct layout {
  bool channels_last;
  std::size_t c, extent;

  std::size_t at(std::size_t in, std::size_t ic, std::size_t ih, std::size_t iw) const {
    return channels_last ? ((in * extent + ih) * extent + iw) * c + ic
                         : ((in * c + ic) * extent + ih) * extent + iw;
  }
  /// f(n, c, h, w) of element i.
  template <class F>
  double of(std::size_t i, const F& f) const {
    if (channels_last)
      return f(i / (extent * extent * c), i % c, i / (extent * c) % extent, i / c % extent);
    return f(i / (extent * extent * c), i / (extent * extent) % c, i / extent % extent, i % extent);
  }
};

/// What one element of each pass is, on the host. The two inputs were filled with the seeds 1 and
/// 2, in the order x w y.
template <class T>
struct reference {
  layout x, w, y;

  /// Row and column of x that tap r of output p meets; none in the padding.
  // wraps before the first
  static bool meets(std::size_t p, std::size_t r, std::size_t& h) {
    return h = p + r - 1, h < extent;
  }

  double fprop(std::size_t i) const {
    return y.of(i, [&](std::size_t n, std::size_t k, std::size_t p, std::size_t q) {
      double sum = 0;
      for (std::size_t r = 0, h = 0; r < taps; ++r)
        for (std::size_t s = 0, v = 0; s < taps; ++s)
          if (meets(p, r, h) && meets(q, s, v))
            for (std::size_t c = 0; c < channels; ++c)
              sum += exactly_at<T>(x.at(n, c, h, v), 1) * exactly_at<T>(w.at(k, c, r, s), 2);
      return sum;
    });
  }
  double dgrad(std::size_t i) const {
    return x.of(i, [&](std::size_t n, std::size_t c, std::size_t h, std::size_t v) {
      double sum = 0;
      for (std::size_t r = 0, p = 0; r < taps; ++r)
        for (std::size_t s = 0, q = 0; s < taps; ++s)
          if (meets(h, 2 - r, p) && meets(v, 2 - s, q))  // the other way round
            for (std::size_t k = 0; k < filters; ++k)
              sum += exactly_at<T>(y.at(n, k, p, q), 2) * exactly_at<T>(w.at(k, c, r, s), 1);
      return sum;
    });
  }
  double wgrad(std::size_t i) const {
    return w.of(i, [&](std::size_t k, std::size_t c, std::size_t r, std::size_t s) {
      double sum = 0;
      for (std::size_t n = 0; n < images; ++n)
        for (std::size_t p = 0, h = 0; p < extent; ++p)
          for (std::size_t q = 0, v = 0; q < extent; ++q)
            if (meets(p, r, h) && meets(q, s, v))
              sum += exactly_at<T>(x.at(n, c, h, v), 1) * exactly_at<T>(y.at(n, k, p, q), 2);
      return sum;
    });
  }
};

/// The best algorithm that multiplies and adds as the definition says: one by Fourier's or
/// Winograd's transform has other FLOPs. Where there is none the case ends.
template <class Found, class Ask>
Found direct_algorithm(bool tensor_cores, std::initializer_list<int> direct, const Ask& ask) {
  Found found[16];
  int n = 0;
  must(ask(16, &n, found));
  const cudnnMathType_t other = tensor_cores ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH;
  for (int i = 0; i < n; ++i)
    for (const int algorithm : direct)
      if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].algo == algorithm &&
          found[i].mathType != other)
        return found[i];
  skip("cuDNN has no such convolution on this GPU");
}

template <class T>
struct convolution {
  dtype type;
  const char* unit;
  cudnnDataType_t data;

  bool tensor_cores = data != CUDNN_DATA_FLOAT;
  layout lx{tensor_cores, channels, extent}, lw{tensor_cores, channels, taps},
      ly{tensor_cores, filters, extent};
  static constexpr std::size_t pixels = images * extent * extent;
  static constexpr std::size_t nx = pixels * channels, nw = filters * channels * taps * taps,
                               ny = pixels * filters;
  device_array<T> x{nx}, w{nw}, y{ny};
  cudnnHandle_t dnn = nullptr;
  cudnnTensorDescriptor_t dx = nullptr, dy = nullptr;
  cudnnFilterDescriptor_t dw = nullptr;
  cudnnConvolutionDescriptor_t conv = nullptr;
  const float one = 1, zero = 0;

  void prepare() {
    const cudnnTensorFormat_t format = tensor_cores ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    must(cudnnCreate(&dnn));
    must(cudnnCreateTensorDescriptor(&dx));
    must(cudnnCreateTensorDescriptor(&dy));
    must(cudnnCreateFilterDescriptor(&dw));
    must(cudnnCreateConvolutionDescriptor(&conv));
    must(cudnnSetTensor4dDescriptor(dx, format, data, images, channels, extent, extent));
    must(cudnnSetTensor4dDescriptor(dy, format, data, images, filters, extent, extent));
    must(cudnnSetFilter4dDescriptor(dw, data, format, filters, channels, taps, taps));
    must(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                         CUDNN_DATA_FLOAT));
    must(cudnnSetConvolutionMathType(conv, tensor_cores ? CUDNN_TENSOR_OP_MATH : CUDNN_FMA_MATH));
  }
  ops::Conv2d op(ops::pass pass) const {
    return {.N = images,
            .C = channels,
            .H = extent,
            .W = extent,
            .K = filters,
            .R = taps,
            .S = taps,
            .ph = 1,
            .pw = 1,
            .pass = pass,
            .type = type};
  }

  void fprop() {
    prepare();
    fill(x, nx, 1);
    fill(w, nw, 2);
    const auto a = direct_algorithm<cudnnConvolutionFwdAlgoPerf_t>(
        tensor_cores,
        {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
         CUDNN_CONVOLUTION_FWD_ALGO_GEMM},
        [&](int most, int* n, auto* found) {
          return cudnnGetConvolutionForwardAlgorithm_v7(dnn, dx, dw, conv, dy, most, n, found);
        });
    device_array<char> work(a.memory);
    count(op(ops::pass::fprop), unit, [&] {
      must(cudnnConvolutionForward(dnn, &one, dx, x.data(), dw, w.data(), conv, a.algo, work.data(),
                                   a.memory, &zero, dy, y.data()));
    });
    const reference<T> right{lx, lw, ly};
    check_samples(y, ny, 64, std::sqrt(channels * taps * taps) / 3, tolerance_of(type),
                  [&](std::size_t i) { return right.fprop(i); });
  }
  void dgrad() {
    prepare();
    fill(w, nw, 1);
    fill(y, ny, 2);
    const auto a = direct_algorithm<cudnnConvolutionBwdDataAlgoPerf_t>(
        tensor_cores, {CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1},
        [&](int most, int* n, auto* found) {
          return cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn, dw, dy, conv, dx, most, n, found);
        });
    device_array<char> work(a.memory);
    count(op(ops::pass::dgrad), unit, [&] {
      must(cudnnConvolutionBackwardData(dnn, &one, dw, w.data(), dy, y.data(), conv, a.algo,
                                        work.data(), a.memory, &zero, dx, x.data()));
    });
    const reference<T> right{lx, lw, ly};
    check_samples(x, nx, 64, std::sqrt(filters * taps * taps) / 3, tolerance_of(type),
                  [&](std::size_t i) { return right.dgrad(i); });
  }
  void wgrad() {
    prepare();
    fill(x, nx, 1);
    fill(y, ny, 2);
    const auto a = direct_algorithm<cudnnConvolutionBwdFilterAlgoPerf_t>(
        tensor_cores,
        {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
         CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3},
        [&](int most, int* n, auto* found) {
          return cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn, dx, dy, conv, dw, most, n,
                                                               found);
        });
    device_array<char> work(a.memory);
    count(op(ops::pass::wgrad), unit, [&] {
      must(cudnnConvolutionBackwardFilter(dnn, &one, dx, x.data(), dy, y.data(), conv, a.algo,
                                          work.data(), a.memory, &zero, dw, w.data()));
    });
    const reference<T> right{lx, lw, ly};
    check_samples(w, nw, 8, std::sqrt(pixels) / 3, tolerance_of(type),
                  [&](std::size_t i) { return right.wgrad(i); });
  }
};

template <void (convolution<float>::*pass)()>
void conv_f32() {
  convolution<float> c{.type = dtype::f32, .unit = "f32", .data = CUDNN_DATA_FLOAT};
  (c.*pass)();
}
template <void (convolution<__nv_bfloat16>::*pass)()>
void conv_bf16() {
  convolution<__nv_bfloat16> c{.type = dtype::bf16, .unit = "bf16", .data = CUDNN_DATA_BFLOAT16};
  (c.*pass)();
}
void conv_f16() {
  convolution<__half>{.type = dtype::f16, .unit = "f16", .data = CUDNN_DATA_HALF}.fprop();
}

}  // namespace

int main(int argc, char** argv) {
  return run_modes(argc, argv, "truth_cudnn",
                   {{"conv_f32", conv_f32<&convolution<float>::fprop>, mode::gpu},
                    {"conv_f32_dgrad", conv_f32<&convolution<float>::dgrad>, mode::gpu},
                    {"conv_f32_wgrad", conv_f32<&convolution<float>::wgrad>, mode::gpu},
                    {"conv_bf16", conv_bf16<&convolution<__nv_bfloat16>::fprop>, mode::gpu},
                    {"conv_bf16_dgrad", conv_bf16<&convolution<__nv_bfloat16>::dgrad>, mode::gpu},
                    {"conv_bf16_wgrad", conv_bf16<&convolution<__nv_bfloat16>::wgrad>, mode::gpu},
                    {"conv_f16", conv_f16, mode::gpu}});
}
