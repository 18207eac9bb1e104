// SPDX-License-Identifier: MIT
#ifndef RESNET50_OPS_HPP
#define RESNET50_OPS_HPP

// The operators of ResNet-50 inference: what a framework's author writes once. Each is a plain struct of parameters with
// constexpr formulas: one multiply-add is two FLOPs, a bias, a residual or a ReLU is one FLOP per output, padding taps
// count, and each element of each tensor moves once. The static_asserts at the end test the formulas.

#include <kprof/op.hpp>

#include <cstdint>

/// How far a window of `size` fits along `length`, moved by `stride`.
constexpr std::int64_t window_count(std::int64_t length, std::int64_t pad, std::int64_t size, std::int64_t stride) {
  return (length + 2 * pad - size) / stride + 1;
}

/// Convolution of an N x C x H x W input with K filters of R x S, with what is fused behind it.
struct Conv2d {
  std::int64_t N = 1, C = 1, H = 1, W = 1;
  std::int64_t K = 1, R = 1, S = 1;
  std::int64_t U = 1, V = 1;     // stride down and across
  std::int64_t ph = 0, pw = 0;   // padding at each border
  bool bias = false;
  bool residual = false;         // adds to what the output already holds
  bool relu = false;
  kprof::dtype type = kprof::dtype::f32;

  constexpr std::int64_t P() const { return window_count(H, ph, R, U); }
  constexpr std::int64_t Q() const { return window_count(W, pw, S, V); }
  constexpr kprof::count outputs() const { return kprof::count{N} * K * P() * Q(); }

  constexpr kprof::count multiply_adds() const { return outputs() * C * R * S; }
  constexpr kprof::count epilogue() const { return outputs() * (int{bias} + int{residual} + int{relu}); }
  constexpr kprof::count flops() const { return 2 * multiply_adds() + epilogue(); }
  constexpr kprof::traffic bytes() const {
    const kprof::count filter = kprof::count{K} * C * R * S + (bias ? K : 0);
    return {.read = (kprof::count{N} * C * H * W + filter + (residual ? outputs() : 0)) * size_of(type),
            .written = outputs() * size_of(type)};
  }
  constexpr bool valid() const {
    return N > 0 && C > 0 && K > 0 && R > 0 && S > 0 && U > 0 && V > 0 && ph >= 0 && pw >= 0 && H + 2 * ph >= R && W + 2 * pw >= S;
  }
};

enum class pool_kind : std::uint8_t { max, avg };

/// Pooling over windows of R x S; a global one has R = H and S = W.
struct Pool {
  pool_kind kind = pool_kind::max;
  std::int64_t N = 1, C = 1, H = 1, W = 1;
  std::int64_t R = 1, S = 1;
  std::int64_t U = 1, V = 1;
  std::int64_t ph = 0, pw = 0;
  kprof::dtype type = kprof::dtype::f32;

  constexpr std::int64_t P() const { return window_count(H, ph, R, U); }
  constexpr std::int64_t Q() const { return window_count(W, pw, S, V); }
  constexpr kprof::count outputs() const { return kprof::count{N} * C * P() * Q(); }

  constexpr kprof::count flops() const { return outputs() * R * S; }   // max: R S compares; avg: R S - 1 adds and a division
  constexpr kprof::traffic bytes() const {
    return {.read = kprof::count{N} * C * H * W * size_of(type), .written = outputs() * size_of(type)};
  }
  constexpr bool valid() const {
    return N > 0 && C > 0 && R > 0 && S > 0 && U > 0 && V > 0 && ph >= 0 && pw >= 0 && H + 2 * ph >= R && W + 2 * pw >= S;
  }
};

/// A fully connected layer over `tokens` rows.
struct Linear {
  std::int64_t tokens = 1, in_features = 1, out_features = 1;
  bool bias = false;
  kprof::dtype type = kprof::dtype::f32;

  constexpr kprof::count outputs() const { return kprof::count{tokens} * out_features; }
  constexpr kprof::count multiply_adds() const { return outputs() * in_features; }
  constexpr kprof::count epilogue() const { return bias ? outputs() : kprof::count{}; }
  constexpr kprof::count flops() const { return 2 * multiply_adds() + epilogue(); }
  constexpr kprof::traffic bytes() const {
    const kprof::count weights = kprof::count{in_features} * out_features + (bias ? out_features : 0);
    return {.read = (kprof::count{tokens} * in_features + weights) * size_of(type), .written = outputs() * size_of(type)};
  }
  constexpr bool valid() const { return tokens > 0 && in_features > 0 && out_features > 0; }
};

/// Softmax over each row: maximum, subtraction, exponential, sum and division.
struct Softmax {
  std::int64_t rows = 1, cols = 1;
  kprof::dtype type = kprof::dtype::f32;

  constexpr kprof::count elements() const { return kprof::count{rows} * cols; }
  constexpr kprof::count flops() const { return 5 * elements(); }
  constexpr kprof::traffic bytes() const { return {.read = elements() * size_of(type), .written = elements() * size_of(type)}; }
  constexpr bool valid() const { return rows > 0 && cols > 0; }
};

/// The same elements in another memory layout.
struct Reorder {
  std::int64_t elements = 1;
  kprof::dtype type = kprof::dtype::f32;

  constexpr kprof::count flops() const { return 0; }
  constexpr kprof::traffic bytes() const { return {.read = elements * size_of(type), .written = elements * size_of(type)}; }
  constexpr bool valid() const { return elements > 0; }
};

namespace resnet50_ops_test {

using enum kprof::dtype;

// A 3 x 3 convolution with padding 1, and a first layer with stride 4.
static_assert(Conv2d{.N = 8, .C = 64, .H = 32, .W = 32, .K = 128, .R = 3, .S = 3, .ph = 1, .pw = 1, .type = f16}.flops() == 1'207'959'552);
static_assert(Conv2d{.N = 8, .C = 64, .H = 32, .W = 32, .K = 128, .R = 3, .S = 3, .ph = 1, .pw = 1, .type = f16}.bytes().total() == 3'293'184);
static_assert(Conv2d{.C = 3, .H = 224, .W = 224, .K = 96, .R = 11, .S = 11, .U = 4, .V = 4, .ph = 2, .pw = 2}.flops() == 210'830'400);
static_assert(Conv2d{.C = 3, .H = 224, .W = 224, .K = 96, .R = 11, .S = 11, .U = 4, .V = 4, .ph = 2, .pw = 2}.bytes().total() == 1'903'104);
// The first convolution of ResNet-50 at batch 32 in half precision.
static_assert(Conv2d{.N = 32, .C = 3, .H = 224, .W = 224, .K = 64, .R = 7, .S = 7, .U = 2, .V = 2, .ph = 3, .pw = 3, .type = f16}.flops() == 7'552'892'928);
static_assert(Conv2d{.N = 32, .C = 3, .H = 224, .W = 224, .K = 64, .R = 7, .S = 7, .U = 2, .V = 2, .ph = 3, .pw = 3, .type = f16}.bytes().total() == 61'032'832);
// What is fused: 64 outputs each, a bias reads K elements, a residual reads the output.
static_assert(Conv2d{.C = 2, .H = 4, .W = 4, .K = 4, .bias = true, .residual = true, .relu = true}.flops() == 2 * 64 * 2 + 3 * 64);
static_assert(Conv2d{.C = 2, .H = 4, .W = 4, .K = 4, .bias = true, .residual = true}.bytes().read == 4 * (32 + 8 + 4 + 64));
static_assert(!Conv2d{.H = 2, .W = 2, .R = 3, .S = 3}.valid());

static_assert(Pool{.C = 64, .H = 56, .W = 56, .R = 2, .S = 2, .U = 2, .V = 2, .type = f16}.flops() == 200'704);
static_assert(Pool{.C = 64, .H = 56, .W = 56, .R = 2, .S = 2, .U = 2, .V = 2, .type = f16}.bytes().total() == 501'760);
static_assert(Pool{.kind = pool_kind::avg, .N = 2, .C = 512, .H = 7, .W = 7, .R = 7, .S = 7}.flops() == 50'176);
static_assert(Pool{.kind = pool_kind::avg, .N = 2, .C = 512, .H = 7, .W = 7, .R = 7, .S = 7}.bytes().total() == 204'800);

static_assert(Linear{.tokens = 128, .in_features = 768, .out_features = 3072, .bias = true, .type = f16}.flops() == 604'372'992);
static_assert(Linear{.tokens = 128, .in_features = 768, .out_features = 3072, .bias = true, .type = f16}.bytes().total() == 5'707'776);
static_assert(Linear{.tokens = 10, .in_features = 5, .out_features = 20}.flops() == 2'000);
static_assert(Linear{.tokens = 10, .in_features = 5, .out_features = 20}.bytes().total() == 1'400);

static_assert(Softmax{.rows = 16, .cols = 1000}.flops() == 80'000);
static_assert(Softmax{.rows = 16, .cols = 1000}.bytes().total() == 128'000);

static_assert(Reorder{.elements = 100}.flops() == 0 && Reorder{.elements = 100}.bytes().total() == 800);

}  // namespace resnet50_ops_test

#endif
