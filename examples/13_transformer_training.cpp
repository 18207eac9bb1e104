// SPDX-License-Identifier: MIT
//
// Trains a small GPT-2 for four steps: embeddings, layers of attention and MLP, the head tied to
// the embedding, the loss, all gradients and AdamW. You learn what it takes to annotate a whole
// network: one guard in the function of each layer (transformer_layers.hpp), with an operator of
// the catalogue and `pass` for the direction, and regions for steps, directions and layers.
// Everything is computed, and the program fails if the loss does not fall.
//
//     g++ -std=c++20 -O2 -I include examples/13_transformer_training.cpp -o train && ./train
//     train [steps=4]

#include "transformer_layers.hpp"

#include <kprof/kprof.hpp>
#include <kprof/ops.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace transformer;

struct Block {
  Weights gamma1{1, width, 1.0F}, beta1{1, width, 0.0F}, qkv, qkv_bias{1, 3 * width, 0.0F}, out,
      out_bias{1, width, 0.0F}, gamma2{1, width, 1.0F}, beta2{1, width, 0.0F}, up,
      up_bias{1, 4 * width, 0.0F}, down, down_bias{1, width, 0.0F};
  // what the backward pass needs of the forward one
  Tensor x{0, 0}, normed1{0, 0}, heads_in{0, 0}, p{batch * heads * sequence, sequence},
      heads_out{0, 0}, middle{0, 0}, normed2{0, 0}, hidden{0, 0}, active{0, 0};

  explicit Block(std::mt19937& random)
      : qkv(3 * width, width, random),
        out(width, width, random),
        up(4 * width, width, random),
        down(width, 4 * width, random) {}

  Tensor forward(const Tensor& in) {
    x = in;
    normed1 = layer_norm(x, gamma1, beta1);
    heads_in = linear(normed1, qkv, &qkv_bias);
    heads_out = attention(heads_in, p);
    middle = linear(heads_out, out, &out_bias);
    add(middle, x);
    normed2 = layer_norm(middle, gamma2, beta2);
    hidden = linear(normed2, up, &up_bias);
    active = gelu(hidden);
    Tensor y = linear(active, down, &down_bias);
    add(y, middle);
    return y;
  }

  Tensor backward(const Tensor& dy) {
    const Tensor dhidden = gelu_backward(hidden, linear_backward(active, down, &down_bias, dy));
    const Tensor dnormed2 = linear_backward(normed2, up, &up_bias, dhidden);
    Tensor dmiddle = layer_norm_backward(middle, gamma2, beta2, dnormed2);
    add(dmiddle, dy);
    const Tensor dheads = linear_backward(heads_out, out, &out_bias, dmiddle);
    const Tensor dqkv = attention_backward(heads_in, p, dheads);
    const Tensor dnormed1 = linear_backward(normed1, qkv, &qkv_bias, dqkv);
    Tensor dx = layer_norm_backward(x, gamma1, beta1, dnormed1);
    add(dx, dmiddle);
    return dx;
  }

  std::vector<Weights*> weights() {
    return {&gamma1, &beta1, &qkv, &qkv_bias, &out,  &out_bias,
            &gamma2, &beta2, &up,  &up_bias,  &down, &down_bias};
  }
};

struct Gpt {
  std::mt19937 random{42};
  Weights wte{vocabulary, width, random}, wpe{sequence, width, random};
  std::vector<Block> blocks;
  Weights gamma{1, width, 1.0F}, beta{1, width, 0.0F};

  Gpt() {
    for (i64 i = 0; i < layers; ++i) blocks.emplace_back(random);
  }

  /// One step on a batch; the mean loss before it.
  double train(const std::vector<i64>& in, const std::vector<i64>& target, int step) {
    KPROF_REGION("step");
    Tensor x(tokens, width), normed(0, 0), logits(0, 0);
    {
      KPROF_REGION("forward");
      {
        KPROF_OP(ops::Embedding, {.tokens = tokens, .D = width, .V = vocabulary});
        for (i64 t = 0; t < tokens; ++t) {
          axpy(1, wte.w.row(in[static_cast<std::size_t>(t)]), x.row(t), width);
          axpy(1, wpe.w.row(t % sequence), x.row(t), width);
        }
      }
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        KPROF_REGION("layer " + std::to_string(i));
        x = blocks[i].forward(x);
      }
      normed = layer_norm(x, gamma, beta);
      logits = linear(normed, wte, nullptr);
    }
    const double loss = cross_entropy(logits, target);  // logits become their gradient
    {
      KPROF_REGION("backward");
      Tensor dx =
          layer_norm_backward(x, gamma, beta, linear_backward(normed, wte, nullptr, logits));
      for (std::size_t i = blocks.size(); i-- > 0;) {
        KPROF_REGION("layer " + std::to_string(i));
        dx = blocks[i].backward(dx);
      }
      KPROF_OP(ops::Embedding,
               {.tokens = tokens, .D = width, .V = vocabulary, .pass = pass::bprop});
      for (i64 t = 0; t < tokens; ++t) {
        axpy(1, dx.row(t), wte.grad.row(in[static_cast<std::size_t>(t)]), width);
        axpy(1, dx.row(t), wpe.grad.row(t % sequence), width);
      }
    }
    KPROF_REGION("update");
    for (Weights* const w : weights()) adamw(*w, step);
    return loss;
  }

  static double cross_entropy(Tensor& logits, const std::vector<i64>& target) {
    std::vector<float> lse(tokens);
    double loss = 0;
    {
      KPROF_OP(ops::CrossEntropy, {.rows = tokens, .classes = vocabulary});
      for (i64 t = 0; t < tokens; ++t) {
        const float* const row = logits.row(t);
        const float top = *std::max_element(row, row + vocabulary);
        float sum = 0;
        for (i64 i = 0; i < vocabulary; ++i) sum += std::exp(row[i] - top);
        const auto at = static_cast<std::size_t>(t);
        lse[at] = top + std::log(sum);
        loss += static_cast<double>(lse[at] - row[target[at]]) / tokens;
      }
    }
    KPROF_OP(ops::CrossEntropy, {.rows = tokens, .classes = vocabulary, .pass = pass::bprop});
    for (i64 t = 0; t < tokens; ++t) {
      const auto at = static_cast<std::size_t>(t);
      for (i64 i = 0; i < vocabulary; ++i)
        logits.row(t)[i] =
            (std::exp(logits.row(t)[i] - lse[at]) - (i == target[at] ? 1.0F : 0.0F)) /
            static_cast<float>(tokens);
    }
    return loss;
  }

  std::vector<Weights*> weights() {
    std::vector<Weights*> all{&wte, &wpe, &gamma, &beta};
    for (Block& block : blocks)
      for (Weights* const w : block.weights()) all.push_back(w);
    return all;
  }

  /// One step of AdamW; clears the gradients.
  static void adamw(Weights& p, int step) {
    KPROF_OP(ops::AdamW, {.numel = p.w.numel()});
    const float c1 = 1 - std::pow(0.9F, static_cast<float>(step)),
                c2 = 1 - std::pow(0.999F, static_cast<float>(step));
    for (std::size_t i = 0; i < p.w.values.size(); ++i) {
      float &w = p.w.values[i], &g = p.grad.values[i], &m = p.m.values[i], &v = p.v.values[i];
      m = 0.9F * m + 0.1F * g;
      v = 0.999F * v + 0.001F * g * g;
      w -= 1e-3F * (m / c1 / (std::sqrt(v / c2) + 1e-8F) + 0.1F * w);
      g = 0;
    }
  }
};

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 4;
  if (steps < 2) {
    std::fputs("usage: train [steps=4], 2 or more\n", stderr);
    return 2;
  }
  std::vector<i64> in(tokens), target(tokens);
  for (std::size_t t = 0; t < in.size(); ++t) {
    in[t] = static_cast<i64>(t * t * 7 + t) % vocabulary;
    target[t] = static_cast<i64>((t + 1) * (t + 1) * 7 + t + 1) % vocabulary;
  }
  Gpt model;
  const double first = model.train(in, target, 1);
  double last = first;
  for (int step = 2; step <= steps; ++step) last = model.train(in, target, step);
  std::fprintf(stderr, "loss %.3f, then %.3f\n", first, last);
  kprof::report();
  return last < first ? 0 : 1;
}
// Output:
// kprof 0.1.0 · wall 697 ms · 1 thread · 740 scopes
//
// Operators by parameters, sorted by self; share is of 697 ms in all scopes
//
// operator      parameters                    calls     self  share    total     mean  GFLOP/s    GB/s
// ────────────────────────────────────────────────────────────────────────────────────────────────────
// Linear        tokens=128 in_features=512 …     16  76.6 ms  11.0%  76.6 ms  4.79 ms    3.51    0.123
// Linear        tokens=128 in_features=128 …     16  69.9 ms  10.0%  69.9 ms  4.37 ms    3.85    0.135
// Linear        tokens=128 in_features=128 …     16  55.7 ms   8.0%  55.7 ms  3.48 ms    3.63    0.132
// Linear        tokens=128 in_features=512 …     16  49.5 ms   7.1%  49.5 ms  3.09 ms    5.42    0.191
// Linear        tokens=128 in_features=128 …      4  37.0 ms   5.3%  37.0 ms  9.25 ms    3.63    0.120
// Linear        tokens=128 in_features=512 …     16  35.7 ms   5.1%  35.7 ms  2.23 ms    7.52    0.265
// Linear        tokens=128 in_features=128 …     16  35.2 ms   5.0%  35.2 ms  2.20 ms    7.63    0.268
// Gelu          numel=65536 pass=bprop type…     16  31.5 ms   4.5%  31.5 ms  1.97 ms    0.033   0.399
// Linear        tokens=128 in_features=128 …     16  31.2 ms   4.5%  31.2 ms  1.95 ms    6.46    0.236
// Linear        tokens=128 in_features=128 …     16  29.8 ms   4.3%  29.8 ms  1.86 ms    9.02    0.317
// Sdpa          B=2 Hq=4 Hkv=0 Sq=64 Sk=64 …     16  25.3 ms   3.6%  25.3 ms  1.58 ms    2.65    0.333
// Linear        tokens=128 in_features=128 …      4  22.2 ms   3.2%  22.2 ms  5.55 ms    6.05    0.201
// Linear        tokens=128 in_features=128 …     16  21.5 ms   3.1%  21.5 ms  1.34 ms    3.12    0.146
// AdamW         numel=49152 weight_decay=tr…     16  20.8 ms   3.0%  20.8 ms  1.30 ms    0.605   1.06
// AdamW         numel=65536 weight_decay=tr…     32  17.0 ms   2.4%  17.0 ms   532 µs    1.97    3.45
// Linear        tokens=128 in_features=128 …      4  17.0 ms   2.4%  17.0 ms  4.24 ms    7.91    0.263
// LayerNorm     rows=128 cols=128 affine=tr…     36  14.5 ms   2.1%  14.5 ms   402 µs    0.529   0.493
// LayerNorm     rows=128 cols=128 affine=tr…     36  12.3 ms   1.8%  12.3 ms   343 µs    0.382   0.385
// Linear        tokens=128 in_features=128 …     16  12.1 ms   1.7%  12.1 ms   759 µs   16.6     0.604
// Linear        tokens=128 in_features=128 …     16  12.1 ms   1.7%  12.1 ms   754 µs    5.56    0.261
// Sdpa          B=2 Hq=4 Hkv=0 Sq=64 Sk=64 …     16  9.90 ms   1.4%  9.90 ms   619 µs    3.39    0.424
// AdamW         numel=16384 weight_decay=tr…     16  9.54 ms   1.4%  9.54 ms   596 µs    0.440   0.769
// Add           a=[128,128,-1,-1,-1,-1] b=[…     64  8.64 ms   1.2%  8.64 ms   135 µs    0.121   1.46
// Gelu          numel=65536 pass=fprop type…     16  8.14 ms   1.2%  8.14 ms   509 µs    0.129   1.03
// CrossEntropy  rows=128 classes=1024 pass=…      4  7.65 ms   1.1%  7.65 ms  1.91 ms    0.274   0.275
// CrossEntropy  rows=128 classes=1024 pass=…      4  6.63 ms   1.0%  6.63 ms  1.66 ms    0.237   0.634
// Linear        tokens=128 in_features=128 …     16  6.05 ms   0.9%  6.05 ms   378 µs   11.1     0.521
// AdamW         numel=131072 weight_decay=t…      4  2.90 ms   0.4%  2.90 ms   725 µs    2.89    5.06
// Embedding     tokens=128 D=128 V=1024 pas…      4   331 µs  <0.1%   331 µs  82.6 µs    0.198   2.39
// AdamW         numel=8192 weight_decay=tru…      4   176 µs  <0.1%   176 µs  43.9 µs    2.98    5.22
// Linear        tokens=128 in_features=128 …     16   151 µs  <0.1%   151 µs  9.45 µs    6.93   27.9
// Embedding     tokens=128 D=128 V=1024 pas…      4   150 µs  <0.1%   150 µs  37.5 µs    0       3.52
// AdamW         numel=128 weight_decay=true…    104   134 µs  <0.1%   134 µs  1.28 µs    1.59    2.79
// Linear        tokens=128 in_features=128 …     16   102 µs  <0.1%   102 µs  6.35 µs    7.74   31.2
// AdamW         numel=512 weight_decay=true…     16  61.7 µs  <0.1%  61.7 µs  3.86 µs    2.12    3.72
// Linear        tokens=128 in_features=512 …     16  54.7 µs  <0.1%  54.7 µs  3.42 µs    4.80   19.3
// AdamW         numel=384 weight_decay=true…     16  52.8 µs  <0.1%  52.8 µs  3.30 µs    1.86    3.26
// Linear        tokens=128 in_features=128 …     16  43.8 µs  <0.1%  43.8 µs  2.74 µs    5.98   24.1
//
// not shown at width 100: FLOP/B, max, median, min
// cut at width 100: parameters; whole with width=234, or KPROF='report(width=234)'
// in regions, outside operators: self 9.55 ms, 1.4%
// ...
