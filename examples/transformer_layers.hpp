// SPDX-License-Identifier: MIT
#ifndef KPROF_EXAMPLES_TRANSFORMER_LAYERS_HPP
#define KPROF_EXAMPLES_TRANSFORMER_LAYERS_HPP

// The layers of a GPT-2, forward and backward, in plain loops. Each function guards itself with the
// operator of the catalogue that it computes. For 13_transformer_training.cpp.

#include <kprof/guard.hpp>
#include <kprof/ops.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace transformer {

namespace ops = kprof::ops;
using i64 = std::int64_t;
using ops::pass;

// Of GPT-2 small: 12 layers, 12 heads, width 768, 50257 tokens, sequences of 1024.
inline constexpr i64 layers = 4, heads = 4, width = 128, vocabulary = 1024, batch = 2,
                     sequence = 64;
inline constexpr i64 tokens = batch * sequence, head_size = width / heads;

/// Rows of numbers: one row a token, or one row of weights an output.
struct Tensor {
  i64 rows, cols;
  std::vector<float> values;

  Tensor(i64 r, i64 c) : rows(r), cols(c), values(static_cast<std::size_t>(r * c)) {}
  i64 numel() const { return rows * cols; }
  float* row(i64 i) { return values.data() + i * cols; }
  const float* row(i64 i) const { return values.data() + i * cols; }
};

/// Weights with their gradients and Adam's two moments.
struct Weights {
  Tensor w, grad, m, v;

  Weights(i64 rows, i64 cols, float value)
      : w(rows, cols), grad(rows, cols), m(rows, cols), v(rows, cols) {
    std::fill(w.values.begin(), w.values.end(), value);
  }
  Weights(i64 rows, i64 cols, std::mt19937& random) : Weights(rows, cols, 0.0F) {
    std::normal_distribution<float> normal(0.0F, 0.02F);
    for (float& value : w.values) value = normal(random);
  }
};

/// n is a multiple of 4, as all widths here are.
inline float dot(const float* a, const float* b, i64 n) {
  float sum[4] = {};
  for (i64 i = 0; i < n; i += 4)
    for (i64 k = 0; k < 4; ++k) sum[k] += a[i + k] * b[i + k];
  return sum[0] + sum[1] + sum[2] + sum[3];
}
/// y += a x.
inline void axpy(float a, const float* x, float* y, i64 n) {
  for (i64 i = 0; i < n; ++i) y[i] += a * x[i];
}

inline ops::Linear linear_call(const Tensor& x, const Weights& w, pass direction) {
  return {.tokens = x.rows, .in_features = x.cols, .out_features = w.w.rows, .pass = direction};
}

inline Tensor linear(const Tensor& x, const Weights& w, const Weights* bias) {
  ops::Linear call = linear_call(x, w, pass::fprop);
  call.bias = bias != nullptr;
  KPROF_OP(ops::Linear, call);
  Tensor y(x.rows, w.w.rows);
  for (i64 t = 0; t < x.rows; ++t)
    for (i64 o = 0; o < y.cols; ++o)
      y.row(t)[o] = dot(x.row(t), w.w.row(o), x.cols) + (bias != nullptr ? bias->w.row(0)[o] : 0);
  return y;
}

/// Adds to the gradients of weights and bias and returns that of x.
inline Tensor linear_backward(const Tensor& x, Weights& w, Weights* bias, const Tensor& dy) {
  Tensor dx(x.rows, x.cols);
  {
    KPROF_OP(ops::Linear, linear_call(x, w, pass::dgrad));
    for (i64 t = 0; t < x.rows; ++t)
      for (i64 o = 0; o < dy.cols; ++o) axpy(dy.row(t)[o], w.w.row(o), dx.row(t), x.cols);
  }
  {
    KPROF_OP(ops::Linear, linear_call(x, w, pass::wgrad));
    for (i64 t = 0; t < x.rows; ++t)
      for (i64 o = 0; o < dy.cols; ++o) axpy(dy.row(t)[o], x.row(t), w.grad.row(o), x.cols);
  }
  if (bias != nullptr) {
    KPROF_OP(ops::Linear, linear_call(x, w, pass::bgrad));
    for (i64 t = 0; t < x.rows; ++t) axpy(1, dy.row(t), bias->grad.row(0), dy.cols);
  }
  return dx;
}

/// Mean and reciprocal deviation of a row.
inline std::pair<float, float> statistics(const float* x, i64 n) {
  float mean = 0, variance = 0;
  for (i64 i = 0; i < n; ++i) mean += x[i] / static_cast<float>(n);
  for (i64 i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean) / static_cast<float>(n);
  return {mean, 1 / std::sqrt(variance + 1e-5F)};
}

inline Tensor layer_norm(const Tensor& x, const Weights& gamma, const Weights& beta) {
  KPROF_OP(ops::LayerNorm, {.rows = x.rows, .cols = x.cols, .stats = false});
  Tensor y(x.rows, x.cols);
  for (i64 t = 0; t < x.rows; ++t) {
    const auto [mean, scale] = statistics(x.row(t), x.cols);
    for (i64 i = 0; i < x.cols; ++i)
      y.row(t)[i] = (x.row(t)[i] - mean) * scale * gamma.w.row(0)[i] + beta.w.row(0)[i];
  }
  return y;
}

inline Tensor layer_norm_backward(const Tensor& x, Weights& gamma, Weights& beta,
                                  const Tensor& dy) {
  KPROF_OP(ops::LayerNorm, {.rows = x.rows, .cols = x.cols, .stats = false, .pass = pass::bprop});
  Tensor dx(x.rows, x.cols);
  for (i64 t = 0; t < x.rows; ++t) {
    const auto [mean, scale] = statistics(x.row(t), x.cols);
    float sum = 0, product = 0;
    for (i64 i = 0; i < x.cols; ++i) {
      const float norm = (x.row(t)[i] - mean) * scale, g = dy.row(t)[i] * gamma.w.row(0)[i];
      gamma.grad.row(0)[i] += dy.row(t)[i] * norm;
      beta.grad.row(0)[i] += dy.row(t)[i];
      sum += g / static_cast<float>(x.cols);
      product += g * norm / static_cast<float>(x.cols);
    }
    for (i64 i = 0; i < x.cols; ++i) {
      const float norm = (x.row(t)[i] - mean) * scale, g = dy.row(t)[i] * gamma.w.row(0)[i];
      dx.row(t)[i] = (g - sum - norm * product) * scale;
    }
  }
  return dx;
}

inline ops::Sdpa attention_call(pass direction) {
  return {.B = batch,
          .Hq = heads,
          .Sq = sequence,
          .Sk = sequence,
          .D = head_size,
          .mask = ops::attention_mask::causal,
          .pass = direction,
          .backward = ops::attention_backward::stored_P,
          .type = kprof::dtype::f32};
}

/// Causal attention over rows of queries, keys and values, head by head. `p` keeps the
/// probabilities, a row for each sequence, head and query.
inline Tensor attention(const Tensor& qkv, Tensor& p) {
  KPROF_OP(ops::Sdpa, attention_call(pass::fprop));
  Tensor out(tokens, width);
  for (i64 b = 0; b < batch; ++b)
    for (i64 h = 0; h < heads; ++h)
      for (i64 i = 0; i < sequence; ++i) {
        const i64 t = b * sequence + i;
        float* const row = p.row((b * heads + h) * sequence + i);
        float top = -1e30F, sum = 0;
        for (i64 j = 0; j <= i; ++j) {
          row[j] = dot(qkv.row(t) + h * head_size,
                       qkv.row(b * sequence + j) + width + h * head_size, head_size) /
                   std::sqrt(static_cast<float>(head_size));
          top = std::max(top, row[j]);
        }
        for (i64 j = 0; j <= i; ++j) sum += row[j] = std::exp(row[j] - top);
        for (i64 j = 0; j <= i; ++j) {
          row[j] /= sum;
          axpy(row[j], qkv.row(b * sequence + j) + 2 * width + h * head_size,
               out.row(t) + h * head_size, head_size);
        }
      }
  return out;
}

inline Tensor attention_backward(const Tensor& qkv, const Tensor& p, const Tensor& dout) {
  KPROF_OP(ops::Sdpa, attention_call(pass::bprop));
  Tensor dqkv(tokens, 3 * width);
  std::vector<float> dp(sequence);
  for (i64 b = 0; b < batch; ++b)
    for (i64 h = 0; h < heads; ++h)
      for (i64 i = 0; i < sequence; ++i) {
        const i64 t = b * sequence + i, first = b * sequence, q = h * head_size, k = q + width,
                  v = k + width;
        const float* const row = p.row((b * heads + h) * sequence + i);
        float sum = 0;
        for (i64 j = 0; j <= i; ++j) {
          const float d = dot(dout.row(t) + q, qkv.row(first + j) + v, head_size);
          dp[static_cast<std::size_t>(j)] = d;
          sum += d * row[j];
          axpy(row[j], dout.row(t) + q, dqkv.row(first + j) + v, head_size);
        }
        for (i64 j = 0; j <= i; ++j) {
          const float ds = row[j] * (dp[static_cast<std::size_t>(j)] - sum) /
                           std::sqrt(static_cast<float>(head_size));
          axpy(ds, qkv.row(first + j) + k, dqkv.row(t) + q, head_size);
          axpy(ds, qkv.row(t) + q, dqkv.row(first + j) + k, head_size);
        }
      }
  return dqkv;
}

inline constexpr float sqrt_half = 0.70710678F;

inline Tensor gelu(const Tensor& x) {
  KPROF_OP(ops::Gelu, {.numel = x.numel()});
  Tensor y = x;
  for (float& value : y.values) value *= 0.5F * (1 + std::erf(value * sqrt_half));
  return y;
}

inline Tensor gelu_backward(const Tensor& x, Tensor dy) {
  KPROF_OP(ops::Gelu, {.numel = x.numel(), .pass = pass::bprop});
  for (std::size_t i = 0; i < dy.values.size(); ++i) {
    const float value = x.values[i];
    dy.values[i] *= 0.5F * (1 + std::erf(value * sqrt_half)) +
                    value * 0.39894228F * std::exp(-0.5F * value * value);
  }
  return dy;
}

/// a += b: a residual, or the sum of two gradients.
inline void add(Tensor& a, const Tensor& b) {
  KPROF_OP(ops::Add, {.a = {a.rows, a.cols}, .b = {b.rows, b.cols}});
  axpy(1, b.values.data(), a.values.data(), a.numel());
}

}  // namespace transformer

#endif
