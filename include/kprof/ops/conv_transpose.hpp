// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_CONV_TRANSPOSE_HPP
#define KPROF_OPS_CONV_TRANSPOSE_HPP

// Transposed convolutions over one, two and three dimensions. Fields and directions are those of
// conv.hpp, which includes this header.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/conv/counts.hpp>
#include <kprof/ops/window.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// One dimension of a transposed convolution: each of `in` elements is spread over a window of the
/// output.
struct spread {
  extent in = 1, size = 1, pad = 0, out_pad = 0, stride = 1, dilation = 1;

  constexpr bool valid() const {
    return extents(in, size, pad, out_pad, stride, dilation) &&
           positive(in, size, stride, dilation) && (out_pad < stride || out_pad < dilation) &&
           out() >= 1;
  }
  constexpr std::int64_t out() const {
    return (in - 1) * stride - 2 * pad + dilation * (size - 1) + out_pad + 1;
  }
  /// Pairs of an element and a tap that lie in the output.
  constexpr count taps() const {
    return window{.in = out(), .size = size, .pad = pad, .stride = stride, .dilation = dilation}
        .taps_of(in);
  }
};

}  // namespace ops::detail

namespace ops {

/// Transposed convolution, the gradient of a convolution by its input: x[N,C,D,H,W] is spread by
/// w[C,K/g,T,R,S] over y[N,K,Z,P,Q] with P = (H - 1) U - 2 ph + dh (R - 1) + oph + 1. The input's
/// extents count: 2 N C D H W (K/g) T R S.
/// FLOPs(fprop): 2 N C D H W (K / g) T R S + ([bias] + [act != none] + [residual]) N K Z P Q
/// FLOPs(dgrad, wgrad): 2 N C D H W (K / g) T R S
/// FLOPs(bgrad): N K Z P Q
/// FLOPs(bprop): 4 N C D H W (K / g) T R S + [bias] N K Z P Q
/// read(fprop): x + w + [bias] b + [residual] y
/// read(dgrad): y + w
/// read(wgrad): x + y
/// read(bgrad): y
/// read(bprop): x + w + y
/// written(fprop): y
/// written(dgrad): x
/// written(wgrad): w
/// written(bgrad): b
/// written(bprop): x + w + [bias] b
/// transcendentals(fprop): [act in (gelu, silu, sigmoid, tanh, elu, softplus, mish)] N K Z P Q
/// transcendentals: 0
/// parameters: C (K / g) T R S + [bias] K
/// flops_valid(fprop): 2 N C (K / g) taps + ([bias] + [act != none] + [residual]) N K Z P Q
/// flops_valid(dgrad, wgrad): 2 N C (K / g) taps
/// flops_valid(bgrad): N K Z P Q
/// flops_valid(bprop): 4 N C (K / g) taps + [bias] N K Z P Q
/// where: Z = (D - 1) sd - 2 pd + dd (T - 1) + opd + 1
/// where: P = (H - 1) U - 2 ph + dh (R - 1) + oph + 1
/// where: Q = (W - 1) V - 2 pw + dw (S - 1) + opw + 1
/// where: x = bytes(N C D H W, type)
/// where: w = bytes(C (K / g) T R S, dtypeW or type)
/// where: y = bytes(N K Z P Q, dtypeY or type)
/// where: b = bytes(K, dtypeW or type)
/// where: taps = taps_d taps_h taps_w
/// where: taps_d = sum(d < D: sum(t < T: [0 <= d sd + t dd - pd and d sd + t dd - pd < Z]))
/// where: taps_h = sum(h < H: sum(r < R: [0 <= h U + r dh - ph and h U + r dh - ph < P]))
/// where: taps_w = sum(x < W: sum(s < S: [0 <= x V + s dw - pw and x V + s dw - pw < Q]))
/// source: PyTorch flop_counter.py, fvcore
/// others: DeepSpeed divides by g twice, and takes the forward convolution's output for the bias
struct ConvTranspose3d {
  extent N = 1, C = 1, D = 1, H = 1, W = 1;  ///< as in Conv3d
  extent K = 1;                              ///< channels of y
  extent T = 1, R = 1, S = 1;                ///< as in Conv3d
  extent pd = 0, ph = 0, pw = 0;             ///< what is cut off the output, on both sides
  extent opd = 0, oph = 0, opw = 0;          ///< what is added to the output's far side: less than
                                             ///< the stride or the dilation
  extent sd = 1, U = 1, V = 1;               ///< as in Conv3d
  extent dd = 1, dh = 1, dw = 1;             ///< as in Conv3d
  extent g = 1;                              ///< as in Conv3d
  bool bias = false;                         ///< as in Conv3d
  activation act = activation::none;         ///< as in Conv3d
  bool residual = false;                     ///< as in Conv3d
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown, dtypeY = dtype::unknown;  ///< as in Conv3d

  constexpr dtype weight_type() const { return detail::type_or(dtypeW, type); }
  constexpr dtype output_type() const { return detail::type_or(dtypeY, type); }
  constexpr count Z() const { return detail::sensible(valid()) ? depth().out() : count::invalid(); }
  constexpr count P() const {
    return detail::sensible(valid()) ? height().out() : count::invalid();
  }
  constexpr count Q() const { return detail::sensible(valid()) ? width().out() : count::invalid(); }
  constexpr bool valid() const {
    return detail::conv_common_valid(*this) && depth().valid() && height().valid() &&
           width().valid();
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::conv_arithmetic(*this); }
  constexpr count flops() const {
    return detail::sensible(valid())
               ? detail::conv_flops(*this, channel_pairs() * D * H * W * T * R * S, outputs())
               : count::invalid();
  }
  /// Without the taps that are cut off.
  constexpr count flops_valid() const {
    if (!detail::sensible(valid())) return count::invalid();
    return detail::conv_flops(
        *this, channel_pairs() * depth().taps() * height().taps() * width().taps(), outputs());
  }
  /// Of the activation.
  constexpr count transcendentals() const {
    return detail::sensible(valid()) ? detail::conv_transcendentals(*this, outputs())
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid())
               ? detail::conv_bytes(*this, count{N} * C * D * H * W, weights(), outputs())
               : detail::invalid_traffic;
  }
  /// Weights and bias.
  constexpr count parameters() const {
    return detail::sensible(valid()) ? weights() + (bias ? K : extent{}) : count::invalid();
  }
  constexpr void brief(brief_text& out) const { detail::convolution(out, *this); }
  constexpr bool shows(field_name field) const { return detail::fused_shows(*this, field); }

 private:
  constexpr detail::spread depth() const {
    return {.in = D, .size = T, .pad = pd, .out_pad = opd, .stride = sd, .dilation = dd};
  }
  constexpr detail::spread height() const {
    return {.in = H, .size = R, .pad = ph, .out_pad = oph, .stride = U, .dilation = dh};
  }
  constexpr detail::spread width() const {
    return {.in = W, .size = S, .pad = pw, .out_pad = opw, .stride = V, .dilation = dw};
  }
  constexpr count channel_pairs() const { return count{N} * C * (K / g); }
  constexpr count weights() const { return count{C} * (K / g) * T * R * S; }
  constexpr count outputs() const {
    return count{N} * K * depth().out() * height().out() * width().out();
  }
};

/// ConvTranspose3d without depth.
/// like: ConvTranspose3d
struct ConvTranspose2d {
  extent N = 1, C = 1, H = 1, W = 1;
  extent K = 1;
  extent R = 1, S = 1;
  extent ph = 0, pw = 0;
  extent oph = 0, opw = 0;
  extent U = 1, V = 1;
  extent dh = 1, dw = 1;
  extent g = 1;
  bool bias = false;
  activation act = activation::none;
  bool residual = false;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown, dtypeY = dtype::unknown;

  constexpr ConvTranspose3d conv3d() const {
    return {.N = N,
            .C = C,
            .D = 1,
            .H = H,
            .W = W,
            .K = K,
            .T = 1,
            .R = R,
            .S = S,
            .pd = 0,
            .ph = ph,
            .pw = pw,
            .opd = 0,
            .oph = oph,
            .opw = opw,
            .sd = 1,
            .U = U,
            .V = V,
            .dd = 1,
            .dh = dh,
            .dw = dw,
            .g = g,
            .bias = bias,
            .act = act,
            .residual = residual,
            .pass = pass,
            .type = type,
            .dtypeW = dtypeW,
            .dtypeY = dtypeY};
  }
  constexpr count P() const { return conv3d().P(); }
  constexpr count Q() const { return conv3d().Q(); }
  constexpr bool valid() const { return conv3d().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return conv3d().arithmetic(); }
  constexpr count flops() const { return conv3d().flops(); }
  constexpr count flops_valid() const { return conv3d().flops_valid(); }
  constexpr count transcendentals() const { return conv3d().transcendentals(); }
  constexpr traffic bytes() const { return conv3d().bytes(); }
  constexpr count parameters() const { return conv3d().parameters(); }
  constexpr void brief(brief_text& out) const { detail::convolution(out, *this); }
  constexpr bool shows(field_name field) const { return detail::fused_shows(*this, field); }
};

/// ConvTranspose3d along W alone.
/// like: ConvTranspose3d
struct ConvTranspose1d {
  extent N = 1, C = 1, W = 1;
  extent K = 1;
  extent S = 1;
  extent pw = 0;
  extent opw = 0;
  extent V = 1;
  extent dw = 1;
  extent g = 1;
  bool bias = false;
  activation act = activation::none;
  bool residual = false;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown, dtypeY = dtype::unknown;

  constexpr ConvTranspose3d conv3d() const {
    return {.N = N,
            .C = C,
            .D = 1,
            .H = 1,
            .W = W,
            .K = K,
            .T = 1,
            .R = 1,
            .S = S,
            .pd = 0,
            .ph = 0,
            .pw = pw,
            .opd = 0,
            .oph = 0,
            .opw = opw,
            .sd = 1,
            .U = 1,
            .V = V,
            .dd = 1,
            .dh = 1,
            .dw = dw,
            .g = g,
            .bias = bias,
            .act = act,
            .residual = residual,
            .pass = pass,
            .type = type,
            .dtypeW = dtypeW,
            .dtypeY = dtypeY};
  }
  constexpr count Q() const { return conv3d().Q(); }
  constexpr bool valid() const { return conv3d().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return conv3d().arithmetic(); }
  constexpr count flops() const { return conv3d().flops(); }
  constexpr count flops_valid() const { return conv3d().flops_valid(); }
  constexpr count transcendentals() const { return conv3d().transcendentals(); }
  constexpr traffic bytes() const { return conv3d().bytes(); }
  constexpr count parameters() const { return conv3d().parameters(); }
  constexpr void brief(brief_text& out) const { detail::convolution(out, *this); }
  constexpr bool shows(field_name field) const { return detail::fused_shows(*this, field); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
