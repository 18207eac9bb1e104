// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_QUANTIZE_HPP
#define KPROF_OPS_QUANTIZE_HPP

// Quantising, its inverse, and products of quantised matrices. An element costs 2 FLOPs to quantise
// (scale; round and clamp) and 1 to restore. Scales are counted where they are read or written,
// without a kernel's padding, and zero points as well: as many as scales, packed, of the quantised
// type. Scaling inside a product costs nothing.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// What shares a scale: the tensor; a channel, which is a row of A or a column of B; or each
/// `group` elements of a channel along K, the last group being what is left.
enum class scaling : std::uint8_t { none, tensor, channel, group };

}  // namespace ops

namespace ops::detail {

/// `group` is looked at where it is of use.
constexpr bool quantize_scaling(scaling how, std::int64_t group, bool zero_points) noexcept {
  return how <= scaling::group && (how != scaling::group || group >= 1) &&
         (how != scaling::none || !zero_points);
}
/// Scales of `channels` of `size` elements each.
constexpr count quantize_scales(scaling how, std::int64_t channels, std::int64_t size,
                                std::int64_t group) noexcept {
  if (channels == 0 || size == 0) return 0;
  switch (how) {
    case scaling::none: return 0;
    case scaling::tensor: return 1;
    case scaling::channel: return channels;
    default: return channels * ceil_div(size, group);
  }
}

}  // namespace ops::detail

namespace ops {

/// dtypeOut from dtypeIn. Scales and zero points are read, or found from the data and written where
/// `amax`.
/// FLOPs: (2 + [amax]) numel
/// read: bytes(numel, dtypeIn) + [not amax] beside
/// written: bytes(numel, dtypeOut) + [amax] beside
/// where: beside = bytes(scales, dtypeScale) + [zero_points] bytes(scales, dtypeOut)
/// where: scales = [scaling = tensor] + channels ([scaling = channel] + [scaling = group]
///   ceil(numel / channels / group))
/// source: one FLOP for each elementwise primitive, as XLA and DeepSpeed count those
struct Quantize {
  extent numel = 1;
  extent channels = 1;  ///< channels of equal size the elements belong to; of consequence
                        ///< for the number of scales
  dtype dtypeIn = dtype::f32, dtypeOut = dtype::int8;  ///< of the elements; of the quantised ones
                                                       ///< and of zero points
  ops::scaling scaling = ops::scaling::tensor;  ///< what shares a scale: the tensor, a channel, a
                                                ///< group of its elements
  extent group = 128;             ///< elements of a channel that share a scale, for scaling::group
  dtype dtypeScale = dtype::f32;  ///< of scales
  bool zero_points = false;       ///< there is one to each scale
  bool amax = false;              ///< scales are found here, from the largest magnitudes

  constexpr bool valid() const {
    return detail::not_negative(numel) && detail::positive(channels) && numel % channels == 0 &&
           detail::real(dtypeIn, dtypeOut, dtypeScale) &&
           detail::quantize_scaling(scaling, group, zero_points) &&
           !(amax && scaling == ops::scaling::none);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(dtypeIn); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{amax ? 3 : 2} * numel : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count scales = detail::quantize_scales(scaling, channels, numel / channels, group);
    const count beside =
        bytes_for(scales, dtypeScale) + (zero_points ? bytes_for(scales, dtypeOut) : 0);
    return {.read = bytes_for(numel, dtypeIn) + (amax ? 0 : beside),
            .written = bytes_for(numel, dtypeOut) + (amax ? beside : 0)};
  }
  constexpr void brief(brief_text& out) const {
    detail::name_in(out.put(numel).item(""), "dtypeIn", dtypeIn);
    detail::name_in(out.to(""), "dtypeOut", dtypeOut);
    detail::scales(out, *this);
    detail::flag(out, amax, "amax");
    if (dtypeScale != dtype::f32) out.beside("dtypeScale");
  }
  constexpr bool shows(field_name field) const {
    return field != "group" || scaling == ops::scaling::group;
  }
};

/// dtypeOut from dtypeIn, the quantised one.
/// FLOPs: (1 + [zero_points]) numel
/// read: bytes(numel, dtypeIn) + bytes(scales, dtypeScale) + [zero_points] bytes(scales, dtypeIn)
/// written: bytes(numel, dtypeOut)
/// where: scales = [scaling = tensor] + channels ([scaling = channel] + [scaling = group]
///   ceil(numel / channels / group))
/// source: one FLOP for each elementwise primitive, as XLA and DeepSpeed count those
struct Dequantize {
  extent numel = 1;
  extent channels = 1;
  dtype dtypeIn = dtype::int8, dtypeOut = dtype::f32;  ///< of the quantised elements and of zero
                                                       ///< points; of the result
  ops::scaling scaling = ops::scaling::tensor;
  extent group = 128;  ///< as in Quantize
  dtype dtypeScale = dtype::f32;
  bool zero_points = false;

  constexpr bool valid() const {
    return detail::not_negative(numel) && detail::positive(channels) && numel % channels == 0 &&
           detail::real(dtypeIn, dtypeOut, dtypeScale) &&
           detail::quantize_scaling(scaling, group, zero_points);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(dtypeOut); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{zero_points ? 2 : 1} * numel : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count scales = detail::quantize_scales(scaling, channels, numel / channels, group);
    return {.read = bytes_for(numel, dtypeIn) + bytes_for(scales, dtypeScale) +
                    (zero_points ? bytes_for(scales, dtypeIn) : 0),
            .written = bytes_for(numel, dtypeOut)};
  }
  constexpr void brief(brief_text& out) const {
    detail::name_in(out.put(numel).item(""), "dtypeIn", dtypeIn);
    detail::name_in(out.to(""), "dtypeOut", dtypeOut);
    detail::scales(out, *this);
    if (dtypeScale != dtype::f32) out.beside("dtypeScale");
  }
  constexpr bool shows(field_name field) const {
    return field != "group" || scaling == ops::scaling::group;
  }
};

/// D[M,N] = A[M,K] B[K,N], and + beta C where `beta`, of operands with scales of their own: W4A16
/// by default. Microscaling and NVFP4 are BlockScaledGemm.
///     KPROF_OP(kprof::ops::GemmQuant, {.M = m, .N = n, .K = k, .dtypeA = fp8_e4m3,
///                                      .dtypeB = fp8_e4m3, .dtypeC = bf16,
///                                      .scaleA = scaling::tensor, .scaleB = scaling::tensor,
///                                      .dtypeScale = f32});
/// FLOPs: 2 M N K
/// read: A + B + [beta] bytes(M N, dtypeC)
/// written: bytes(M N, dtypeC)
/// where: A = bytes(M K, dtypeA) + bytes(scalesA, dtypeScale) + [zerosA] bytes(scalesA, dtypeA)
/// where: B = bytes(K N, dtypeB) + bytes(scalesB, dtypeScale) + [zerosB] bytes(scalesB, dtypeB)
/// where: scalesA = [scaleA = tensor] + M ([scaleA = channel] + [scaleA = group] ceil(K / group))
/// where: scalesB = [scaleB = tensor] + N ([scaleB = channel] + [scaleB = group] ceil(K / group))
/// source: Gemm's, and that each scale and zero point is read once
/// others: CUTLASS adds 2 M N for its epilogue, and rounds rows of 4-bit types down to whole bytes
struct GemmQuant {
  extent M = 1, N = 1, K = 1;  ///< rows of A and D; columns of B and D; columns of A, rows
                               ///< of B
  dtype dtypeA = dtype::f16, dtypeB = dtype::int4,
        dtypeC = dtype::f16;  ///< of A and its zero points; of B and its zero points; of C and D
  scaling scaleA = scaling::none, scaleB = scaling::group;  ///< what shares a scale, a channel
                                                            ///< being a row of A or a column of B
  extent group = 128;                   ///< elements along K that share a scale, for scaling::group
  dtype dtypeScale = dtype::f16;        ///< of scales
  bool zerosA = false, zerosB = false;  ///< whether an operand has zero points, one to each scale
  bool beta = false;                    ///< C is added: it is read as well as written

  constexpr bool valid() const {
    return detail::not_negative(M, N, K) && detail::real(dtypeA, dtypeB, dtypeC, dtypeScale) &&
           detail::quantize_scaling(scaleA, group, zerosA) &&
           detail::quantize_scaling(scaleB, group, zerosB);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(dtypeA, dtypeB); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{2} * M * N * K : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0 || N == 0) return {};
    const count scalesA = detail::quantize_scales(scaleA, M, K, group),
                scalesB = detail::quantize_scales(scaleB, N, K, group);
    const count a = bytes_for(count{M} * K, dtypeA) + bytes_for(scalesA, dtypeScale) +
                    (zerosA ? bytes_for(scalesA, dtypeA) : 0);
    const count b = bytes_for(count{K} * N, dtypeB) + bytes_for(scalesB, dtypeScale) +
                    (zerosB ? bytes_for(scalesB, dtypeB) : 0);
    const count c = bytes_for(count{M} * N, dtypeC);
    return {.read = a + b + (beta ? c : 0), .written = c};
  }
  constexpr void brief(brief_text& out) const {
    detail::product(out, *this);
    if (scaleA != ops::scaling::none) detail::name_in(out.item("A per "), "scaleA", scaleA);
    if (scaleB != ops::scaling::none) detail::name_in(out.item("B per "), "scaleB", scaleB);
    if (grouped()) out.put(" of ").put(group);
    detail::flag(out, zerosA, "A zeros");
    detail::flag(out, zerosB, "B zeros");
  }
  constexpr bool shows(field_name field) const { return field != "group" || grouped(); }

 private:
  constexpr bool grouped() const {
    return scaleA == ops::scaling::group || scaleB == ops::scaling::group;
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
