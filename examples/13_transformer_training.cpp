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
// kprof · 13_transformer_training · 505 ms · 1 thread on 2 CPUs · 3.00 GFLOP at 5.95 GFLOP/s
//
// Operators, sorted by self; all f32
//
// operator      parameters                pass    calls     self            share   median  GFLOP/s
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// Linear        all 19 rows: tokens=128             268   445 ms  ████████  88.2%   939 µs    6.34
//                 128 → 512               dgrad      16  61.2 ms  █▏        12.1%  3.81 ms    4.39
//                 128 → 512               wgrad      16  55.4 ms  █         11.0%  3.45 ms    4.85
//                 512 → 128               dgrad      16  49.8 ms  ▉          9.9%  3.06 ms    5.39
//                 512 → 128               wgrad      16  47.9 ms  ▉          9.5%  2.99 ms    5.61
//                 128 → 384               dgrad      16  47.7 ms  ▉          9.5%  2.99 ms    4.22
//                 128 → 384               wgrad      16  42.2 ms  ▊          8.4%  2.63 ms    4.77
//                 128 → 1024              dgrad       4  30.2 ms  ▌          6.0%  7.41 ms    4.44
//                 128 → 1024              wgrad       4  27.9 ms  ▌          5.5%  6.91 ms    4.82
//                 512 → 128, bias         fprop      16  16.7 ms  ▎          3.3%  1.05 ms   16.1
//                 128 → 128               dgrad      16  14.8 ms  ▎          2.9%   926 µs    4.53
//                 128 → 512, bias         fprop      16  14.8 ms  ▎          2.9%   914 µs   18.2
//                 128 → 128               wgrad      16  14.0 ms  ▎          2.8%   863 µs    4.81
//                 128 → 384, bias         fprop      16  10.8 ms  ▎          2.1%   684 µs   18.7
//                 128 → 1024              fprop       4  7.51 ms  ▏          1.5%  1.85 ms   17.9
//                 128 → 128, bias         fprop      16  3.50 ms  ▏          0.7%   213 µs   19.2
//                 … 4 more, each < 0.1%              64   794 µs             0.2%
// Sdpa          all 2 rows: B=2 H=4 S=64 D=32        32  19.4 ms  ▍          3.8%   438 µs    5.19
//                 causal stored P         bprop      16  13.7 ms  ▎          2.7%   826 µs    4.90
//                 causal                  fprop      16  5.68 ms  ▏          1.1%   336 µs    5.91
// AdamW         8 rows                    update    208  14.6 ms  ▎          2.9%  1.76 µs    4.10
//                 65536                   update     32  8.27 ms  ▏          1.6%   241 µs    4.06
//                 49152                   update     16  2.94 ms             0.6%   180 µs    4.28
//                 131072                  update      4  2.10 ms             0.4%   514 µs    3.99
//                 16384                   update     16   956 µs             0.2%  59.5 µs    4.39
//                 … 4 more, each < 0.1%             140   306 µs             0.1%
// Gelu          all 2 rows: 65536                    32  11.6 ms  ▎          2.3%   354 µs    0.181
//                                         bprop      16  6.57 ms  ▏          1.3%   406 µs    0.160
//                                         fprop      16  5.04 ms  ▏          1.0%   345 µs    0.208
// LayerNorm     all 2 rows: 128×128, no stats        72  5.16 ms  ▏          1.0%  73.6 µs    2.40
//                                         bprop      36  3.15 ms             0.6%  79.2 µs    2.43
//                                         fprop      36  2.01 ms             0.4%  45.1 µs    2.35
// CrossEntropy  all 2 rows: 128×1024                  8  3.90 ms  ▏          0.8%   310 µs    0.942
//                                         fprop       4  2.69 ms             0.5%   660 µs    0.779
//                                         bprop       4  1.21 ms             0.2%   295 µs    1.30
// Embedding     all 2 rows: 128×128, of 1024          8   654 µs             0.1%  79.2 µs    0.100
// Add           128×128                   fprop      64   538 µs             0.1%  8.22 µs    1.95
// ─────────────────────────────────────────────────────────────────────────────────────────────────
// in operators                                      692   501 ms            99.3%             6.00
// in regions, outside operators                          3.64 ms             0.7%
//
// not shown at width 100: GB/s, mean, total, FLOP/B, max, min
// ...
