// SPDX-License-Identifier: MIT
// Products with sparse matrices: published vectors, products of random matrices that mark what they
// touch.
#include <kprof/ops/sparse.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cstdint>
#include <limits>
#include <set>
#include <utility>
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
static_assert(costs(
    SpmvCsr{.M = 1000, .N = 1000, .nnz = 5000, .type = dtype::f64, .dtypeIndex = dtype::int32},
    10'000, 80'004));
static_assert(costs(
    SpmmCsr{.M = 100, .N = 8, .K = 100, .nnz = 500, .type = dtype::f32, .dtypeIndex = dtype::int32},
    8'000, 10'804));

static_assert(costs(SpmvCsr{.M = 3, .N = 5, .nnz = 7, .beta = true, .type = dtype::c64}, 56 + 6,
                    16 + 28 + 56 + 40 + 24 + 24));
static_assert(costs(SpmvCsr{.M = 0, .N = 5, .nnz = 0, .beta = true}, 0, 0));
// nothing but offsets: zeros are written
static_assert(costs(SpmvCsr{.M = 3, .N = 0, .nnz = 0}, 0, 16 + 12));

static_assert(costs(SpmvCoo{.M = 1000, .N = 1000, .nnz = 5000, .type = dtype::f64}, 10'000,
                    40'000 + 40'000 + 8'000 + 8'000));
static_assert(costs(SpmvCoo{.M = 3, .N = 5, .nnz = 7, .beta = true, .type = dtype::c128}, 62,
                    56 + 112 + 80 + 48 + 48));
static_assert(costs(SpmvCoo{.M = 0, .N = 5, .nnz = 0}, 0, 0));

static_assert(costs(SpmmCsr{.M = 3, .N = 2, .K = 5, .nnz = 7, .beta = true, .type = dtype::c64},
                    112 + 12, 16 + 28 + 56 + 80 + 96));
static_assert(costs(SpmmCsr{.M = 3, .N = 0, .K = 5, .nnz = 7, .beta = true}, 0, 0));

static_assert(SpmvCsr{}.arithmetic().on == kprof::arithmetic_unit::cuda_core &&
              SpmvCoo{}.arithmetic().on == kprof::arithmetic_unit::cuda_core);
static_assert(SpmmCsr{.type = dtype::f16}.arithmetic().type == dtype::f16 &&
              SpmmCsr{}.arithmetic().on == kprof::arithmetic_unit::unknown);

static_assert(!is_constant([] { return SpmvCsr{.M = -1}.flops(); }) &&
              !is_constant([] { return SpmvCsr{.M = -1}.bytes(); }));
static_assert(!is_constant([] { return SpmvCsr{.M = 3, .N = 5, .nnz = 16}.flops(); }) &&
              is_constant([] { return SpmvCsr{.M = 3, .N = 5, .nnz = 15}.flops(); }));
static_assert(!is_constant([] { return SpmvCsr{.dtypeIndex = dtype::f32}.flops(); }) &&
              !is_constant([] { return SpmvCsr{.dtypeIndex = dtype::int4}.flops(); }));
static_assert(!is_constant([] { return SpmvCsr{.dtypeOffsets = dtype::f64}.flops(); }));
static_assert(!is_constant([] {
  return SpmvCsr{.M = biggest, .N = biggest, .nnz = biggest}.bytes();
}));
static_assert(!is_constant([] { return SpmvCoo{.N = -1}.flops(); }) &&
              !is_constant([] { return SpmvCoo{.M = 3, .N = 0, .nnz = 1}.bytes(); }));
static_assert(!is_constant([] { return SpmvCoo{.type = dtype::unknown}.flops(); }) &&
              !is_constant([] { return SpmvCoo{.dtypeIndex = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return SpmmCsr{.nnz = -1}.flops(); }) &&
              !is_constant([] { return SpmmCsr{.N = -1}.bytes(); }));
static_assert(!is_constant([] { return SpmmCsr{.M = 3, .N = 9, .K = 2, .nnz = 7}.flops(); }));
static_assert(!is_constant([] {
  return SpmmCsr{.M = biggest, .N = biggest, .K = 1, .nnz = 4}.flops() +
         SpmmCsr{.M = biggest, .N = biggest}.bytes().read;
}));

/// One operand of a product: which of its elements were read and written.
struct touched {
  std::set<std::pair<std::int64_t, std::int64_t>> read, written;
};

struct product {
  std::uint64_t operations = 0;
  touched offsets, rows, cols, values, dense, out;
};

/// C[M,N] = A[M,K] B[K,N]. Each column of A has an element, so that all of B is read.
product multiply(const std::vector<std::vector<bool>>& a, std::int64_t K, std::int64_t N, bool beta,
                 bool coordinates) {
  product p;
  std::int64_t at = 0;
  const auto M = static_cast<std::int64_t>(a.size());
  if (!coordinates) p.offsets.read.insert({0, 0});
  for (std::int64_t i = 0; i < M; ++i) {
    if (!coordinates) p.offsets.read.insert({i + 1, 0});
    for (std::int64_t k = 0; k < K; ++k) {
      if (!a[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)]) continue;
      if (coordinates) p.rows.read.insert({at, 0});
      p.cols.read.insert({at, 0});
      p.values.read.insert({at++, 0});
      for (std::int64_t j = 0; j < N; ++j) {
        p.dense.read.insert({k, j});
        p.operations += 2;
      }
    }
    for (std::int64_t j = 0; j < N; ++j) {
      if (beta) {
        p.out.read.insert({i, j});
        ++p.operations;
      }
      p.out.written.insert({i, j});
    }
  }
  return p;
}

template <class Op>
void walk_extremes(Op op, kprof::extent Op::*first, kprof::extent Op::*second,
                   kprof::extent Op::*third) {
  const std::int64_t values[] = {smallest, smallest + 1,          -1,          0,      1,
                                 2,        std::int64_t{1} << 32, biggest - 1, biggest};
  for (const std::int64_t a : values)
    for (const std::int64_t b : values)
      for (const std::int64_t c : values) {
        op.*first = a, op.*second = b, op.*third = c;
        CAPTURE(a, b, c);
        const bool fits = c <= 0 || (a > 0 && b > 0 &&
                                     (a >= c || b >= c || (a >= c / 2 && b >= 2) ||
                                      (b >= c / 2 && a >= 2) || (a > 2 && b > 2)));
        if (op.valid() != (a >= 0 && b >= 0 && c >= 0 && fits)) FAIL("valid");
        if (!op.valid() && !is_refused(op)) FAIL("refused");
        if (op.valid() && (a >= biggest - 1 || c >= biggest - 1) && b != 0 &&
            op.bytes().total().valid())
          FAIL("bytes");
      }
}

}  // namespace

TEST_CASE("ops_sparse.a_product_touches_what_the_formula_says") {
  kprof_test::random_shape random(7);
  for (int i = 0; i < 1500; ++i) {
    const std::int64_t M = random(1, 7), K = random(1, 7), N = random(1, 4), density = random(0, 3);
    std::vector<std::vector<bool>> a(static_cast<std::size_t>(M),
                                     std::vector<bool>(static_cast<std::size_t>(K)));
    std::int64_t nnz = 0;
    for (std::int64_t r = 0; r < M; ++r)
      for (std::int64_t k = 0; k < K; ++k)
        if (r == k % M || random(0, 3) < density) {  // each column has one at least
          a[static_cast<std::size_t>(r)][static_cast<std::size_t>(k)] = true;
          ++nnz;
        }
    const bool beta = random.coin();
    const auto same = [&](const auto& op, const product& p, std::uint64_t offset_size) {
      REQUIRE(op.valid());
      REQUIRE(op.flops() == p.operations);
      REQUIRE(op.bytes().read ==
              p.offsets.read.size() * offset_size + (p.rows.read.size() + p.cols.read.size()) * 4 +
                  (p.values.read.size() + p.dense.read.size() + p.out.read.size()) * 8);
      REQUIRE(op.bytes().written == p.out.written.size() * 8);
    };
    const product csr = multiply(a, K, 1, beta, false);
    same(SpmvCsr{.M = M, .N = K, .nnz = nnz, .beta = beta, .type = dtype::f64}, csr, 4);
    same(SpmvCsr{.M = M,
                 .N = K,
                 .nnz = nnz,
                 .beta = beta,
                 .type = dtype::f64,
                 .dtypeOffsets = dtype::int64},
         csr, 8);
    same(SpmvCoo{.M = M, .N = K, .nnz = nnz, .beta = beta, .type = dtype::f64},
         multiply(a, K, 1, beta, true), 4);
    const product dense = multiply(a, K, N, beta, false);
    same(SpmmCsr{.M = M, .N = N, .K = K, .nnz = nnz, .beta = beta, .type = dtype::f64}, dense, 4);
    same(SpmmCsr{.M = M,
                 .N = N,
                 .K = K,
                 .nnz = nnz,
                 .beta = beta,
                 .type = dtype::f64,
                 .dtypeOffsets = dtype::int64},
         dense, 8);
  }
}

TEST_CASE("ops_sparse.senseless_parameters_have_no_numbers") {
  walk_extremes(SpmvCsr{}, &SpmvCsr::M, &SpmvCsr::N, &SpmvCsr::nnz);
  walk_extremes(SpmvCoo{}, &SpmvCoo::M, &SpmvCoo::N, &SpmvCoo::nnz);
  walk_extremes(SpmmCsr{}, &SpmmCsr::M, &SpmmCsr::K, &SpmmCsr::nnz);
  for (const std::int64_t n : {smallest, std::int64_t{-1}}) {
    CHECK(!SpmmCsr{.N = n}.valid());
    CHECK(is_refused(SpmmCsr{.N = n}));
  }
  CHECK(!SpmmCsr{.N = biggest}.bytes().total().valid());
  CHECK(is_refused(SpmmCsr{.M = 2, .N = biggest, .K = 2, .nnz = 2}));
  for (const dtype t : {dtype::unknown, dtype::f32, dtype::boolean, dtype::int4, dtype::c64}) {
    CHECK(is_refused(SpmvCsr{.dtypeIndex = t}));
    CHECK(is_refused(SpmvCoo{.dtypeIndex = t}));
    CHECK(is_refused(SpmmCsr{.dtypeIndex = t}));
    if (t == dtype::unknown) continue;
    CHECK(is_refused(SpmvCsr{.dtypeOffsets = t}));
    CHECK(is_refused(SpmmCsr{.dtypeOffsets = t}));
  }
  CHECK(is_refused(SpmvCsr{.type = dtype::unknown}));
  CHECK(is_refused(SpmvCoo{.type = dtype::unknown}));
  CHECK(is_refused(SpmmCsr{.type = dtype::unknown}));
}
