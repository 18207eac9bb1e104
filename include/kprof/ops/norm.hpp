// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_NORM_HPP
#define KPROF_OPS_NORM_HPP

// Normalisation: of batches, layers, groups, instances, and by the root of the mean square. Forward, and backward (bprop)
// with respect to the input and the parameters at once.
//
// FLOPs are the primitives for each of the E elements; those for each row or channel, as is the rsqrt, are left out. PyProf
// counts batch_norm so. Bytes are the least possible: a tensor that does not fit on the chip is read twice in the
// forward pass of training, which no formula here knows. Of an empty batch nothing is read and no output is written;
// gradients of the parameters are written, as zeros.

#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

constexpr bool norm_common_valid(const auto& op) { return known(op.type, op.parameter_type()) && is_fprop_or_bprop(op.pass); }

/// Bytes of a normalisation of E elements whose `parameters` (of `vectors` tensors, gamma and beta, or gamma alone) and
/// statistics take so many bytes. Backward: x, dy, gamma and the statistics are read, dx and the parameters' gradients written.
constexpr traffic norm_bytes(const auto& op, count E, count parameter, int vectors, count statistics) {
  const count x = bytes_for(E, op.type), gradients = parameter * vectors;
  if (op.pass == pass::bprop) return {.read = E == 0 ? 0 : 2 * x + (vectors != 0 ? parameter : 0) + statistics, .written = x + gradients};
  if (E == 0) return {};
  return {.read = x + gradients, .written = x + statistics};
}

/// Layer, group and instance normalisation: `rows` with a mean and a reciprocal deviation each, `cols` of gamma and beta.
/// Forward: mean 1, variance 3, normalise 2, gamma and beta 2. Backward: normalise 2, two row sums 3, dx 4, and where there
/// are parameters dy gamma 1, dgamma 2, dbeta 1.
constexpr count row_norm_flops(const auto& op, count E) {
  if (op.pass == pass::bprop) return E * (op.affine ? 13 : 9);
  return E * (op.affine ? 8 : 6);
}
constexpr traffic row_norm_bytes(const auto& op, count E, count rows, count cols) {
  return norm_bytes(op, E, bytes_for(cols, op.parameter_type()), op.affine ? 2 : 0, op.stats ? 2 * bytes_for(rows, dtype::f32) : 0);
}

}  // namespace ops::detail

namespace ops {

/// Batch normalisation of [N,C,D,H,W]; leave out the extents that are not there. Training: 8 FLOPs an element (6 without
/// gamma and beta) forward, 9 backward; evaluation: 2, scale and shift from the running statistics, and no backward. The
/// statistics have the type of the parameters, as in cuDNN. Updates of the running statistics are not counted.
struct BatchNorm {
  std::int64_t N = 1, C = 1, D = 1, H = 1, W = 1;
  bool train = true;    ///< statistics of the batch, else the running ones
  bool affine = true;   ///< gamma and beta, C each
  bool stats = true;    ///< training: mean and reciprocal deviation, C each, are saved for bprop
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;         ///< of x, y and their gradients
  dtype dtypeP = dtype::unknown;   ///< of the parameters, their gradients and the statistics; unknown: as `type`

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const {
    return detail::not_negative(N, C, D, H, W) && detail::norm_common_valid(*this) && (train || pass == ops::pass::fprop);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    if (!train) return 2 * elements();
    if (pass == ops::pass::bprop) return 9 * elements();   // normalise 2, sum of dy 1, of dy xhat 2, dx 4
    return (affine ? 8 : 6) * elements();                  // mean 1, variance 3, normalise 2, affine 2
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count p = bytes_for(C, parameter_type());
    traffic t = detail::norm_bytes(*this, elements(), p, affine ? 2 : 0, train && stats ? 2 * p : 0);
    if (!train && elements() != 0) t.read += 2 * p;   // the running mean and variance
    return t;
  }
  constexpr count parameters() const { return affine ? 2 * count{C} : 0; }

 private:
  constexpr count elements() const { return count{N} * C * D * H * W; }
};

/// Layer normalisation of `rows` rows of `cols` elements: 8 FLOPs an element (6 without gamma and beta) forward, 13 (9) backward.
///     KPROF_OP(kprof::ops::LayerNorm, {.rows = 128, .cols = 768, .type = f16});
struct LayerNorm {
  std::int64_t rows = 1, cols = 1;
  bool affine = true;   ///< gamma and beta, `cols` each
  bool stats = true;    ///< mean and reciprocal deviation of each row, f32, are saved by fprop and read by bprop
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;         ///< of x, y and their gradients
  dtype dtypeP = dtype::unknown;   ///< of gamma, beta and their gradients; unknown: as `type`

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const { return detail::not_negative(rows, cols) && detail::norm_common_valid(*this); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::row_norm_flops(*this, count{rows} * cols) : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? detail::row_norm_bytes(*this, count{rows} * cols, rows, cols) : detail::invalid_traffic;
  }
  constexpr count parameters() const { return affine ? 2 * count{cols} : 0; }
};

/// Group normalisation of [N,C,HW], HW the product of the other extents: statistics of each of N G groups of C/G channels,
/// gamma and beta of C elements. FLOPs as LayerNorm.
struct GroupNorm {
  std::int64_t N = 1, C = 1, HW = 1;
  std::int64_t G = 1;   ///< groups
  bool affine = true;
  bool stats = true;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeP = dtype::unknown;   ///< as in LayerNorm

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const { return detail::not_negative(N, C, HW) && detail::positive(G) && C % G == 0 && detail::norm_common_valid(*this); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::row_norm_flops(*this, count{N} * C * HW) : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? detail::row_norm_bytes(*this, count{N} * C * HW, count{N} * G, C) : detail::invalid_traffic;
  }
  constexpr count parameters() const { return affine ? 2 * count{C} : 0; }
};

/// Instance normalisation of [N,C,HW]: a GroupNorm whose groups are the channels.
struct InstanceNorm {
  std::int64_t N = 1, C = 1, HW = 1;
  bool affine = true;   ///< PyTorch's default is false
  bool stats = true;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeP = dtype::unknown;   ///< as in LayerNorm

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const { return detail::not_negative(N, C, HW) && detail::norm_common_valid(*this); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::row_norm_flops(*this, count{N} * C * HW) : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? detail::row_norm_bytes(*this, count{N} * C * HW, count{N} * C, C) : detail::invalid_traffic;
  }
  constexpr count parameters() const { return affine ? 2 * count{C} : 0; }
};

/// x / sqrt(mean of x^2) gamma, along rows. Forward 4 FLOPs an element: square and add 2, scale 1, gamma 1; backward 9:
/// dy gamma 1, scale 1, row sum 2, dx 3, dgamma 2. Without gamma 3 and 6.
struct RmsNorm {
  std::int64_t rows = 1, cols = 1;
  bool affine = true;   ///< gamma, `cols` elements
  bool stats = true;    ///< the reciprocal root of each row, f32, is saved by fprop and read by bprop
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeP = dtype::unknown;   ///< as in LayerNorm

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const { return detail::not_negative(rows, cols) && detail::norm_common_valid(*this); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    return count{rows} * cols * (pass == ops::pass::bprop ? (affine ? 9 : 6) : (affine ? 4 : 3));
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return detail::norm_bytes(*this, count{rows} * cols, bytes_for(cols, parameter_type()), affine ? 1 : 0, stats ? bytes_for(rows, dtype::f32) : 0);
  }
  constexpr count parameters() const { return affine ? cols : 0; }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
