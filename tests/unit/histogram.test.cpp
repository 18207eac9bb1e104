// SPDX-License-Identifier: MIT
#include <kprof/record/histogram.hpp>

#include "../support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using kprof::histogram;

namespace {

// Values of all magnitudes: what counts is the number of bits, not the number.
std::vector<std::uint64_t> random_values(std::mt19937_64& random, std::size_t n, unsigned bits) {
  std::vector<std::uint64_t> values(n);
  for (std::uint64_t& v : values) v = random() >> (64 - 1 - random() % bits);
  return values;
}

std::uint64_t nearest_rank(const std::vector<std::uint64_t>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

}  // namespace

TEST_CASE("histogram.quantiles_are_within_one_percent_of_the_nearest_rank") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> values =
        random_values(random, 1 + random() % 400, 1 + static_cast<unsigned>(random() % 63));
    histogram h;
    for (const std::uint64_t v : values) h.add(v);
    std::sort(values.begin(), values.end());
    for (const double q : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 1.0}) {
      const auto exact = static_cast<double>(nearest_rank(values, q));
      INFO("round " << round << " q " << q << " exact " << exact);
      REQUIRE(std::abs(h.quantile(q) - exact) <= 0.008 * exact);
    }
  }
}

TEST_CASE("histogram.small_values_are_exact") {
  for (std::uint64_t v = 0; v < 128; ++v) {
    histogram h;
    h.add(v);
    REQUIRE(h.quantile(0.5) == static_cast<double>(v));
  }
}

TEST_CASE("histogram.every_value_has_its_bucket") {
  CHECK(histogram::bucket_of(0) == 0);
  CHECK(histogram::bucket_of(127) == 127);
  CHECK(histogram::bucket_of(128) == 128);
  CHECK(histogram::bucket_of(129) == 128);
  CHECK(histogram::bucket_of(130) == 129);
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> values = random_values(random, 10'000, 63);
  values.push_back(~std::uint64_t{0});
  std::sort(values.begin(), values.end());
  for (std::size_t i = 1; i < values.size(); ++i)
    REQUIRE(histogram::bucket_of(values[i - 1]) <= histogram::bucket_of(values[i]));
  CHECK(histogram::value_of(histogram::bucket_of(~std::uint64_t{0})) ==
        Approx(18446744073709551615.0).epsilon(0.008));
}

TEST_CASE("histogram.merging_is_the_same_as_adding_all_values") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 100; ++round) {
    histogram a, b, all;
    for (const std::uint64_t v : random_values(random, random() % 50, 40)) a.add(v), all.add(v);
    for (const std::uint64_t v : random_values(random, random() % 50, 20)) b.add(v), all.add(v);
    a.merge(b);
    REQUIRE(a.count() == all.count());
    for (double q = 0; q <= 1; q += 0.05) REQUIRE(a.quantile(q) == all.quantile(q));
  }
}

TEST_CASE("histogram.an_empty_one_has_no_values_and_takes_no_memory") {
  histogram h;
  CHECK(h.count() == 0);
  CHECK(h.quantile(0.5) == 0);
  CHECK(h.memory() == 0);
  h.merge(histogram{});
  CHECK(h.memory() == 0);
}

TEST_CASE("histogram.asks_for_what_it_takes") {
  std::mt19937_64 random(4);
  histogram h, other;
  std::size_t asked = 0;
  const auto may_grow = [&](std::size_t bytes) { return asked += bytes, true; };
  for (const std::uint64_t v : random_values(random, 100, 30)) CHECK(h.add(v, may_grow) == 0);
  for (const std::uint64_t v : random_values(random, 100, 50)) other.add(v);
  CHECK(h.merge(other, may_grow) == 0);
  CHECK(asked == h.memory());
  CHECK(h.count() == 200);
}

TEST_CASE("histogram.a_few_values_take_no_memory") {
  histogram h;
  std::uint32_t moved = 0;
  for (std::uint64_t v : {1'000'000'000U, 5U, 70'000U, 5U, 0U})
    moved += h.add(v, [](std::size_t) { return false; });
  CHECK(moved == 0);
  CHECK(h.memory() == 0);
  CHECK(h.quantile(0) == 0);
  CHECK(h.quantile(0.5) == 5);
  CHECK(h.quantile(1) == Approx(1e9).epsilon(0.008));
}

TEST_CASE("histogram.refused_memory_counts_at_the_nearest_value_it_has") {
  histogram h;
  const auto refused = [](std::size_t) { return false; };
  std::uint64_t moved = h.add(1000, refused);  // the first has to go somewhere
  for (std::uint64_t i = 1; i < 1000; ++i) moved += h.add(i % 2 == 0 ? 5 : 1'000'000, refused);
  CHECK(h.count() == 1000);
  CHECK(moved >= 1000 - 16);  // but for those that are still gathered
  CHECK(moved < 1000);
  CHECK(h.quantile(0.5) == Approx(1000).epsilon(0.01));
  CHECK(h.memory() <= 64);

  histogram other;
  other.add(1000);
  // those that were gathered: the others lie where the first did
  CHECK(other.merge(h, refused) == 1000 % 16);
  CHECK(other.count() == 1001);
}

TEST_CASE("histogram.the_largest_count_has_quantiles") {
  histogram h;
  h.restore(3, 1ULL << 62U);
  h.restore(9, ~0ULL - (1ULL << 62U));
  CHECK(h.count() == ~0ULL);
  CHECK(h.quantile(0.2) == 3);
  CHECK(h.quantile(1) == 9);
}
