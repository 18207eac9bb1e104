// SPDX-License-Identifier: MIT
// BLAS 1 to 3: published vectors, textbook loops that count what they do and mark what they touch.
#include <kprof/ops/blas.hpp>

#include "catch.hpp"
#include "ops.hpp"

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
using blas_side = kprof::ops::side;

namespace {

constexpr std::int64_t biggest = std::numeric_limits<std::int64_t>::max(),
                       smallest = std::numeric_limits<std::int64_t>::min();
constexpr dtype f16 = dtype::f16, f32 = dtype::f32, f64 = dtype::f64, c64 = dtype::c64,
                c128 = dtype::c128, i4 = dtype::int4;
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

// By hand. Complex: four times the FLOPs. int4: each vector or triangle packed by itself, 7
// elements in 4 bytes.
static_assert(costs(Axpy{.n = 7}, 14, 84) && moves(Axpy{.n = 7}, 56, 28) &&
              costs(Axpy{.n = 7, .type = c64}, 56, 168) && costs(Axpy{.n = 7, .type = i4}, 14, 12));
static_assert(costs(Dot{.n = 7}, 14, 56) && moves(Dot{.n = 7}, 56, 0) &&
              costs(Dot{.n = 7, .type = c128}, 56, 224) && costs(Dot{.n = 7, .type = i4}, 14, 8));
static_assert(costs(Nrm2{.n = 7}, 14, 28) && moves(Nrm2{.n = 7}, 28, 0) &&
              costs(Nrm2{.n = 7, .type = c64}, 56, 56) && costs(Nrm2{.n = 7, .type = i4}, 14, 4));
static_assert(costs(Asum{.n = 7}, 7, 28) && moves(Asum{.n = 7}, 28, 0) &&
              costs(Asum{.n = 7, .type = c64}, 28, 56) && costs(Asum{.n = 7, .type = i4}, 7, 4));
static_assert(costs(Scal{.n = 7}, 7, 56) && moves(Scal{.n = 7}, 28, 28) &&
              costs(Scal{.n = 7, .type = c64}, 28, 112) && costs(Scal{.n = 7, .type = i4}, 7, 8));
static_assert(costs(CopyVector{.n = 7}, 0, 56) && moves(CopyVector{.n = 7}, 28, 28) &&
              costs(CopyVector{.n = 7, .type = c64}, 0, 112) &&
              costs(CopyVector{.n = 7, .type = i4}, 0, 8));
static_assert(costs(Swap{.n = 7}, 0, 112) && moves(Swap{.n = 7}, 56, 56) &&
              costs(Swap{.n = 7, .type = c128}, 0, 448) && costs(Swap{.n = 7, .type = i4}, 0, 16));
static_assert(costs(Axpy{.n = 0}, 0, 0) && costs(Dot{.n = 0}, 0, 0) && costs(Swap{.n = 0}, 0, 0));

// 1 element by default, beta where the table has it.
static_assert(costs(Axpy{}, 2, 12) && costs(Dot{}, 2, 8) && costs(Nrm2{}, 2, 4) &&
              costs(Asum{}, 1, 4) && costs(Scal{}, 1, 8));
static_assert(costs(CopyVector{}, 0, 8) && costs(Swap{}, 0, 16) && costs(Gemv{}, 2, 12) &&
              costs(Ger{}, 2, 16) && costs(Symv{}, 2, 12));
static_assert(costs(Trmv{}, 1, 12) && costs(Trsv{}, 1, 12) && costs(Syr{}, 2, 12) &&
              costs(Symm{}, 2, 16) && costs(Syrk{}, 2, 12));
static_assert(costs(Syr2k{}, 2, 16) && costs(Trmm{}, 1, 12) && costs(Trsm{}, 1, 12));

// A 3 5, x 5, y 3; transposed x 3, y 5
static_assert(costs(Gemv{.m = 3, .n = 5}, 30, 92) && moves(Gemv{.m = 3, .n = 5}, 80, 12) &&
              moves(Gemv{.m = 3, .n = 5, .trans = true}, 72, 20));
static_assert(moves(Gemv{.m = 3, .n = 5, .beta = true}, 92, 12) &&
              moves(Gemv{.m = 3, .n = 5, .beta = true, .trans = true}, 92, 20));
static_assert(costs(Gemv{.m = 3, .n = 5, .type = c64}, 120, 184) &&
              costs(Gemv{.m = 3, .n = 5, .type = i4, .beta = true}, 30, 8 + 3 + 2 + 2));
static_assert(costs(Gemv{.m = 0, .n = 5, .beta = true}, 0, 0) &&
              costs(Gemv{.m = 5, .n = 0, .trans = true}, 0, 0) &&
              costs(Gemv{.m = 3, .n = 0}, 0, 12));
static_assert(costs(Ger{.m = 3, .n = 5}, 30, 152) && moves(Ger{.m = 3, .n = 5}, 92, 60) &&
              costs(Ger{.m = 3, .n = 5, .type = c64}, 120, 304));
static_assert(costs(Ger{.m = 3, .n = 5, .type = i4}, 30, 8 + 2 + 3 + 8) &&
              costs(Ger{.m = 0, .n = 5}, 0, 0) && costs(Ger{.m = 5, .n = 0}, 0, 0));
// 28 + 7, 7
static_assert(costs(Symv{.n = 7}, 98, 168) && moves(Symv{.n = 7}, 140, 28) &&
              moves(Symv{.n = 7, .beta = true}, 168, 28));
static_assert(costs(Symv{.n = 7, .type = c64}, 392, 336) &&
              costs(Symv{.n = 5, .type = i4}, 50, 8 + 3 + 3));
static_assert(costs(Trmv{.n = 7}, 49, 168) && moves(Trmv{.n = 7}, 140, 28) &&
              costs(Trmv{.n = 7, .type = c64}, 196, 336) &&
              costs(Trmv{.n = 5, .type = i4}, 25, 8 + 3 + 3));
static_assert(costs(Trsv{.n = 7}, 49, 168) && moves(Trsv{.n = 7}, 140, 28) &&
              costs(Trsv{.n = 7, .type = c64}, 196, 336) &&
              costs(Trsv{.n = 5, .type = i4}, 25, 8 + 3 + 3));
static_assert(costs(Syr{.n = 7}, 56, 252) && moves(Syr{.n = 7}, 140, 112) &&
              costs(Syr{.n = 7, .type = c64}, 224, 504) &&
              costs(Syr{.n = 5, .type = i4}, 30, 8 + 3 + 8));

// m 3, n 5: triangles of 6 and 15, B and C of 15
static_assert(costs(Symm{.m = 3, .n = 5}, 90, 204) && moves(Symm{.m = 3, .n = 5}, 144, 60) &&
              moves(Symm{.m = 3, .n = 5, .beta = false}, 84, 60));
static_assert(costs(Symm{.m = 3, .n = 5, .side = right}, 150, 240) &&
              costs(Symm{.m = 3, .n = 5, .side = right, .type = c64}, 600, 480));
static_assert(costs(Symm{.m = 3, .n = 5, .type = i4}, 90, 3 + 8 + 8 + 8) &&
              costs(Symm{.m = 3, .n = 0}, 0, 0) &&
              costs(Symm{.m = 0, .n = 3, .side = right}, 0, 0));
// A 21, C 28
static_assert(costs(Syrk{.n = 7, .k = 3}, 168, 308) && moves(Syrk{.n = 7, .k = 3}, 196, 112) &&
              moves(Syrk{.n = 7, .k = 3, .beta = false}, 84, 112));
static_assert(costs(Syrk{.n = 7, .k = 3, .type = c64}, 672, 616) &&
              costs(Syrk{.n = 7, .k = 3, .type = i4}, 168, 11 + 14 + 14) &&
              costs(Syrk{.n = 0, .k = 3}, 0, 0));
static_assert(costs(Syr2k{.n = 7, .k = 3}, 294, 392) && moves(Syr2k{.n = 7, .k = 3}, 280, 112) &&
              moves(Syr2k{.n = 7, .k = 3, .beta = false}, 168, 112));
static_assert(costs(Syr2k{.n = 7, .k = 3, .type = c64}, 1176, 784) &&
              costs(Syr2k{.n = 7, .k = 3, .type = i4}, 294, 11 + 11 + 14 + 14) &&
              costs(Syr2k{.n = 0, .k = 3}, 0, 0));
static_assert(costs(Trmm{.m = 3, .n = 5}, 45, 144) && moves(Trmm{.m = 3, .n = 5}, 84, 60) &&
              costs(Trmm{.m = 3, .n = 5, .side = right}, 75, 180));
static_assert(costs(Trmm{.m = 3, .n = 5, .type = c64}, 180, 288) &&
              costs(Trmm{.m = 3, .n = 5, .type = i4}, 45, 3 + 8 + 8) &&
              costs(Trmm{.m = 3, .n = 0}, 0, 0));
static_assert(costs(Trsm{.m = 3, .n = 5}, 45, 144) && moves(Trsm{.m = 3, .n = 5}, 84, 60) &&
              costs(Trsm{.m = 3, .n = 5, .side = right}, 75, 180));
static_assert(costs(Trsm{.m = 3, .n = 5, .side = right, .type = c64}, 300, 360) &&
              costs(Trsm{.m = 3, .n = 5, .type = f16}, 45, 72) &&
              costs(Trsm{.m = 0, .n = 5, .side = right}, 0, 0));

static_assert(Axpy{}.arithmetic().on == kprof::arithmetic_unit::cuda_core &&
              Gemv{.type = f16}.arithmetic().on == kprof::arithmetic_unit::cuda_core);
static_assert(Trsm{.type = f64}.arithmetic().on == kprof::arithmetic_unit::unknown &&
              Syrk{.type = f64}.arithmetic().type == f64);
static_assert(Symm{.type = dtype::tf32}.arithmetic().on == kprof::arithmetic_unit::tensor_core);

/// An operator with fields that make no sense, and with so large ones that its bytes exceed 64
/// bits.
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
constexpr auto cores = kprof::arithmetic_unit::cuda_core, either = kprof::arithmetic_unit::unknown;
static_assert(guarded<cores, Axpy, &Axpy::n>() && guarded<cores, Dot, &Dot::n>() &&
              guarded<cores, Nrm2, &Nrm2::n>() && guarded<cores, Asum, &Asum::n>());
static_assert(guarded<cores, Scal, &Scal::n>() && guarded<cores, CopyVector, &CopyVector::n>() &&
              guarded<cores, Swap, &Swap::n>());
static_assert(guarded<cores, Gemv, &Gemv::m, &Gemv::n>() &&
              guarded<cores, Ger, &Ger::m, &Ger::n>() && guarded<cores, Symv, &Symv::n>());
static_assert(guarded<cores, Trmv, &Trmv::n>() && guarded<cores, Trsv, &Trsv::n>() &&
              guarded<cores, Syr, &Syr::n>());
static_assert(guarded<either, Symm, &Symm::m, &Symm::n>() &&
              guarded<either, Syrk, &Syrk::n, &Syrk::k>() &&
              guarded<either, Syr2k, &Syr2k::n, &Syr2k::k>());
static_assert(guarded<either, Trmm, &Trmm::m, &Trmm::n>() &&
              guarded<either, Trsm, &Trsm::m, &Trsm::n>());
// n n + 1 and n n n: products of one size
static_assert(!is_constant([] { return Syr{.n = std::int64_t{1} << 32}.flops(); }) &&
              Syr{.n = 0xFFFF'FFFF}.flops() == 0xFFFF'FFFF'0000'0000U);
static_assert(Trsv{.n = 0xFFFF'FFFF}.flops() == 0xFFFF'FFFE'0000'0001U &&
              !is_constant([] { return Trsv{.n = 0xFFFF'FFFF, .type = c64}.flops(); }));

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
  friend counted operator/(counted a, counted b) {
    ++operations;
    return {a.value / b.value};
  }
  friend counted abs(counted a) { return {std::fabs(a.value)}; }  // of a real number no operation
};

/// A matrix, or a vector as one of one column, that marks which elements are read and written.
class tensor {
 public:
  tensor(std::size_t rows, std::size_t cols, kprof_test::random_shape& random)
      : cols_(cols), data_(rows * cols), read_(rows * cols), written_(rows * cols) {
    for (auto& v : data_) v = static_cast<double>(random(1, 9));
  }
  counted operator()(std::size_t i, std::size_t j = 0) {
    read_[i * cols_ + j] = true;
    return {data_[i * cols_ + j]};
  }
  void put(counted v, std::size_t i, std::size_t j = 0) {
    written_[i * cols_ + j] = true;
    data_[i * cols_ + j] = v.value;
  }
  std::uint64_t reads() const { return sum(read_); }
  std::uint64_t writes() const { return sum(written_); }

 private:
  static std::uint64_t sum(const std::vector<bool>& marks) {
    std::uint64_t n = 0;
    for (const bool m : marks) n += m ? 1 : 0;
    return n;
  }
  std::size_t cols_;
  std::vector<double> data_;
  std::vector<bool> read_, written_;
};

template <class Op, class... Tensors>
void same(const Op& op, const Tensors&... tensors) {
  REQUIRE(op.flops() == counted::operations);
  REQUIRE(op.bytes().read == (tensors.reads() + ...) * 8);
  REQUIRE(op.bytes().written == (tensors.writes() + ...) * 8);
  counted::operations = 0;
}

/// Element of a symmetric matrix whose lower triangle is stored.
counted symmetric(tensor& a, std::size_t i, std::size_t j) { return i >= j ? a(i, j) : a(j, i); }

void walk_vectors(std::size_t n, kprof_test::random_shape& random) {
  const auto size = static_cast<std::int64_t>(n);
  counted sum;
  counted::operations = 0;
  {
    tensor x(n, 1, random), y(n, 1, random);
    for (std::size_t i = 0; i < n; ++i) y.put(y(i) + counted{2} * x(i), i);
    same(Axpy{.n = size, .type = f64}, x, y);
  }
  {
    tensor x(n, 1, random), y(n, 1, random);
    for (std::size_t i = 0; i < n; ++i) sum = sum + x(i) * y(i);
    same(Dot{.n = size, .type = f64}, x, y);
  }
  {
    tensor x(n, 1, random);
    for (std::size_t i = 0; i < n; ++i) sum = sum + x(i) * x(i);
    same(Nrm2{.n = size, .type = f64}, x);
  }
  {
    tensor x(n, 1, random);
    for (std::size_t i = 0; i < n; ++i) sum = sum + abs(x(i));
    same(Asum{.n = size, .type = f64}, x);
  }
  {
    tensor x(n, 1, random);
    for (std::size_t i = 0; i < n; ++i) x.put(counted{2} * x(i), i);
    same(Scal{.n = size, .type = f64}, x);
  }
  {
    tensor x(n, 1, random), y(n, 1, random);
    for (std::size_t i = 0; i < n; ++i) y.put(x(i), i);
    same(CopyVector{.n = size, .type = f64}, x, y);
  }
  {
    tensor x(n, 1, random), y(n, 1, random);
    for (std::size_t i = 0; i < n; ++i) {
      const counted old = x(i);
      x.put(y(i), i), y.put(old, i);
    }
    same(Swap{.n = size, .type = f64}, x, y);
  }
}

void walk_matrix_vector(std::size_t m, std::size_t n, kprof_test::random_shape& random) {
  const auto sm = static_cast<std::int64_t>(m), sn = static_cast<std::int64_t>(n);
  const bool beta = random.coin(), trans = random.coin();
  counted::operations = 0;
  {
    tensor a(m, n, random), x(trans ? m : n, 1, random), y(trans ? n : m, 1, random);
    for (std::size_t i = 0; i < (trans ? n : m); ++i) {
      counted sum = beta ? y(i) : counted{};
      for (std::size_t j = 0; j < (trans ? m : n); ++j)
        sum = sum + (trans ? a(j, i) : a(i, j)) * x(j);
      y.put(sum, i);
    }
    same(Gemv{.m = sm, .n = sn, .type = f64, .beta = beta, .trans = trans}, a, x, y);
  }
  {
    tensor a(m, n, random), x(m, 1, random), y(n, 1, random);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) a.put(a(i, j) + x(i) * y(j), i, j);
    same(Ger{.m = sm, .n = sn, .type = f64}, a, x, y);
  }
  {
    tensor a(n, n, random), x(n, 1, random), y(n, 1, random);
    for (std::size_t i = 0; i < n; ++i) {
      counted sum = beta ? y(i) : counted{};
      for (std::size_t j = 0; j < n; ++j) sum = sum + symmetric(a, i, j) * x(j);
      y.put(sum, i);
    }
    same(Symv{.n = sn, .type = f64, .beta = beta}, a, x, y);
  }
  {
    tensor a(n, n, random), x(n, 1, random);
    for (std::size_t i = n; i-- > 0;) {
      counted sum = a(i, i) * x(i);
      for (std::size_t j = 0; j < i; ++j) sum = sum + a(i, j) * x(j);
      x.put(sum, i);
    }
    same(Trmv{.n = sn, .type = f64}, a, x);
  }
  {
    tensor a(n, n, random), x(n, 1, random);
    for (std::size_t i = 0; i < n; ++i) {
      counted rest = x(i);
      for (std::size_t j = 0; j < i; ++j) rest = rest - a(i, j) * x(j);
      x.put(rest / a(i, i), i);
    }
    same(Trsv{.n = sn, .type = f64}, a, x);
  }
  {
    tensor a(n, n, random), x(n, 1, random);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) a.put(a(i, j) + x(i) * x(j), i, j);
    same(Syr{.n = sn, .type = f64}, a, x);
  }
}

void walk_matrices(std::size_t m, std::size_t n, std::size_t k, kprof_test::random_shape& random) {
  const auto sm = static_cast<std::int64_t>(m), sn = static_cast<std::int64_t>(n),
             sk = static_cast<std::int64_t>(k);
  const bool beta = random.coin(), on_left = random.coin();
  const std::size_t order = on_left ? m : n;
  const blas_side where = on_left ? left : right;
  counted::operations = 0;
  {
    tensor a(order, order, random), b(m, n, random), c(m, n, random);
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        counted sum = beta ? c(i, j) : counted{};
        for (std::size_t l = 0; l < order; ++l)
          sum = sum + (on_left ? symmetric(a, i, l) * b(l, j) : b(i, l) * symmetric(a, l, j));
        c.put(sum, i, j);
      }
    same(Symm{.m = sm, .n = sn, .side = where, .type = f64, .beta = beta}, a, b, c);
  }
  {
    tensor a(n, k, random), c(n, n, random);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        counted sum = beta ? c(i, j) : counted{};
        for (std::size_t l = 0; l < k; ++l) sum = sum + a(i, l) * a(j, l);
        c.put(sum, i, j);
      }
    same(Syrk{.n = sn, .k = sk, .type = f64, .beta = beta}, a, c);
  }
  {
    tensor a(n, k, random), b(n, k, random), c(n, n, random);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        counted sum = beta ? c(i, j) : counted{};
        for (std::size_t l = 0; l < k; ++l) {
          sum = sum + a(i, l) * b(j, l);
          // on the diagonal both are the same, and a factor of 2 is free
          if (i != j) sum = sum + b(i, l) * a(j, l);
        }
        c.put(sum, i, j);
      }
    same(Syr2k{.n = sn, .k = sk, .type = f64, .beta = beta}, a, b, c);
  }
  {
    // lower on the left, in rows from below; on the right in columns from the left
    tensor a(order, order, random), b(m, n, random);
    for (std::size_t v = 0; v < (on_left ? n : m); ++v)
      for (std::size_t s = 0; s < order; ++s) {
        const std::size_t i = on_left ? order - 1 - s : s;
        counted sum = on_left ? a(i, i) * b(i, v) : b(v, i) * a(i, i);
        for (std::size_t l = on_left ? 0 : i + 1; l < (on_left ? i : order); ++l)
          sum = sum + (on_left ? a(i, l) * b(l, v) : b(v, l) * a(l, i));
        on_left ? b.put(sum, i, v) : b.put(sum, v, i);
      }
    same(Trmm{.m = sm, .n = sn, .side = where, .type = f64}, a, b);
  }
  {
    tensor a(order, order, random), b(m, n, random);  // lower on the left, upper on the right
    for (std::size_t v = 0; v < (on_left ? n : m); ++v)
      for (std::size_t i = 0; i < order; ++i) {
        counted rest = on_left ? b(i, v) : b(v, i);
        for (std::size_t l = 0; l < i; ++l)
          rest = rest - (on_left ? a(i, l) * b(l, v) : b(v, l) * a(l, i));
        on_left ? b.put(rest / a(i, i), i, v) : b.put(rest / a(i, i), v, i);
      }
    same(Trsm{.m = sm, .n = sn, .side = where, .type = f64}, a, b);
  }
}

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

TEST_CASE("ops_blas.textbook_loops_do_what_the_formulas_say") {
  kprof_test::random_shape random(11);
  const auto size = [&](std::int64_t low, std::int64_t high) {
    return static_cast<std::size_t>(random(low, high));
  };
  for (int i = 0; i < 200; ++i) {
    walk_vectors(size(0, 40), random);
    walk_matrix_vector(size(1, 12), size(1, 12), random);
    walk_matrices(size(1, 8), size(1, 8), size(1, 8), random);
  }
}

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
