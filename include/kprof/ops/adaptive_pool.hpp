// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_ADAPTIVE_POOL_HPP
#define KPROF_OPS_ADAPTIVE_POOL_HPP

// Pooling into an output of given size, over one, two and three dimensions. pool.hpp includes this
// header.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/pool/windows.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// The mean of x[N,C,D,H,W] over windows that divide it into y[N,C,Z,P,Q]: R = H / P and so on
/// where it divides, else the windows of PyTorch, which overlap: along D they hold D + Z - gcd(D,
/// Z) taps together. An output of size 1, the default, is global average pooling.
/// FLOPs: N C (D + Z - gcd(D, Z)) (H + P - gcd(H, P)) (W + Q - gcd(W, Q))
/// read(fprop): x
/// read(bprop): y
/// written(fprop): y
/// written(bprop): x
/// where: x = bytes(N C D H W, type)
/// where: y = bytes(N C Z P Q, type)
/// source: AvgPool3d's, over PyTorch's windows
/// others: DeepSpeed and fvcore count one for each element of x
struct AdaptiveAvgPool3d {
  extent N = 1, C = 1, D = 1, H = 1, W = 1;  ///< as in MaxPool3d
  extent Z = 1, P = 1, Q = 1;                ///< depth of y; height of y; width of y
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr bool valid() const {
    return detail::pool_common_valid(*this) && depth().valid() && height().valid() &&
           width().valid();
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid())
               ? count{N} * C * depth().taps() * height().taps() * width().taps()
               : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count x = bytes_for(count{N} * C * D * H * W, type),
                y = bytes_for(count{N} * C * Z * P * Q, type);
    if (pass == ops::pass::bprop) return {.read = y, .written = x};
    return {.read = y == 0 ? 0 : x, .written = y};
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, N, C, D, H, W).to(Z).by(P).by(Q);
  }

 private:
  constexpr detail::division depth() const { return {D, Z}; }
  constexpr detail::division height() const { return {H, P}; }
  constexpr detail::division width() const { return {W, Q}; }
};

/// AdaptiveAvgPool3d without depth.
/// like: AdaptiveAvgPool3d
struct AdaptiveAvgPool2d {
  extent N = 1, C = 1, H = 1, W = 1;
  extent P = 1, Q = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr AdaptiveAvgPool3d pool3d() const {
    return {
        .N = N, .C = C, .D = 1, .H = H, .W = W, .Z = 1, .P = P, .Q = Q, .pass = pass, .type = type};
  }
  constexpr bool valid() const { return pool3d().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return pool3d().arithmetic(); }
  constexpr count flops() const { return pool3d().flops(); }
  constexpr traffic bytes() const { return pool3d().bytes(); }
  constexpr void brief(brief_text& out) const { detail::sizes(out, N, C, H, W).to(P).by(Q); }
};

/// AdaptiveAvgPool3d along W alone.
/// like: AdaptiveAvgPool3d
struct AdaptiveAvgPool1d {
  extent N = 1, C = 1, W = 1;
  extent Q = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr AdaptiveAvgPool3d pool3d() const {
    return {
        .N = N, .C = C, .D = 1, .H = 1, .W = W, .Z = 1, .P = 1, .Q = Q, .pass = pass, .type = type};
  }
  constexpr bool valid() const { return pool3d().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return pool3d().arithmetic(); }
  constexpr count flops() const { return pool3d().flops(); }
  constexpr traffic bytes() const { return pool3d().bytes(); }
  constexpr void brief(brief_text& out) const { detail::sizes(out, N, C, W).to(Q); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
