// SPDX-License-Identifier: MIT
#include <kprof/declare/dtype.hpp>

#include "catch.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace {

using kprof::count;
using kprof::dtype;

// 2^64 - 1 marks an invalid count
constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max() - 1;

/// Not a constant to the compiler, so that an overflow is met at run time.
std::uint64_t opaque(std::uint64_t value) {
  volatile std::uint64_t hidden = value;
  return hidden;
}

}  // namespace

TEST_CASE("dtype.every_type_has_its_width") {
  struct row {
    dtype type;
    unsigned bits;
  };
  constexpr row rows[] = {
      {dtype::unknown, 0},  {dtype::f64, 64},     {dtype::f32, 32},     {dtype::tf32, 32},
      {dtype::f16, 16},     {dtype::bf16, 16},    {dtype::fp8_e4m3, 8}, {dtype::fp8_e5m2, 8},
      {dtype::fp6_e2m3, 6}, {dtype::fp6_e3m2, 6}, {dtype::fp4_e2m1, 4}, {dtype::int64, 64},
      {dtype::int32, 32},   {dtype::int16, 16},   {dtype::int8, 8},     {dtype::int4, 4},
      {dtype::uint64, 64},  {dtype::uint32, 32},  {dtype::uint16, 16},  {dtype::uint8, 8},
      {dtype::uint4, 4},    {dtype::boolean, 8},  {dtype::c64, 64},     {dtype::c128, 128}};
  unsigned value = 0;
  for (const row& r : rows) {
    CAPTURE(value);
    CHECK(static_cast<unsigned>(r.type) == value++);  // the values are in files and schemas
    CHECK(bits_of(r.type) == r.bits);
  }
  CHECK(bits_of(static_cast<dtype>(value)) == 0);
}

TEST_CASE("dtype.size_of_is_defined_for_whole_bytes_only") {
  static_assert(size_of(dtype::c128) == 16);
  static_assert(size_of(dtype::boolean) == 1);
  CHECK(size_of(dtype::f16) == 2);
  CHECK_FALSE(size_of(dtype::int4).valid());
  CHECK_FALSE(size_of(dtype::fp6_e2m3).valid());
  CHECK_FALSE(size_of(dtype::unknown).valid());
}

TEST_CASE("dtype.bytes_for_packs_and_rounds_up") {
  static_assert(bytes_for(3, dtype::f32) == 12);
  CHECK(bytes_for(0, dtype::int4) == 0);
  CHECK(bytes_for(1, dtype::int4) == 1);
  CHECK(bytes_for(2, dtype::int4) == 1);
  CHECK(bytes_for(3, dtype::int4) == 2);
  CHECK(bytes_for(4, dtype::fp6_e3m2) == 3);
  CHECK(bytes_for(5, dtype::fp6_e3m2) == 4);
  CHECK_FALSE(bytes_for(largest, dtype::f32).valid());
}

TEST_CASE("dtype.count_is_an_unsigned_64_bit_number") {
  static_assert(std::is_trivially_copyable_v<count> && sizeof(count) == 8);
  static_assert(count{}.value() == 0 && count{}.valid());
  static_assert(count{true} == 1 && count{'\3'} == 3);
  static_assert(count{7} + 3 == 10 && count{7} - 3 == 4 && count{7} * 3 == 21 && count{7} / 2 == 3);
  static_assert([] {
    count c = 5;
    c += 1;
    c *= 4;
    c -= 4;
    c /= 2;
    return c;
  }() == 10);
  CHECK(count{largest}.valid());
  CHECK(count{largest}.value() == largest);
  CHECK((count{largest} + 0).valid());
  CHECK((count{largest / 2} * 2).value() == largest);
  CHECK((count{0} * largest).value() == 0);
}

TEST_CASE("dtype.count_becomes_invalid_and_stays_so") {
  const count overflow = count{opaque(largest)} + 1;
  CHECK_FALSE(overflow.valid());
  CHECK(overflow.value() == ~std::uint64_t{0});
  CHECK_FALSE((count{opaque(std::uint64_t{1} << 32U)} * (std::uint64_t{1} << 32U)).valid());
  CHECK_FALSE((count{opaque(3)} - 4).valid());
  CHECK_FALSE((count{opaque(3)} / 0).valid());
  CHECK_FALSE(count{-static_cast<std::int64_t>(opaque(1))}.valid());
  CHECK_FALSE(count{static_cast<std::int8_t>(-1)}.valid());
  CHECK_FALSE(count{opaque(~std::uint64_t{0})}.valid());
  for (const count c : {overflow + 1, overflow - overflow, overflow * 0, overflow / 2, 1 + overflow,
                        0 * overflow, 0 / overflow, 1 - overflow})
    CHECK_FALSE(c.valid());
  CHECK(overflow == count{1} / opaque(0));
}

TEST_CASE("dtype.traffic_adds_up") {
  constexpr kprof::traffic t{.read = 3, .written = 4};
  static_assert(t.total() == 7);
  CHECK_FALSE(kprof::traffic{.read = largest, .written = 1}.total().valid());
  CHECK(kprof::traffic{}.total() == 0);
}
