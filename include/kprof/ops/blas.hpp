// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_BLAS_HPP
#define KPROF_OPS_BLAS_HPP

// BLAS 1 to 3, counted as LAPACK Working Note 41 does, but each multiply-add as 2; Gemm is in gemm.hpp. Complex types count
// four times as much as real ones, also where there are more multiplications than additions. Of symmetric and triangular
// matrices one triangle and its diagonal are read and written; their Hermitian namesakes count the same, and so do upper and
// lower, transposed and not. alpha is free, and so is a factor of 2.

#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

constexpr count blas_weight(dtype type) noexcept { return is_complex(type) ? 4 : 1; }
/// n (n + 1) / 2 for n >= 0: elements of a triangle with its diagonal.
constexpr count blas_triangle(std::int64_t n) noexcept { return n % 2 == 0 ? count{n / 2} * (count{n} + 1) : count{n} * (n / 2 + 1); }
/// Bytes of tensors of one type, each of them packed by itself.
constexpr count blas_bytes(dtype type, auto... sizes) noexcept { return (count{} + ... + bytes_for(sizes, type)); }

}  // namespace ops::detail

namespace ops {

/// Where the symmetric or triangular matrix stands in a product.
enum class side : std::uint8_t { left, right };

/// y = alpha x + y.
struct Axpy {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * n : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n, n), .written = detail::blas_bytes(type, n)} : detail::invalid_traffic;
  }
};

/// Sum of x y, conjugated or not. The result stays in a register.
struct Dot {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * n : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n, n), .written = 0} : detail::invalid_traffic;
  }
};

/// Euclidean norm of x; the one root is not counted.
struct Nrm2 {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * n : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n), .written = 0} : detail::invalid_traffic;
  }
};

/// Sum of the magnitudes of x.
struct Asum {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * n : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n), .written = 0} : detail::invalid_traffic;
  }
};

/// x = alpha x.
struct Scal {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * n : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n), .written = detail::blas_bytes(type, n)} : detail::invalid_traffic;
  }
};

/// BLAS's copy, y = x. Copy is that of tensors.
struct CopyVector {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{} : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n), .written = detail::blas_bytes(type, n)} : detail::invalid_traffic;
  }
};

/// x and y change places.
struct Swap {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{} : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n, n), .written = detail::blas_bytes(type, n, n)} : detail::invalid_traffic;
  }
};

/// y[m] = A[m,n] x[n], or y[n] = A^T x[m] where `trans`; and + beta y where `beta`.
struct Gemv {
  std::int64_t m = 1, n = 1;
  dtype type = dtype::f32;
  bool beta = false;
  bool trans = false;

  constexpr bool valid() const { return detail::not_negative(m, n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * m * n : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const std::int64_t x = trans ? m : n, y = trans ? n : m;
    if (y == 0) return {};
    return {.read = detail::blas_bytes(type, count{m} * n, x, beta ? y : 0), .written = detail::blas_bytes(type, y)};
  }
};

/// A[m,n] = alpha x[m] y[n]^T + A.
struct Ger {
  std::int64_t m = 1, n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(m, n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * m * n : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (m == 0 || n == 0) return {};
    return {.read = detail::blas_bytes(type, count{m} * n, m, n), .written = detail::blas_bytes(type, count{m} * n)};
  }
};

/// y = A x of a symmetric A[n,n], and + beta y where `beta`.
struct Symv {
  std::int64_t n = 1;
  dtype type = dtype::f32;
  bool beta = false;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * n * n : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = detail::blas_bytes(type, detail::blas_triangle(n), n, beta ? n : 0), .written = detail::blas_bytes(type, n)};
  }
};

/// x = A x of a triangular A[n,n].
struct Trmv {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * n * n : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = detail::blas_bytes(type, detail::blas_triangle(n), n), .written = detail::blas_bytes(type, n)};
  }
};

/// Solves A x = b of a triangular A[n,n]; x takes the place of b.
struct Trsv {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * n * n : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = detail::blas_bytes(type, detail::blas_triangle(n), n), .written = detail::blas_bytes(type, n)};
  }
};

/// A = alpha x x^T + A of a symmetric A[n,n].
struct Syr {
  std::int64_t n = 1;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * n * (count{n} + 1) : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = detail::blas_triangle(n);
    return {.read = detail::blas_bytes(type, a, n), .written = detail::blas_bytes(type, a)};
  }
};

/// C[m,n] = A B of a symmetric A[m,m], or B A of A[n,n] on the right; and + beta C where `beta`.
struct Symm {
  std::int64_t m = 1, n = 1;
  ops::side side = ops::side::left;
  dtype type = dtype::f32;
  bool beta = true;   ///< as BLAS is called and counted

  constexpr bool valid() const { return detail::not_negative(m, n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * m * n * (side == ops::side::left ? m : n) : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (m == 0 || n == 0) return {};
    const count a = detail::blas_triangle(side == ops::side::left ? m : n), c = count{m} * n;
    return {.read = detail::blas_bytes(type, a, c, beta ? c : 0), .written = detail::blas_bytes(type, c)};
  }
};

/// C = A A^T of A[n,k], and + beta C where `beta`; C[n,n] is symmetric.
struct Syrk {
  std::int64_t n = 1, k = 1;
  dtype type = dtype::f32;
  bool beta = true;

  constexpr bool valid() const { return detail::not_negative(n, k) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * k * n * (count{n} + 1) : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = count{n} * k, c = detail::blas_triangle(n);
    return {.read = detail::blas_bytes(type, a, beta ? c : 0), .written = detail::blas_bytes(type, c)};
  }
};

/// C = A B^T + B A^T of A[n,k] and B[n,k], and + beta C where `beta`; C[n,n] is symmetric.
struct Syr2k {
  std::int64_t n = 1, k = 1;
  dtype type = dtype::f32;
  bool beta = true;

  constexpr bool valid() const { return detail::not_negative(n, k) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * k * n * n : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = count{n} * k, c = detail::blas_triangle(n);
    return {.read = detail::blas_bytes(type, a, a, beta ? c : 0), .written = detail::blas_bytes(type, c)};
  }
};

/// B[m,n] = A B of a triangular A[m,m], or B A of A[n,n] on the right.
struct Trmm {
  std::int64_t m = 1, n = 1;
  ops::side side = ops::side::left;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(m, n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * m * n * (side == ops::side::left ? m : n) : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (m == 0 || n == 0) return {};
    const count a = detail::blas_triangle(side == ops::side::left ? m : n), b = count{m} * n;
    return {.read = detail::blas_bytes(type, a, b), .written = detail::blas_bytes(type, b)};
  }
};

/// Solves A X = B[m,n] of a triangular A[m,m], or X A = B of A[n,n] on the right; X takes the place of B.
struct Trsm {
  std::int64_t m = 1, n = 1;
  ops::side side = ops::side::left;
  dtype type = dtype::f32;

  constexpr Trmm trmm() const { return {.m = m, .n = n, .side = side, .type = type}; }   // counts the same
  constexpr bool valid() const { return trmm().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return trmm().arithmetic(); }
  constexpr count flops() const { return trmm().flops(); }
  constexpr traffic bytes() const { return trmm().bytes(); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
