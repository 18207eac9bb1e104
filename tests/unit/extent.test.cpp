// SPDX-License-Identifier: MIT
// Sizes of any integer type, and those that do not fit.

#include <kprof/ops.hpp>

#include "catch.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

constexpr std::uint64_t too_large = std::uint64_t{1} << 63U;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

struct Own {
  kprof::extent n = 0;
  std::array<kprof::extent, 2> list{};
  struct {
    int a = 0;
    kprof::extent b = 0;
  } nested{};
  constexpr kprof::count flops() const { return 1; }
};
struct SameInIntegers {
  std::int64_t n = 0;
  std::array<std::int64_t, 2> list{};
  struct {
    int a = 0;
    std::int64_t b = 0;
  } nested{};
  constexpr kprof::count flops() const { return 1; }
};
struct Listed {
  kprof::extent n = 0, other = 0;
  using fields = kprof::members<&Listed::n>;
};

/// Known at run time alone: in a constant expression it does not compile.
std::uint64_t at_run_time(std::uint64_t value) {
  const volatile std::uint64_t hidden = value;
  return hidden;
}

template <class T>
inline constexpr bool is_size = std::is_convertible_v<T, kprof::extent>;
enum unscoped { enumerator };
static_assert(is_size<char> && is_size<signed char> && is_size<unsigned short> && is_size<bool> &&
              is_size<std::size_t> && is_size<long long> && is_size<char8_t>);
static_assert(!is_size<float> && !is_size<double> && !is_size<long double> && !is_size<unscoped> &&
              !is_size<kprof::dtype> && !is_size<void*> && !is_size<kprof::count>);
static_assert(std::is_trivially_copyable_v<kprof::extent> && sizeof(kprof::extent) == 8 &&
              alignof(kprof::extent) == alignof(std::int64_t));

}  // namespace

TEST_CASE("extent.any_integer_initialises_it") {
  const std::vector<char> v(7);
  const Own own{.n = v.size(), .list = {std::int8_t{-3}, 4U}, .nested = {1, 'a'}};
  CHECK(own.n == 7);
  CHECK(own.list[0] == -3);
  CHECK(own.list[1] == 4);
  CHECK(own.nested.b == 97);
  CHECK(own.n * 2 == 14);
  CHECK((kprof::count{2} * own.n).value() == 14);
  kprof::brief_text brief;
  brief.put(own.n).by(own.list[0]);
  CHECK(std::string(brief.text().data, brief.text().size) == "7\u00D7-3");
  const kprof::ops::Gemm gemm{.M = v.size(), .N = true, .K = 4U, .batch = -1};
  CHECK(gemm.M == 7);
  CHECK(gemm.N == 1);
  CHECK(gemm.K == 4);
  CHECK(gemm.batch == -1);
}

TEST_CASE("extent.calculates_as_the_integer_that_it_is") {
  kprof::extent n = 7;
  n += 5;
  CHECK(n == 12);
  n -= 2;
  CHECK(n == 10);
  n *= -3;
  CHECK(n == -30);
  n /= 4;
  CHECK(n == -7);
  CHECK(std::is_same_v<decltype(n * 2), std::int64_t>);
  CHECK(n < 0);
}

TEST_CASE("extent.remembers_what_does_not_fit") {
  STATIC_REQUIRE(kprof::extent{too_large - 1} == largest);
  STATIC_REQUIRE(kprof::extent{-largest} == -largest);
  CHECK(kprof::extent{at_run_time(too_large - 1)} == largest);
  CHECK(kprof::extent{at_run_time(too_large)} == kprof::extent::out_of_range);
  CHECK(kprof::extent{at_run_time(too_large + 1)} == kprof::extent::out_of_range);
  CHECK(kprof::extent{at_run_time(~std::uint64_t{0})} == kprof::extent::out_of_range);
#if defined(__SIZEOF_INT128__) && !defined(__STRICT_ANSI__)
  __extension__ using wide = __int128;
  __extension__ using unsigned_wide = unsigned __int128;
  const wide positive = static_cast<wide>(at_run_time(largest));
  CHECK(kprof::extent{positive} == largest);
  CHECK(kprof::extent{-positive} == -largest);
  CHECK(kprof::extent{positive + 1} == kprof::extent::out_of_range);
  CHECK(kprof::extent{positive * 4 + 5} == kprof::extent::out_of_range);
  CHECK(kprof::extent{positive * -4} == kprof::extent::out_of_range);
  CHECK(kprof::extent{static_cast<unsigned_wide>(positive)} == largest);
  CHECK(kprof::extent{~static_cast<unsigned_wide>(0)} == kprof::extent::out_of_range);
#endif
}

TEST_CASE("extent.makes_the_call_invalid_when_it_did_not_fit") {
  using kprof::detail::evaluate;
  const std::uint64_t large = at_run_time(too_large);
  CHECK(evaluate(Own{.n = largest}).valid != 0);
  CHECK(evaluate(Own{.n = large}).valid == 0);
  CHECK(evaluate(Own{.list = {1, large}}).valid == 0);
  CHECK(evaluate(Own{.nested = {1, large}}).valid == 0);
  CHECK(evaluate(Listed{1, large}).valid != 0);
  CHECK(evaluate(Listed{large, 1}).valid == 0);
  CHECK(evaluate(kprof::ops::Gemm{.M = large}).valid == 0);
  CHECK(evaluate(kprof::ops::Gemm{.M = at_run_time(1) << 40U}).valid != 0);
  CHECK(evaluate(kprof::ops::Sdpa{.window_left = 8}).valid != 0);
  CHECK(evaluate(kprof::ops::Sdpa{.window_left = large}).valid == 0);
  CHECK(evaluate(kprof::ops::Concat{.inputs = {{1, large}}}).valid == 0);
  CHECK(evaluate(kprof::ops::GroupedGemm<2>{.groups = {{{1, large, 1}}}}).valid == 0);
}

// Lists hold integers, -1 where there is no size: it must not come from a size of 2^64 - 1.
TEST_CASE("extent.lists_of_sizes_refuse_what_does_not_fit") {
  using kprof::detail::evaluate;
  for (const std::uint64_t large : {at_run_time(too_large), at_run_time(~std::uint64_t{0})}) {
    CHECK(kprof::ops::shape{2, large}.rank() == 2);
    CHECK_FALSE(kprof::ops::shape{2, large}.valid());
    CHECK(evaluate(kprof::ops::Add{.a = {2, large}, .b = {2}}).valid == 0);
    const std::array<std::uint64_t, 2> sizes{2, large};
    CHECK(kprof::ops::shape_of(sizes) == kprof::ops::shape{2, large});
  }
  const std::vector<char> v(7);
  CHECK(kprof::ops::shape{v.size(), kprof::extent{3}} == kprof::ops::shape{7, 3});
  CHECK(evaluate(kprof::ops::Add{.a = {v.size()}, .b = {1}}).flops == 7);
}

// Rows, files and NVTX payloads are those of std::int64_t.
TEST_CASE("extent.is_described_as_the_integer_that_it_is") {
  STATIC_REQUIRE(sizeof(Own) == sizeof(SameInIntegers));
  const auto compare = [](const kprof::detail::struct_desc& a, const kprof::detail::struct_desc& b,
                          const auto& self) -> void {
    REQUIRE(a.field_count == b.field_count);
    for (std::uint32_t i = 0; i < a.field_count; ++i) {
      CHECK(a.fields[i].kind == b.fields[i].kind);
      CHECK(a.fields[i].size == b.fields[i].size);
      CHECK(a.fields[i].offset == b.fields[i].offset);
      CHECK(a.fields[i].extent == b.fields[i].extent);
      if (a.fields[i].nested != nullptr) self(*a.fields[i].nested, *b.fields[i].nested, self);
    }
  };
  compare(kprof::detail::op_desc_of<Own>.params(),
          kprof::detail::op_desc_of<SameInIntegers>.params(), compare);
}
