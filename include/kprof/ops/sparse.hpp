// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_SPARSE_HPP
#define KPROF_OPS_SPARSE_HPP

// Products with a sparse matrix: 2 FLOPs for each of its nnz stored elements and column of the
// other operand, and one addition per output element where beta is not 0, as rocSPARSE has it.
// Bytes are those of the format, each index and value once, and of the whole dense operand, whose
// elements are reused out of cache.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// Sizes of a sparse matrix of `rows` by `cols`: it has no more elements than places.
constexpr bool sparse_matrix(std::int64_t rows, std::int64_t cols, std::int64_t nnz) noexcept {
  return not_negative(rows, cols, nnz) && (nnz == 0 || (rows != 0 && (nnz - 1) / rows < cols));
}

}  // namespace ops::detail

namespace ops {

/// y[M] = A[M,N] x[N], and + beta y where `beta`; A in compressed rows: M + 1 offsets, nnz column
/// indices, nnz values.
/// FLOPs: fma(type) nnz + [beta] add(type) M
/// read: A + bytes(N, type) + [beta] bytes(M, type)
/// written: bytes(M, type)
/// where: A = bytes(M + 1, dtypeOffsets or dtypeIndex) + bytes(nnz, dtypeIndex) + bytes(nnz, type)
/// source: rocSPARSE flops.hpp, gbyte.hpp
/// others: HPCG counts no row offsets
struct SpmvCsr {
  extent M = 1, N = 1;  ///< rows of A, elements of y; columns of A, elements of x
  extent nnz = 1;       ///< stored elements of A
  bool beta = false;    ///< y is added: it is read as well as written
  dtype type = dtype::f32;
  dtype dtypeIndex = dtype::int32;      ///< of indices
  dtype dtypeOffsets = dtype::unknown;  ///< of row offsets; unknown: as dtypeIndex

  constexpr dtype offsets_type() const {
    return dtypeOffsets == dtype::unknown ? dtypeIndex : dtypeOffsets;
  }
  constexpr bool valid() const {
    return detail::sparse_matrix(M, N, nnz) && detail::known(type) &&
           detail::is_index(dtypeIndex) && detail::is_index(offsets_type());
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid())
               ? detail::fma_flops(type) * nnz + (beta ? detail::add_flops(type) * M : 0)
               : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0) return {};
    const count y = bytes_for(M, type), matrix = bytes_for(count{M} + 1, offsets_type()) +
                                                 bytes_for(nnz, dtypeIndex) + bytes_for(nnz, type);
    return {.read = matrix + bytes_for(N, type) + (beta ? y : 0), .written = y};
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, M, N).item("nnz ").put(nnz);
    detail::flag(out, beta, "beta");
    detail::types(out, *this);
  }
};

/// SpmvCsr whose A is a list of coordinates: nnz row indices, nnz column indices, nnz values.
/// FLOPs: fma(type) nnz + [beta] add(type) M
/// read: A + bytes(N, type) + [beta] bytes(M, type)
/// written: bytes(M, type)
/// where: A = 2 bytes(nnz, dtypeIndex) + bytes(nnz, type)
/// source: rocSPARSE flops.hpp, gbyte.hpp
struct SpmvCoo {
  extent M = 1, N = 1;
  extent nnz = 1;
  bool beta = false;
  dtype type = dtype::f32;
  dtype dtypeIndex = dtype::int32;

  constexpr bool valid() const {
    return detail::sparse_matrix(M, N, nnz) && detail::known(type) && detail::is_index(dtypeIndex);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid())
               ? detail::fma_flops(type) * nnz + (beta ? detail::add_flops(type) * M : 0)
               : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0) return {};
    const count y = bytes_for(M, type),
                matrix = count{2} * bytes_for(nnz, dtypeIndex) + bytes_for(nnz, type);
    return {.read = matrix + bytes_for(N, type) + (beta ? y : 0), .written = y};
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, M, N).item("nnz ").put(nnz);
    detail::flag(out, beta, "beta");
    detail::types(out, *this);
  }
};

/// C[M,N] = A[M,K] B[K,N], and + beta C where `beta`; A in compressed rows, B and C dense.
/// FLOPs: (fma(type) nnz + [beta] add(type) M) N
/// read: A + bytes(K N, type) + [beta] bytes(M N, type)
/// written: bytes(M N, type)
/// where: A = bytes(M + 1, dtypeOffsets or dtypeIndex) + bytes(nnz, dtypeIndex) + bytes(nnz, type)
/// source: rocSPARSE flops.hpp, gbyte.hpp
struct SpmmCsr {
  extent M = 1, N = 1, K = 1;  ///< rows of A and C; columns of B and C; columns of A, rows
                               ///< of B
  extent nnz = 1;
  bool beta = false;  ///< C is added: it is read as well as written
  dtype type = dtype::f32;
  dtype dtypeIndex = dtype::int32;
  dtype dtypeOffsets = dtype::unknown;  ///< of row offsets; unknown: as dtypeIndex

  constexpr dtype offsets_type() const {
    return dtypeOffsets == dtype::unknown ? dtypeIndex : dtypeOffsets;
  }
  constexpr bool valid() const {
    return detail::sparse_matrix(M, K, nnz) && detail::not_negative(N) && detail::known(type) &&
           detail::is_index(dtypeIndex) && detail::is_index(offsets_type());
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    return detail::fma_flops(type) * nnz * N + (beta ? detail::add_flops(type) * M * N : 0);
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0 || N == 0) return {};
    const count c = bytes_for(count{M} * N, type),
                matrix = bytes_for(count{M} + 1, offsets_type()) + bytes_for(nnz, dtypeIndex) +
                         bytes_for(nnz, type);
    return {.read = matrix + bytes_for(count{K} * N, type) + (beta ? c : 0), .written = c};
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, M, N, K).item("nnz ").put(nnz);
    detail::flag(out, beta, "beta");
    detail::types(out, *this);
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
