// SPDX-License-Identifier: MIT
// Normalisation: published vectors, the algorithms written out with numbers that count their
// operations and tensors that know which of their elements were touched, and parameters that make
// no sense.
#include <kprof/ops/norm.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::most;
using kprof_test::moves;
using namespace kprof::ops;
using kprof::dtype;

namespace {

// Of formulas.md.
constexpr BatchNorm small_batch{
    .N = 2, .C = 16, .H = 8, .W = 8, .type = dtype::f16, .dtypeP = dtype::f32};
static_assert(costs(small_batch, 16'384, 8'448) && small_batch.parameters() == 32);
constexpr LayerNorm bert(pass p) {
  return {.rows = 128, .cols = 768, .pass = p, .type = dtype::f16};
}
static_assert(costs(bert(pass::fprop), 786'432, 397'312) &&
              costs(bert(pass::bprop), 1'277'952, 595'456));
static_assert(costs(RmsNorm{.rows = 16, .cols = 4096, .stats = false, .type = dtype::bf16}, 262'144,
                    270'336));
static_assert(costs(GroupNorm{.N = 1, .C = 64, .HW = 256, .G = 8}, 131'072, 131'648));
// ResNet-50's, of section 13.
constexpr BatchNorm resnet(std::int64_t c, std::int64_t hw) {
  return {.N = 32, .C = c, .H = hw, .W = hw, .type = dtype::f16, .dtypeP = dtype::f32};
}
static_assert(costs(resnet(64, 112), 205'520'896, 102'761'472) &&
              costs(resnet(64, 56), 51'380'224, 25'691'136) &&
              costs(resnet(256, 56), 205'520'896, 102'764'544));

// By hand: E = 3 * 5 * 7 = 105, in f32 420 bytes; 5 channels 20.
constexpr BatchNorm batch(pass p, bool train, bool affine, bool stats) {
  return {.N = 3, .C = 5, .W = 7, .train = train, .affine = affine, .stats = stats, .pass = p};
}
static_assert(costs(batch(pass::fprop, true, true, true), 840, 920) &&
              moves(batch(pass::fprop, true, true, true), 460, 460));
static_assert(costs(batch(pass::fprop, true, false, true), 630, 880) &&
              moves(batch(pass::fprop, true, true, false), 460, 420));
static_assert(costs(batch(pass::fprop, false, true, true), 210, 920) &&
              // gamma, beta, mean, variance
              moves(batch(pass::fprop, false, true, true), 500, 420));
static_assert(costs(batch(pass::fprop, false, false, true), 210, 880) &&
              moves(batch(pass::fprop, false, true, false), 500, 420));
// x, dy, gamma, 2 of stats
static_assert(costs(batch(pass::bprop, true, true, true), 945, 1'360) &&
              moves(batch(pass::bprop, true, true, true), 900, 460));
static_assert(costs(batch(pass::bprop, true, false, true), 945, 1'300) &&
              moves(batch(pass::bprop, true, true, false), 860, 460));
static_assert(costs(
    BatchNorm{.N = 2, .C = 3, .D = 2, .H = 3, .W = 5, .type = dtype::int4, .dtypeP = dtype::f64},
    1'440, 90 + 48 + 90 + 48));
static_assert(batch(pass::fprop, true, false, true).parameters() == 0 &&
              batch(pass::bprop, true, true, true).parameters() == 10);

// E = 3 * 5, in f16 30 bytes; 3 rows of statistics 2 * 12 bytes; parameters in f32 20, in f16 10.
constexpr LayerNorm layer(pass p, bool affine, bool stats, dtype parameters) {
  return {.rows = 3,
          .cols = 5,
          .affine = affine,
          .stats = stats,
          .pass = p,
          .type = dtype::f16,
          .dtypeP = parameters};
}
static_assert(costs(layer(pass::fprop, true, true, dtype::f32), 120, 124) &&
              moves(layer(pass::fprop, true, true, dtype::f32), 30 + 40, 30 + 24));
static_assert(costs(layer(pass::fprop, false, false, dtype::f32), 90, 60) &&
              moves(layer(pass::fprop, true, false, dtype::unknown), 30 + 20, 30));
static_assert(costs(layer(pass::bprop, true, true, dtype::f32), 195, 174) &&
              moves(layer(pass::bprop, true, true, dtype::f32), 60 + 20 + 24, 30 + 40));
static_assert(costs(layer(pass::bprop, false, true, dtype::f32), 135, 114) &&
              moves(layer(pass::bprop, true, false, dtype::unknown), 60 + 10, 30 + 20));
// 15 and 5 elements of 4 bits: 7.5 and 2.5
static_assert(costs(LayerNorm{.rows = 3, .cols = 5, .type = dtype::fp4_e2m1}, 120,
                    8 + 3 + 3 + 8 + 24));
static_assert(layer(pass::fprop, true, true, dtype::f32).parameters() == 10 &&
              layer(pass::fprop, false, true, dtype::f32).parameters() == 0);

// E = 2 * 6 * 5 = 60; 2 * 3 groups.
constexpr GroupNorm group(pass p, bool affine, bool stats) {
  return {.N = 2,
          .C = 6,
          .HW = 5,
          .G = 3,
          .affine = affine,
          .stats = stats,
          .pass = p,
          .type = dtype::bf16,
          .dtypeP = dtype::f32};
}
static_assert(costs(group(pass::fprop, true, true), 480, 336) &&
              moves(group(pass::fprop, true, true), 120 + 48, 120 + 48));
static_assert(costs(group(pass::bprop, true, true), 780, 480) &&
              moves(group(pass::bprop, true, true), 240 + 24 + 48, 120 + 48));
static_assert(costs(group(pass::fprop, false, true), 360, 288) &&
              costs(group(pass::bprop, false, false), 540, 360) &&
              group(pass::fprop, true, true).parameters() == 12);
// 2 * 6 channels: their statistics take 2 * 48 bytes.
constexpr InstanceNorm instance(pass p, bool affine, bool stats) {
  return {.N = 2,
          .C = 6,
          .HW = 5,
          .affine = affine,
          .stats = stats,
          .pass = p,
          .type = dtype::bf16,
          .dtypeP = dtype::f32};
}
static_assert(costs(instance(pass::fprop, true, true), 480, 384) &&
              moves(instance(pass::fprop, true, true), 120 + 48, 120 + 96));
static_assert(costs(instance(pass::bprop, true, true), 780, 528) &&
              moves(instance(pass::bprop, true, true), 240 + 24 + 96, 120 + 48));
static_assert(costs(instance(pass::fprop, false, false), 360, 240) &&
              costs(instance(pass::bprop, false, true), 540, 456) &&
              instance(pass::fprop, true, true).parameters() == 12);
static_assert(group(pass::fprop, false, true).parameters() == 0 &&
              instance(pass::fprop, false, true).parameters() == 0);
static_assert(costs(InstanceNorm{.N = 1, .C = 3, .HW = 3, .type = dtype::uint4}, 72,
                    5 + 2 + 2 + 5 + 24));
// E = 21.
constexpr RmsNorm rms(pass p, bool affine, bool stats) {
  return {.rows = 3,
          .cols = 7,
          .affine = affine,
          .stats = stats,
          .pass = p,
          .type = dtype::f16,
          .dtypeP = dtype::f32};
}
static_assert(costs(rms(pass::fprop, true, true), 84, 124) &&
              moves(rms(pass::fprop, true, true), 42 + 28, 42 + 12) &&
              moves(rms(pass::fprop, true, false), 70, 42));
static_assert(costs(rms(pass::bprop, true, true), 189, 194) &&
              moves(rms(pass::bprop, true, true), 84 + 28 + 12, 42 + 28) &&
              moves(rms(pass::bprop, true, false), 112, 70));
static_assert(costs(rms(pass::fprop, false, false), 63, 84) &&
              costs(rms(pass::bprop, false, true), 126, 138));
static_assert(rms(pass::fprop, true, true).parameters() == 7 &&
              rms(pass::fprop, false, true).parameters() == 0);
// 126 and 42 bits
static_assert(costs(RmsNorm{.rows = 3, .cols = 7, .type = dtype::fp6_e3m2}, 84, 16 + 6 + 16 + 12));

// Of an empty batch nothing is read; zeros are the gradients of the parameters.
static_assert(costs(BatchNorm{.N = 0, .C = 5}, 0, 0) &&
              costs(BatchNorm{.N = 0, .C = 5, .train = false}, 0, 0) &&
              moves(BatchNorm{.N = 0, .C = 5, .pass = pass::bprop}, 0, 40));
static_assert(costs(LayerNorm{.rows = 0, .cols = 5}, 0, 0) &&
              costs(LayerNorm{.rows = 5, .cols = 0}, 0, 0) &&
              moves(LayerNorm{.rows = 0, .cols = 5, .pass = pass::bprop}, 0, 40));
static_assert(costs(GroupNorm{.HW = 0}, 0, 0) && costs(InstanceNorm{.N = 0}, 0, 0) &&
              moves(RmsNorm{.rows = 0, .cols = 3, .pass = pass::bprop}, 0, 12));
static_assert(costs(GroupNorm{.C = 0, .G = 4}, 0, 0));

constexpr bool on_cuda_cores(kprof::arithmetic a, dtype type) {
  return a.type == type && a.on == kprof::arithmetic_unit::cuda_core;
}
static_assert(on_cuda_cores(small_batch.arithmetic(), dtype::f16) &&
              on_cuda_cores(LayerNorm{}.arithmetic(), dtype::f32) &&
              on_cuda_cores(RmsNorm{.type = dtype::bf16}.arithmetic(), dtype::bf16));

// A senseless call is no constant.
static_assert(is_constant([] { return BatchNorm{}.flops(); }) &&
              is_constant([] { return LayerNorm{}.bytes(); }) &&
              is_constant([] { return RmsNorm{}.bytes(); }));
static_assert(!is_constant([] { return BatchNorm{.N = -1}.flops(); }) && !is_constant([] {
  return BatchNorm{.C = -1}.bytes();
}) && !is_constant([] { return BatchNorm{.C = -1}.parameters(); }));
static_assert(!is_constant([] { return BatchNorm{.train = false, .pass = pass::bprop}.flops(); }) &&
              !is_constant([] { return BatchNorm{.pass = pass::wgrad}.flops(); }));
static_assert(!is_constant([] { return BatchNorm{.type = dtype::unknown}.flops(); }) &&
              !is_constant([] {
                return BatchNorm{.W = most, .train = false, .type = dtype::f64}.bytes();
              }));
static_assert(!is_constant([] { return LayerNorm{.rows = -1}.flops(); }) && !is_constant([] {
  return LayerNorm{.cols = -1}.bytes();
}) && !is_constant([] { return LayerNorm{.cols = most}.flops(); }));
static_assert(!is_constant([] { return LayerNorm{.pass = pass::dgrad}.bytes(); }) &&
              !is_constant([] { return LayerNorm{.type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return GroupNorm{.C = 6, .G = 4}.flops(); }) && !is_constant([] {
  return GroupNorm{.G = 0}.bytes();
}) && !is_constant([] { return GroupNorm{.G = -1}.flops(); }));
static_assert(!is_constant([] {
  return GroupNorm{.N = 1 << 30, .C = 1 << 30, .HW = 1 << 30}.flops();
}) && !is_constant([] { return GroupNorm{.C = 2, .G = 4}.flops(); }));
static_assert(!is_constant([] { return InstanceNorm{.HW = -1}.flops(); }) &&
              !is_constant([] { return InstanceNorm{.pass = pass::bgrad}.bytes(); }));
static_assert(!is_constant([] { return InstanceNorm{.N = most}.bytes(); }) &&
              !is_constant([] { return InstanceNorm{.type = dtype::unknown}.bytes(); }));
static_assert(!is_constant([] { return RmsNorm{.rows = -1}.flops(); }) && !is_constant([] {
  return RmsNorm{.rows = most}.flops();
}) && !is_constant([] { return RmsNorm{.pass = pass::dgrad}.flops(); }));

/// A number whose operations are counted. Those on a scalar of a row or channel are done with
/// double.
struct counted {
  double v = 0;
  static inline std::uint64_t operations = 0;
  friend counted operator+(counted a, counted b) { return ++operations, counted{a.v + b.v}; }
  friend counted operator-(counted a, counted b) { return ++operations, counted{a.v - b.v}; }
  friend counted operator*(counted a, counted b) { return ++operations, counted{a.v * b.v}; }
};

/// A tensor that adds up the bytes of the elements that were read and written, each once.
class tensor {
 public:
  static inline std::uint64_t read = 0, written = 0;

  tensor(std::int64_t size, unsigned bytes)
      : value_(static_cast<std::size_t>(size)), seen_(value_.size()), bytes_(bytes) {
    for (std::size_t i = 0; i < value_.size(); ++i)
      value_[i].v = 0.37 * static_cast<double>((i * i + 3) % 11) - 1;
  }
  counted get(std::int64_t i) {
    touch(i, 1, read);
    return value_.at(static_cast<std::size_t>(i));
  }
  void put(std::int64_t i, counted x) {
    touch(i, 2, written);
    value_.at(static_cast<std::size_t>(i)) = x;
  }
  /// Without being counted: for the test itself.
  counted& operator[](std::int64_t i) { return value_.at(static_cast<std::size_t>(i)); }

 private:
  void touch(std::int64_t i, int how, std::uint64_t& sum) {
    int& s = seen_.at(static_cast<std::size_t>(i));
    if ((s & how) == 0) sum += bytes_;
    s |= how;
  }
  std::vector<counted> value_;
  std::vector<int> seen_;
  unsigned bytes_;
};

/// A tensor seen as rows that share statistics, and where an element's gamma and beta are.
struct layout {
  std::int64_t rows, cols, parameters;
  std::int64_t (*element)(const layout&, std::int64_t row, std::int64_t i);
  std::int64_t (*channel)(const layout&, std::int64_t row, std::int64_t i);
  std::int64_t a = 1;
};

struct options {
  bool affine, stats;
  unsigned type, parameter_type, statistics_type;
};

struct cost {
  std::uint64_t flops, read, written;
};
void reset() { counted::operations = tensor::read = tensor::written = 0; }
cost total() { return {counted::operations, tensor::read, tensor::written}; }

/// Mean and variance in two passes, as batch, layer, group and instance normalisation have them.
cost normalise(const layout& l, const options& o, bool check_result = true) {
  tensor x(l.rows * l.cols, o.type), y(l.rows * l.cols, o.type),
      gamma(l.parameters, o.parameter_type), beta(l.parameters, o.parameter_type);
  tensor mean(l.rows, o.statistics_type), rstd(l.rows, o.statistics_type);
  reset();
  const auto n = static_cast<double>(l.cols);
  for (std::int64_t r = 0; r < l.rows; ++r) {
    counted sum, squares;
    for (std::int64_t i = 0; i < l.cols; ++i) sum = sum + x.get(l.element(l, r, i));
    const counted m{sum.v / n};
    for (std::int64_t i = 0; i < l.cols; ++i) {
      const counted d = x.get(l.element(l, r, i)) - m;
      squares = squares + d * d;
    }
    const counted s{1 / std::sqrt(squares.v / n + 1e-5)};
    for (std::int64_t i = 0; i < l.cols; ++i) {
      const std::int64_t e = l.element(l, r, i), c = l.channel(l, r, i);
      const counted normal = (x.get(e) - m) * s;
      y.put(e, o.affine ? normal * gamma.get(c) + beta.get(c) : normal);
    }
    if (o.stats) {
      mean.put(r, m);
      rstd.put(r, s);
    }
  }
  const cost c = total();
  if (check_result && !o.affine)
    for (std::int64_t r = 0; r < l.rows; ++r) {
      double sum = 0;
      for (std::int64_t i = 0; i < l.cols; ++i) sum += y[l.element(l, r, i)].v;
      REQUIRE(std::abs(sum) < 1e-6);
    }
  return c;
}

/// Statistics that were not saved must be had all the same: neither their bytes nor their FLOPs are
/// in the formula.
cost differentiate(const layout& l, const options& o, bool by_channel) {
  tensor x(l.rows * l.cols, o.type), dy(l.rows * l.cols, o.type), dx(l.rows * l.cols, o.type);
  tensor gamma(l.parameters, o.parameter_type), dgamma(l.parameters, o.parameter_type),
      dbeta(l.parameters, o.parameter_type);
  tensor mean(l.rows, o.statistics_type), rstd(l.rows, o.statistics_type);
  std::vector<counted> gamma_sum(static_cast<std::size_t>(l.parameters)), beta_sum(gamma_sum);
  reset();
  const auto n = static_cast<double>(l.cols);
  for (std::int64_t r = 0; r < l.rows; ++r) {
    const counted m = o.stats ? mean.get(r) : counted{0.5}, s = o.stats ? rstd.get(r) : counted{2};
    counted sum, product_sum;
    std::vector<counted> normal, scaled;
    for (std::int64_t i = 0; i < l.cols; ++i) {
      const std::int64_t e = l.element(l, r, i), c = l.channel(l, r, i);
      const counted d = dy.get(e);
      normal.push_back((x.get(e) - m) * s);
      // by channel, gamma is a factor of the whole row
      scaled.push_back(o.affine && !by_channel ? d * gamma.get(c) : d);
      sum = sum + scaled.back();
      product_sum = product_sum + scaled.back() * normal.back();
      if (!o.affine || by_channel) continue;
      auto& g = gamma_sum.at(static_cast<std::size_t>(c));
      auto& b = beta_sum.at(static_cast<std::size_t>(c));
      g = g + d * normal.back();
      b = b + d;
    }
    if (o.affine && by_channel) {  // the row's two sums are the gradients
      gamma_sum.at(static_cast<std::size_t>(r)) = product_sum;
      beta_sum.at(static_cast<std::size_t>(r)) = sum;
    }
    const counted a{sum.v / n}, b{product_sum.v / n},
        factor{s.v * (o.affine && by_channel ? gamma.get(r).v : 1)};
    for (std::int64_t i = 0; i < l.cols; ++i) {
      const auto at = static_cast<std::size_t>(i);
      dx.put(l.element(l, r, i), (scaled[at] - a - normal[at] * b) * factor);
    }
  }
  for (std::int64_t c = 0; o.affine && c < l.parameters; ++c) {
    dgamma.put(c, gamma_sum[static_cast<std::size_t>(c)]);
    dbeta.put(c, beta_sum[static_cast<std::size_t>(c)]);
  }
  return total();
}

cost rms_normalise(std::int64_t rows, std::int64_t cols, const options& o) {
  tensor x(rows * cols, o.type), y(rows * cols, o.type), gamma(cols, o.parameter_type),
      rstd(rows, 4);
  reset();
  for (std::int64_t r = 0; r < rows; ++r) {
    counted squares;
    for (std::int64_t i = 0; i < cols; ++i)
      squares = squares + x.get(r * cols + i) * x.get(r * cols + i);
    const counted s{1 / std::sqrt(squares.v / static_cast<double>(cols) + 1e-5)};
    for (std::int64_t i = 0; i < cols; ++i) {
      const counted normal = x.get(r * cols + i) * s;
      y.put(r * cols + i, o.affine ? normal * gamma.get(i) : normal);
    }
    if (o.stats) rstd.put(r, s);
  }
  return total();
}

cost rms_differentiate(std::int64_t rows, std::int64_t cols, const options& o) {
  tensor x(rows * cols, o.type), dy(rows * cols, o.type), dx(rows * cols, o.type),
      gamma(cols, o.parameter_type), dgamma(cols, o.parameter_type), rstd(rows, 4);
  std::vector<counted> gamma_sum(static_cast<std::size_t>(cols));
  reset();
  for (std::int64_t r = 0; r < rows; ++r) {
    const counted s = o.stats ? rstd.get(r) : counted{2};
    counted sum;
    std::vector<counted> normal, scaled;
    for (std::int64_t i = 0; i < cols; ++i) {
      const counted d = dy.get(r * cols + i);
      normal.push_back(x.get(r * cols + i) * s);
      scaled.push_back(o.affine ? d * gamma.get(i) : d);
      sum = sum + scaled.back() * normal.back();
      auto& g = gamma_sum.at(static_cast<std::size_t>(i));
      if (o.affine) g = g + d * normal.back();
    }
    const counted a{sum.v / static_cast<double>(cols)};
    for (std::int64_t i = 0; i < cols; ++i) {
      const auto at = static_cast<std::size_t>(i);
      dx.put(r * cols + i, (scaled[at] - normal[at] * a) * s);
    }
  }
  for (std::int64_t i = 0; o.affine && i < cols; ++i)
    dgamma.put(i, gamma_sum[static_cast<std::size_t>(i)]);
  return total();
}

template <class Op>
void compare(const Op& op, const cost& c) {
  REQUIRE(op.flops().value() == c.flops);
  REQUIRE(op.bytes().read.value() == c.read);
  REQUIRE(op.bytes().written.value() == c.written);
}

struct types {
  dtype type, parameters;
  unsigned bytes, parameter_bytes;
};
types random_types(kprof_test::random_shape& random) {
  constexpr dtype of[] = {dtype::int8, dtype::bf16, dtype::f32, dtype::f64};
  const auto a = random(0, 3), b = random(0, 3);
  return {of[a], of[b], 1u << a, 1u << b};
}

}  // namespace

TEST_CASE("ops_norm.batches") {
  kprof_test::random_shape random(1);
  for (int i = 0; i < 600; ++i) {
    BatchNorm op{.N = random(1, 3),
                 .C = random(1, 5),
                 .D = random(1, 2),
                 .H = random(1, 3),
                 .W = random(1, 4)};
    const types t = random_types(random);
    op.type = t.type;
    op.dtypeP = t.parameters;
    const std::int64_t inner = op.D * op.H * op.W;
    // A row is a channel; its elements lie in each image.
    const layout l{.rows = op.C,
                   .cols = op.N * inner,
                   .parameters = op.C,
                   .element = [](const layout& x, std::int64_t r,
                                 std::int64_t k) { return (k / x.a * x.rows + r) * x.a + k % x.a; },
                   .channel = [](const layout&, std::int64_t r, std::int64_t) { return r; },
                   .a = inner};
    op.affine = random.coin();
    op.stats = random.coin();
    const options o{op.affine, op.stats, t.bytes, t.parameter_bytes, t.parameter_bytes};
    compare(op, normalise(l, o));
    op.pass = pass::bprop;
    compare(op, differentiate(l, o, true));
    // Evaluation: one scale and one shift a channel, from four vectors, or from two without gamma
    // and beta.
    op.pass = pass::fprop;
    op.train = false;
    tensor x(op.N * op.C * inner, t.bytes), y(op.N * op.C * inner, t.bytes);
    std::vector<tensor> folded(op.affine ? 4 : 2, tensor(op.C, t.parameter_bytes));
    reset();
    for (std::int64_t c = 0; c < op.C; ++c) {
      for (tensor& f : folded) f.get(c);
      for (std::int64_t k = 0; k < l.cols; ++k)
        y.put(l.element(l, c, k), x.get(l.element(l, c, k)) * counted{2} + counted{3});
    }
    compare(op, total());
  }
}

TEST_CASE("ops_norm.layers") {
  kprof_test::random_shape random(2);
  for (int i = 0; i < 1000; ++i) {
    const types t = random_types(random);
    LayerNorm op{.rows = random(1, 6),
                 .cols = random(1, 12),
                 .affine = random.coin(),
                 .stats = random.coin(),
                 .type = t.type,
                 .dtypeP = t.parameters};
    const layout l{
        .rows = op.rows,
        .cols = op.cols,
        .parameters = op.cols,
        .element = [](const layout& x, std::int64_t r, std::int64_t k) { return r * x.cols + k; },
        .channel = [](const layout&, std::int64_t, std::int64_t k) { return k; }};
    const options o{op.affine, op.stats, t.bytes, t.parameter_bytes, 4};
    compare(op, normalise(l, o));
    op.pass = pass::bprop;
    compare(op, differentiate(l, o, false));
  }
}

TEST_CASE("ops_norm.groups_and_instances") {
  kprof_test::random_shape random(3);
  for (int i = 0; i < 1000; ++i) {
    const types t = random_types(random);
    const std::int64_t groups = random(1, 3);
    GroupNorm op{.N = random(1, 3),
                 .C = groups * random(1, 3),
                 .HW = random(1, 6),
                 .G = groups,
                 .affine = random.coin(),
                 .stats = random.coin(),
                 .type = t.type,
                 .dtypeP = t.parameters};
    const auto element = [](const layout& x, std::int64_t r, std::int64_t k) {
      return r * x.cols + k;
    };
    const auto channel = [](const layout& x, std::int64_t r, std::int64_t k) {
      return (r * x.cols + k) / x.a % x.parameters;
    };
    const layout l{.rows = op.N * groups,
                   .cols = op.C / groups * op.HW,
                   .parameters = op.C,
                   .element = element,
                   .channel = channel,
                   .a = op.HW};
    const options o{op.affine, op.stats, t.bytes, t.parameter_bytes, 4};
    compare(op, normalise(l, o));
    op.pass = pass::bprop;
    compare(op, differentiate(l, o, false));

    InstanceNorm each{.N = op.N,
                      .C = op.C,
                      .HW = op.HW,
                      .affine = op.affine,
                      .stats = op.stats,
                      .type = t.type,
                      .dtypeP = t.parameters};
    const layout channels{.rows = op.N * op.C,
                          .cols = op.HW,
                          .parameters = op.C,
                          .element = element,
                          .channel = channel,
                          .a = op.HW};
    compare(each, normalise(channels, o));
    each.pass = pass::bprop;
    compare(each, differentiate(channels, o, false));
  }
}

TEST_CASE("ops_norm.root_mean_squares") {
  kprof_test::random_shape random(4);
  for (int i = 0; i < 1000; ++i) {
    const types t = random_types(random);
    RmsNorm op{.rows = random(1, 6),
               .cols = random(1, 12),
               .affine = random.coin(),
               .stats = random.coin(),
               .type = t.type,
               .dtypeP = t.parameters};
    const options o{op.affine, op.stats, t.bytes, t.parameter_bytes, 4};
    compare(op, rms_normalise(op.rows, op.cols, o));
    op.pass = pass::bprop;
    compare(op, rms_differentiate(op.rows, op.cols, o));
  }
}

TEST_CASE("ops_norm.passes_and_types_that_there_are_not") {
  CHECK(is_refused(BatchNorm{.train = false, .pass = pass::bprop}));
}
