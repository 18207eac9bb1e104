// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_LAPACK_HPP
#define KPROF_OPS_LAPACK_HPP

// Factorisations of dense matrices and what is solved with them, in place: FLOPs by the polynomials
// of LAPACK Working Note 41 in full, as LAPACK++, PLASMA and MAGMA have them. A complex
// multiplication is 6 FLOPs and a complex addition 2, so both are counted apart. The code has the
// polynomials as sums of binomial coefficients: no fractions, no subtractions, and no overflow
// before that of the result. Pivot indices are not counted; nothing is said of blocking and
// workspace.

#include <kprof/ops/blas.hpp>
#include <kprof/ops/brief/notation.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// n over 2 and n over 3, for n >= 0.
constexpr count lapack_pairs(std::int64_t n) noexcept {
  return n == 0 ? count{} : blas_triangle(n - 1);
}
constexpr count lapack_triples(std::int64_t n) noexcept {
  if (n < 3) return 0;
  std::int64_t a = n, b = n - 1, c = n - 2;
  (a % 3 == 0 ? a : b % 3 == 0 ? b : c) /= 3;
  (a % 2 == 0 ? a : b) /= 2;
  return count{a} * b * c;
}

struct lapack_work {
  count muls, adds;
  constexpr count flops(dtype type) const noexcept {
    return is_complex(type) ? muls * 6 + adds * 2 : muls + adds;
  }
};

/// Sum over j < k of j (d + j) additions, of as many multiplications, and of 1 + d + j for the
/// reciprocal and the scaling.
constexpr lapack_work lapack_getrf(std::int64_t m, std::int64_t n) noexcept {
  const std::int64_t k = m < n ? m : n, d = m < n ? n - m : m - n;
  const count pairs = lapack_pairs(k), adds = lapack_triples(k) * 2 + pairs * (count{d} + 1);
  return {.muls = adds + (count{d} + 1) * k + pairs, .adds = adds};
}
constexpr lapack_work lapack_potrf(std::int64_t n) noexcept {
  const count adds = lapack_triples(n) + lapack_pairs(n);
  return {.muls = adds + blas_triangle(n), .adds = adds};
}
constexpr lapack_work lapack_geqrf(std::int64_t m, std::int64_t n) noexcept {
  const std::int64_t k = m < n ? m : n, d = m < n ? n - m : m - n;
  const count adds = lapack_triples(k) * 4 + lapack_pairs(k) * 5 + count{k} * 2 + count{d} * k * k +
                     (m < n ? count{d} * k : 0);
  return {.muls = adds + count{m} * n + count{k} * 3, .adds = adds};
}
constexpr lapack_work lapack_getri(std::int64_t n) noexcept {
  const count adds = lapack_triples(n) * 4 + lapack_pairs(n);
  return {.muls = adds + count{2} * n * n, .adds = adds};
}
constexpr lapack_work lapack_getrs(std::int64_t n, std::int64_t nrhs) noexcept {
  return {.muls = count{nrhs} * n * n, .adds = n == 0 ? count{} : count{nrhs} * n * (n - 1)};
}
constexpr lapack_work lapack_potrs(std::int64_t n, std::int64_t nrhs) noexcept {
  const count adds = n == 0 ? count{} : count{nrhs} * n * (n - 1);
  return {.muls = adds + count{2} * nrhs * n, .adds = adds};
}

}  // namespace ops::detail

namespace ops {

/// A[m,n] = P L U, with partial pivoting.
/// FLOPs: mul(type) muls + add(type) adds
/// read: bytes(m n, type)
/// written: bytes(m n, type)
/// where: k = min(m, n)
/// where: l = max(m, n)
/// where: muls = l k^2 / 2 - k^3 / 6 + l k / 2 - k^2 / 2 + 2 k / 3
/// where: adds = l k^2 / 2 - k^3 / 6 - l k / 2 + k / 6
/// source: LAPACK Working Note 41, as in LAPACK++ flops.hh and PLASMA
/// others: cuSOLVER's samples usually quote the leading terms alone
struct Getrf {
  extent m = 1, n = 1;  ///< rows of A; columns of A
  dtype type = dtype::f64;

  constexpr bool valid() const { return detail::not_negative(m, n) && detail::fractional(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::lapack_getrf(m, n).flops(type) : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = bytes_for(count{m} * n, type);
    return {.read = a, .written = a};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, m, n); }
};

/// A[n,n] = L L^T of Cholesky; of A one triangle.
/// FLOPs: mul(type) muls + add(type) adds
/// read: bytes(n (n + 1) / 2, type)
/// written: bytes(n (n + 1) / 2, type)
/// where: muls = n (n + 1) (n + 2) / 6
/// where: adds = n (n + 1) (n - 1) / 6
/// source: LAPACK Working Note 41, as in LAPACK++ flops.hh and PLASMA
/// others: XLA counts n^3 / 3
struct Potrf {
  extent n = 1;  ///< rows and columns of A
  dtype type = dtype::f64;

  constexpr bool valid() const { return detail::not_negative(n) && detail::fractional(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::lapack_potrf(n).flops(type) : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = bytes_for(detail::blas_triangle(n), type);
    return {.read = a, .written = a};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// A[m,n] = Q R, Q as reflectors; their min(m, n) factors are written beside A.
/// FLOPs: mul(type) muls + add(type) adds
/// read: bytes(m n, type)
/// written: bytes(m n, type) + bytes(k, type)
/// where: k = min(m, n)
/// where: l = max(m, n)
/// where: muls = adds + m n + 3 k
/// where: adds = l k^2 - k^3 / 3 + k^2 / 2 + 5 k / 6 + [m < n] (l k - k^2)
/// source: LAPACK Working Note 41, as in LAPACK++ flops.hh and PLASMA
struct Geqrf {
  extent m = 1, n = 1;
  dtype type = dtype::f64;

  constexpr bool valid() const { return detail::not_negative(m, n) && detail::fractional(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::lapack_geqrf(m, n).flops(type) : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = bytes_for(count{m} * n, type);
    return {.read = a, .written = a + bytes_for(m < n ? m : n, type)};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, m, n); }
};

/// A[n,n] X = B[n,nrhs] with the factors of Getrf.
/// FLOPs: mul(type) muls + add(type) adds
/// read: bytes(n^2, type) + bytes(n nrhs, type)
/// written: bytes(n nrhs, type)
/// where: muls = n^2 nrhs
/// where: adds = n (n - 1) nrhs
/// source: LAPACK Working Note 41, as in LAPACK++ flops.hh and PLASMA
struct Getrs {
  extent n = 1;     ///< rows and columns of A
  extent nrhs = 1;  ///< columns of B and X
  dtype type = dtype::f64;

  constexpr bool valid() const { return detail::not_negative(n, nrhs) && detail::fractional(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::lapack_getrs(n, nrhs).flops(type) : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (nrhs == 0) return {};
    const count x = bytes_for(count{n} * nrhs, type);
    return {.read = bytes_for(count{n} * n, type) + x, .written = x};
  }
  constexpr void brief(brief_text& out) const { out.put(n).item(nrhs).put(" rhs"); }
};

/// A[n,n] X = B[n,nrhs] with the factor of Potrf.
/// FLOPs: mul(type) muls + add(type) adds
/// read: bytes(n (n + 1) / 2, type) + bytes(n nrhs, type)
/// written: bytes(n nrhs, type)
/// where: muls = n (n + 1) nrhs
/// where: adds = n (n - 1) nrhs
/// source: LAPACK Working Note 41, as in LAPACK++ flops.hh and PLASMA
struct Potrs {
  extent n = 1;  ///< rows and columns of A
  extent nrhs = 1;
  dtype type = dtype::f64;

  constexpr bool valid() const { return detail::not_negative(n, nrhs) && detail::fractional(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::lapack_potrs(n, nrhs).flops(type) : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (nrhs == 0) return {};
    const count x = bytes_for(count{n} * nrhs, type);
    return {.read = bytes_for(detail::blas_triangle(n), type) + x, .written = x};
  }
  constexpr void brief(brief_text& out) const { out.put(n).item(nrhs).put(" rhs"); }
};

/// The inverse of A[n,n] out of the factors of Getrf.
/// FLOPs: mul(type) muls + add(type) adds
/// read: bytes(n^2, type)
/// written: bytes(n^2, type)
/// where: muls = adds + 2 n^2
/// where: adds = 2 n^3 / 3 - 3 n^2 / 2 + 5 n / 6
/// source: LAPACK Working Note 41, as in LAPACK++ flops.hh and PLASMA
struct Getri {
  extent n = 1;  ///< rows and columns of A
  dtype type = dtype::f64;

  constexpr bool valid() const { return detail::not_negative(n) && detail::fractional(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::lapack_getri(n).flops(type) : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count a = bytes_for(count{n} * n, type);
    return {.read = a, .written = a};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, n); }
};

/// A[n,n] X = B[n,nrhs]: Getrf, and Getrs whose factors are on the chip already.
/// FLOPs: mul(type) muls + add(type) adds
/// read: bytes(n^2, type) + bytes(n nrhs, type)
/// written: bytes(n^2, type) + bytes(n nrhs, type)
/// where: muls = n^3 / 3 + 2 n / 3 + n^2 nrhs
/// where: adds = n^3 / 3 - n^2 / 2 + n / 6 + n (n - 1) nrhs
/// source: LAPACK Working Note 41, as in LAPACK++ flops.hh and PLASMA
/// others: HPL quotes 2 n^3 / 3 + 3 n^2 / 2 of one right-hand side, n / 6 more
struct Gesv {
  extent n = 1;  ///< rows and columns of A
  extent nrhs = 1;
  dtype type = dtype::f64;

  constexpr bool valid() const { return detail::not_negative(n, nrhs) && detail::fractional(type); }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    return detail::lapack_getrf(n, n).flops(type) + detail::lapack_getrs(n, nrhs).flops(type);
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count both = bytes_for(count{n} * n, type) + bytes_for(count{n} * nrhs, type);
    return {.read = both, .written = both};
  }
  constexpr void brief(brief_text& out) const { out.put(n).item(nrhs).put(" rhs"); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
