// SPDX-License-Identifier: MIT
// BLAS 1 to 3: published vectors, complex numbers, and parameters that make no sense.
#include <kprof/ops/blas.hpp>

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
using blas_side = kprof::ops::side;

namespace {

constexpr std::int64_t biggest = std::numeric_limits<std::int64_t>::max(),
                       smallest = std::numeric_limits<std::int64_t>::min();
constexpr dtype f16 = dtype::f16, f32 = dtype::f32, f64 = dtype::f64, c64 = dtype::c64,
                c128 = dtype::c128;
constexpr blas_side left = blas_side::left, right = blas_side::right;

// formulas.md
static_assert(costs(Axpy{.n = 1000, .type = f64}, 2'000, 24'000));
static_assert(costs(Dot{.n = 1000, .type = f64}, 2'000, 16'000));
static_assert(costs(Gemv{.m = 100, .n = 200, .type = f64}, 40'000, 162'400));
static_assert(costs(Ger{.m = 100, .n = 200, .type = f64}, 40'000, 322'400));
static_assert(costs(Trsm{.m = 100, .n = 50, .side = left, .type = f64}, 500'000, 120'400));
static_assert(costs(Syrk{.n = 100, .k = 50, .type = f64}, 505'000, 120'800));
static_assert(costs(Symm{.m = 100, .n = 50, .side = left, .type = f64}, 1'000'000, 160'400));
static_assert(costs(Trsv{.n = 100, .type = f64}, 10'000, 42'000));

// Complex: four times the FLOPs.
static_assert(costs(Axpy{.n = 7, .type = c64}, 56, 168));
static_assert(costs(Dot{.n = 7, .type = c128}, 56, 224));
static_assert(costs(Nrm2{.n = 7, .type = c64}, 56, 56));
static_assert(costs(Asum{.n = 7, .type = c64}, 28, 56));
static_assert(costs(Scal{.n = 7, .type = c64}, 28, 112));
static_assert(costs(Axpy{.n = 0}, 0, 0) && costs(Dot{.n = 0}, 0, 0) && costs(Swap{.n = 0}, 0, 0));

static_assert(costs(Gemv{.m = 3, .n = 5, .type = c64}, 120, 184));
static_assert(costs(Gemv{.m = 0, .n = 5, .beta = true}, 0, 0) &&
              costs(Gemv{.m = 5, .n = 0, .trans = true}, 0, 0) &&
              costs(Gemv{.m = 3, .n = 0}, 0, 12));
static_assert(costs(Ger{.m = 3, .n = 5, .type = c64}, 120, 304));
static_assert(costs(Ger{.m = 0, .n = 5}, 0, 0) && costs(Ger{.m = 5, .n = 0}, 0, 0));
static_assert(costs(Symv{.n = 7, .type = c64}, 392, 336));
static_assert(costs(Trmv{.n = 7, .type = c64}, 196, 336));
static_assert(costs(Trsv{.n = 7, .type = c64}, 196, 336));
static_assert(costs(Syr{.n = 7, .type = c64}, 224, 504));

static_assert(costs(Symm{.m = 3, .n = 5, .side = right, .type = c64}, 600, 480));
static_assert(costs(Symm{.m = 3, .n = 0}, 0, 0) &&
              costs(Symm{.m = 0, .n = 3, .side = right}, 0, 0));
static_assert(costs(Syrk{.n = 7, .k = 3, .type = c64}, 672, 616) &&
              costs(Syrk{.n = 0, .k = 3}, 0, 0));
static_assert(costs(Syr2k{.n = 7, .k = 3, .type = c64}, 1176, 784) &&
              costs(Syr2k{.n = 0, .k = 3}, 0, 0));
static_assert(costs(Trmm{.m = 3, .n = 5, .type = c64}, 180, 288) &&
              costs(Trmm{.m = 3, .n = 0}, 0, 0));
static_assert(costs(Trsm{.m = 3, .n = 5, .side = right, .type = c64}, 300, 360) &&
              costs(Trsm{.m = 0, .n = 5, .side = right}, 0, 0));

static_assert(Axpy{}.arithmetic().on == kprof::arithmetic_unit::cuda_core &&
              Gemv{.type = f16}.arithmetic().on == kprof::arithmetic_unit::cuda_core);
static_assert(Trsm{.type = f64}.arithmetic().on == kprof::arithmetic_unit::unknown &&
              Syrk{.type = f64}.arithmetic().type == f64);
static_assert(Symm{.type = dtype::tf32}.arithmetic().on == kprof::arithmetic_unit::tensor_core);

constexpr auto cores = kprof::arithmetic_unit::cuda_core, either = kprof::arithmetic_unit::unknown;
static_assert(refuses_senseless<cores, Axpy, &Axpy::n>() &&
              refuses_senseless<cores, Dot, &Dot::n>() &&
              refuses_senseless<cores, Nrm2, &Nrm2::n>() &&
              refuses_senseless<cores, Asum, &Asum::n>());
static_assert(refuses_senseless<cores, Scal, &Scal::n>() &&
              refuses_senseless<cores, CopyVector, &CopyVector::n>() &&
              refuses_senseless<cores, Swap, &Swap::n>());
static_assert(refuses_senseless<cores, Gemv, &Gemv::m, &Gemv::n>() &&
              refuses_senseless<cores, Ger, &Ger::m, &Ger::n>() &&
              refuses_senseless<cores, Symv, &Symv::n>());
static_assert(refuses_senseless<cores, Trmv, &Trmv::n>() &&
              refuses_senseless<cores, Trsv, &Trsv::n>() &&
              refuses_senseless<cores, Syr, &Syr::n>());
static_assert(refuses_senseless<either, Symm, &Symm::m, &Symm::n>() &&
              refuses_senseless<either, Syrk, &Syrk::n, &Syrk::k>() &&
              refuses_senseless<either, Syr2k, &Syr2k::n, &Syr2k::k>());
static_assert(refuses_senseless<either, Trmm, &Trmm::m, &Trmm::n>() &&
              refuses_senseless<either, Trsm, &Trsm::m, &Trsm::n>());
// n n + 1 and n n n: products of one size
static_assert(!is_constant([] { return Syr{.n = std::int64_t{1} << 32}.flops(); }));
static_assert(!is_constant([] { return Trsv{.n = 0xFFFF'FFFF, .type = c64}.flops(); }));

constexpr std::int64_t extremes[] = {smallest,    smallest + 1,          -1,          0,      1, 2,
                                     0xFFFF'FFFF, std::int64_t{1} << 32, biggest - 1, biggest};

template <class Op>
void walk_extremes(Op op, std::int64_t a, std::int64_t b) {
  CAPTURE(a, b);
  if (op.valid() != (a >= 0 && b >= 0)) FAIL("valid");
  if (!op.valid() && !is_refused(op)) FAIL("refused");
  if (op.valid() && a != 0 && b != 0 && (a > 0xFFFF'FFFF || b > 0xFFFF'FFFF) &&
      (a >= biggest - 1 || b >= biggest - 1) && op.bytes().total().valid())
    FAIL("bytes");
  op.type = dtype::unknown;
  if (!is_refused(op)) FAIL("unknown");
}
template <class Op>
void walk_vector_extremes() {
  for (const std::int64_t n : extremes) walk_extremes(Op{.n = n}, n, 1);
}

}  // namespace

TEST_CASE("ops_blas.senseless_parameters_have_no_numbers") {
  walk_vector_extremes<Axpy>();
  walk_vector_extremes<Dot>();
  walk_vector_extremes<Nrm2>();
  walk_vector_extremes<Asum>();
  walk_vector_extremes<Scal>();
  walk_vector_extremes<CopyVector>();
  walk_vector_extremes<Swap>();
  walk_vector_extremes<Symv>();
  walk_vector_extremes<Trmv>();
  walk_vector_extremes<Trsv>();
  walk_vector_extremes<Syr>();
  for (const std::int64_t a : extremes)
    for (const std::int64_t b : extremes) {
      for (const bool flag : {false, true}) {
        walk_extremes(Gemv{.m = a, .n = b, .beta = flag}, a, b);
        walk_extremes(Gemv{.m = a, .n = b, .trans = flag}, a, b);
        walk_extremes(Symm{.m = a, .n = b, .side = flag ? left : right}, a, b);
        walk_extremes(Symm{.m = a, .n = b, .beta = flag}, a, b);
        walk_extremes(Syrk{.n = a, .k = b, .beta = flag}, a, b);
        walk_extremes(Syr2k{.n = a, .k = b, .beta = flag}, a, b);
        walk_extremes(Trmm{.m = a, .n = b, .side = flag ? left : right}, a, b);
        walk_extremes(Trsm{.m = a, .n = b, .side = flag ? left : right}, a, b);
      }
      walk_extremes(Ger{.m = a, .n = b}, a, b);
    }
  for (const dtype t : {f32, f64, c64, c128})
    CHECK(!Swap{.n = biggest, .type = t}.bytes().total().valid());
}
