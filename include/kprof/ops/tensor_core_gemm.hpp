// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_TENSOR_CORE_GEMM_HPP
#define KPROF_OPS_TENSOR_CORE_GEMM_HPP

// Products that tensor cores alone have: with 2:4 sparsity, and of narrow types with a scale a
// block. gemm.hpp includes this header.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// Gemm whose A has two zeros in each four elements (2:4; one in two for 32-bit types, four in
/// eight for 4-bit types). FLOPs are those of the dense product, as CUTLASS reports them;
/// sparse_flops() are those that are executed. Of A the half is read, and its metadata: 2 bits for
/// each element kept, 4 for 32-bit types, 1 for 4-bit types.
/// FLOPs: 2 M N K
/// sparse_flops: M N K
/// read: bytes(M K / 2, dtypeA) + ceil(M K / 2 metadata_bits / 8) + bytes(K N, dtypeB) + [beta]
///   bytes(M N, dtypeC)
/// written: bytes(M N, dtypeC)
/// where: metadata_bits = 1 + [bits(dtypeA) != 4] + 2 [bits(dtypeA) = 32]
/// source: CUTLASS sparse_gemm_operation_profiler.cu
/// others: CUTLASS adds 2 M N for its epilogue
struct SparseGemm {
  extent M = 1, N = 1, K = 4;                                           ///< as in Gemm
  dtype dtypeA = dtype::f16, dtypeB = dtype::f16, dtypeC = dtype::f16;  ///< as in Gemm
  bool beta = false;                                                    ///< as in Gemm

  constexpr bool valid() const {
    const unsigned bits = bits_of(dtypeA);
    const std::int64_t step = bits == 32 ? 2 : bits == 4 ? 8 : 4;
    return detail::not_negative(M, N, K) && detail::real(dtypeA, dtypeB, dtypeC) && bits <= 32 &&
           K % step == 0;
  }
  // no other unit has it
  constexpr kprof::arithmetic arithmetic() const { return {dtypeA, arithmetic_unit::tensor_core}; }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{2} * M * N * K : count::invalid();
  }
  constexpr count sparse_flops() const { return flops() / 2; }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0 || N == 0) return {};
    const count kept = count{M} * K / 2, c = bytes_for(count{M} * N, dtypeC);
    const unsigned metadata_bits = bits_of(dtypeA) == 32 ? 4 : bits_of(dtypeA) == 4 ? 1 : 2;
    return {.read = bytes_for(kept, dtypeA) + (kept * metadata_bits + 7) / 8 +
                    bytes_for(count{K} * N, dtypeB) + (beta ? c : 0),
            .written = c};
  }
  constexpr void brief(brief_text& out) const { detail::product(out, *this); }
};

/// Gemm of types below 16 bits whose operands carry a scale of 8 bits for each `block` elements
/// along K: OCP microscaling (block 32, e8m0) and NVFP4 (block 16, e4m3). Scales are counted
/// without the padding that CUTLASS's layout adds.
/// FLOPs: 2 M N K
/// read: bytes(M K, dtypeA) + bytes(K N, dtypeB) + (M + N) ceil(K / block) + [beta] bytes(M N,
///   dtypeC)
/// written: bytes(M N, dtypeC)
/// source: CUTLASS block_scaled_gemm_operation_profiler.cu
/// others: CUTLASS pads the scales to 128 x 4 and adds 2 M N for its epilogue
struct BlockScaledGemm {
  extent M = 1, N = 1, K = 32;  ///< as in Gemm
  extent block = 32;            ///< elements along K that share a scale
  dtype dtypeA = dtype::fp8_e4m3, dtypeB = dtype::fp8_e4m3, dtypeC = dtype::bf16;  ///< as in Gemm
  bool beta = false;                                                               ///< as in Gemm

  constexpr bool valid() const {
    return detail::not_negative(M, N, K) && detail::positive(block) &&
           detail::real(dtypeA, dtypeB, dtypeC) && bits_of(dtypeA) < 16 && bits_of(dtypeB) < 16;
  }
  constexpr kprof::arithmetic arithmetic() const { return {dtypeA, arithmetic_unit::tensor_core}; }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{2} * M * N * K : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0 || N == 0) return {};
    const count scales = (count{M} + N) * detail::ceil_div(K, block),
                c = bytes_for(count{M} * N, dtypeC);
    return {.read = bytes_for(count{M} * K, dtypeA) + bytes_for(count{K} * N, dtypeB) + scales +
                    (beta ? c : 0),
            .written = c};
  }
  constexpr void brief(brief_text& out) const {
    detail::product(out, *this);
    detail::axes(out, "block ", 0, block);
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
