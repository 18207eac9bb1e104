// SPDX-License-Identifier: MIT
// Quantised matrices: published vectors, loops that find the scale of each element, and parameters
// that make no sense.
#include <kprof/ops/quantize.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using kprof_test::moves;
using namespace kprof::ops;
using kprof::dtype;

namespace {

using scaled = kprof::ops::scaling;
constexpr std::int64_t biggest = std::numeric_limits<std::int64_t>::max(),
                       smallest = std::numeric_limits<std::int64_t>::min();
constexpr dtype f32 = dtype::f32, f16 = dtype::f16, bf16 = dtype::bf16, fp8 = dtype::fp8_e4m3,
                i8 = dtype::int8, i4 = dtype::int4, fp6 = dtype::fp6_e2m3;

// formulas.md
static_assert(costs(Quantize{.numel = 65'536, .dtypeIn = bf16, .dtypeOut = fp8}, 131'072, 196'612));
static_assert(costs(Dequantize{.numel = 1001,
                               .dtypeIn = i4,
                               .dtypeOut = f16,
                               .scaling = scaled::group,
                               .group = 128,
                               .dtypeScale = f16},
                    1001, 2519));
static_assert(costs(GemmQuant{.M = 1, .N = 4096, .K = 4096, .group = 128, .dtypeScale = f16},
                    33'554'432, 8'667'136));
static_assert(costs(GemmQuant{.M = 128,
                              .N = 128,
                              .K = 128,
                              .dtypeA = fp8,
                              .dtypeB = fp8,
                              .dtypeC = bf16,
                              .scaleA = scaled::tensor,
                              .scaleB = scaled::tensor,
                              .dtypeScale = f32},
                    4'194'304, 65'544));

static_assert(costs(Quantize{.numel = 0, .channels = 7, .amax = true}, 0, 0));

static_assert(costs(Dequantize{.numel = 0, .zero_points = true}, 0, 0));

static_assert(costs(GemmQuant{.M = 0, .N = 5, .K = 7, .scaleA = scaled::tensor, .beta = true}, 0,
                    0) &&
              costs(GemmQuant{.M = 3, .N = 0, .K = 7}, 0, 0));
// no operands, no scales
static_assert(costs(
    GemmQuant{.M = 3, .N = 5, .K = 0, .scaleA = scaled::channel, .scaleB = scaled::tensor}, 0, 30));

static_assert(GemmQuant{}.arithmetic().type == f16 &&
              GemmQuant{.dtypeA = i4, .dtypeB = bf16}.arithmetic().type == bf16);
static_assert(GemmQuant{.dtypeA = fp8, .dtypeB = fp8}.arithmetic().on ==
                  kprof::arithmetic_unit::tensor_core &&
              GemmQuant{.dtypeA = i8, .dtypeB = i4}.arithmetic().type == i8);
static_assert(Quantize{.dtypeIn = bf16}.arithmetic().type == bf16 &&
              Dequantize{.dtypeOut = f16}.arithmetic().type == f16);
static_assert(Quantize{}.arithmetic().on == kprof::arithmetic_unit::cuda_core &&
              Dequantize{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);

static_assert(!is_constant([] { return Quantize{.numel = -1}.flops(); }) &&
              !is_constant([] { return Quantize{.numel = -1}.bytes(); }));
static_assert(!is_constant([] { return Quantize{.numel = 91, .channels = 6}.flops(); }) &&
              !is_constant([] { return Quantize{.channels = 0}.flops(); }));
static_assert(!is_constant([] { return Quantize{.scaling = scaled::group, .group = 0}.flops(); }) &&
              is_constant([] { return Quantize{.group = 0}.flops(); }));
static_assert(!is_constant([] {
  return Quantize{.scaling = scaled::none, .zero_points = true}.flops();
}));
static_assert(!is_constant([] { return Quantize{.scaling = scaled::none, .amax = true}.flops(); }));
static_assert(!is_constant([] { return Quantize{.dtypeIn = dtype::c64}.flops(); }) &&
              !is_constant([] { return Quantize{.dtypeOut = dtype::unknown}.bytes(); }));
static_assert(is_constant([] { return Quantize{.numel = biggest}.flops(); }) &&
              !is_constant([] { return Quantize{.numel = biggest}.bytes(); }));
// 3 2^63
static_assert(!is_constant([] { return Quantize{.numel = biggest, .amax = true}.flops(); }));
static_assert(!is_constant([] { return Dequantize{.numel = -1}.flops(); }) &&
              !is_constant([] { return Dequantize{.numel = 9, .channels = 2}.bytes(); }));
static_assert(!is_constant([] {
  return Dequantize{.scaling = scaled::none, .zero_points = true}.flops();
}) && !is_constant([] { return Dequantize{.numel = biggest}.bytes(); }));
static_assert(!is_constant([] {
  return Dequantize{.scaling = scaled::group, .group = -1}.flops();
}) && !is_constant([] { return Dequantize{.dtypeOut = dtype::c64}.flops(); }));
static_assert(!is_constant([] { return GemmQuant{.M = -1}.flops(); }) && !is_constant([] {
  return GemmQuant{.N = -1}.bytes();
}) && !is_constant([] { return GemmQuant{.K = -1}.flops(); }));
static_assert(!is_constant([] { return GemmQuant{.group = 0}.flops(); }) &&
              is_constant([] { return GemmQuant{.scaleB = scaled::channel, .group = 0}.flops(); }));
static_assert(!is_constant([] {
  return GemmQuant{.scaleA = scaled::group, .scaleB = scaled::none, .group = 0}.flops();
}));
static_assert(!is_constant([] { return GemmQuant{.zerosA = true}.flops(); }) && !is_constant([] {
  return GemmQuant{.scaleB = scaled::none, .zerosB = true}.bytes();
}));
static_assert(!is_constant([] { return GemmQuant{.dtypeScale = dtype::unknown}.flops(); }) &&
              !is_constant([] { return GemmQuant{.dtypeA = dtype::c64}.flops(); }));
static_assert(!is_constant([] { return GemmQuant{.M = biggest, .N = biggest}.flops(); }) &&
              !is_constant([] { return GemmQuant{.M = biggest, .N = 3}.bytes(); }));

/// Which scale an element of a channel belongs to, found without a division.
std::tuple<std::int64_t, std::int64_t> scale_of(scaled how, std::int64_t channel,
                                                std::int64_t element, std::int64_t group) {
  std::int64_t within = 0;
  for (std::int64_t i = group; how == scaled::group && i <= element; i += group) ++within;
  return {how == scaled::tensor ? 0 : channel, within};
}
std::uint64_t bits(dtype type, std::size_t n) { return (n * kprof::bits_of(type) + 7) / 8; }

template <class Op>
void walk_extremes(const Op& op, bool valid, bool large) {
  if (op.valid() != valid) FAIL("valid");
  if (!valid && !is_refused(op)) FAIL("refused");
  if (valid && large && op.bytes().total().valid()) FAIL("bytes");
}

}  // namespace

TEST_CASE("ops_quantize.loops_do_what_the_formulas_say") {
  kprof_test::random_shape random(23);
  const std::array<dtype, 5> quantised{fp8, i8, i4, fp6, dtype::fp4_e2m1};
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t channels = random(1, 5), size = random(0, 20), group = random(1, 9);
    const scaled how = static_cast<scaled>(random(0, 3));
    const dtype q = quantised[static_cast<std::size_t>(random(0, 4))];
    const bool zeros = how != scaled::none && random.coin(),
               amax = how != scaled::none && random.coin();
    std::set<std::tuple<std::int64_t, std::int64_t>> scales;
    std::uint64_t elements = 0, quantise = 0, restore = 0;
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t e = 0; e < size; ++e) {
        ++elements;
        if (how != scaled::none) scales.insert(scale_of(how, c, e, group));
        if (amax) ++quantise;  // larger than the largest so far?
        ++quantise;            // times the scale
        ++quantise;            // rounded and clamped
        if (zeros) ++restore;  // less the zero point
        ++restore;             // times the scale
      }
    const std::uint64_t beside = bits(f16, scales.size()) + (zeros ? bits(q, scales.size()) : 0);
    const Quantize forth{.numel = channels * size,
                         .channels = channels,
                         .dtypeIn = f32,
                         .dtypeOut = q,
                         .scaling = how,
                         .group = group,
                         .dtypeScale = f16,
                         .zero_points = zeros,
                         .amax = amax};
    REQUIRE(forth.flops() == quantise);
    REQUIRE(
        moves(forth, elements * 4 + (amax ? 0 : beside), bits(q, elements) + (amax ? beside : 0)));
    const Dequantize back{.numel = channels * size,
                          .channels = channels,
                          .dtypeIn = q,
                          .dtypeOut = f32,
                          .scaling = how,
                          .group = group,
                          .dtypeScale = f16,
                          .zero_points = zeros};
    REQUIRE(back.flops() == restore);
    REQUIRE(moves(back, bits(q, elements) + beside, elements * 4));
  }
}

TEST_CASE("ops_quantize.products_touch_what_the_formula_says") {
  kprof_test::random_shape random(29);
  const std::array<dtype, 5> types{f16, fp8, i8, i4, fp6};
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t M = random(0, 5), N = random(0, 5), K = random(0, 9), group = random(1, 6);
    GemmQuant op{.M = M,
                 .N = N,
                 .K = K,
                 .dtypeA = types[static_cast<std::size_t>(random(0, 4))],
                 .dtypeB = types[static_cast<std::size_t>(random(0, 4))],
                 .dtypeC = bf16,
                 .scaleA = static_cast<scaled>(random(0, 3)),
                 .scaleB = static_cast<scaled>(random(0, 3)),
                 .group = group,
                 .dtypeScale = random.coin() ? f32 : fp8,
                 .beta = random.coin()};
    op.zerosA = op.scaleA != scaled::none && random.coin();
    op.zerosB = op.scaleB != scaled::none && random.coin();
    std::set<std::pair<std::int64_t, std::int64_t>> a, b, c;
    std::set<std::tuple<std::int64_t, std::int64_t>> scalesA, scalesB;
    std::uint64_t operations = 0;
    for (std::int64_t m = 0; m < M; ++m)
      for (std::int64_t n = 0; n < N; ++n) {
        c.insert({m, n});
        for (std::int64_t k = 0; k < K; ++k) {
          a.insert({m, k}), b.insert({k, n});
          if (op.scaleA != scaled::none) scalesA.insert(scale_of(op.scaleA, m, k, group));
          if (op.scaleB != scaled::none) scalesB.insert(scale_of(op.scaleB, n, k, group));
          operations += 2;
        }
      }
    const std::uint64_t out = bits(bf16, c.size());
    std::uint64_t read = bits(op.dtypeA, a.size()) + bits(op.dtypeB, b.size()) +
                         bits(op.dtypeScale, scalesA.size()) + bits(op.dtypeScale, scalesB.size());
    if (op.zerosA) read += bits(op.dtypeA, scalesA.size());
    if (op.zerosB) read += bits(op.dtypeB, scalesB.size());
    REQUIRE(op.valid());
    REQUIRE(op.flops() == operations);
    REQUIRE(moves(op, read + (op.beta ? out : 0), out));
  }
}

TEST_CASE("ops_quantize.senseless_parameters_have_no_numbers") {
  const std::int64_t values[] = {smallest, smallest + 1, -1, 0, 1, 2, biggest - 1, biggest};
  for (const scaled how : {scaled::none, scaled::tensor, scaled::channel, scaled::group})
    for (const std::int64_t a : values)
      for (const std::int64_t b : values)
        for (const std::int64_t group : values) {
          CAPTURE(a, b, group);
          const bool grouped = how != scaled::group || group >= 1;
          const bool fits = a >= 0 && b >= 1 &&
                            (a == 0 || a == b || b == 1 || (b == 2 && a == biggest - 1)) && grouped;
          walk_extremes(Quantize{.numel = a, .channels = b, .scaling = how, .group = group}, fits,
                        a > 2);
          walk_extremes(Dequantize{.numel = a, .channels = b, .scaling = how, .group = group}, fits,
                        a > 2);
          for (const std::int64_t k : values) {
            const bool sensible = a >= 0 && b >= 0 && k >= 0 && grouped,
                       all = a > 2 && b > 0 && k > 0;
            walk_extremes(GemmQuant{.M = a,
                                    .N = b,
                                    .K = k,
                                    .scaleA = how,
                                    .scaleB = scaled::tensor,
                                    .group = group},
                          sensible, all);
            walk_extremes(GemmQuant{.M = a, .N = b, .K = k, .scaleB = how, .group = group},
                          sensible, all);
          }
        }
  for (const dtype t : {dtype::unknown, dtype::c64, dtype::c128}) {
    CHECK(is_refused(Quantize{.dtypeIn = t}));
    CHECK(is_refused(Quantize{.dtypeOut = t}));
    CHECK(is_refused(Quantize{.dtypeScale = t}));
    CHECK(is_refused(Dequantize{.dtypeIn = t}));
    CHECK(is_refused(Dequantize{.dtypeOut = t}));
    CHECK(is_refused(Dequantize{.dtypeScale = t}));
    CHECK(is_refused(GemmQuant{.dtypeA = t}));
    CHECK(is_refused(GemmQuant{.dtypeB = t}));
    CHECK(is_refused(GemmQuant{.dtypeC = t}));
    CHECK(is_refused(GemmQuant{.dtypeScale = t}));
  }
}
