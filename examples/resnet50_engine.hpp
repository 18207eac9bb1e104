// SPDX-License-Identifier: MIT
#ifndef KPROF_EXAMPLES_RESNET50_ENGINE_HPP
#define KPROF_EXAMPLES_RESNET50_ENGINE_HPP

// ResNet-50 v1.5 on oneDNN, as an inference engine has it. Every primitive runs under a guard with
// the operator of the catalogue that it stands for; blocks and stages are regions. For
// resnet50_onednn.cpp.

#include "networks.hpp"

#include <kprof/kprof.hpp>
#include <kprof/ops/movement.hpp>

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace resnet50 {

using namespace kprof::ops;  // Conv2d, MaxPool2d, AvgPool2d, Linear, Softmax, Permute
using networks::bottleneck;
using networks::resnet50_layers;

/// As inference engines run it: biases in place of batch normalisation, ReLUs and residual sums
/// inside the convolutions.
constexpr resnet50_layers fused_resnet50(std::int64_t batch) {
  resnet50_layers net = networks::layers_of_resnet50(batch);
  net.stem.bias = true;
  net.stem.act = activation::relu;
  for (bottleneck& b : net.blocks) {
    b.reduce.bias = b.spatial.bias = b.expand.bias = b.shortcut.bias = true;
    b.reduce.act = b.spatial.act = b.expand.act = activation::relu;
    b.expand.residual = true;  // adds to what the output already holds
  }
  return net;
}

using dnnl::memory;
using tag = memory::format_tag;
constexpr auto f32 = memory::data_type::f32;
constexpr auto inference = dnnl::prop_kind::forward_inference;

#if DNNL_VERSION_MAJOR >= 3
using pooling = dnnl::pooling_forward;
using softmax_forward = dnnl::softmax_forward;
inline void append_relu(dnnl::post_ops& ops) {
  ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
}
#else
using pooling = dnnl::pooling_v2_forward;
using softmax_forward = dnnl::softmax_v2_forward;
inline void append_relu(dnnl::post_ops& ops) {
  ops.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
}
#endif

/// A primitive with its arguments, and the operator it stands for in the profile.
template <class Op>
struct Layer {
  Op params;
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
};

/// The output of a convolution, or of a pool with its C channels.
template <class Window>
memory::dims output_of(const Window& p, std::int64_t channels) {
  return {p.N, channels, static_cast<std::int64_t>(p.P().value()),
          static_cast<std::int64_t>(p.Q().value())};
}

/// Elements of an f32 tensor, with what its layout pads.
inline std::int64_t elements_of(const memory& m) {
  return static_cast<std::int64_t>(m.get_desc().get_size() / sizeof(float));
}

class Engine {
 public:
  explicit Engine(std::int64_t batch);
  /// One convolution by itself, on data of its own.
  explicit Engine(const Conv2d& alone);

  void infer();
  void run_alone() { run(*stem_); }
  /// One row of 1000 per image.
  std::vector<float> probabilities() const {
    const float* rows = static_cast<const float*>(probabilities_.get_data_handle());
    return {rows, rows + elements_of(probabilities_)};
  }

 private:
  struct Block {
    std::string name;
    int stage;
    std::optional<Layer<Conv2d>> shortcut;
    Layer<Conv2d> reduce, spatial, expand;
  };

  template <class Primitive, class... Arguments>
  auto describe(const dnnl::primitive_attr& attributes, const Arguments&... arguments) const {
#if DNNL_VERSION_MAJOR >= 3
    return typename Primitive::primitive_desc(engine_, arguments..., attributes);
#else
    return typename Primitive::primitive_desc(typename Primitive::desc(arguments...), attributes,
                                              engine_);
#endif
  }

  template <class Op>
  void run(const Layer<Op>& layer) {
    KPROF_OP(Op, layer.params);
    layer.primitive.execute(stream_, layer.arguments);
    stream_.wait();
  }

  memory random(const memory::dims& shape, tag layout, float deviation);
  memory in_layout(const memory& plain, const memory::desc& wanted);
  memory view(const memory::desc& shape, const memory& buffer) const;
  Layer<Conv2d> convolution(const Conv2d& p, const memory& from, memory& to, const memory& buffer);
  template <class Pool>
  Layer<Pool> pool(dnnl::algorithm kind, const Pool& p, const memory& from, memory& to,
                   const memory& buffer);
  Layer<Linear> linear(const Linear& p, const memory& from, memory& to);
  Layer<Softmax> softmax(const Softmax& p, const memory& from, memory& to);

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::mt19937 generator_{50};
  std::array<memory, 4> buffers_;
  memory probabilities_;
  std::optional<Layer<Conv2d>> stem_;
  std::optional<Layer<MaxPool2d>> max_pool_;
  std::vector<Block> blocks_;
  std::optional<Layer<AvgPool2d>> avg_pool_;
  std::optional<Layer<Linear>> classifier_;
  std::optional<Layer<Softmax>> softmax_;
};

inline memory Engine::random(const memory::dims& shape, tag layout, float deviation) {
  KPROF_REGION("random numbers");
  memory m({shape, f32, layout}, engine_);
  float* values = static_cast<float*>(m.get_data_handle());
  const float half_width = deviation * std::sqrt(3.0F);
  std::uniform_real_distribution<float> uniform(-half_width, half_width);
  std::generate_n(values, elements_of(m), [&] { return uniform(generator_); });
  return m;
}

/// The same tensor in the layout a primitive asked for.
inline memory Engine::in_layout(const memory& plain, const memory::desc& wanted) {
  if (plain.get_desc() == wanted) return plain;
  memory out(wanted, engine_);
  run(Layer<Permute>{{.numel = elements_of(plain)},
                     dnnl::reorder(plain, out),
                     {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, out}}});
  return out;
}

/// A tensor in a buffer that layers share.
inline memory Engine::view(const memory::desc& shape, const memory& buffer) const {
  if (shape.get_size() > buffer.get_desc().get_size())
    throw std::runtime_error("an activation does not fit its buffer");
  return {shape, engine_, buffer.get_data_handle()};
}

/// Writes to `buffer`; with a residual it adds to `to`, whose layout it keeps.
inline Layer<Conv2d> Engine::convolution(const Conv2d& p, const memory& from, memory& to,
                                         const memory& buffer) {
  dnnl::post_ops fused;
  if (p.residual) fused.append_sum(1.0F);
  if (p.act == activation::relu) append_relu(fused);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(fused);
  const memory::dims filter{p.K, p.C, p.R, p.S}, stride{p.U, p.V}, pad{p.ph, p.pw};
  const auto desc = describe<dnnl::convolution_forward>(
      attributes, inference, dnnl::algorithm::convolution_direct, from.get_desc(),
      memory::desc{filter, f32, tag::any}, memory::desc{{p.K}, f32, tag::x},
      p.residual ? to.get_desc() : memory::desc{output_of(p, p.K), f32, tag::any}, stride, pad,
      pad);
  // Keeps the size of activations through ReLUs and residual sums, so that no layer sees infinities
  // or denormal numbers.
  const float deviation =
      std::sqrt((p.residual ? 0.5F : 2.0F) / static_cast<float>(p.C * p.R * p.S));
  const memory weights = in_layout(random(filter, tag::oihw, deviation), desc.weights_desc());
  if (!p.residual) to = view(desc.dst_desc(), buffer);
  return {p,
          dnnl::convolution_forward(desc),
          {{DNNL_ARG_SRC, from},
           {DNNL_ARG_WEIGHTS, weights},
           {DNNL_ARG_BIAS, random({p.K}, tag::x, 0.1F)},
           {DNNL_ARG_DST, to}}};
}

template <class Pool>
Layer<Pool> Engine::pool(dnnl::algorithm kind, const Pool& p, const memory& from, memory& to,
                         const memory& buffer) {
  const memory::dims window{p.R, p.S}, stride{p.U, p.V}, pad{p.ph, p.pw}, no_dilation{0, 0};
  const auto desc = describe<pooling>({}, inference, kind, from.get_desc(),
                                      memory::desc{output_of(p, p.C), f32, tag::any}, stride,
                                      window, no_dilation, pad, pad);
  to = view(desc.dst_desc(), buffer);
  return {p, pooling(desc), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}};
}

inline Layer<Linear> Engine::linear(const Linear& p, const memory& from, memory& to) {
  const memory::dims shape{p.out_features, p.in_features, 1, 1};  // as the pooled activations lie
  const auto desc = describe<dnnl::inner_product_forward>(
      {}, inference, from.get_desc(), memory::desc{shape, f32, tag::any},
      memory::desc{{p.out_features}, f32, tag::x},
      memory::desc{{p.tokens, p.out_features}, f32, tag::nc});
  const float deviation = std::sqrt(1.0F / static_cast<float>(p.in_features));
  const memory weights = in_layout(random(shape, tag::oihw, deviation), desc.weights_desc());
  to = memory(desc.dst_desc(), engine_);
  return {p,
          dnnl::inner_product_forward(desc),
          {{DNNL_ARG_SRC, from},
           {DNNL_ARG_WEIGHTS, weights},
           {DNNL_ARG_BIAS, random({p.out_features}, tag::x, 0.1F)},
           {DNNL_ARG_DST, to}}};
}

inline Layer<Softmax> Engine::softmax(const Softmax& p, const memory& from, memory& to) {
  const auto desc = describe<softmax_forward>({}, inference, dnnl::algorithm::softmax_accurate,
                                              from.get_desc(), from.get_desc(), 1);
  to = memory(desc.dst_desc(), engine_);
  return {p, softmax_forward(desc), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}};
}

inline Engine::Engine(std::int64_t batch) {
  KPROF_REGION("set-up");
  const resnet50_layers net = fused_resnet50(batch);
  // Four buffers hold all activations: a block's input, which takes its output too, its projection,
  // and two in between.
  const memory::desc largest{output_of(net.stem, net.stem.K), f32, tag::nchw};
  for (memory& buffer : buffers_) buffer = memory(largest, engine_);
  memory input = buffers_[0], projected = buffers_[1];  // handles, as all of oneDNN's objects
  const memory first = buffers_[2], second = buffers_[3];

  memory x = random({batch, 3, 224, 224}, tag::nchw, 1.0F), y;
  stem_ = convolution(net.stem, x, y, first);
  max_pool_ = pool(dnnl::algorithm::pooling_max, net.max_pool, y, x, input);
  for (const bottleneck& b : net.blocks) {
    memory reduced, filtered, sum_into = x;
    std::optional<Layer<Conv2d>> shortcut;
    if (b.projects()) shortcut = convolution(b.shortcut, x, sum_into, projected);
    Layer<Conv2d> reduce = convolution(b.reduce, x, reduced, first);
    Layer<Conv2d> spatial = convolution(b.spatial, reduced, filtered, second);
    Layer<Conv2d> expand = convolution(b.expand, filtered, sum_into, sum_into);
    if (b.projects()) std::swap(input, projected);
    x = sum_into;
    const std::string name = "res" + std::to_string(b.stage) + static_cast<char>('a' + b.index);
    blocks_.push_back({name, b.stage, std::move(shortcut), std::move(reduce), std::move(spatial),
                       std::move(expand)});
  }
  avg_pool_ = pool(dnnl::algorithm::pooling_avg_include_padding, net.avg_pool, x, y, first);
  classifier_ = linear(net.classifier, y, x);
  softmax_ = softmax(net.softmax, x, probabilities_);
}

/// Images come with 3 channels and one after the other. Where they are padded, which is a copy
/// anyway, they come in the layout that oneDNN likes best.
inline Engine::Engine(const Conv2d& alone) {
  const memory::dims shape{alone.N, alone.C, alone.H, alone.W};
  memory::desc layout{shape, f32, alone.C == 3 ? tag::nchw : tag::any};
  if (alone.C != 3) {
    const memory::dims stride{alone.U, alone.V}, pad{alone.ph, alone.pw};
    layout = describe<dnnl::convolution_forward>(
                 {}, inference, dnnl::algorithm::convolution_direct, layout,
                 memory::desc{{alone.K, alone.C, alone.R, alone.S}, f32, tag::any},
                 memory::desc{{alone.K}, f32, tag::x},
                 memory::desc{output_of(alone, alone.K), f32, tag::any}, stride, pad, pad)
                 .src_desc();
  }
  memory x(layout, engine_);
  std::fill_n(static_cast<float*>(x.get_data_handle()), elements_of(x), 1.0F);
  buffers_[0] = memory({output_of(alone, alone.K), f32, tag::nchw}, engine_);
  memory y = buffers_[0];
  stem_ = convolution(alone, x, y, buffers_[0]);
}

inline void Engine::infer() {
  {
    KPROF_REGION("conv1");
    run(*stem_);
    run(*max_pool_);
  }
  for (std::size_t i = 0; i < blocks_.size();) {
    const int stage = blocks_[i].stage;
    KPROF_REGION("res" + std::to_string(stage));
    for (; i < blocks_.size() && blocks_[i].stage == stage; ++i) {
      KPROF_REGION(blocks_[i].name);
      if (blocks_[i].shortcut) run(*blocks_[i].shortcut);
      run(blocks_[i].reduce);
      run(blocks_[i].spatial);
      run(blocks_[i].expand);
    }
  }
  KPROF_REGION("head");
  run(*avg_pool_);
  run(*classifier_);
  run(*softmax_);
}

}  // namespace resnet50

#endif
