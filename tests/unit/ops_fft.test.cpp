// SPDX-License-Identifier: MIT
// Fourier transforms: published vectors, transforms written out with numbers that count, and
// logarithms to the last bit.
#include <kprof/ops/fft.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using namespace kprof::ops;
using kprof::count;
using kprof::dtype;

namespace {

constexpr std::int64_t biggest = std::numeric_limits<std::int64_t>::max(),
                       smallest = std::numeric_limits<std::int64_t>::min();

// formulas.md
static_assert(costs(Fft{.n = {1024}, .batch = 1, .kind = fft_kind::c2c, .type = dtype::f32}, 51'200,
                    16'384));
static_assert(costs(Fft{.n = {64, 64}, .batch = 16, .type = dtype::f64}, 3'932'160, 2'097'152));
static_assert(costs(Fft{.n = {4096}, .kind = fft_kind::r2c, .type = dtype::f32}, 122'880, 32'776));

// length 1: one complex number in, one out
static_assert(costs(Fft{}, 0, 16));
static_assert(costs(Fft{.n = {8}, .batch = 0}, 0, 0));
static_assert(costs(Fft{.n = {1, 1, 1}, .batch = 9}, 0, 144));

// A batch multiplies before the rounding: 2^44 transforms of 3 and of 1000003 points.
static_assert(Fft{.n = {3}, .batch = std::int64_t{1} << 44}.flops() == 418'244'327'791'641);
static_assert(Fft{.n = {1'000'003}, .batch = std::int64_t{1} << 36}.flops() ==
              6'848'456'845'483'701'266);
static_assert(Fft{.n = {1'000'003}, .batch = std::int64_t{1} << 37, .kind = fft_kind::c2r}
                  .flops() == 6'848'456'845'483'701'266);

// Logarithms of 120 digits, of which 96 bits are kept, the last of them cut off or one less.
constexpr bool logarithm(std::uint64_t n, std::uint64_t whole, std::uint64_t high,
                         std::uint64_t low) {
  const detail::fft_real log = detail::fft_log2(n);
  return log.whole == whole && log.fraction.high == high && low - (log.fraction.low >> 32) <= 1 &&
         log.fraction.low << 32 == 0;
}
static_assert(logarithm(3, 1, 0x95c0'1a39'fbd6'879f, 0xa00b'120a) &&
              logarithm(5, 2, 0x5269'e12f'346e'2bf9, 0x24af'dbfd));
static_assert(logarithm(7, 2, 0xceae'cfea'8085'9b33, 0x2ac9'03a4) &&
              logarithm(1'000'003, 19, 0xee7b'8fb8'2f5c'c466, 0x6e4f'627c));
static_assert(logarithm((std::uint64_t{1} << 53) - 1, 52, 0xffff'ffff'ffff'f475, 0x5c4d'6a3e));
static_assert(logarithm(~std::uint64_t{1}, 63, 0xffff'ffff'ffff'fffd, 0x1d57'135a));
static_assert(logarithm((std::uint64_t{1} << 63) + 1, 63, 2, 0xe2a8'eca5) &&
              logarithm(std::uint64_t{1} << 63, 63, 0, 0) && logarithm(1, 0, 0, 0));

constexpr bool same(detail::fft_real a, detail::fft_real b) {
  return a.whole == b.whole && a.fraction.high == b.fraction.high &&
         a.fraction.low == b.fraction.low;
}
constexpr std::uint64_t ones = ~std::uint64_t{0}, top = std::uint64_t{1} << 63;
// 5 (2 - 2^-128) = 10 - 5 2^-128
static_assert(same(detail::fft_fivefold({1, {ones, ones}}), {9, {ones, ones - 4}}));
// carries both ways: 5 2.2 and a bit
static_assert(same(detail::fft_fivefold({2, {0x3333'3333'3333'3333, top}}), {11, {1, top}}));
static_assert(same(detail::fft_half({3, {1, 2}}), {1, {top, top + 1}}));
constexpr bool product(std::uint64_t a, std::uint64_t b, std::uint64_t high, std::uint64_t low) {
  return detail::fft_product(a, b).high == high && detail::fft_product(a, b).low == low;
}
static_assert(product(ones, ones, ones - 1, 1) && product(ones, 2, 1, ones - 1) &&
              product(top, 6, 3, 0) && product(0xFFFF'FFFF, ones, 0xFFFF'FFFE, ones - 0xFFFF'FFFE));
// 4 7.625 = 30.5: up
static_assert(detail::fft_times(4, {7, {top + (top >> 2), 0}}) == 31 &&
              detail::fft_times(2, {7, {top >> 1, 0}}) == 15);
// next to it
static_assert(detail::fft_times(4, {7, {top + (top >> 2) - 1, ones}}) == 30);
// 1.75: half of it is the lower part of the fraction
static_assert(detail::fft_times(7 * (top >> 2), {0, {1, ones}}) == 2);

static_assert(Fft{}.arithmetic().type == dtype::f32 &&
              Fft{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);

static_assert(!is_constant([] { return Fft{.n = {0}}.flops(); }) &&
              !is_constant([] { return Fft{.n = {0}}.bytes(); }));
static_assert(!is_constant([] {
  return Fft{.n = {4, 0, 4}}.flops();
}) && !Fft{.n = {4, 0}}.valid() &&
              !Fft{.n = {}}.valid() && !Fft{.type = dtype::int8}.valid());
static_assert(!is_constant([] { return Fft{.n = {4, -1}}.flops(); }));
static_assert(!is_constant([] { return Fft{.n = {4}, .batch = -1}.flops(); }));
static_assert(!is_constant([] { return Fft{.n = {4}, .type = dtype::c64}.flops(); }));
static_assert(!is_constant([] { return Fft{.n = {4}, .type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return Fft{.n = {biggest}}.flops(); }));
static_assert(!is_constant([] { return Fft{.n = {biggest, biggest}}.flops(); }));
static_assert(!is_constant([] { return Fft{.n = {3}, .batch = biggest}.flops(); }));
static_assert(is_constant([] { return Fft{.n = {4}}.flops(); }) && is_constant([] {
                return Fft{.n = {1000, 999, 7}}.bytes();
              }));

struct counted {
  double value = 0;
  static inline std::uint64_t operations = 0;
  friend counted operator+(counted a, counted b) {
    ++operations;
    return {a.value + b.value};
  }
  friend counted operator-(counted a, counted b) {
    ++operations;
    return {a.value - b.value};
  }
  friend counted operator*(counted a, counted b) {
    ++operations;
    return {a.value * b.value};
  }
};
struct complex {
  counted re, im;
};
complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
complex operator*(complex a, complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

constexpr double turn = 6.283185307179586476925;

/// In place, radix 2, one twiddle factor for each butterfly: `n` numbers, `stride` apart.
void transform(complex* x, std::size_t n, std::size_t stride) {
  if (n == 1) return;
  transform(x, n / 2, 2 * stride);
  transform(x + stride, n / 2, 2 * stride);
  std::vector<complex> out(n);
  for (std::size_t k = 0; k < n / 2; ++k) {
    const double angle = -turn * static_cast<double>(k) / static_cast<double>(n);
    const complex odd = complex{{std::cos(angle)}, {std::sin(angle)}} * x[(2 * k + 1) * stride];
    out[k] = x[2 * k * stride] + odd;
    out[k + n / 2] = x[2 * k * stride] - odd;
  }
  for (std::size_t k = 0; k < n; ++k) x[k * stride] = out[k];
}

}  // namespace

TEST_CASE("ops_fft.a_radix_2_transform_does_what_the_formula_says") {
  kprof_test::random_shape random(1);
  for (int i = 0; i < 100; ++i) {
    const std::size_t n0 = std::size_t{1} << random(0, 4), n1 = std::size_t{1} << random(0, 3),
                      n2 = std::size_t{1} << random(0, 3);
    const std::size_t batch = static_cast<std::size_t>(random(1, 2)), size = n0 * n1 * n2;
    std::vector<complex> x(size * batch);
    for (auto& c : x)
      c = {{static_cast<double>(random(-9, 9))}, {static_cast<double>(random(-9, 9))}};
    const std::vector<complex> input = x;
    counted::operations = 0;
    for (std::size_t b = 0; b < batch; ++b) {
      complex* one = x.data() + b * size;
      for (std::size_t a = 0; a < n0 * n1; ++a) transform(one + a * n2, n2, 1);
      for (std::size_t a = 0; a < n0; ++a)
        for (std::size_t c = 0; c < n2; ++c) transform(one + a * n1 * n2 + c, n1, n2);
      for (std::size_t c = 0; c < n1 * n2; ++c) transform(one + c, n0, n1 * n2);
    }
    const Fft op{.n = {static_cast<std::int64_t>(n0), static_cast<std::int64_t>(n1),
                       static_cast<std::int64_t>(n2)},
                 .batch = static_cast<std::int64_t>(batch),
                 .type = dtype::f64};
    REQUIRE(op.flops() == counted::operations);
    REQUIRE(op.bytes().read == x.size() * 16);
    Fft real = op;
    real.kind = random.coin() ? fft_kind::r2c : fft_kind::c2r;
    REQUIRE(real.flops() * 2 == op.flops());

    // It is a Fourier transform: one output by the definition.
    const std::size_t k0 = size % 3 % n0, k1 = (size + 1) % n1, k2 = (size + 2) % n2;
    double re = 0;
    for (std::size_t p = 0; p < size; ++p) {
      const double angle =
          -turn * (static_cast<double>(p / (n1 * n2) * k0) / static_cast<double>(n0) +
                   static_cast<double>(p / n2 % n1 * k1) / static_cast<double>(n1) +
                   static_cast<double>(p % n2 * k2) / static_cast<double>(n2));
      re += input[p].re.value * std::cos(angle) - input[p].im.value * std::sin(angle);
    }
    REQUIRE(std::fabs(re - x[(k0 * n1 + k1) * n2 + k2].re.value) < 1e-9);
  }
}

TEST_CASE("ops_fft.half_of_a_spectrum_holds_each_frequency_or_its_mirror") {
  kprof_test::random_shape random(2);
  for (int i = 0; i < 1000; ++i) {
    const int rank = static_cast<int>(random(1, 3));
    const std::int64_t n0 = rank > 2 ? random(1, 9) : 1, n1 = rank > 1 ? random(1, 9) : 1,
                       last = random(1, 17);
    const auto at = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
      return static_cast<std::size_t>(((a % n0) * n1 + b % n1) * last + c % last);
    };
    std::vector<bool> known(static_cast<std::size_t>(n0 * n1 * last));
    std::uint64_t stored = 0;
    for (std::int64_t c = 0; c < last; ++c)  // the last index counts up until all are known
      for (std::int64_t p = 0, missing = static_cast<std::int64_t>(!known[at(0, 0, c)]);
           p < n0 * n1 && missing != 0; ++p) {
        const std::int64_t a = p / n1, b = p % n1;
        ++stored;
        known[at(a, b, c)] = known[at(n0 - a, n1 - b, last - c)] = true;
      }
    REQUIRE(std::vector<bool>(known.size(), true) == known);
    Fft op{.n = {last}, .kind = fft_kind::r2c};
    if (rank == 2) op.n = {n1, last};
    if (rank == 3) op.n = {n0, n1, last};
    REQUIRE(op.bytes().read == known.size() * 4);
    REQUIRE(op.bytes().written == stored * 8);
    op.kind = fft_kind::c2r;
    REQUIRE(op.bytes().read == stored * 8);
    REQUIRE(op.bytes().written == known.size() * 4);
  }
}

TEST_CASE("ops_fft.lengths_of_any_size_are_within_one_of_the_logarithm") {
  kprof_test::random_shape random(3);
  static_assert(std::numeric_limits<long double>::digits >= 53);
  const int digits = std::numeric_limits<long double>::digits;
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::int64_t n = i < 1000 ? i + 1 : random(1, std::int64_t{1} << random(3, 56)),
                       batch = i < 1000 ? 1 : random(1, 9);
    const long double c2c = 5.0L * static_cast<long double>(n) * static_cast<long double>(batch) *
                            std::log2(static_cast<long double>(n));
    if (c2c >= std::ldexp(1.0L, digits - 3)) continue;
    ++compared;
    const auto near = [](long double expected, count got) {
      return got.valid() && std::fabs(expected - static_cast<long double>(got.value())) <
                                (expected < 1e12L ? 0.51L : 1.0L);
    };
    CAPTURE(n, batch);
    if (!near(c2c, Fft{.n = {n}, .batch = batch}.flops())) FAIL("c2c");
    if (!near(c2c / 2, Fft{.n = {n}, .batch = batch, .kind = fft_kind::r2c}.flops())) FAIL("r2c");
  }
  CHECK(compared > 2500);
}

TEST_CASE("ops_fft.no_overflow_before_that_of_the_result") {
  // 2^57 5 57 = 2^57 285 = 2^65.2; 2^56 280 = 2^64.1; 2^55 275 = 2^63.1
  CHECK(Fft{.n = {std::int64_t{1} << 55}}.flops() == (std::uint64_t{275} << 55));
  CHECK(!Fft{.n = {std::int64_t{1} << 56}}.flops().valid());
  CHECK(Fft{.n = {std::int64_t{1} << 56}, .kind = fft_kind::c2r}.flops() ==
        (std::uint64_t{140} << 56));
  CHECK(Fft{.n = {2}, .batch = std::int64_t{1} << 60}.flops() == std::uint64_t{10} << 60);
  CHECK(!Fft{.n = {2}, .batch = std::int64_t{1} << 61}.flops().valid());
  CHECK(Fft{.n = {2}, .batch = std::int64_t{1} << 61, .kind = fft_kind::r2c}.flops() ==
        std::uint64_t{10} << 60);
  CHECK(!Fft{.n = {3}, .batch = std::int64_t{1} << 60}.flops().valid());
}

TEST_CASE("ops_fft.senseless_parameters_have_no_numbers") {
  const std::int64_t values[] = {smallest, smallest + 1, -1, 0, 1, 2, 3, biggest - 1, biggest};
  for (const fft_kind kind : {fft_kind::c2c, fft_kind::r2c, fft_kind::c2r})
    for (const std::int64_t a : values)
      for (const std::int64_t b : values)
        for (const std::int64_t c : values)
          for (const std::int64_t batch : values) {
            const Fft op{.n = {a, b, c}, .batch = batch, .kind = kind};
            CAPTURE(a, b, c, batch);
            if (op.valid() != (a >= 1 && b >= 1 && c >= 1 && batch >= 0)) FAIL("valid");
            if (!op.valid() && !is_refused(op)) FAIL("refused");
            const bool huge = a > 3 || b > 3 || c > 3 || batch > 3;
            if (op.valid() && huge && batch != 0 && op.bytes().total().valid()) FAIL("bytes");
            if (op.valid() && (a > 3 || b > 3 || c > 3) && batch != 0 && op.flops().valid())
              FAIL("flops");
          }
  CHECK(is_refused(Fft{.n = {4}, .type = dtype::c128}));
  CHECK(is_refused(Fft{.n = {4}, .type = dtype::unknown}));
}
