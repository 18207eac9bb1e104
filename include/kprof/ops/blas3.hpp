// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_BLAS3_HPP
#define KPROF_OPS_BLAS3_HPP

// BLAS 3, products of matrices of which one is symmetric or triangular, counted as blas.hpp says,
// which includes this header. Gemm is in gemm.hpp.

#include <kprof/ops/blas/counts.hpp>
#include <kprof/ops/brief/notation.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// Where the symmetric or triangular matrix stands in a product.
enum class side : std::uint8_t { left, right };

/// C[m,n] = A B of a symmetric A[m,m], or B A of A[n,n] on the right; and + beta C where `beta`.
/// FLOPs: fma(type) k m n
/// read: bytes(k (k + 1) / 2, type) + (1 + [beta]) bytes(m n, type)
/// written: bytes(m n, type)
/// where: k = [side = left] m + [side = right] n
/// source: BLAS++ flops.hh
/// others: CUTLASS counts 2 m n (m + 1)
struct Symm {
  extent m = 1, n = 1;               ///< rows of B and C; columns of B and C
  ops::side side = ops::side::left;  ///< where A stands in the product
  dtype type = dtype::f32;
  bool beta = true;  ///< C is added, as BLAS is called and counted: it is read as well as written

  constexpr bool valid() const {
    return detail::not_negative(m, n) && detail::known(type) && side <= ops::side::right;
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid())
               ? detail::blas_weight(type) * 2 * m * n * (side == ops::side::left ? m : n)
               : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (m == 0 || n == 0) return {};
    const count a = detail::blas_triangle(side == ops::side::left ? m : n), c = count{m} * n;
    return {.read = detail::blas_bytes(type, a, c, beta ? c : 0),
            .written = detail::blas_bytes(type, c)};
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, m, n);
    if (side != ops::side::left) detail::name_in(out.item(""), "side", side);
    detail::flag(out, !beta, "no beta");
  }
};

/// C = A A^T of A[n,k], and + beta C where `beta`; C[n,n] is symmetric.
/// FLOPs: fma(type) k n (n + 1) / 2
/// read: bytes(n k, type) + [beta] bytes(n (n + 1) / 2, type)
/// written: bytes(n (n + 1) / 2, type)
/// source: BLAS++ flops.hh
/// others: CUTLASS counts n (n + 1) (k + 1) and reads A twice; rocBLAS counts n^2 k, and n k + n (n
///   + 1) / 2 elements
struct Syrk {
  extent n = 1, k = 1;  ///< rows of A, rows and columns of C; columns of A
  dtype type = dtype::f32;
  bool beta = true;  ///< as in Symm

  constexpr bool valid() const { return detail::not_negative(n, k) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * k * n * (count{n} + 1)
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = count{n} * k, c = detail::blas_triangle(n);
    return {.read = detail::blas_bytes(type, a, beta ? c : 0),
            .written = detail::blas_bytes(type, c)};
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, n, k);
    detail::flag(out, !beta, "no beta");
  }
};

/// C = A B^T + B A^T of A[n,k] and B[n,k], and + beta C where `beta`; C[n,n] is symmetric.
/// FLOPs: fma(type) k n^2
/// read: 2 bytes(n k, type) + [beta] bytes(n (n + 1) / 2, type)
/// written: bytes(n (n + 1) / 2, type)
/// source: BLAS++ flops.hh
/// others: CUTLASS counts n (n + 1) (2 k + 1)
struct Syr2k {
  extent n = 1, k = 1;  ///< rows of A and B, rows and columns of C; columns of A and B
  dtype type = dtype::f32;
  bool beta = true;  ///< as in Symm

  constexpr bool valid() const { return detail::not_negative(n, k) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * k * n * n : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = count{n} * k, c = detail::blas_triangle(n);
    return {.read = detail::blas_bytes(type, a, a, beta ? c : 0),
            .written = detail::blas_bytes(type, c)};
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, n, k);
    detail::flag(out, !beta, "no beta");
  }
};

/// B[m,n] = A B of a triangular A[m,m], or B A of A[n,n] on the right.
/// FLOPs: fma(type) k m n / 2
/// read: bytes(k (k + 1) / 2, type) + bytes(m n, type)
/// written: bytes(m n, type)
/// where: k = [side = left] m + [side = right] n
/// source: BLAS++ flops.hh
/// others: CUTLASS counts m (m + 1) n
struct Trmm {
  extent m = 1, n = 1;  ///< rows of B; columns of B
  ops::side side = ops::side::left;
  dtype type = dtype::f32;

  constexpr bool valid() const {
    return detail::not_negative(m, n) && detail::known(type) && side <= ops::side::right;
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid())
               ? detail::blas_weight(type) * m * n * (side == ops::side::left ? m : n)
               : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (m == 0 || n == 0) return {};
    const count a = detail::blas_triangle(side == ops::side::left ? m : n), b = count{m} * n;
    return {.read = detail::blas_bytes(type, a, b), .written = detail::blas_bytes(type, b)};
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, m, n);
    if (side != ops::side::left) detail::name_in(out.item(""), "side", side);
  }
};

/// Solves A X = B[m,n] of a triangular A[m,m], or X A = B of A[n,n] on the right; X takes the place
/// of B.
/// like: Trmm
/// others: XLA counts twice as many FLOPs
struct Trsm {
  extent m = 1, n = 1;
  ops::side side = ops::side::left;
  dtype type = dtype::f32;

  // counts the same
  constexpr Trmm trmm() const { return {.m = m, .n = n, .side = side, .type = type}; }
  constexpr bool valid() const { return trmm().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return trmm().arithmetic(); }
  constexpr count flops() const { return trmm().flops(); }
  constexpr traffic bytes() const { return trmm().bytes(); }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, m, n);
    if (side != ops::side::left) detail::name_in(out.item(""), "side", side);
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
