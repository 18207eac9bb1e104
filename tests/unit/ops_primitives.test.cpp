// SPDX-License-Identifier: MIT
// Data-parallel primitives: published vectors, loops with numbers that count, and parameters that
// make no sense.
#include <kprof/ops/primitives.hpp>

#include "catch.hpp"
#include "ops.hpp"

#include <complex>
#include <cstdint>
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
static_assert(costs(Sort{.n = 65'536, .type = dtype::int32}, 0, 524'288));
static_assert(costs(Histogram{.n = 1'000'000, .bins = 128, .type = dtype::int32}, 1'000'000,
                    4'000'512));
static_assert(costs(TransposeMatrix{.m = 512, .n = 512, .type = dtype::f64}, 0, 4'194'304));

// 3.5 bytes of keys
static_assert(costs(Sort{.n = 7, .type = dtype::uint4, .dtypeValue = dtype::f16}, 0, 2 * (4 + 14)));
static_assert(costs(Sort{.n = 0}, 0, 0));

static_assert(costs(Scan{.n = 13, .type = dtype::c64}, 26, 208) && costs(Scan{.n = 0}, 0, 0));

// zeros are written
static_assert(costs(Histogram{.n = 0, .bins = 3}, 0, 12));

static_assert(costs(ReduceArray{.n = 9, .type = dtype::c128}, 18, 160));
static_assert(costs(ReduceArray{.n = 0, .type = dtype::f64}, 0, 8));

static_assert(costs(TransposeMatrix{.m = 3, .n = 5}, 0, 120));
static_assert(costs(TransposeMatrix{.m = 3, .n = 5, .type = dtype::int4}, 0, 16) &&
              costs(TransposeMatrix{.m = 0, .n = 5}, 0, 0));

constexpr Stream stream(stream_kernel k, std::int64_t n, dtype t = dtype::f64) {
  return {.kernel = k, .n = n, .type = t};
}
static_assert(costs(stream(stream_kernel::copy, 1000), 0, 16'000));
static_assert(costs(stream(stream_kernel::mul, 1000), 1'000, 16'000));
static_assert(costs(stream(stream_kernel::add, 1000), 1'000, 24'000));
static_assert(costs(stream(stream_kernel::triad, 1000), 2'000, 24'000));
static_assert(costs(stream(stream_kernel::dot, 1000), 2'000, 16'000));
static_assert(costs(stream(stream_kernel::nstream, 7, dtype::c64), 70, 224) &&
              costs(stream(stream_kernel::mul, 7, dtype::c128), 42, 224));

static_assert(costs(Sort{}, 0, 8) && costs(TransposeMatrix{}, 0, 8));
template <class... Ops>
constexpr bool on_cores = ((Ops{}.arithmetic().on == kprof::arithmetic_unit::cuda_core) && ...);
static_assert(on_cores<Sort, Scan, Histogram, ReduceArray, TransposeMatrix, Stream>);
static_assert(Stream{}.arithmetic().type == dtype::f64 &&
              Histogram{.dtypeCounter = dtype::uint32}.arithmetic().type == dtype::uint32);

static_assert(!is_constant([] { return Sort{.n = -1}.flops(); }) &&
              !is_constant([] { return Sort{.n = -1}.bytes(); }));
static_assert(!is_constant([] { return Sort{.n = -1}.radix_bytes(); }) &&
              !is_constant([] { return Sort{.n = biggest}.bytes(); }));
static_assert(!is_constant([] { return Sort{.type = dtype::unknown}.bytes(); }));
static_assert(!is_constant([] { return Scan{.n = -1}.flops(); }) &&
              !is_constant([] { return Scan{.n = biggest}.bytes(); }));
static_assert(!is_constant([] { return Scan{.type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return Histogram{.bins = 0}.flops(); }) &&
              !is_constant([] { return Histogram{.n = -1}.bytes(); }));
static_assert(!is_constant([] { return Histogram{.bins = biggest}.bytes(); }) &&
              !is_constant([] { return Histogram{.dtypeCounter = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return ReduceArray{.n = -1}.flops(); }) && !is_constant([] {
  return ReduceArray{.n = biggest, .type = dtype::c64}.flops() +
         ReduceArray{.n = biggest}.bytes().read;
}));
static_assert(!is_constant([] { return ReduceArray{.type = dtype::unknown}.flops(); }));
static_assert(!is_constant([] { return TransposeMatrix{.m = -1}.flops(); }) &&
              !is_constant([] { return TransposeMatrix{.m = biggest, .n = biggest}.bytes(); }));
static_assert(!is_constant([] { return TransposeMatrix{.type = dtype::unknown}.bytes(); }));
static_assert(!is_constant([] { return Stream{.n = -1}.flops(); }) &&
              !is_constant([] { return Stream{.n = biggest}.bytes(); }));
static_assert(!is_constant([] { return stream(stream_kernel::nstream, biggest).flops(); }) &&
              !is_constant([] { return Stream{.type = dtype::unknown}.bytes(); }));

/// A number that counts arithmetic, and the loads and stores of it.
template <class T>
struct counted {
  T value{};
  static inline std::uint64_t muls = 0, adds = 0;
  friend counted operator+(counted a, counted b) {
    ++adds;
    return {a.value + b.value};
  }
  friend counted operator*(counted a, counted b) {
    ++muls;
    return {a.value * b.value};
  }
};

template <class T>
struct array {
  std::vector<counted<T>> data;
  std::vector<bool> read, written;
  explicit array(std::size_t n) : data(n), read(n), written(n) {}
  counted<T> operator[](std::size_t i) {
    read[i] = true;
    return data[i];
  }
  void put(std::size_t i, counted<T> v) {
    written[i] = true;
    data[i] = v;
  }
  std::uint64_t reads() const { return sum(read); }
  std::uint64_t writes() const { return sum(written); }
  static std::uint64_t sum(const std::vector<bool>& marks) {
    std::uint64_t n = 0;
    for (const bool m : marks) n += m ? 1 : 0;
    return n;
  }
};

template <class T>
void walk(std::size_t n, dtype type, std::uint64_t mul, std::uint64_t add) {
  using number = counted<T>;
  const auto flops = [&] { return number::muls * mul + number::adds * add; };
  const auto clear = [] { number::muls = number::adds = 0; };
  const auto size = static_cast<std::int64_t>(n);
  for (const stream_kernel k : {stream_kernel::copy, stream_kernel::mul, stream_kernel::add,
                                stream_kernel::triad, stream_kernel::dot, stream_kernel::nstream}) {
    array<T> a(n), b(n), c(n);
    const number s{T(3)};
    number sum;
    clear();
    for (std::size_t i = 0; i < n; ++i) switch (k) {
        case stream_kernel::copy: c.put(i, a[i]); break;
        case stream_kernel::mul: b.put(i, s * c[i]); break;
        case stream_kernel::add: c.put(i, a[i] + b[i]); break;
        case stream_kernel::triad: a.put(i, b[i] + s * c[i]); break;
        case stream_kernel::dot: sum = sum + a[i] * b[i]; break;
        case stream_kernel::nstream: a.put(i, a[i] + b[i] + s * c[i]); break;
      }
    const Stream op{.kernel = k, .n = size, .type = type};
    REQUIRE(op.flops() == flops());
    REQUIRE(op.bytes().read == (a.reads() + b.reads() + c.reads()) * sizeof(T));
    REQUIRE(op.bytes().written == (a.writes() + b.writes() + c.writes()) * sizeof(T));
  }
  array<T> in(n), out(n), one(1);
  number sum;
  clear();
  for (std::size_t i = 0; i < n; ++i) out.put(i, sum = sum + in[i]);
  one.put(0, sum);
  const Scan scan{.n = size, .type = type};
  const ReduceArray reduce{.n = size, .type = type};
  REQUIRE(scan.flops() == flops());
  REQUIRE(reduce.flops() == flops());
  REQUIRE(scan.bytes().read == in.reads() * sizeof(T));
  REQUIRE(scan.bytes().written == out.writes() * sizeof(T));
  REQUIRE(reduce.bytes().read == in.reads() * sizeof(T));
  REQUIRE(reduce.bytes().written == one.writes() * sizeof(T));
}

template <class Op>
void walk_extremes(kprof::extent Op::*field, std::int64_t lowest) {
  for (const std::int64_t value : {smallest, smallest + 1, std::int64_t{-1}, std::int64_t{0},
                                   std::int64_t{1}, biggest - 1, biggest}) {
    Op op;
    op.*field = value;
    CAPTURE(value);
    CHECK(op.valid() == (value >= lowest));
    if (!op.valid()) CHECK(is_refused(op));
    if (value > 1) CHECK(!op.bytes().total().valid());
  }
}

}  // namespace

TEST_CASE("ops_primitives.loops_do_what_the_formulas_say") {
  for (std::size_t n = 0; n < 150; ++n) {
    walk<float>(n, dtype::f32, 1, 1);
    walk<double>(n, dtype::f64, 1, 1);
    walk<std::complex<double>>(n, dtype::c128, 6, 2);
  }
}

TEST_CASE("ops_primitives.sorts_histograms_and_transposes_touch_what_the_formulas_say") {
  kprof_test::random_shape random(5);
  for (int i = 0; i < 300; ++i) {
    const auto n = static_cast<std::size_t>(random(0, 60)),
               bins = static_cast<std::size_t>(random(1, 9)),
               rows = static_cast<std::size_t>(random(0, 9));
    array<double> samples(n), counters(bins), keys(n), values(n), sorted_keys(n), sorted_values(n),
        from(rows * bins), to(rows * bins);
    for (std::size_t b = 0; b < bins; ++b) counters.put(b, {});
    using number = counted<double>;
    number::adds = 0;
    std::vector<number> local(bins);
    for (std::size_t s = 0; s < n; ++s) {
      number& counter = local[static_cast<std::size_t>(samples[s].value) % bins];
      counter = counter + number{1};
    }
    for (std::size_t b = 0; b < bins; ++b) counters.put(b, local[b]);
    const Histogram histogram{.n = static_cast<std::int64_t>(n),
                              .bins = static_cast<std::int64_t>(bins),
                              .type = dtype::f64,
                              .dtypeCounter = dtype::int64};
    REQUIRE(histogram.flops() == number::adds);
    REQUIRE(histogram.bytes().read == samples.reads() * 8);
    REQUIRE(histogram.bytes().written == counters.writes() * 8);

    // Four passes of a radix sort of 32-bit keys, each of which moves all of it.
    std::uint64_t read = 0, written = 0;
    for (int pass = 0; pass < 4; ++pass) {
      for (std::size_t k = 0; k < n; ++k)
        sorted_keys.put(k, keys[k]), sorted_values.put(k, values[k]);
      read += keys.reads() * 4 + values.reads() * 8,
          written += sorted_keys.writes() * 4 + sorted_values.writes() * 8;
    }
    const Sort sort{
        .n = static_cast<std::int64_t>(n), .type = dtype::int32, .dtypeValue = dtype::int64};
    REQUIRE(sort.radix_bytes().read == read);
    REQUIRE(sort.radix_bytes().written == written);
    REQUIRE(sort.bytes().read * 4 == read);
    REQUIRE(sort.bytes().written * 4 == written);

    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < bins; ++c) to.put(c * rows + r, from[r * bins + c]);
    const TransposeMatrix transpose{.m = static_cast<std::int64_t>(rows),
                                    .n = static_cast<std::int64_t>(bins),
                                    .type = dtype::f64};
    REQUIRE(transpose.bytes().read == from.reads() * 8);
    REQUIRE(transpose.bytes().written == to.writes() * 8);
  }
}

TEST_CASE("ops_primitives.senseless_parameters_have_no_numbers") {
  walk_extremes(&Sort::n, 0);
  walk_extremes(&Scan::n, 0);
  walk_extremes(&Histogram::n, 0);
  walk_extremes(&Histogram::bins, 1);
  walk_extremes(&ReduceArray::n, 0);
  walk_extremes(&TransposeMatrix::m, 0);
  walk_extremes(&TransposeMatrix::n, 0);
  walk_extremes(&Stream::n, 0);
  for (const std::int64_t m : {smallest, std::int64_t{-1}, biggest})
    for (const std::int64_t n : {smallest, std::int64_t{-1}, biggest})
      CHECK(!TransposeMatrix{.m = m, .n = n}.bytes().total().valid());
  CHECK(!Sort{.n = biggest}.radix_bytes().total().valid());
  CHECK(!Sort{.n = smallest}.radix_bytes().total().valid());
  CHECK(is_refused(Sort{.type = dtype::unknown}));
  CHECK(is_refused(Scan{.type = dtype::unknown}));
  CHECK(is_refused(Histogram{.type = dtype::unknown}));
  CHECK(is_refused(Histogram{.dtypeCounter = dtype::unknown}));
  CHECK(is_refused(ReduceArray{.type = dtype::unknown}));
  CHECK(is_refused(TransposeMatrix{.type = dtype::unknown}));
  CHECK(is_refused(Stream{.type = dtype::unknown}));
}
