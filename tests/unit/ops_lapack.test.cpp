// SPDX-License-Identifier: MIT
// Factorisations: published vectors, and polynomials in wide integers.
#include <kprof/ops/lapack.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cstdint>
#include <limits>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::refuses_senseless;
using namespace kprof::ops;
using kprof::dtype;

namespace {

constexpr std::int64_t biggest = std::numeric_limits<std::int64_t>::max(),
                       smallest = std::numeric_limits<std::int64_t>::min();
constexpr dtype f64 = dtype::f64, c64 = dtype::c64, c128 = dtype::c128;

// formulas.md
static_assert(costs(Getrf{.m = 100, .n = 100, .type = f64}, 661'750, 160'000));
static_assert(costs(Getrf{.m = 200, .n = 100, .type = f64}, 1'661'750, 320'000));
static_assert(costs(Potrf{.n = 100, .type = f64}, 338'350, 80'800));
static_assert(costs(Geqrf{.m = 100, .n = 100, .type = f64}, 1'353'800, 160'800));
static_assert(costs(Geqrf{.m = 200, .n = 100, .type = f64}, 3'363'800, 320'800));
static_assert(costs(Gesv{.n = 100, .nrhs = 1, .type = f64}, 681'650, 161'600));

// Complex, 7 5: multiplications (175 - 25 + 35)/2 - 125/6 + 10/3 = 75, additions (175 - 35)/2 -
// 125/6 + 5/6 = 50: 6 75 + 2 50
static_assert(costs(Getrf{.m = 7, .n = 5, .type = c64}, 550, 560) &&
              costs(Getrf{.m = 5, .n = 7, .type = c128}, 550, 1120));
static_assert(costs(Getrf{.m = 0, .n = 5}, 0, 0) && costs(Getrf{.m = 5, .n = 0}, 0, 0));
// potrf 5: 5 6 11 / 6 = 55; multiplications 125/6 + 25/2 + 5/3 = 35, additions 20
static_assert(costs(Potrf{.n = 5, .type = c64}, 250, 240) && costs(Potrf{.n = 0}, 0, 0));
// complex 3 2: multiplications 2 (2 (1/2 - 2/3 + 3) + 3 + 23/6) = 25, additions 2 (2 (17/6) + 5/6)
// = 13
static_assert(costs(Geqrf{.m = 3, .n = 2, .type = c128}, 176, 224) &&
              costs(Geqrf{.m = 0, .n = 3}, 0, 0) && costs(Geqrf{.m = 3, .n = 0}, 0, 0));
// getrs 5 3: 2 25 3 - 15 = 135; complex 6 75 + 2 60 = 570. potrs 5 3: 150; complex 6 90 + 2 60 =
// 660
static_assert(costs(Getrs{.n = 5, .nrhs = 3, .type = c64}, 570, 440));
static_assert(costs(Potrs{.n = 5, .nrhs = 3, .type = c64}, 660, 360));
static_assert(costs(Getrs{.n = 5, .nrhs = 0}, 0, 0) && costs(Potrs{.n = 5, .nrhs = 0}, 0, 0) &&
              costs(Getrs{.n = 0, .nrhs = 3}, 0, 0) && costs(Potrs{.n = 0, .nrhs = 3}, 0, 0));
// getri 5: 500/3 - 25 + 25/3 = 150; multiplications 250/3 + 25/2 + 25/6 = 100, additions 50
static_assert(costs(Getri{.n = 5, .type = c64}, 700, 400) && costs(Getri{.n = 0}, 0, 0));
// gesv 5 3: 125 - 125/3 - 25/2 + 25/6 = 75, and 135
static_assert(costs(Gesv{.n = 5, .nrhs = 0}, 75, 400));
// getrf: 6 45 + 2 30
static_assert(costs(Gesv{.n = 0, .nrhs = 3}, 0, 0) &&
              costs(Gesv{.n = 5, .nrhs = 3, .type = c64}, 330 + 570, 640));
static_assert(!Getrf{.type = dtype::int4}.valid() && !Potrf{.type = dtype::boolean}.valid() &&
              !Gesv{.type = dtype::int32}.valid());
static_assert(Getrf{}.arithmetic().type == f64 &&
              Gesv{.type = dtype::tf32}.arithmetic().on == kprof::arithmetic_unit::tensor_core);

constexpr auto either = kprof::arithmetic_unit::unknown;
static_assert(refuses_senseless<either, Getrf, &Getrf::m, &Getrf::n>() &&
              refuses_senseless<either, Potrf, &Potrf::n>() &&
              refuses_senseless<either, Geqrf, &Geqrf::m, &Geqrf::n>());
static_assert(refuses_senseless<either, Getrs, &Getrs::n, &Getrs::nrhs>() &&
              refuses_senseless<either, Potrs, &Potrs::n, &Potrs::nrhs>() &&
              refuses_senseless<either, Getri, &Getri::n>());
static_assert(refuses_senseless<either, Gesv, &Gesv::n, &Gesv::nrhs>());
static_assert(!is_constant([] { return Getrf{.m = biggest, .n = biggest}.flops(); }) &&
              !is_constant([] { return Potrf{.n = biggest}.flops(); }));
static_assert(!is_constant([] { return Getri{.n = 4'000'000}.flops(); }) &&
              !is_constant([] { return Geqrf{.m = 4'000'000, .n = 4'000'000}.flops(); }));

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
