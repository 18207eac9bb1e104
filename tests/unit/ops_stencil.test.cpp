// SPDX-License-Identifier: MIT
// Stencils: published vectors, and sweeps over small grids with numbers that count.
#include <kprof/ops/stencil.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

using kprof_test::costs;
using kprof_test::is_constant;
using kprof_test::is_refused;
using namespace kprof::ops;
using kprof::dtype;

namespace {

constexpr std::int64_t biggest = std::numeric_limits<std::int64_t>::max(),
                       smallest = std::numeric_limits<std::int64_t>::min();

// formulas.md
static_assert(costs(Stencil{.n = {34, 34, 34},
                            .r = 1,
                            .shape = stencil_shape::star,
                            .counting = stencil_counting::weighted,
                            .type = dtype::f64},
                    425'984, 576'576));
static_assert(costs(Stencil{.n = {100, 100},
                            .r = 2,
                            .shape = stencil_shape::star,
                            .counting = stencil_counting::parres,
                            .type = dtype::f64},
                    175'104, 153'728));

// 3 points of f32, one of them inside
static_assert(Stencil{}.taps() == 3 && Stencil{}.points() == 1);
// complex: mul 6, add 2
static_assert(costs(Stencil{.n = {4, 4}, .type = dtype::c64}, 4 * (5 * 6 + 4 * 2), 160));
static_assert(costs(Stencil{.n = {4, 4}, .counting = stencil_counting::uniform, .type = dtype::c64},
                    4 * (6 + 4 * 2), 160));
static_assert(costs(Stencil{.n = {4, 4}, .counting = stencil_counting::parres, .type = dtype::c64},
                    4 * (5 * 6 + 6 * 2), 160));
// one weight for each point
static_assert(costs(Stencil{.n = {4}, .r = 0}, 4, 32) &&
              costs(Stencil{.n = {4, 1, 1}, .r = 0}, 4, 32));
static_assert(Stencil{}.arithmetic().type == dtype::f32 &&
              Stencil{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);

static_assert(!is_constant([] { return Stencil{.n = {2}}.flops(); }) &&
              !is_constant([] { return Stencil{.n = {2}}.bytes(); }));
static_assert(!is_constant([] { return Stencil{.n = {2}}.taps(); }) &&
              !is_constant([] { return Stencil{.n = {2}}.points(); }));
static_assert(!is_constant([] { return Stencil{.n = {0}}.flops(); }) && !is_constant([] {
  return Stencil{.n = {9, 0, 9}}.flops();
}));
static_assert(!is_constant([] {
  return Stencil{.n = {9, 9, 1}}.flops();
}) && !is_constant([] {
  return Stencil{.n = {9, -9}}.flops();
}));
static_assert(!is_constant([] { return Stencil{.n = {9}, .r = -1}.flops(); }) &&
              !is_constant([] { return Stencil{.n = {9}, .r = biggest}.flops(); }));
static_assert(!is_constant([] { return Stencil{.n = {9}, .type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] {
  return Stencil{.n = {biggest, biggest}}.flops();
}) && !is_constant([] { return Stencil{.n = {biggest}}.bytes(); }));
static_assert(!is_constant([] {
  return Stencil{.n = {biggest, biggest, biggest}, .r = 0x3FFF'FFFF, .shape = stencil_shape::box}
      .taps();
}));
static_assert(is_constant([] { return Stencil{.n = {biggest}, .r = 0x3FFF'FFFF}.taps(); }));

struct counted {
  double value = 0;
  static inline std::uint64_t operations = 0;
  friend counted operator+(counted a, counted b) {
    ++operations;
    return {a.value + b.value};
  }
  friend counted operator*(counted a, counted b) {
    ++operations;
    return {a.value * b.value};
  }
};

}  // namespace

TEST_CASE("ops_stencil.a_sweep_does_what_the_formula_says") {
  kprof_test::random_shape random(3);
  for (int i = 0; i < 1500; ++i) {
    const int d = static_cast<int>(random(1, 3));
    const std::int64_t r = random(0, d == 3 ? 1 : 3);
    const bool star = random.coin();
    std::array<std::int64_t, 3> n{0, 0, 0}, size{1, 1, 1}, reach{0, 0, 0};
    for (std::size_t a = 0; a < static_cast<std::size_t>(d); ++a)
      n[a] = size[a] = random(2 * r + 1, 2 * r + 4), reach[a] = r;
    const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      return static_cast<std::size_t>((x * size[1] + y) * size[2] + z);
    };
    const std::size_t cells = static_cast<std::size_t>(size[0] * size[1] * size[2]);
    const auto counting = static_cast<stencil_counting>(random(0, 2));
    std::vector<bool> read(cells), written(cells);
    counted::operations = 0;
    std::uint64_t widest = 0;
    for (std::int64_t x = reach[0]; x < size[0] - reach[0]; ++x)
      for (std::int64_t y = reach[1]; y < size[1] - reach[1]; ++y)
        for (std::int64_t z = reach[2]; z < size[2] - reach[2]; ++z) {
          std::uint64_t taps = 0;
          counted sum, input;
          for (std::int64_t u = -reach[0]; u <= reach[0]; ++u)
            for (std::int64_t v = -reach[1]; v <= reach[1]; ++v)
              for (std::int64_t w = -reach[2]; w <= reach[2]; ++w) {
                if (star && (u != 0) + (v != 0) + (w != 0) > 1) continue;
                read[at(x + u, y + v, z + w)] = true;
                const counted value{1}, weight{2};
                const counted term = counting == stencil_counting::uniform ? value : weight * value;
                // ParRes adds to the output
                sum = taps == 0 && counting != stencil_counting::parres ? term : sum + term;
                ++taps;
              }
          if (counting == stencil_counting::uniform) sum = counted{0.5} * sum;
          if (counting == stencil_counting::parres) input = input + counted{1};
          written[at(x, y, z)] = true;
          widest = taps;
        }
    std::uint64_t inside = 0, unread = 0;
    for (std::size_t c = 0; c < cells; ++c) inside += written[c] ? 1 : 0, unread += read[c] ? 0 : 1;
    const size_list<std::int64_t, 3> grid = d == 1   ? size_list<std::int64_t, 3>{n[0]}
                                            : d == 2 ? size_list<std::int64_t, 3>{n[0], n[1]}
                                                     : size_list<std::int64_t, 3>{n[0], n[1], n[2]};
    const Stencil op{.n = grid,
                     .r = r,
                     .shape = star ? stencil_shape::star : stencil_shape::box,
                     .counting = counting,
                     .type = dtype::f64};
    REQUIRE(op.valid());
    REQUIRE(op.taps() == widest);
    REQUIRE(op.points() == inside);
    REQUIRE(op.flops() == counted::operations);
    REQUIRE(op.bytes().written == inside * 8);
    REQUIRE(op.bytes().read == cells * 8);
    // A star leaves out what is nearer to two edges than the radius; kprof counts it all the same.
    const std::uint64_t border = static_cast<std::uint64_t>(2 * r);
    std::uint64_t cross = inside;  // points inside, and borders that face them
    for (std::size_t a = 0; a < static_cast<std::size_t>(d); ++a)
      cross += border * inside / static_cast<std::uint64_t>(size[a] - 2 * r);
    REQUIRE(unread == (star ? cells - cross : 0));
  }
}

TEST_CASE("ops_stencil.senseless_parameters_have_no_numbers") {
  const std::int64_t values[] = {smallest,    smallest + 1, -1,          0,           1,      2, 3,
                                 0x3FFF'FFFF, 0x4000'0000,  0x7FFF'FFFF, biggest - 1, biggest};
  for (const stencil_shape shape : {stencil_shape::star, stencil_shape::box})
    for (const stencil_counting counting : {stencil_counting::weighted, stencil_counting::parres})
      for (const std::int64_t a : values)
        for (const std::int64_t b : values)
          for (const std::int64_t c : values)
            for (const std::int64_t r : values) {
              const Stencil op{.n = {a, b, c}, .r = r, .shape = shape, .counting = counting};
              const bool radius = r >= 0 && r <= 0x3FFF'FFFF;
              const auto wide = [&](std::int64_t size) { return size > 0 && (size - 1) / 2 >= r; };
              const bool valid = radius && wide(a) && wide(b) && wide(c);
              if (op.valid() != valid) FAIL("valid " << a << ' ' << b << ' ' << c << ' ' << r);
              if (!valid && !is_refused(op))
                FAIL("refused " << a << ' ' << b << ' ' << c << ' ' << r);
              if (!valid && (op.taps().valid() || op.points().valid() || op.bytes().read.valid() ||
                             op.bytes().written.valid()))
                FAIL("taps or points " << a << ' ' << b << ' ' << c << ' ' << r);
              if (valid && (a >= biggest - 1 || b >= biggest - 1 || c >= biggest - 1) &&
                  op.bytes().total().valid())
                FAIL("bytes " << a << ' ' << b);
            }
  CHECK(is_refused(Stencil{.type = dtype::unknown}));
}
