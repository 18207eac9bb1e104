// SPDX-License-Identifier: MIT
#ifndef KPROF_EXAMPLES_NETWORKS_HPP
#define KPROF_EXAMPLES_NETWORKS_HPP

// Four models as lists of the catalogue's operators, summed by the compiler. `products` holds the
// products of matrices and convolutions, which is what published figures count; `others` the rest.
// resnet50_onednn.cpp runs the layers of the first.

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

#include <array>
#include <cstddef>
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

// ---- ResNet-50 v1.5

/// Three convolutions, and in a stage's first block a fourth on the shortcut beside them.
struct bottleneck {
  int stage = 0, index = 0;  // stages are 2 to 5; its place in the stage
  Conv2d reduce, spatial, expand, shortcut;
  // the first block changes the shape of its input
  constexpr bool projects() const { return index == 0; }
};

/// In the order in which they run; without batch normalisation, ReLUs and residual sums.
struct resnet50_layers {
  Conv2d stem;
  MaxPool2d max_pool;
  std::array<bottleneck, 16> blocks;
  AvgPool2d avg_pool;
  Linear classifier;
  Softmax softmax;
};

constexpr resnet50_layers layers_of_resnet50(std::int64_t batch, dtype type = dtype::f32) {
  resnet50_layers net;
  net.stem = {.N = batch,
              .C = 3,
              .H = 224,
              .W = 224,
              .K = 64,
              .R = 7,
              .S = 7,
              .ph = 3,
              .pw = 3,
              .U = 2,
              .V = 2,
              .type = type};
  net.max_pool = {.N = batch,
                  .C = 64,
                  .H = 112,
                  .W = 112,
                  .R = 3,
                  .S = 3,
                  .ph = 1,
                  .pw = 1,
                  .U = 2,
                  .V = 2,
                  .type = type};
  std::int64_t channels = 64, side = 56;
  std::size_t at = 0;
  for (int stage = 2; stage <= 5; ++stage) {
    const std::int64_t width = std::int64_t{16} << stage;
    const int depth = std::array{3, 4, 6, 3}[static_cast<std::size_t>(stage - 2)];
    for (int i = 0; i < depth; ++i) {
      const std::int64_t stride = i == 0 && stage > 2 ? 2 : 1, out = side / stride;
      net.blocks[at++] = {
          .stage = stage,
          .index = i,
          .reduce = {.N = batch, .C = channels, .H = side, .W = side, .K = width, .type = type},
          .spatial = {.N = batch,
                      .C = width,
                      .H = side,
                      .W = side,
                      .K = width,
                      .R = 3,
                      .S = 3,
                      .ph = 1,
                      .pw = 1,
                      .U = stride,
                      .V = stride,
                      .type = type},
          .expand = {.N = batch, .C = width, .H = out, .W = out, .K = 4 * width, .type = type},
          .shortcut = {.N = batch,
                       .C = channels,
                       .H = side,
                       .W = side,
                       .K = 4 * width,
                       .U = stride,
                       .V = stride,
                       .type = type}};
      channels = 4 * width;
      side = out;
    }
  }
  net.avg_pool = {
      .N = batch, .C = channels, .H = side, .W = side, .R = side, .S = side, .type = type};
  net.classifier = {
      .tokens = batch, .in_features = channels, .out_features = 1000, .bias = true, .type = type};
  net.softmax = {.rows = batch, .cols = 1000, .type = type};
  return net;
}

/// Inference, or with `train` forward and backward of all layers: of a step of training what is not
/// the loss and the optimizer.
constexpr model resnet50(std::int64_t batch, dtype type = dtype::f32, bool train = false) {
  const resnet50_layers net = layers_of_resnet50(batch, type);
  model out;
  const auto add = [&](network& to, const auto& op) {
    if (train) to.add_with_backward(op);
    else to.add(op);
  };
  const auto conv = [&](const Conv2d& c, bool relu) {  // and its batch normalisation
    const auto side = static_cast<std::int64_t>(c.P().value());
    add(out.products, c);
    add(out.others, BatchNorm{.N = batch,
                              .C = c.K,
                              .H = side,
                              .W = side,
                              .train = train,
                              .type = type,
                              .dtypeP = dtype::f32});
    if (relu) add(out.others, Relu{.numel = batch * c.K * side * side, .type = type});
  };
  conv(net.stem, true);
  add(out.others, net.max_pool);
  for (const bottleneck& b : net.blocks) {
    conv(b.reduce, true);
    conv(b.spatial, true);
    conv(b.expand, false);
    if (b.projects()) conv(b.shortcut, false);
    const std::int64_t numel = batch * b.expand.K * b.expand.H * b.expand.W;
    add(out.others, Add{.a = {numel}, .b = {numel}, .type = type});
    add(out.others, Relu{.numel = numel, .type = type});
  }
  add(out.others, net.avg_pool);
  add(out.products, net.classifier);
  if (!train) out.others.add(net.softmax);
  return out;
}

// ---- Transformers

/// BERT and GPT-2: layer norms with bias, gelu, learned positions. `causal`: GPT-2.
constexpr model transformer(std::int64_t batch, std::int64_t length, std::int64_t layers,
                            std::int64_t width, std::int64_t heads, dtype type,
                            attention_mask mask) {
  const std::int64_t tokens = batch * length, numel = tokens * width;
  const auto linear = [&](std::int64_t in, std::int64_t out) {
    return Linear{
        .tokens = tokens, .in_features = in, .out_features = out, .bias = true, .type = type};
  };
  const LayerNorm norm{.rows = tokens, .cols = width, .stats = false, .type = type};
  model layer;
  layer.products.add(linear(width, 3 * width))
      .add(Sdpa{.B = batch,
                .Hq = heads,
                .Sq = length,
                .Sk = length,
                .D = width / heads,
                .mask = mask,
                .type = type})
      .add(linear(width, width))
      .add(linear(width, 4 * width))
      .add(linear(4 * width, width));
  layer.others.add(norm, 2)
      .add(Add{.a = {numel}, .b = {numel}, .type = type}, 2)
      .add(Gelu{.numel = 4 * numel, .type = type});
  model m;
  m.add(layer, layers);
  return m;
}

/// bert-base-uncased, with the pooler over the first token.
constexpr model bert_base(std::int64_t batch, std::int64_t length, dtype type = dtype::f16) {
  constexpr std::int64_t width = 768;
  model m = transformer(batch, length, 12, width, 12, type, attention_mask::none);
  const std::int64_t tokens = batch * length, numel = tokens * width;
  for (const std::int64_t rows : {30522, 512, 2})
    m.others.add(Embedding{.tokens = tokens, .D = width, .V = rows, .type = type});
  m.others.add(Add{.a = {numel}, .b = {numel}, .type = type}, 2)
      .add(LayerNorm{.rows = tokens, .cols = width, .stats = false, .type = type});
  m.products.add(Linear{
      .tokens = batch, .in_features = width, .out_features = width, .bias = true, .type = type});
  m.others.add(Tanh{.numel = batch * width, .type = type});
  return m;
}

/// GPT-2 (124M) over whole sequences, logits of every position; the output layer has the weights of
/// the embedding.
constexpr model gpt2(std::int64_t batch, std::int64_t length,
                     attention_mask mask = attention_mask::causal, dtype type = dtype::f16) {
  constexpr std::int64_t width = 768, words = 50257;
  model m = transformer(batch, length, 12, width, 12, type, mask);
  const std::int64_t tokens = batch * length, numel = tokens * width;
  m.others.add(Embedding{.tokens = tokens, .D = width, .V = words, .type = type})
      .add(Embedding{.tokens = tokens, .D = width, .V = 1024, .type = type});
  m.others.add(Add{.a = {numel}, .b = {numel}, .type = type})
      .add(LayerNorm{.rows = tokens, .cols = width, .stats = false, .type = type});
  m.products.repeat(
      Linear{.tokens = tokens, .in_features = width, .out_features = words, .type = type});
  return m;
}

/// Llama 2 7B: `length` new tokens of each sequence after `before` others. With length 1 a step of
/// decoding.
constexpr model llama2_7b(std::int64_t batch, std::int64_t length, std::int64_t before,
                          dtype type = dtype::bf16) {
  constexpr std::int64_t width = 4096, heads = 32, head = width / heads, ffn = 11008, words = 32000,
                         layers = 32;
  const std::int64_t tokens = batch * length, numel = tokens * width;
  const auto linear = [&](std::int64_t in, std::int64_t out) {
    return Linear{.tokens = tokens, .in_features = in, .out_features = out, .type = type};
  };
  const RmsNorm norm{.rows = tokens, .cols = width, .stats = false, .type = type};
  model layer;
  layer.products.add(linear(width, width), 4).add(linear(width, ffn), 2).add(linear(ffn, width));
  if (length == 1)
    layer.products.add(DecodeAttention{
        .B = batch, .Hq = heads, .Sk = before + 1, .D = head, .append = true, .type = type});
  else
    layer.products.add(Sdpa{.B = batch,
                            .Hq = heads,
                            .Sq = length,
                            .Sk = before + length,
                            .D = head,
                            .mask = attention_mask::causal,
                            .type = type});
  layer.others.add(norm, 2).add(
      Rope{.B = batch, .S = length, .H = 2 * heads, .D = head, .type = type});
  layer.others.add(Swiglu{.rows = tokens, .F = ffn, .type = type})
      .add(Add{.a = {numel}, .b = {numel}, .type = type}, 2);
  model m;
  m.add(layer, layers);
  m.others.add(Embedding{.tokens = tokens, .D = width, .V = words, .type = type}).add(norm);
  // of the last position
  m.products.add(
      Linear{.tokens = batch, .in_features = width, .out_features = words, .type = type});
  return m;
}

}  // namespace networks

#endif
