// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_BLAS_HPP
#define KPROF_OPS_BLAS_HPP

// BLAS 1 to 3, counted as LAPACK Working Note 41 does, but each multiply-add as 2; Gemm is in
// gemm.hpp. Complex types count four times as much as real ones, also where there are more
// multiplications than additions, which BLAS++ counts as 6 and 2. Of symmetric and triangular
// matrices one triangle and its diagonal are read and written; their Hermitian namesakes count the
// same, and so do upper and lower, transposed and not. alpha is free, and so is a factor of 2.

#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

constexpr count blas_weight(dtype type) noexcept { return is_complex(type) ? 4 : 1; }
/// n (n + 1) / 2 for n >= 0: elements of a triangle with its diagonal.
constexpr count blas_triangle(std::int64_t n) noexcept {
  return n % 2 == 0 ? count{n / 2} * (count{n} + 1) : count{n} * (n / 2 + 1);
}
/// Bytes of tensors of one type, each of them packed by itself.
constexpr count blas_bytes(dtype type, auto... sizes) noexcept {
  return (count{} + ... + bytes_for(sizes, type));
}

}  // namespace ops::detail

namespace ops {

/// Where the symmetric or triangular matrix stands in a product.
enum class side : std::uint8_t { left, right };

/// y = alpha x + y.
/// FLOPs: fma(type) n
/// read: 2 bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
struct Axpy {
  std::int64_t n = 1;  ///< elements of x and y
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * n : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n, n),
                                               .written = detail::blas_bytes(type, n)}
                                     : detail::invalid_traffic;
  }
};

/// Sum of x y, conjugated or not. The result stays in a register.
/// FLOPs: fma(type) n
/// read: 2 bytes(n, type)
/// written: 0
/// source: rocBLAS flops.hpp
/// others: BLAS++ counts 2 n - 1
struct Dot {
  std::int64_t n = 1;  ///< elements of x and y
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * n : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n, n), .written = 0}
                                     : detail::invalid_traffic;
  }
};

/// Euclidean norm of x; the one root is not counted.
/// FLOPs: fma(type) n
/// read: bytes(n, type)
/// written: 0
/// source: rocBLAS flops.hpp
/// others: BLAS++ counts 2 n - 1
struct Nrm2 {
  std::int64_t n = 1;  ///< elements of x
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * n : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n), .written = 0}
                                     : detail::invalid_traffic;
  }
};

/// Sum of the magnitudes of x.
/// FLOPs: fma(type) n / 2
/// read: bytes(n, type)
/// written: 0
/// source: the rule that a sum of n elements costs n, as RAJAPerf and likwid have it
/// others: BLAS++ counts n - 1; rocBLAS 2 n
struct Asum {
  std::int64_t n = 1;  ///< elements of x
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * n : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n), .written = 0}
                                     : detail::invalid_traffic;
  }
};

/// x = alpha x.
/// FLOPs: fma(type) n / 2
/// read: bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
/// others: BLAS++ counts 6 n of complex types
struct Scal {
  std::int64_t n = 1;  ///< elements of x
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * n : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n),
                                               .written = detail::blas_bytes(type, n)}
                                     : detail::invalid_traffic;
  }
};

/// BLAS's copy, y = x. Copy is that of tensors.
/// FLOPs: 0
/// read: bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
struct CopyVector {
  std::int64_t n = 1;  ///< elements of x and y
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{} : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n),
                                               .written = detail::blas_bytes(type, n)}
                                     : detail::invalid_traffic;
  }
};

/// x and y change places.
/// FLOPs: 0
/// read: 2 bytes(n, type)
/// written: 2 bytes(n, type)
/// source: BLAS++ flops.hh
struct Swap {
  std::int64_t n = 1;  ///< elements of x and y
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{} : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n, n),
                                               .written = detail::blas_bytes(type, n, n)}
                                     : detail::invalid_traffic;
  }
};

/// y[m] = A[m,n] x[n], or y[n] = A^T x[m] where `trans`; and + beta y where `beta`.
/// FLOPs: fma(type) m n
/// read: bytes(m n, type) + bytes(x, type) + [beta] bytes(y, type)
/// written: bytes(y, type)
/// where: x = [trans] m + [not trans] n
/// where: y = [trans] n + [not trans] m
/// source: BLAS++ flops.hh
/// others: rocBLAS adds 2 m
struct Gemv {
  std::int64_t m = 1, n = 1;  ///< rows of A; columns of A
  dtype type = dtype::f32;
  bool beta = false;   ///< y is added: it is read as well as written
  bool trans = false;  ///< A is transposed

  constexpr bool valid() const { return detail::not_negative(m, n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * m * n : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const std::int64_t x = trans ? m : n, y = trans ? n : m;
    if (y == 0) return {};
    return {.read = detail::blas_bytes(type, count{m} * n, x, beta ? y : 0),
            .written = detail::blas_bytes(type, y)};
  }
};

/// A[m,n] = alpha x[m] y[n]^T + A.
/// FLOPs: fma(type) m n
/// read: bytes(m n, type) + bytes(m, type) + bytes(n, type)
/// written: bytes(m n, type)
/// source: BLAS++ flops.hh
/// others: rocBLAS misses what is written: m n + m + n elements in all
struct Ger {
  std::int64_t m = 1, n = 1;  ///< rows of A, elements of x; columns of A, elements of y
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(m, n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * m * n : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (m == 0 || n == 0) return {};
    return {.read = detail::blas_bytes(type, count{m} * n, m, n),
            .written = detail::blas_bytes(type, count{m} * n)};
  }
};

/// y = A x of a symmetric A[n,n], and + beta y where `beta`.
/// FLOPs: fma(type) n^2
/// read: bytes(n (n + 1) / 2, type) + (1 + [beta]) bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
struct Symv {
  std::int64_t n = 1;  ///< rows and columns of A
  dtype type = dtype::f32;
  bool beta = false;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * n * n : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = detail::blas_bytes(type, detail::blas_triangle(n), n, beta ? n : 0),
            .written = detail::blas_bytes(type, n)};
  }
};

/// x = A x of a triangular A[n,n].
/// FLOPs: fma(type) n^2 / 2
/// read: bytes(n (n + 1) / 2, type) + bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
struct Trmv {
  std::int64_t n = 1;  ///< rows and columns of A
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * n * n : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = detail::blas_bytes(type, detail::blas_triangle(n), n),
            .written = detail::blas_bytes(type, n)};
  }
};

/// Solves A x = b of a triangular A[n,n]; x takes the place of b.
/// like: Trmv
struct Trsv {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr Trmv trmv() const { return {.n = n, .type = type}; }  // counts the same
  constexpr bool valid() const { return trmv().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return trmv().arithmetic(); }
  constexpr count flops() const { return trmv().flops(); }
  constexpr traffic bytes() const { return trmv().bytes(); }
};

/// A = alpha x x^T + A of a symmetric A[n,n].
/// FLOPs: fma(type) n (n + 1) / 2
/// read: bytes(n (n + 1) / 2, type) + bytes(n, type)
/// written: bytes(n (n + 1) / 2, type)
/// source: rocBLAS flops.hpp
/// others: BLAS++ counts 2 n^2, those of Ger
struct Syr {
  std::int64_t n = 1;  ///< rows and columns of A
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * n * (count{n} + 1)
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = detail::blas_triangle(n);
    return {.read = detail::blas_bytes(type, a, n), .written = detail::blas_bytes(type, a)};
  }
};

/// C[m,n] = A B of a symmetric A[m,m], or B A of A[n,n] on the right; and + beta C where `beta`.
/// FLOPs: fma(type) k m n
/// read: bytes(k (k + 1) / 2, type) + (1 + [beta]) bytes(m n, type)
/// written: bytes(m n, type)
/// where: k = [side = left] m + [side = right] n
/// source: BLAS++ flops.hh
/// others: CUTLASS counts 2 m n (m + 1)
struct Symm {
  std::int64_t m = 1, n = 1;         ///< rows of B and C; columns of B and C
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
};

/// C = A A^T of A[n,k], and + beta C where `beta`; C[n,n] is symmetric.
/// FLOPs: fma(type) k n (n + 1) / 2
/// read: bytes(n k, type) + [beta] bytes(n (n + 1) / 2, type)
/// written: bytes(n (n + 1) / 2, type)
/// source: BLAS++ flops.hh
/// others: CUTLASS counts n (n + 1) (k + 1) and reads A twice; rocBLAS counts n^2 k, and n k + n (n
///   + 1) / 2 elements
struct Syrk {
  std::int64_t n = 1, k = 1;  ///< rows of A, rows and columns of C; columns of A
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
};

/// C = A B^T + B A^T of A[n,k] and B[n,k], and + beta C where `beta`; C[n,n] is symmetric.
/// FLOPs: fma(type) k n^2
/// read: 2 bytes(n k, type) + [beta] bytes(n (n + 1) / 2, type)
/// written: bytes(n (n + 1) / 2, type)
/// source: BLAS++ flops.hh
/// others: CUTLASS counts n (n + 1) (2 k + 1)
struct Syr2k {
  std::int64_t n = 1, k = 1;  ///< rows of A and B, rows and columns of C; columns of A and B
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
};

/// B[m,n] = A B of a triangular A[m,m], or B A of A[n,n] on the right.
/// FLOPs: fma(type) k m n / 2
/// read: bytes(k (k + 1) / 2, type) + bytes(m n, type)
/// written: bytes(m n, type)
/// where: k = [side = left] m + [side = right] n
/// source: BLAS++ flops.hh
/// others: CUTLASS counts m (m + 1) n
struct Trmm {
  std::int64_t m = 1, n = 1;  ///< rows of B; columns of B
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
};

/// Solves A X = B[m,n] of a triangular A[m,m], or X A = B of A[n,n] on the right; X takes the place
/// of B.
/// like: Trmm
/// others: XLA counts twice as many FLOPs
struct Trsm {
  std::int64_t m = 1, n = 1;
  ops::side side = ops::side::left;
  dtype type = dtype::f32;

  // counts the same
  constexpr Trmm trmm() const { return {.m = m, .n = n, .side = side, .type = type}; }
  constexpr bool valid() const { return trmm().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return trmm().arithmetic(); }
  constexpr count flops() const { return trmm().flops(); }
  constexpr traffic bytes() const { return trmm().bytes(); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
