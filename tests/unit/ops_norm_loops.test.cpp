// SPDX-License-Identifier: MIT
// Normalisation: the algorithms written out, with numbers that count their operations and tensors
// that know which of their elements were touched.
#include <kprof/ops/norm.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

using namespace kprof::ops;
using kprof::dtype;

namespace {

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

TEST_CASE("ops_norm_loops.batches") {
  kprof_test::random_shape random(1);
  for (int i = 0; i < 600; ++i) {
    BatchNorm op{.N = random(1, 3), .C = random(1, 5), .D = random(1, 2), .H = random(1, 3)};
    op.W = random(1, 4);
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

TEST_CASE("ops_norm_loops.layers") {
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

TEST_CASE("ops_norm_loops.groups_and_instances") {
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
    const layout l{op.N * groups, op.C / groups * op.HW, op.C, element, channel, op.HW};
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
    const layout channels{op.N * op.C, op.HW, op.C, element, channel, op.HW};
    compare(each, normalise(channels, o));
    each.pass = pass::bprop;
    compare(each, differentiate(channels, o, false));
  }
}

TEST_CASE("ops_norm_loops.root_mean_squares") {
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
