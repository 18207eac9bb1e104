// SPDX-License-Identifier: MIT
#ifndef KPROF_EXAMPLES_NETWORKS_HPP
#define KPROF_EXAMPLES_NETWORKS_HPP

// Four models as lists of the catalogue's operators, summed by the compiler. `products` holds the products of matrices and
// convolutions, which is what published figures count; `others` the rest.

#include <kprof/ops/activation.hpp>
#include <kprof/ops/attention.hpp>
#include <kprof/ops/conv.hpp>
#include <kprof/ops/gemm.hpp>
#include <kprof/ops/indexing.hpp>
#include <kprof/ops/network.hpp>
#include <kprof/ops/norm.hpp>
#include <kprof/ops/pointwise.hpp>
#include <kprof/ops/pool.hpp>
#include <kprof/ops/softmax.hpp>

#include <cstdint>

namespace networks {

using namespace kprof::ops;
using kprof::dtype;

struct model {
  network products, others;
  constexpr network all() const { return network{products}.add(others); }
  constexpr model& add(const model& part, std::int64_t times = 1) {
    products.add(part.products, times);
    others.add(part.others, times);
    return *this;
  }
};

// ---- ResNet-50 v1.5, inference or one step of training

struct resnet50_builder {
  std::int64_t batch = 1;
  dtype type = dtype::f32;
  bool train = false;
  model out{};

  constexpr void add(network& to, const auto& op) {
    if (train) to.add_with_backward(op);
    else to.add(op);
  }
  /// Convolution and batch normalisation; returns the side of its output.
  constexpr std::int64_t conv(std::int64_t channels, std::int64_t side, std::int64_t filters, std::int64_t window, std::int64_t stride, bool relu) {
    const Conv2d c{.N = batch, .C = channels, .H = side, .W = side, .K = filters, .R = window, .S = window, .ph = window / 2, .pw = window / 2,
                   .U = stride, .V = stride, .type = type};
    const std::int64_t to = static_cast<std::int64_t>(c.P().value());
    add(out.products, c);
    add(out.others, BatchNorm{.N = batch, .C = filters, .H = to, .W = to, .train = train, .type = type, .dtypeP = dtype::f32});
    if (relu) add(out.others, Relu{.numel = batch * filters * to * to, .type = type});
    return to;
  }
  constexpr std::int64_t bottleneck(std::int64_t channels, std::int64_t side, std::int64_t width, std::int64_t stride) {
    conv(channels, side, width, 1, 1, true);
    const std::int64_t to = conv(width, side, width, 3, stride, true);
    conv(width, to, 4 * width, 1, 1, false);
    if (channels != 4 * width) conv(channels, side, 4 * width, 1, stride, false);   // the shortcut
    const std::int64_t numel = batch * 4 * width * to * to;
    add(out.others, Add{.a = {numel}, .b = {numel}, .type = type});
    add(out.others, Relu{.numel = numel, .type = type});
    return to;
  }
};

constexpr model resnet50(std::int64_t batch, dtype type = dtype::f32, bool train = false) {
  resnet50_builder b{.batch = batch, .type = type, .train = train};
  std::int64_t side = b.conv(3, 224, 64, 7, 2, true);
  b.add(b.out.others, MaxPool2d{.N = batch, .C = 64, .H = side, .W = side, .R = 3, .S = 3, .ph = 1, .pw = 1, .U = 2, .V = 2, .type = type});
  side /= 2;
  std::int64_t channels = 64;
  constexpr std::int64_t blocks[] = {3, 4, 6, 3};
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (std::int64_t block = 0; block < blocks[stage]; ++block) {
      side = b.bottleneck(channels, side, width, stage > 0 && block == 0 ? 2 : 1);
      channels = 4 * width;
    }
  }
  b.add(b.out.others, AdaptiveAvgPool2d{.N = batch, .C = channels, .H = side, .W = side, .type = type});
  b.add(b.out.products, Linear{.tokens = batch, .in_features = channels, .out_features = 1000, .bias = true, .type = type});
  if (!train) b.out.others.add(Softmax{.rows = batch, .cols = 1000, .type = type});
  return b.out;
}

// ---- Transformers

/// BERT and GPT-2: layer norms with bias, gelu, learned positions. `causal`: GPT-2.
constexpr model transformer(std::int64_t batch, std::int64_t length, std::int64_t layers, std::int64_t width, std::int64_t heads, dtype type, attention_mask mask) {
  const std::int64_t tokens = batch * length, numel = tokens * width;
  const auto linear = [&](std::int64_t in, std::int64_t out) {
    return Linear{.tokens = tokens, .in_features = in, .out_features = out, .bias = true, .type = type};
  };
  const LayerNorm norm{.rows = tokens, .cols = width, .stats = false, .type = type};
  model layer;
  layer.products.add(linear(width, 3 * width))
      .add(Sdpa{.B = batch, .Hq = heads, .Sq = length, .Sk = length, .D = width / heads, .mask = mask, .type = type})
      .add(linear(width, width))
      .add(linear(width, 4 * width))
      .add(linear(4 * width, width));
  layer.others.add(norm, 2).add(Add{.a = {numel}, .b = {numel}, .type = type}, 2).add(Gelu{.numel = 4 * numel, .type = type});
  model m;
  m.add(layer, layers);
  return m;
}

/// bert-base-uncased, with the pooler over the first token.
constexpr model bert_base(std::int64_t batch, std::int64_t length, dtype type = dtype::f16) {
  constexpr std::int64_t width = 768;
  model m = transformer(batch, length, 12, width, 12, type, attention_mask::none);
  const std::int64_t tokens = batch * length, numel = tokens * width;
  for (const std::int64_t rows : {30522, 512, 2}) m.others.add(Embedding{.tokens = tokens, .D = width, .V = rows, .type = type});
  m.others.add(Add{.a = {numel}, .b = {numel}, .type = type}, 2).add(LayerNorm{.rows = tokens, .cols = width, .stats = false, .type = type});
  m.products.add(Linear{.tokens = batch, .in_features = width, .out_features = width, .bias = true, .type = type});
  m.others.add(Tanh{.numel = batch * width, .type = type});
  return m;
}

/// GPT-2 (124M) over whole sequences, logits of every position; the output layer has the weights of the embedding.
constexpr model gpt2(std::int64_t batch, std::int64_t length, attention_mask mask = attention_mask::causal, dtype type = dtype::f16) {
  constexpr std::int64_t width = 768, words = 50257;
  model m = transformer(batch, length, 12, width, 12, type, mask);
  const std::int64_t tokens = batch * length, numel = tokens * width;
  m.others.add(Embedding{.tokens = tokens, .D = width, .V = words, .type = type}).add(Embedding{.tokens = tokens, .D = width, .V = 1024, .type = type});
  m.others.add(Add{.a = {numel}, .b = {numel}, .type = type}).add(LayerNorm{.rows = tokens, .cols = width, .stats = false, .type = type});
  m.products.repeat(Linear{.tokens = tokens, .in_features = width, .out_features = words, .type = type});
  return m;
}

/// Llama 2 7B: `length` new tokens of each sequence after `before` others. With length 1 a step of decoding.
constexpr model llama2_7b(std::int64_t batch, std::int64_t length, std::int64_t before, dtype type = dtype::bf16) {
  constexpr std::int64_t width = 4096, heads = 32, head = width / heads, ffn = 11008, words = 32000, layers = 32;
  const std::int64_t tokens = batch * length, numel = tokens * width;
  const auto linear = [&](std::int64_t in, std::int64_t out) { return Linear{.tokens = tokens, .in_features = in, .out_features = out, .type = type}; };
  const RmsNorm norm{.rows = tokens, .cols = width, .stats = false, .type = type};
  model layer;
  layer.products.add(linear(width, width), 4).add(linear(width, ffn), 2).add(linear(ffn, width));
  if (length == 1) layer.products.add(DecodeAttention{.B = batch, .Hq = heads, .Sk = before + 1, .D = head, .append = true, .type = type});
  else layer.products.add(Sdpa{.B = batch, .Hq = heads, .Sq = length, .Sk = before + length, .D = head, .mask = attention_mask::causal, .type = type});
  layer.others.add(norm, 2).add(Rope{.B = batch, .S = length, .H = 2 * heads, .D = head, .type = type});
  layer.others.add(Swiglu{.rows = tokens, .F = ffn, .type = type}).add(Add{.a = {numel}, .b = {numel}, .type = type}, 2);
  model m;
  m.add(layer, layers);
  m.others.add(Embedding{.tokens = tokens, .D = width, .V = words, .type = type}).add(norm);
  m.products.add(Linear{.tokens = batch, .in_features = width, .out_features = words, .type = type});   // of the last position
  return m;
}

}  // namespace networks

#endif
