// SPDX-License-Identifier: MIT
// BLAS 1 to 3 as textbook loops that count what they do and mark what they touch.
#include <kprof/ops/blas.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace kprof::ops;
using blas_side = kprof::ops::side;

namespace {

constexpr kprof::dtype f64 = kprof::dtype::f64;
constexpr blas_side left = blas_side::left, right = blas_side::right;

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

}  // namespace

TEST_CASE("ops_blas_loops.textbook_loops_do_what_the_formulas_say") {
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
