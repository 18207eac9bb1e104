// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_CONV_HPP
#define KPROF_OPS_CONV_HPP

// Convolutions and transposed convolutions over one, two and three dimensions, with groups
// (depthwise: g = C), dilation and what is fused behind them. Fields are named as in PyProf and
// CUTLASS: N C D H W input, K filters of T R S taps, Z P Q output.
//
// flops() counts each tap, those in the padding too: 2 N K Z P Q (C/g) T R S, as PyProf, PyTorch's
// flop counter, MIOpen and CUTLASS have it. flops_valid() counts the taps that meet the input, as
// oneDNN and XLA do. The three directions cost the same. Read is the whole input, even where a
// stride longer than the window skips elements. A call without output reads nothing; of an empty
// batch wgrad and bgrad still write zeros.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/conv/counts.hpp>
#include <kprof/ops/conv_transpose.hpp>
#include <kprof/ops/window.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// y[N,K,Z,P,Q] = x[N,C,D,H,W] * w[K,C/g,T,R,S] (+ bias[K]) (+ residual of y's shape), then an
/// activation. fprop reads x and w, dgrad dy and w (writes dx), wgrad dy and x (writes dw), bgrad
/// dy (writes db); bprop is one call that computes all of them.
/// FLOPs(fprop): 2 N K Z P Q (C / g) T R S + ([bias] + [act != none] + [residual]) N K Z P Q
/// FLOPs(dgrad, wgrad): 2 N K Z P Q (C / g) T R S
/// FLOPs(bgrad): N K Z P Q
/// FLOPs(bprop): 4 N K Z P Q (C / g) T R S + [bias] N K Z P Q
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
/// parameters: K (C / g) T R S + [bias] K
/// flops_valid(fprop): 2 N K (C / g) taps + ([bias] + [act != none] + [residual]) N K Z P Q
/// flops_valid(dgrad, wgrad): 2 N K (C / g) taps
/// flops_valid(bgrad): N K Z P Q
/// flops_valid(bprop): 4 N K (C / g) taps + [bias] N K Z P Q
/// where: Z = floor((D + 2 pd - dd (T - 1) - 1) / sd) + 1
/// where: P = floor((H + 2 ph - dh (R - 1) - 1) / U) + 1
/// where: Q = floor((W + 2 pw - dw (S - 1) - 1) / V) + 1
/// where: x = bytes(N C D H W, type)
/// where: w = bytes(K (C / g) T R S, dtypeW or type)
/// where: y = bytes(N K Z P Q, dtypeY or type)
/// where: b = bytes(K, dtypeW or type)
/// where: taps = taps_d taps_h taps_w
/// where: taps_d = sum(z < Z: sum(t < T: [0 <= z sd + t dd - pd and z sd + t dd - pd < D]))
/// where: taps_h = sum(p < P: sum(r < R: [0 <= p U + r dh - ph and p U + r dh - ph < H]))
/// where: taps_w = sum(q < Q: sum(s < S: [0 <= q V + s dw - pw and q V + s dw - pw < W]))
/// source: PyProf conv.py, PyTorch flop_counter.py, MIOpen's driver; flops_valid: oneDNN's
///   benchdnn, XLA
/// others: oneDNN and XLA count flops_valid; PyTorch, fvcore and PyProf no bias; PyTorch (2.15
///   still) wgrad of groups g times; CUTLASS dgrad and wgrad without regard to groups, strided
///   dgrad by the input's extents, and bytes of the unrolled input, R S times as many
struct Conv3d {
  extent N = 1, C = 1, D = 1, H = 1, W = 1;  ///< images; channels of x; depth of x; height
                                             ///< of x; width of x
  extent K = 1;                              ///< filters, the channels of y
  extent T = 1, R = 1, S = 1;                ///< taps of a filter in depth; taps down; taps across
  extent pd = 0, ph = 0, pw = 0;             ///< padding, on both sides
  extent sd = 1, U = 1, V = 1;               ///< stride
  extent dd = 1, dh = 1, dw = 1;             ///< dilation
  extent g = 1;                              ///< groups; C and K are multiples of it
  bool bias = false;                         ///< of K elements; of consequence for fprop, bprop
  activation act = activation::none;         ///< applied last; of consequence for fprop
  bool residual = false;  ///< a tensor of y's shape is added; of consequence for fprop
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;        ///< of x and dx
  dtype dtypeW = dtype::unknown;  ///< of weights, bias and their gradients; unknown: as `type`
  dtype dtypeY = dtype::unknown;  ///< of y, dy and the residual; unknown: as `type`

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
               ? detail::conv_flops(*this, channel_pairs() * Z() * P() * Q() * T * R * S, outputs())
               : count::invalid();
  }
  /// Without the taps that lie in the padding.
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
  constexpr detail::window depth() const {
    return {.in = D, .size = T, .pad = pd, .stride = sd, .dilation = dd};
  }
  constexpr detail::window height() const {
    return {.in = H, .size = R, .pad = ph, .stride = U, .dilation = dh};
  }
  constexpr detail::window width() const {
    return {.in = W, .size = S, .pad = pw, .stride = V, .dilation = dw};
  }
  constexpr count channel_pairs() const { return count{N} * K * (C / g); }
  constexpr count weights() const { return count{K} * (C / g) * T * R * S; }
  constexpr count outputs() const {
    return count{N} * K * depth().out() * height().out() * width().out();
  }
};

/// Conv3d without depth.
///     KPROF_OP(kprof::ops::Conv2d, {.N = 8, .C = 64, .H = 32, .W = 32, .K = 128, .R = 3, .S = 3,
///                                   .ph = 1, .pw = 1, .type = f16});
/// like: Conv3d
struct Conv2d {
  extent N = 1, C = 1, H = 1, W = 1;
  extent K = 1;
  extent R = 1, S = 1;
  extent ph = 0, pw = 0;
  extent U = 1, V = 1;
  extent dh = 1, dw = 1;
  extent g = 1;
  bool bias = false;
  activation act = activation::none;
  bool residual = false;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown, dtypeY = dtype::unknown;

  constexpr Conv3d conv3d() const {
    // No field is left out: where clang++ is its host compiler, nvcc 13 forgets their defaults in
    // constant expressions.
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

/// Conv3d along W alone.
/// like: Conv3d
struct Conv1d {
  extent N = 1, C = 1, W = 1;
  extent K = 1;
  extent S = 1;
  extent pw = 0;
  extent V = 1;
  extent dw = 1;
  extent g = 1;
  bool bias = false;
  activation act = activation::none;
  bool residual = false;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32, dtypeW = dtype::unknown, dtypeY = dtype::unknown;

  constexpr Conv3d conv3d() const {
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
