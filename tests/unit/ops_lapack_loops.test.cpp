// SPDX-License-Identifier: MIT
// Factorisations as textbook algorithms that count what they do.
#include <kprof/ops/lapack.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

using kprof::dtype;
using kprof_test::moves;
using namespace kprof::ops;

namespace {

constexpr dtype f64 = dtype::f64, c128 = dtype::c128;

/// A real number that counts, multiplications and divisions and roots on one side, additions on the
/// other.
struct counted {
  double value = 0;
  static inline std::uint64_t muls = 0, adds = 0;
  static void clear() { muls = adds = 0; }
  friend counted operator+(counted a, counted b) {
    ++adds;
    return {a.value + b.value};
  }
  friend counted operator-(counted a, counted b) {
    ++adds;
    return {a.value - b.value};
  }
  friend counted operator*(counted a, counted b) {
    ++muls;
    return {a.value * b.value};
  }
  friend counted operator/(counted a, counted b) {
    ++muls;
    return {a.value / b.value};
  }
  friend counted sqrt(counted a) {
    ++muls;
    return {std::sqrt(a.value)};
  }
};

struct matrix {
  std::size_t rows, cols;
  std::vector<counted> data;
  matrix(std::size_t r, std::size_t c) : rows(r), cols(c), data(r * c) {}
  counted& operator()(std::size_t i, std::size_t j) { return data[i * cols + j]; }
  double at(std::size_t i, std::size_t j) const { return data[i * cols + j].value; }
};

/// Random, with a heavy diagonal: no pivoting needed. Symmetric if asked for, and positive definite
/// then.
matrix random_matrix(std::size_t m, std::size_t n, kprof_test::random_shape& random,
                     bool symmetric = false) {
  matrix a(m, n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      a(i, j) = {symmetric && j < i ? a.at(j, i)
                                    : static_cast<double>(random(-9, 9)) + (i == j ? 200 : 0)};
  return a;
}

/// Right-looking, a reciprocal for each column.
void lu(matrix& a) {
  for (std::size_t k = 0; k < std::min(a.rows, a.cols); ++k) {
    const counted reciprocal = counted{1} / a(k, k);
    for (std::size_t i = k + 1; i < a.rows; ++i) {
      a(i, k) = a(i, k) * reciprocal;
      for (std::size_t j = k + 1; j < a.cols; ++j) a(i, j) = a(i, j) - a(i, k) * a(k, j);
    }
  }
}
void lu_solve(matrix& a, matrix& b) {
  for (std::size_t r = 0; r < b.cols; ++r) {
    for (std::size_t i = 0; i < a.rows; ++i)
      for (std::size_t j = 0; j < i; ++j) b(i, r) = b(i, r) - a(i, j) * b(j, r);
    for (std::size_t i = a.rows; i-- > 0;) {
      for (std::size_t j = i + 1; j < a.rows; ++j) b(i, r) = b(i, r) - a(i, j) * b(j, r);
      b(i, r) = b(i, r) / a(i, i);
    }
  }
}
void cholesky(matrix& a) {
  for (std::size_t j = 0; j < a.rows; ++j) {
    for (std::size_t i = j; i < a.rows; ++i) {
      for (std::size_t k = 0; k < j; ++k) a(i, j) = a(i, j) - a(i, k) * a(j, k);
      a(i, j) = i == j ? sqrt(a(i, j)) : a(i, j) / a(j, j);
    }
  }
}
void cholesky_solve(matrix& l, matrix& b) {
  for (std::size_t r = 0; r < b.cols; ++r) {
    for (std::size_t i = 0; i < l.rows; ++i) {
      for (std::size_t j = 0; j < i; ++j) b(i, r) = b(i, r) - l(i, j) * b(j, r);
      b(i, r) = b(i, r) / l(i, i);
    }
    for (std::size_t i = l.rows; i-- > 0;) {
      for (std::size_t j = i + 1; j < l.rows; ++j) b(i, r) = b(i, r) - l(j, i) * b(j, r);
      b(i, r) = b(i, r) / l(i, i);
    }
  }
}
/// Householder's, v scaled to a leading 1, which is multiplied with as the working note does. R
/// takes the place of A.
void qr(matrix& a) {
  for (std::size_t k = 0; k < std::min(a.rows, a.cols); ++k) {
    counted norm, tau;
    for (std::size_t i = k; i < a.rows; ++i) norm = norm + a(i, k) * a(i, k);
    const counted beta = counted{a(k, k).value < 0 ? 1.0 : -1.0} * sqrt(norm),
                  head = a(k, k) - beta;
    tau = head / counted{-beta.value};
    const counted reciprocal = counted{1} / head;
    std::vector<counted> v(a.rows);
    for (std::size_t i = k; i < a.rows; ++i) v[i] = (i == k ? head : a(i, k)) * reciprocal;
    for (std::size_t j = k + 1; j < a.cols; ++j) {
      counted sum;
      for (std::size_t i = k; i < a.rows; ++i) sum = sum + v[i] * a(i, j);
      sum = tau * sum;
      for (std::size_t i = k; i < a.rows; ++i) a(i, j) = a(i, j) - v[i] * sum;
    }
    a(k, k) = beta;
    for (std::size_t i = k + 1; i < a.rows; ++i) a(i, k) = {};
  }
}
/// U inverted, then X L = U^-1 solved, as LAPACK does.
void invert(matrix& a) {
  const std::size_t n = a.rows;
  for (std::size_t j = 0; j < n; ++j) {
    a(j, j) = counted{1} / a(j, j);
    for (std::size_t i = 0; i < j; ++i) {
      counted sum = a(i, i) * a(i, j);
      for (std::size_t k = i + 1; k < j; ++k) sum = sum + a(i, k) * a(k, j);
      a(i, j) = counted{-a(j, j).value} * sum;
    }
  }
  for (std::size_t j = n; j-- > 0;) {
    std::vector<counted> l(n);
    for (std::size_t i = j + 1; i < n; ++i) l[i] = a(i, j), a(i, j) = {};
    for (std::size_t k = j + 1; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i) a(i, j) = a(i, j) - a(i, k) * l[k];
  }
}

template <class Op>
void same(Op op) {
  op.type = f64;
  REQUIRE(op.flops() == counted::muls + counted::adds);
  op.type = c128;
  REQUIRE(op.flops() == 6 * counted::muls + 2 * counted::adds);
}

bool near(double a, double b) {
  return std::fabs(a - b) < 1e-6 * (1 + std::fabs(a) + std::fabs(b));
}

/// Whether a x = b.
bool solves(const matrix& a, const matrix& x, const matrix& b) {
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t r = 0; r < x.cols; ++r) {
      double sum = 0;
      for (std::size_t k = 0; k < a.cols; ++k) sum += a.at(i, k) * x.at(k, r);
      if (!near(sum, b.at(i, r))) return false;
    }
  return true;
}

}  // namespace

TEST_CASE("ops_lapack_loops.textbook_algorithms_do_what_the_polynomials_say") {
  kprof_test::random_shape random(13);
  for (int i = 0; i < 250; ++i) {
    const std::int64_t m = random(1, 12), n = random(1, 12), nrhs = random(1, 4);
    const auto um = static_cast<std::size_t>(m), un = static_cast<std::size_t>(n),
               ur = static_cast<std::size_t>(nrhs);

    // LU. Of a wide matrix the working note counts that of the transpose, which scales rows instead
    // of columns.
    matrix tall = random_matrix(std::max(um, un), std::min(um, un), random);
    counted::clear();
    lu(tall);
    same(Getrf{.m = m, .n = n});

    const matrix a = random_matrix(un, un, random), b = random_matrix(un, ur, random);
    matrix f = a, x = b;
    counted::clear();
    lu(f);
    same(Getrf{.m = n, .n = n});
    lu_solve(f, x);
    same(Gesv{.n = n, .nrhs = nrhs});
    REQUIRE(solves(a, x, b));
    x = b;
    counted::clear();
    lu_solve(f, x);
    same(Getrs{.n = n, .nrhs = nrhs});

    counted::clear();
    invert(f);
    // the working note has one more for each column
    counted::muls += static_cast<std::uint64_t>(n);
    REQUIRE(Getri{.n = n}.flops() == counted::muls + counted::adds);
    matrix unity(un, un);
    for (std::size_t d = 0; d < un; ++d) unity(d, d) = {1};
    REQUIRE(solves(a, f, unity));

    const matrix s = random_matrix(un, un, random, true);
    matrix l = s;
    x = b;
    counted::clear();
    cholesky(l);
    same(Potrf{.n = n});
    counted::clear();
    cholesky_solve(l, x);
    same(Potrs{.n = n, .nrhs = nrhs});
    REQUIRE(solves(s, x, b));

    const matrix g = random_matrix(um, un, random);
    matrix r = g;
    counted::clear();
    qr(r);
    same(Geqrf{.m = m, .n = n});
    matrix rr(un, un), gg(un, un);  // R^T R = A^T A
    for (std::size_t p = 0; p < un; ++p)
      for (std::size_t q = 0; q < un; ++q)
        for (std::size_t k = 0; k < um; ++k)
          rr(p, q).value += r.at(k, p) * r.at(k, q), gg(p, q).value += g.at(k, p) * g.at(k, q);
    REQUIRE(solves(rr, unity, gg));
  }
}

TEST_CASE("ops_lapack_loops.textbook_algorithms_touch_what_the_formulas_say") {
  for (std::int64_t m = 0; m < 12; ++m)
    for (std::int64_t n = 0; n < 12; ++n) {
      std::uint64_t all = 0, triangle = 0, square = 0, reflectors = 0;
      for (std::int64_t i = 0; i < std::max(m, n); ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          all += i < m ? 1 : 0, square += i < n ? 1 : 0, triangle += i < n && j <= i ? 1 : 0;
          reflectors += i == j && i < m ? 1 : 0;
        }
      REQUIRE(moves(Getrf{.m = m, .n = n, .type = f64}, all * 8, all * 8));
      REQUIRE(moves(Geqrf{.m = m, .n = n, .type = f64}, all * 8, (all + reflectors) * 8));
      REQUIRE(moves(Potrf{.n = n, .type = f64}, triangle * 8, triangle * 8));
      REQUIRE(moves(Getri{.n = n, .type = f64}, square * 8, square * 8));
      REQUIRE(
          moves(Getrs{.n = n, .nrhs = m, .type = f64}, m == 0 ? 0 : (square + all) * 8, all * 8));
      REQUIRE(
          moves(Potrs{.n = n, .nrhs = m, .type = f64}, m == 0 ? 0 : (triangle + all) * 8, all * 8));
      REQUIRE(moves(Gesv{.n = n, .nrhs = m, .type = f64}, (square + all) * 8, (square + all) * 8));
    }
}
