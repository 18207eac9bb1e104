// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_BLAS_HPP
#define KPROF_OPS_BLAS_HPP

// BLAS 1 to 3, counted as LAPACK Working Note 41 does, but each multiply-add as 2; BLAS 3 is in
// blas3.hpp, Gemm in gemm.hpp. Complex types count four times as much as real ones, also where
// there are more multiplications than additions, which BLAS++ counts as 6 and 2. Of symmetric and
// triangular matrices one triangle and its diagonal are read and written; their Hermitian namesakes
// count the same, and so do upper and lower, transposed and not. alpha is free, and so is a factor
// of 2.

#include <kprof/ops/blas/counts.hpp>
#include <kprof/ops/blas3.hpp>
#include <kprof/ops/brief/notation.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// y = alpha x + y.
/// FLOPs: fma(type) n
/// read: 2 bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
struct Axpy {
  extent n = 1;  ///< elements of x and y
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
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// Sum of x y, conjugated or not. The result stays in a register.
/// FLOPs: fma(type) n
/// read: 2 bytes(n, type)
/// written: 0
/// source: rocBLAS flops.hpp
/// others: BLAS++ counts 2 n - 1
struct Dot {
  extent n = 1;  ///< elements of x and y
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
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// Euclidean norm of x; the one root is not counted.
/// FLOPs: fma(type) n
/// read: bytes(n, type)
/// written: 0
/// source: rocBLAS flops.hpp
/// others: BLAS++ counts 2 n - 1
struct Nrm2 {
  extent n = 1;  ///< elements of x
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
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// Sum of the magnitudes of x.
/// FLOPs: fma(type) n / 2
/// read: bytes(n, type)
/// written: 0
/// source: the rule that a sum of n elements costs n, as RAJAPerf and likwid have it
/// others: BLAS++ counts n - 1; rocBLAS 2 n
struct Asum {
  extent n = 1;  ///< elements of x
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
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// x = alpha x.
/// FLOPs: fma(type) n / 2
/// read: bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
/// others: BLAS++ counts 6 n of complex types
struct Scal {
  extent n = 1;  ///< elements of x
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
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// BLAS's copy, y = x. Copy is that of tensors.
/// FLOPs: 0
/// read: bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
struct CopyVector {
  extent n = 1;  ///< elements of x and y
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{} : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n),
                                               .written = detail::blas_bytes(type, n)}
                                     : detail::invalid_traffic;
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// x and y change places.
/// FLOPs: 0
/// read: 2 bytes(n, type)
/// written: 2 bytes(n, type)
/// source: BLAS++ flops.hh
struct Swap {
  extent n = 1;  ///< elements of x and y
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{} : count::invalid(); }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? traffic{.read = detail::blas_bytes(type, n, n),
                                               .written = detail::blas_bytes(type, n, n)}
                                     : detail::invalid_traffic;
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
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
  extent m = 1, n = 1;  ///< rows of A; columns of A
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
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, m, n);
    detail::flag(out, trans, "A\u1D40");
    detail::flag(out, beta, "beta");
  }
};

/// A[m,n] = alpha x[m] y[n]^T + A.
/// FLOPs: fma(type) m n
/// read: bytes(m n, type) + bytes(m, type) + bytes(n, type)
/// written: bytes(m n, type)
/// source: BLAS++ flops.hh
/// others: rocBLAS misses what is written: m n + m + n elements in all
struct Ger {
  extent m = 1, n = 1;  ///< rows of A, elements of x; columns of A, elements of y
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
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, m, n); }
};

/// y = A x of a symmetric A[n,n], and + beta y where `beta`.
/// FLOPs: fma(type) n^2
/// read: bytes(n (n + 1) / 2, type) + (1 + [beta]) bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
struct Symv {
  extent n = 1;  ///< rows and columns of A
  dtype type = dtype::f32;
  bool beta = false;

  constexpr bool valid() const { return detail::not_negative(n) && detail::known(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::blas_weight(type) * 2 * n * n : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = detail::blas_bytes(type, detail::blas_triangle(n), n, beta ? n : extent{}),
            .written = detail::blas_bytes(type, n)};
  }
  constexpr void brief(brief_text& out) const {
    out.put(n);
    detail::flag(out, beta, "beta");
  }
};

/// x = A x of a triangular A[n,n].
/// FLOPs: fma(type) n^2 / 2
/// read: bytes(n (n + 1) / 2, type) + bytes(n, type)
/// written: bytes(n, type)
/// source: BLAS++ flops.hh
struct Trmv {
  extent n = 1;  ///< rows and columns of A
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
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// Solves A x = b of a triangular A[n,n]; x takes the place of b.
/// like: Trmv
struct Trsv {
  extent n = 1;
  dtype type = dtype::f32;

  constexpr Trmv trmv() const { return {.n = n, .type = type}; }  // counts the same
  constexpr bool valid() const { return trmv().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return trmv().arithmetic(); }
  constexpr count flops() const { return trmv().flops(); }
  constexpr traffic bytes() const { return trmv().bytes(); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// A = alpha x x^T + A of a symmetric A[n,n].
/// FLOPs: fma(type) n (n + 1) / 2
/// read: bytes(n (n + 1) / 2, type) + bytes(n, type)
/// written: bytes(n (n + 1) / 2, type)
/// source: rocBLAS flops.hpp
/// others: BLAS++ counts 2 n^2, those of Ger
struct Syr {
  extent n = 1;  ///< rows and columns of A
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
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
