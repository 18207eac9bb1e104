// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_NORM_HPP
#define KPROF_OPS_NORM_HPP

// Normalisation: of batches, layers, groups, instances, and by the root of the mean square.
// Forward, and backward (bprop) with respect to the input and the parameters at once.
//
// FLOPs are the primitives for each of the E elements; those for each row or channel, as is the
// rsqrt, are left out. PyProf counts batch_norm so. Bytes are the least possible: a tensor that
// does not fit on the chip is read twice in the forward pass of training, which no formula here
// knows. Of an empty batch nothing is read and no output is written; gradients of the parameters
// are written, as zeros.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

constexpr bool norm_common_valid(const auto& op) {
  return real(op.type, op.parameter_type()) && is_fprop_or_bprop(op.pass);
}

/// Bytes of a normalisation of E elements whose `parameters` (of `vectors` tensors, gamma and beta,
/// or gamma alone) and statistics take so many bytes. Backward: x, dy, gamma and the statistics are
/// read, dx and the parameters' gradients written.
constexpr traffic norm_bytes(const auto& op, count E, count parameter, int vectors,
                             count statistics) {
  const count x = bytes_for(E, op.type), gradients = parameter * vectors;
  if (op.pass == pass::bprop)
    return {.read = E == 0 ? 0 : 2 * x + (vectors != 0 ? parameter : 0) + statistics,
            .written = x + gradients};
  if (E == 0) return {};
  return {.read = x + gradients, .written = x + statistics};
}

/// Layer, group and instance normalisation: `rows` with a mean and a reciprocal deviation each,
/// `cols` of gamma and beta.
constexpr count row_norm_flops(const auto& op, count E) {
  if (op.pass == pass::bprop) return E * (op.affine ? 13 : 9);
  return E * (op.affine ? 8 : 6);
}
constexpr traffic row_norm_bytes(const auto& op, count E, count rows, count cols) {
  return norm_bytes(op, E, bytes_for(cols, op.parameter_type()), op.affine ? 2 : 0,
                    op.stats ? 2 * bytes_for(rows, dtype::f32) : 0);
}

}  // namespace ops::detail

namespace ops {

/// Batch normalisation of [N,C,D,H,W]; leave out the extents that are not there. Forward in
/// training: mean 1, variance 3, normalise 2, gamma and beta 2; in evaluation scale and shift, from
/// the running statistics. Backward, of training alone: normalise 2, sum of dy 1, of dy xhat 2, dx
/// 4. The statistics have the type of the parameters, as in cuDNN. Updates of the running
/// statistics are not counted.
/// FLOPs(fprop): ([train] (6 + 2 [affine]) + [not train] 2) E
/// FLOPs(bprop): 9 E
/// read(fprop): x + 2 ([affine] + [not train]) c
/// read(bprop): 2 x + ([affine] + 2 [stats]) c
/// written(fprop): x + 2 [train and stats] c
/// written(bprop): x + 2 [affine] c
/// parameters: 2 [affine] C
/// where: E = N C D H W
/// where: x = bytes(E, type)
/// where: c = bytes(C, dtypeP or type)
/// source: PyProf normalization.py for the forward 8 E; its primitives for the rest
/// others: PyProf counts 8 E backward too, and moves 4 E forward and 5 E backward; DeepSpeed and
///   fvcore count 5 E in training (4 E without gamma and beta) and 2 E (E) in evaluation; MIOpen
///   moves 3 E in training, 2 E in evaluation; XLA counts nothing
struct BatchNorm {
  extent N = 1, C = 1, D = 1, H = 1, W = 1;  ///< samples; channels; depth; height; width
  bool train = true;                         ///< statistics of the batch, else the running ones
  bool affine = true;                        ///< gamma and beta, C each
  bool stats = true;  ///< training: mean and reciprocal deviation, C each, are saved by fprop and
                      ///< read by bprop
  ops::pass pass = ops::pass::fprop;  ///< fprop, or bprop with respect to x and the parameters at
                                      ///< once
  dtype type = dtype::f32;            ///< of x, y and their gradients
  dtype dtypeP = dtype::unknown;      ///< of the parameters, their gradients and the statistics;
                                      ///< unknown: as `type`

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const {
    return detail::not_negative(N, C, D, H, W) && detail::norm_common_valid(*this) &&
           (train || detail::is_forward(pass));
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    if (!train) return 2 * elements();
    if (pass == ops::pass::bprop) return 9 * elements();
    return (affine ? 8 : 6) * elements();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count p = bytes_for(C, parameter_type());
    traffic t =
        detail::norm_bytes(*this, elements(), p, affine ? 2 : 0, train && stats ? 2 * p : 0);
    if (!train && elements() != 0) t.read += 2 * p;  // the running mean and variance
    return t;
  }
  constexpr count parameters() const { return affine ? 2 * count{C} : 0; }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, N, C);
    if (D != 1) out.by(D);
    if (D != 1 || H != 1) out.by(H);
    if (D != 1 || H != 1 || W != 1) out.by(W);
    detail::norm(out, *this);
  }
  constexpr bool shows(field_name field) const { return field != "stats" || train; }

 private:
  constexpr count elements() const { return count{N} * C * D * H * W; }
};

/// Layer normalisation of rows. Forward: mean 1, variance 3, normalise 2, gamma and beta 2.
/// Backward: normalise 2, two row sums 3, dx 4, and where there are parameters dy gamma 1, dgamma
/// 2, dbeta 1.
///     KPROF_OP(kprof::ops::LayerNorm, {.rows = 128, .cols = 768, .type = f16});
/// FLOPs(fprop): (6 + 2 [affine]) rows cols
/// FLOPs(bprop): (9 + 4 [affine]) rows cols
/// read(fprop): x + 2 [affine] p
/// read(bprop): 2 x + [affine] p + [stats] s
/// written(fprop): x + [stats] s
/// written(bprop): x + 2 [affine] p
/// parameters: 2 [affine] cols
/// where: x = bytes(rows cols, type)
/// where: p = bytes(cols, dtypeP or type)
/// where: s = 2 bytes(rows, f32)
/// source: its primitives, counted as PyProf counts BatchNorm's; bytes as Triton's tutorial, and
///   parameters and statistics
/// others: DeepSpeed and fvcore count 5 for an element, 4 without gamma and beta
struct LayerNorm {
  extent rows = 1, cols = 1;
  bool affine = true;  ///< gamma and beta, `cols` each
  bool stats = true;   ///< mean and reciprocal deviation of each row, f32, are saved by fprop and
                       ///< read by bprop
  ops::pass pass = ops::pass::fprop;  ///< as in BatchNorm
  dtype type = dtype::f32;            ///< of x, y and their gradients
  dtype dtypeP = dtype::unknown;      ///< of gamma, beta and their gradients; unknown: as `type`

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const {
    return detail::not_negative(rows, cols) && detail::norm_common_valid(*this);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::row_norm_flops(*this, count{rows} * cols)
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? detail::row_norm_bytes(*this, count{rows} * cols, rows, cols)
                                     : detail::invalid_traffic;
  }
  constexpr count parameters() const { return affine ? 2 * count{cols} : 0; }
  constexpr void brief(brief_text& out) const {
    detail::norm(detail::sizes(out, rows, cols), *this);
  }
};

/// Group normalisation of [N,C,HW]: statistics of each of N G groups of C / G channels, gamma and
/// beta of C elements. The primitives are LayerNorm's.
/// FLOPs(fprop): (6 + 2 [affine]) E
/// FLOPs(bprop): (9 + 4 [affine]) E
/// read(fprop): x + 2 [affine] c
/// read(bprop): 2 x + [affine] c + [stats] s
/// written(fprop): x + [stats] s
/// written(bprop): x + 2 [affine] c
/// parameters: 2 [affine] C
/// where: E = N C HW
/// where: x = bytes(E, type)
/// where: c = bytes(C, dtypeP or type)
/// where: s = 2 bytes(N G, f32)
/// source: as LayerNorm
/// others: DeepSpeed and fvcore count 5 E, 4 E without gamma and beta
struct GroupNorm {
  extent N = 1, C = 1, HW = 1;  ///< samples; channels; product of the other extents
  extent G = 1;                 ///< groups of channels
  bool affine = true;           ///< gamma and beta, C each
  bool stats = true;  ///< mean and reciprocal deviation of each group, f32, are saved by fprop and
                      ///< read by bprop
  ops::pass pass = ops::pass::fprop;                 ///< as in BatchNorm
  dtype type = dtype::f32, dtypeP = dtype::unknown;  ///< as in LayerNorm

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const {
    return detail::not_negative(N, C, HW) && detail::positive(G) && C % G == 0 &&
           detail::norm_common_valid(*this);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::row_norm_flops(*this, count{N} * C * HW)
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid())
               ? detail::row_norm_bytes(*this, count{N} * C * HW, count{N} * G, C)
               : detail::invalid_traffic;
  }
  constexpr count parameters() const { return affine ? 2 * count{C} : 0; }
  constexpr void brief(brief_text& out) const {
    detail::norm(detail::sizes(out, N, C, HW).item("groups ").put(G), *this);
  }
};

/// Instance normalisation of [N,C,HW]: a GroupNorm whose groups are the channels.
/// like: GroupNorm, G = C
struct InstanceNorm {
  extent N = 1, C = 1, HW = 1;
  bool affine = true;  ///< gamma and beta, C each; PyTorch's default is false
  bool stats = true;   ///< mean and reciprocal deviation of each channel of a sample, f32, are
                       ///< saved by fprop and read by bprop
  ops::pass pass = ops::pass::fprop;                 ///< as in BatchNorm
  dtype type = dtype::f32, dtypeP = dtype::unknown;  ///< as in LayerNorm

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const {
    return detail::not_negative(N, C, HW) && detail::norm_common_valid(*this);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::row_norm_flops(*this, count{N} * C * HW)
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid())
               ? detail::row_norm_bytes(*this, count{N} * C * HW, count{N} * C, C)
               : detail::invalid_traffic;
  }
  constexpr count parameters() const { return affine ? 2 * count{C} : 0; }
  constexpr void brief(brief_text& out) const { detail::norm(detail::sizes(out, N, C, HW), *this); }
};

/// y = x / sqrt(mean of x^2) gamma, along rows. Forward: square and add 2, scale 1, gamma 1.
/// Backward: scale 1, row sum 2, dx 3, and where there is gamma dy gamma 1, dgamma 2.
/// FLOPs(fprop): (3 + [affine]) rows cols
/// FLOPs(bprop): (6 + 3 [affine]) rows cols
/// read(fprop): x + [affine] p
/// read(bprop): 2 x + [affine] p + [stats] s
/// written(fprop): x + [stats] s
/// written(bprop): x + [affine] p
/// parameters: [affine] cols
/// where: x = bytes(rows cols, type)
/// where: p = bytes(cols, dtypeP or type)
/// where: s = bytes(rows, f32)
/// source: its primitives, counted as LayerNorm's
struct RmsNorm {
  extent rows = 1, cols = 1;
  bool affine = true;  ///< gamma, `cols` elements
  bool stats = true;   ///< the reciprocal root of each row, f32, is saved by fprop and read by
                       ///< bprop
  ops::pass pass = ops::pass::fprop;                 ///< as in BatchNorm
  dtype type = dtype::f32, dtypeP = dtype::unknown;  ///< of x, y and their gradients; of gamma and
                                                     ///< its gradient, unknown: as `type`

  constexpr dtype parameter_type() const { return detail::type_or(dtypeP, type); }
  constexpr bool valid() const {
    return detail::not_negative(rows, cols) && detail::norm_common_valid(*this);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    return count{rows} * cols * (pass == ops::pass::bprop ? (affine ? 9 : 6) : (affine ? 4 : 3));
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return detail::norm_bytes(*this, count{rows} * cols, bytes_for(cols, parameter_type()),
                              affine ? 1 : 0, stats ? bytes_for(rows, dtype::f32) : 0);
  }
  constexpr count parameters() const { return affine ? cols : extent{}; }
  constexpr void brief(brief_text& out) const {
    detail::norm(detail::sizes(out, rows, cols), *this);
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
