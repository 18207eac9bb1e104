// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_POOL_HPP
#define KPROF_OPS_POOL_HPP

// Pooling over one, two and three dimensions: the largest or the mean of a window, and, in
// adaptive_pool.hpp, the mean over windows that divide the input into an output of given size
// (global: of size 1). Fields are those of a convolution, without K and g.
//
// A window of R S taps costs R S FLOPs, taps in the padding included: as many compares, or adds and
// one scale. Padding must be less than the window, else a window lies all in it. Where `ceil_mode`
// rounds the output's extents up, a last window that would begin behind the input is left out, as
// in PyTorch: hence the second part of Z, P and Q.

#include <kprof/ops/adaptive_pool.hpp>
#include <kprof/ops/pool/windows.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// y[N,C,Z,P,Q] is the largest of each window of x[N,C,D,H,W]. bprop reads dy and the indices, and
/// writes dx.
/// FLOPs(fprop): N C Z P Q T R S
/// FLOPs(bprop): N C Z P Q
/// read(fprop): x
/// read(bprop): y + indices
/// written(fprop): y + [return_indices] indices
/// written(bprop): x
/// where: x = bytes(N C D H W, type)
/// where: y = bytes(N C Z P Q, type)
/// where: indices = bytes(N C Z P Q, int64)
/// where: Z = min(floor((D + 2 pd - dd (T - 1) - 1 + [ceil_mode] (sd - 1)) / sd) + 1, ceil((D + pd)
///   / sd))
/// where: P = min(floor((H + 2 ph - dh (R - 1) - 1 + [ceil_mode] (U - 1)) / U) + 1, ceil((H + ph) /
///   U))
/// where: Q = min(floor((W + 2 pw - dw (S - 1) - 1 + [ceil_mode] (V - 1)) / V) + 1, ceil((W + pw) /
///   V))
/// source: NVIDIA's guide to deep learning performance: a max pool of 3x3, stride 1, of fp16 has
///   2.25 FLOP/byte
/// others: XLA counts T R S - 1 for an output; DeepSpeed one for each element of x; fvcore and
///   PyProf nothing
struct MaxPool3d {
  extent N = 1, C = 1;            ///< samples; channels
  extent D = 1, H = 1, W = 1;     ///< depth of x; height of x; width of x
  extent T = 1, R = 1, S = 1;     ///< taps of the window along D; taps of the window along H;
                                  ///< taps of the window along W
  extent pd = 0, ph = 0, pw = 0;  ///< padding on both sides of D; padding on both sides of
                                  ///< H; padding on both sides of W
  extent sd = 1, U = 1, V = 1;    ///< stride along D; stride along H; stride along W
  extent dd = 1, dh = 1, dw = 1;  ///< dilation along D; dilation along H; dilation along W
  bool ceil_mode = false;         ///< the output's extents are rounded up
  bool return_indices = false;    ///< fprop writes them too, int64; bprop reads them in any case
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr count Z() const { return detail::sensible(valid()) ? depth().out() : count::invalid(); }
  constexpr count P() const {
    return detail::sensible(valid()) ? height().out() : count::invalid();
  }
  constexpr count Q() const { return detail::sensible(valid()) ? width().out() : count::invalid(); }
  constexpr bool valid() const {
    return detail::pool_common_valid(*this) && depth().valid() && height().valid() &&
           width().valid();
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    return pass == ops::pass::bprop ? outputs() : outputs() * T * R * S;
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count x = bytes_for(count{N} * C * D * H * W, type), y = bytes_for(outputs(), type),
                indices = bytes_for(outputs(), dtype::int64);
    if (pass == ops::pass::bprop) return {.read = y + indices, .written = x};
    return {.read = x, .written = y + (return_indices ? indices : 0)};
  }
  constexpr void brief(brief_text& out) const { detail::pool(out, *this); }
  constexpr bool shows(field_name field) const {
    return field != "return_indices" || detail::is_forward(pass);
  }

 private:
  constexpr detail::pool_window depth() const {
    return {{.in = D, .size = T, .pad = pd, .stride = sd, .dilation = dd}, ceil_mode};
  }
  constexpr detail::pool_window height() const {
    return {{.in = H, .size = R, .pad = ph, .stride = U, .dilation = dh}, ceil_mode};
  }
  constexpr detail::pool_window width() const {
    return {{.in = W, .size = S, .pad = pw, .stride = V, .dilation = dw}, ceil_mode};
  }
  constexpr count outputs() const {
    return count{N} * C * depth().out() * height().out() * width().out();
  }
};

/// MaxPool3d without depth.
///     KPROF_OP(kprof::ops::MaxPool2d, {.N = 32, .C = 64, .H = 112, .W = 112, .R = 3, .S = 3,
///                                      .ph = 1, .pw = 1, .U = 2, .V = 2});
/// like: MaxPool3d
struct MaxPool2d {
  extent N = 1, C = 1, H = 1, W = 1;
  extent R = 1, S = 1;
  extent ph = 0, pw = 0;
  extent U = 1, V = 1;
  extent dh = 1, dw = 1;
  bool ceil_mode = false;
  bool return_indices = false;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr MaxPool3d pool3d() const {
    return {.N = N,
            .C = C,
            .D = 1,
            .H = H,
            .W = W,
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
            .ceil_mode = ceil_mode,
            .return_indices = return_indices,
            .pass = pass,
            .type = type};
  }
  constexpr count P() const { return pool3d().P(); }
  constexpr count Q() const { return pool3d().Q(); }
  constexpr bool valid() const { return pool3d().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return pool3d().arithmetic(); }
  constexpr count flops() const { return pool3d().flops(); }
  constexpr traffic bytes() const { return pool3d().bytes(); }
  constexpr void brief(brief_text& out) const { detail::pool(out, *this); }
  constexpr bool shows(field_name field) const {
    return field != "return_indices" || detail::is_forward(pass);
  }
};

/// MaxPool3d along W alone.
/// like: MaxPool3d
struct MaxPool1d {
  extent N = 1, C = 1, W = 1;
  extent S = 1;
  extent pw = 0;
  extent V = 1;
  extent dw = 1;
  bool ceil_mode = false;
  bool return_indices = false;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr MaxPool3d pool3d() const {
    return {.N = N,
            .C = C,
            .D = 1,
            .H = 1,
            .W = W,
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
            .ceil_mode = ceil_mode,
            .return_indices = return_indices,
            .pass = pass,
            .type = type};
  }
  constexpr count Q() const { return pool3d().Q(); }
  constexpr bool valid() const { return pool3d().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return pool3d().arithmetic(); }
  constexpr count flops() const { return pool3d().flops(); }
  constexpr traffic bytes() const { return pool3d().bytes(); }
  constexpr void brief(brief_text& out) const { detail::pool(out, *this); }
  constexpr bool shows(field_name field) const {
    return field != "return_indices" || detail::is_forward(pass);
  }
};

/// y[N,C,Z,P,Q] is the mean of each window of x[N,C,D,H,W]. bprop reads dy and writes dx.
/// FLOPs: N C Z P Q T R S
/// read(fprop): x
/// read(bprop): y
/// written(fprop): y
/// written(bprop): x
/// where: x = bytes(N C D H W, type)
/// where: y = bytes(N C Z P Q, type)
/// where: Z = min(floor((D + 2 pd - dd (T - 1) - 1 + [ceil_mode] (sd - 1)) / sd) + 1, ceil((D + pd)
///   / sd))
/// where: P = min(floor((H + 2 ph - dh (R - 1) - 1 + [ceil_mode] (U - 1)) / U) + 1, ceil((H + ph) /
///   U))
/// where: Q = min(floor((W + 2 pw - dw (S - 1) - 1 + [ceil_mode] (V - 1)) / V) + 1, ceil((W + pw) /
///   V))
/// source: as MaxPool3d: T R S - 1 adds and one scale
/// others: XLA counts T R S - 1 for an output; DeepSpeed one for each element of x; fvcore and
///   PyProf nothing
struct AvgPool3d {
  extent N = 1, C = 1, D = 1, H = 1, W = 1;
  extent T = 1, R = 1, S = 1;
  extent pd = 0, ph = 0, pw = 0;
  extent sd = 1, U = 1, V = 1;
  extent dd = 1, dh = 1, dw = 1;
  bool ceil_mode = false;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr count Z() const { return windows().Z(); }
  constexpr count P() const { return windows().P(); }
  constexpr count Q() const { return windows().Q(); }
  constexpr bool valid() const { return detail::pool_common_valid(*this) && windows().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? windows().flops() : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const traffic t = windows().bytes();
    return pass == ops::pass::bprop ? traffic{.read = t.written, .written = t.read} : t;
  }
  constexpr void brief(brief_text& out) const { detail::pool(out, *this); }

 private:
  /// The forward pass of MaxPool3d has the same windows, FLOPs and tensors.
  constexpr MaxPool3d windows() const {
    return {.N = N,
            .C = C,
            .D = D,
            .H = H,
            .W = W,
            .T = T,
            .R = R,
            .S = S,
            .pd = pd,
            .ph = ph,
            .pw = pw,
            .sd = sd,
            .U = U,
            .V = V,
            .dd = dd,
            .dh = dh,
            .dw = dw,
            .ceil_mode = ceil_mode,
            .return_indices = false,
            .pass = ops::pass::fprop,
            .type = type};
  }
};

/// AvgPool3d without depth.
/// like: AvgPool3d
struct AvgPool2d {
  extent N = 1, C = 1, H = 1, W = 1;
  extent R = 1, S = 1;
  extent ph = 0, pw = 0;
  extent U = 1, V = 1;
  extent dh = 1, dw = 1;
  bool ceil_mode = false;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr AvgPool3d pool3d() const {
    return {.N = N,
            .C = C,
            .D = 1,
            .H = H,
            .W = W,
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
            .ceil_mode = ceil_mode,
            .pass = pass,
            .type = type};
  }
  constexpr count P() const { return pool3d().P(); }
  constexpr count Q() const { return pool3d().Q(); }
  constexpr bool valid() const { return pool3d().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return pool3d().arithmetic(); }
  constexpr count flops() const { return pool3d().flops(); }
  constexpr traffic bytes() const { return pool3d().bytes(); }
  constexpr void brief(brief_text& out) const { detail::pool(out, *this); }
};

/// AvgPool3d along W alone.
/// like: AvgPool3d
struct AvgPool1d {
  extent N = 1, C = 1, W = 1;
  extent S = 1;
  extent pw = 0;
  extent V = 1;
  extent dw = 1;
  bool ceil_mode = false;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr AvgPool3d pool3d() const {
    return {.N = N,
            .C = C,
            .D = 1,
            .H = 1,
            .W = W,
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
            .ceil_mode = ceil_mode,
            .pass = pass,
            .type = type};
  }
  constexpr count Q() const { return pool3d().Q(); }
  constexpr bool valid() const { return pool3d().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return pool3d().arithmetic(); }
  constexpr count flops() const { return pool3d().flops(); }
  constexpr traffic bytes() const { return pool3d().bytes(); }
  constexpr void brief(brief_text& out) const { detail::pool(out, *this); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
