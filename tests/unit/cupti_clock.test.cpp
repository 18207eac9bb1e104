// SPDX-License-Identifier: MIT
// Times and sizes of records that cannot be are taken away; all others stay.

#include <kprof/collect/cupti_clock.hpp>

#include "../support/catch.hpp"

#include <cstdint>

using kprof::detail::activity;
using kprof::detail::cupti::keep_possible;

namespace {

constexpr std::uint64_t second = 1'000'000'000, now = 1'700'000'000 * second;
constexpr std::uint64_t day = 86'400 * second, month = 30 * day,
                        largest_size = std::uint64_t{1} << 48U;

activity kept(std::uint64_t start, std::uint64_t end, std::uint64_t bytes = 8) {
  activity a;
  a.start = start, a.end = end, a.bytes = bytes;
  keep_possible(a, now);
  return a;
}
bool stays(std::uint64_t start, std::uint64_t end) {
  const activity a = kept(start, end);
  CHECK(a.bytes == 8);
  CHECK(((a.start == start && a.end == end) || (a.start == 0 && a.end == 0)));
  return a.start == start && a.end == end;
}

}  // namespace

TEST_CASE("cupti_clock.times_that_cannot_be_are_taken_away") {
  CHECK(stays(now - 5, now));
  CHECK(stays(now, now + day));  // the time of day may be set back
  CHECK_FALSE(stays(now, now + day + 1));
  CHECK_FALSE(stays(now, ~std::uint64_t{0}));
  CHECK_FALSE(stays(~std::uint64_t{0}, ~std::uint64_t{0}));
  CHECK_FALSE(stays(now + day + 1, now));
  CHECK(stays(now - month, now));  // it began before the recording did
  CHECK_FALSE(stays(now - month - 1, now));
  CHECK_FALSE(stays(1, now));
  CHECK(stays(0, 0));
  CHECK(stays(0, now));
  activity a;
  a.start = 1, a.end = 2;
  keep_possible(a, month);  // a clock that has just begun
  CHECK(a.end == 2);
}

TEST_CASE("cupti_clock.more_bytes_than_an_address_can_tell_are_none") {
  CHECK(kept(now - 5, now, largest_size).bytes == largest_size);
  CHECK(kept(now - 5, now, largest_size).timed());
  for (const std::uint64_t bytes : {largest_size + 1, ~std::uint64_t{0}}) {
    CHECK(kept(now - 5, now, bytes).bytes == 0);
    CHECK_FALSE(kept(now - 5, now, bytes).timed());
  }
}
