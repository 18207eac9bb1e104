// SPDX-License-Identifier: MIT
// Factorisations: published vectors, textbook algorithms that count what they do, and polynomials
// in wide integers.
#include <kprof/ops/lapack.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::moves;
using namespace kprof::ops;
using kprof::dtype;

namespace {

constexpr std::int64_t biggest = std::numeric_limits<std::int64_t>::max(),
                       smallest = std::numeric_limits<std::int64_t>::min();
constexpr dtype f32 = dtype::f32, f64 = dtype::f64, c64 = dtype::c64, c128 = dtype::c128;

// formulas.md
static_assert(costs(Getrf{.m = 100, .n = 100, .type = f64}, 661'750, 160'000));
static_assert(costs(Getrf{.m = 200, .n = 100, .type = f64}, 1'661'750, 320'000));
static_assert(costs(Potrf{.n = 100, .type = f64}, 338'350, 80'800));
static_assert(costs(Geqrf{.m = 100, .n = 100, .type = f64}, 1'353'800, 160'800));
static_assert(costs(Geqrf{.m = 200, .n = 100, .type = f64}, 3'363'800, 320'800));
static_assert(costs(Gesv{.n = 100, .nrhs = 1, .type = f64}, 681'650, 161'600));

// By hand. n = 1: getrf and potrf one operation each, geqrf 2 - 2/3 + 1 + 1 + 14/3 = 8, getri 4/3 -
// 1 + 5/3 = 2.
static_assert(costs(Getrf{}, 1, 16) && costs(Potrf{}, 1, 16) && costs(Geqrf{}, 8, 24) &&
              costs(Getri{}, 2, 16));
static_assert(costs(Getrs{}, 1, 24) && costs(Potrs{}, 2, 24) && costs(Gesv{}, 2, 32));
// getrf 3 2: 12 - 8/3 - 2 + 10/6 = 9, and the same for 2 3. 7 5: 175 - 125/3 - 25/2 + 25/6 = 125
static_assert(costs(Getrf{.m = 3, .n = 2}, 9, 96) && costs(Getrf{.m = 2, .n = 3}, 9, 96) &&
              costs(Getrf{.m = 7, .n = 5, .type = f32}, 125, 280));
// Complex, 7 5: multiplications (175 - 25 + 35)/2 - 125/6 + 10/3 = 75, additions (175 - 35)/2 -
// 125/6 + 5/6 = 50: 6 75 + 2 50
static_assert(costs(Getrf{.m = 7, .n = 5, .type = c64}, 550, 560) &&
              costs(Getrf{.m = 5, .n = 7, .type = c128}, 550, 1120));
static_assert(costs(Getrf{.m = 0, .n = 5}, 0, 0) && costs(Getrf{.m = 5, .n = 0}, 0, 0));
// potrf 5: 5 6 11 / 6 = 55; multiplications 125/6 + 25/2 + 5/3 = 35, additions 20
static_assert(costs(Potrf{.n = 5}, 55, 240) && costs(Potrf{.n = 5, .type = c64}, 250, 240) &&
              moves(Potrf{.n = 5, .type = f32}, 60, 60) && costs(Potrf{.n = 0}, 0, 0));
// geqrf 3 2: 24 - 16/3 + 6 + 4 + 28/3 = 38; 2 3: 24 - 16/3 + 18 - 4 + 28/3 = 42
static_assert(costs(Geqrf{.m = 3, .n = 2}, 38, 112) && costs(Geqrf{.m = 2, .n = 3}, 42, 112) &&
              moves(Geqrf{.m = 3, .n = 2}, 48, 64));
// complex 3 2: multiplications 2 (2 (1/2 - 2/3 + 3) + 3 + 23/6) = 25, additions 2 (2 (17/6) + 5/6)
// = 13
static_assert(costs(Geqrf{.m = 3, .n = 2, .type = c128}, 176, 224) &&
              costs(Geqrf{.m = 0, .n = 3}, 0, 0) && costs(Geqrf{.m = 3, .n = 0}, 0, 0));
// getrs 5 3: 2 25 3 - 15 = 135; complex 6 75 + 2 60 = 570. potrs 5 3: 150; complex 6 90 + 2 60 =
// 660
static_assert(costs(Getrs{.n = 5, .nrhs = 3}, 135, 440) &&
              moves(Getrs{.n = 5, .nrhs = 3}, 320, 120) &&
              costs(Getrs{.n = 5, .nrhs = 3, .type = c64}, 570, 440));
static_assert(costs(Potrs{.n = 5, .nrhs = 3}, 150, 360) &&
              moves(Potrs{.n = 5, .nrhs = 3}, 240, 120) &&
              costs(Potrs{.n = 5, .nrhs = 3, .type = c64}, 660, 360));
static_assert(costs(Getrs{.n = 5, .nrhs = 0}, 0, 0) && costs(Potrs{.n = 5, .nrhs = 0}, 0, 0) &&
              costs(Getrs{.n = 0, .nrhs = 3}, 0, 0) && costs(Potrs{.n = 0, .nrhs = 3}, 0, 0));
// getri 5: 500/3 - 25 + 25/3 = 150; multiplications 250/3 + 25/2 + 25/6 = 100, additions 50
static_assert(costs(Getri{.n = 5}, 150, 400) && costs(Getri{.n = 5, .type = c64}, 700, 400) &&
              moves(Getri{.n = 5, .type = f32}, 100, 100) && costs(Getri{.n = 0}, 0, 0));
// gesv 5 3: 125 - 125/3 - 25/2 + 25/6 = 75, and 135
static_assert(costs(Gesv{.n = 5, .nrhs = 3}, 210, 640) &&
              moves(Gesv{.n = 5, .nrhs = 3, .type = f32}, 160, 160) &&
              costs(Gesv{.n = 5, .nrhs = 0}, 75, 400));
// getrf: 6 45 + 2 30
static_assert(costs(Gesv{.n = 0, .nrhs = 3}, 0, 0) &&
              costs(Gesv{.n = 5, .nrhs = 3, .type = c64}, 330 + 570, 640));
// 4 bits, each matrix and vector packed by itself: 25 elements in 13 bytes, 15 in 8, 5 in 3
static_assert(moves(Getrf{.m = 3, .n = 5, .type = dtype::fp4_e2m1}, 8, 8) &&
              moves(Geqrf{.m = 5, .n = 5, .type = dtype::fp4_e2m1}, 13, 13 + 3));
static_assert(moves(Getrs{.n = 5, .nrhs = 3, .type = dtype::fp4_e2m1}, 13 + 8, 8) &&
              moves(Potrs{.n = 5, .nrhs = 3, .type = dtype::fp4_e2m1}, 8 + 8, 8));
static_assert(moves(Gesv{.n = 5, .nrhs = 3, .type = dtype::fp4_e2m1}, 13 + 8, 13 + 8));
static_assert(!Getrf{.type = dtype::int4}.valid() && !Potrf{.type = dtype::boolean}.valid() &&
              !Gesv{.type = dtype::int32}.valid());
// HPL's 2 n^3 / 3 + 3 n^2 / 2 is n / 6 more.
static_assert((Gesv{.n = 600}.flops() + 100) == 2 * 600 * 600 * 200 + 3 * 600 * 300);
static_assert(Getrf{}.arithmetic().type == f64 &&
              Gesv{.type = dtype::tf32}.arithmetic().on == kprof::arithmetic_unit::tensor_core);

template <kprof::arithmetic_unit Unit, class Op, std::int64_t Op::*... Fields>
consteval bool guarded() {
  const bool negative = (!is_constant([] {
                          Op op;
                          op.*Fields = -1;
                          return op.flops();
                        }) &&
                         ...) &&
                        (!is_constant([] {
                          Op op;
                          op.*Fields = smallest;
                          return op.bytes();
                        }) &&
                         ...);
  const bool large = (!is_constant([] {
    Op op;
    op.*Fields = biggest;
    return op.bytes();
  }) && ...);
  const bool unknown = !is_constant([] { return Op{.type = dtype::unknown}.flops(); }) &&
                       !is_constant([] { return Op{.type = dtype::unknown}.bytes(); });
  const bool unit =
      Op{.type = dtype::bf16}.arithmetic().type == dtype::bf16 && Op{}.arithmetic().on == Unit;
  return negative && large && unknown && unit && is_constant([] { return Op{}.flops(); }) &&
         is_constant([] { return Op{}.bytes(); }) && Op{}.valid();
}
constexpr auto either = kprof::arithmetic_unit::unknown;
static_assert(guarded<either, Getrf, &Getrf::m, &Getrf::n>() &&
              guarded<either, Potrf, &Potrf::n>() &&
              guarded<either, Geqrf, &Geqrf::m, &Geqrf::n>());
static_assert(guarded<either, Getrs, &Getrs::n, &Getrs::nrhs>() &&
              guarded<either, Potrs, &Potrs::n, &Potrs::nrhs>() &&
              guarded<either, Getri, &Getri::n>());
static_assert(guarded<either, Gesv, &Gesv::n, &Gesv::nrhs>());
static_assert(!is_constant([] { return Getrf{.m = biggest, .n = biggest}.flops(); }) &&
              !is_constant([] { return Potrf{.n = biggest}.flops(); }));
static_assert(!is_constant([] { return Getri{.n = 4'000'000}.flops(); }) &&
              !is_constant([] { return Geqrf{.m = 4'000'000, .n = 4'000'000}.flops(); }));

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

__extension__ using wide = unsigned __int128;
/// Whether a count is the sixth of `six`, or invalid where that does not fit.
bool sixth(kprof::count got, wide six) {
  if (six % 6 != 0) return false;
  return six / 6 >= ~std::uint64_t{0} ? !got.valid() : got == static_cast<std::uint64_t>(six / 6);
}

constexpr std::int64_t extremes[] = {
    smallest,    smallest + 1,          -1,          0,      1, 2, 3,
    0xFFFF'FFFF, std::int64_t{1} << 32, biggest - 1, biggest};

template <class Op>
void walk_extremes(Op op, std::int64_t a, std::int64_t b) {
  CAPTURE(a, b);
  if (op.valid() != (a >= 0 && b >= 0)) FAIL("valid");
  if (!op.valid() && !is_refused(op)) FAIL("refused");
  if (op.valid() && a != 0 && b != 0 && (a >= biggest - 1 || b >= biggest - 1) &&
      op.bytes().total().valid())
    FAIL("bytes");
  op.type = dtype::unknown;
  if (!is_refused(op)) FAIL("unknown");
}

}  // namespace

TEST_CASE("ops_lapack.textbook_algorithms_do_what_the_polynomials_say") {
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

TEST_CASE("ops_lapack.textbook_algorithms_touch_what_the_formulas_say") {
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

TEST_CASE("ops_lapack.the_polynomials_are_exact_until_they_exceed_64_bits") {
  kprof_test::random_shape random(17);
  int large = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::int64_t smallest_power = i % 2 == 0 ? 1 : 20;
    const std::int64_t sm = random(0, std::int64_t{1} << random(smallest_power, 23)),
                       sn = random(0, std::int64_t{1} << random(smallest_power, 23)),
                       sr = random(0, std::int64_t{1} << random(0, 22));
    const wide m = static_cast<wide>(sm), n = static_cast<wide>(sn), nrhs = static_cast<wide>(sr);
    const wide p = m < n ? n : m, q = m < n ? m : n;  // the longer and the shorter side
    CAPTURE(sm, sn, sr);
    const wide getrf = 6 * p * q * q + 5 * q - 2 * q * q * q - 3 * q * q;
    const wide getrf_muls = 3 * p * q * q + 3 * p * q + 4 * q - q * q * q - 3 * q * q,
               square = 4 * n * n * n + 5 * n - 3 * n * n;
    large += getrf / 6 >> 60 != 0 ? 1 : 0, refused += getrf / 6 >> 64 != 0 ? 1 : 0;
    if (!sixth(Getrf{.m = sm, .n = sn}.flops(), getrf)) FAIL("getrf");
    if (!sixth(Getrf{.m = sm, .n = sn, .type = c64}.flops(), 2 * getrf + 4 * getrf_muls))
      FAIL("getrf, complex");
    if (!sixth(Potrf{.n = sn}.flops(), n * (n + 1) * (2 * n + 1))) FAIL("potrf");
    if (!sixth(Potrf{.n = sn, .type = c64}.flops(),
               2 * n * (n + 1) * (2 * n + 1) + 4 * (n * n * n + 3 * n * n + 2 * n)))
      FAIL("potrf, complex");
    const wide geqrf = m >= n ? 12 * m * n * n + 6 * m * n + 6 * n * n + 28 * n - 4 * n * n * n
                              : 12 * n * m * m + 18 * m * n + 28 * m - 4 * m * m * m - 6 * m * m;
    const wide geqrf_muls = m >= n
                                ? 6 * m * n * n + 3 * n * n + 6 * m * n + 23 * n - 2 * n * n * n
                                : 6 * n * m * m + 12 * m * n + 23 * m - 2 * m * m * m - 3 * m * m;
    if (!sixth(Geqrf{.m = sm, .n = sn}.flops(), geqrf)) FAIL("geqrf");
    if (!sixth(Geqrf{.m = sm, .n = sn, .type = c128}.flops(), 2 * geqrf + 4 * geqrf_muls))
      FAIL("geqrf, complex");
    const wide getri = 8 * n * n * n + 10 * n - 6 * n * n,
               getri_muls = 4 * n * n * n + 3 * n * n + 5 * n;
    if (!sixth(Getri{.n = sn}.flops(), getri)) FAIL("getri");
    if (!sixth(Getri{.n = sn, .type = c64}.flops(), 2 * getri + 4 * getri_muls))
      FAIL("getri, complex");
    const wide getrs = 12 * n * n * nrhs - 6 * n * nrhs;
    if (!sixth(Getrs{.n = sn, .nrhs = sr}.flops(), getrs)) FAIL("getrs");
    if (!sixth(Getrs{.n = sn, .nrhs = sr, .type = c64}.flops(), 2 * getrs + 24 * n * n * nrhs))
      FAIL("getrs, complex");
    if (!sixth(Potrs{.n = sn, .nrhs = sr}.flops(), 12 * n * n * nrhs)) FAIL("potrs");
    if (!sixth(Potrs{.n = sn, .nrhs = sr, .type = c64}.flops(),
               24 * n * n * nrhs + 24 * n * (n + 1) * nrhs))
      FAIL("potrs, complex");
    if (!sixth(Gesv{.n = sn, .nrhs = sr}.flops(), square + getrs)) FAIL("gesv");
  }
  CHECK(large > 50);
  CHECK(refused > 20);
}

TEST_CASE("ops_lapack.senseless_parameters_have_no_numbers") {
  for (const std::int64_t a : extremes) {
    walk_extremes(Potrf{.n = a}, a, 1);
    walk_extremes(Getri{.n = a}, a, 1);
    if (a > 3) {
      CHECK(!Potrf{.n = a}.flops().valid());
      CHECK(!Getri{.n = a}.flops().valid());
    }
    for (const std::int64_t b : extremes) {
      walk_extremes(Getrf{.m = a, .n = b}, a, b);
      walk_extremes(Geqrf{.m = a, .n = b}, a, b);
      walk_extremes(Getrs{.n = a, .nrhs = b}, a, b);
      walk_extremes(Potrs{.n = a, .nrhs = b}, a, b);
      walk_extremes(Gesv{.n = a, .nrhs = b}, a, b == 0 ? 1 : b);
    }
  }
}
