// SPDX-License-Identifier: MIT

// The interval that holds a median, against published tables of its ranks, and how often it does.

#include "catch.hpp"

#include <kprof/model/median_interval.hpp>

#include <cstddef>
#include <random>
#include <vector>

using kprof::median_interval;
using kprof::detail::interval_of;
using kprof::detail::ranks_around_median;

TEST_CASE("median_interval.ranks_are_those_of_the_tables") {
  struct row {
    std::size_t n, low;
  };
  // Conover, Practical Nonparametric Statistics: binomial with p = 1/2, at least 95 %.
  for (const row r :
       {row{6, 1}, row{7, 1}, row{8, 1}, row{9, 2}, row{10, 2}, row{11, 2}, row{12, 3}, row{15, 4},
        row{20, 6}, row{25, 8}, row{30, 10}, row{50, 18}, row{100, 40}, row{1000, 469}}) {
    CAPTURE(r.n);
    CHECK(ranks_around_median(r.n).low == r.low);
    CHECK(ranks_around_median(r.n).high == r.n + 1 - r.low);
  }
  for (std::size_t n = 0; n < 6; ++n) CHECK(ranks_around_median(n).low == 0);
}

TEST_CASE("median_interval.ranks_go_on_smoothly_above_a_thousand") {
  CHECK(ranks_around_median(1001).low == 469);
  CHECK(ranks_around_median(10'000).low == 4902);
  CHECK(ranks_around_median(10'000).high == 5099);
}

TEST_CASE("median_interval.of_known_values") {
  std::vector<double> ten{7, 1, 10, 4, 6, 2, 9, 3, 8, 5};
  const median_interval m = interval_of(ten);
  CHECK(m.median_ns == 5.5);
  CHECK(m.low_ns == 2);
  CHECK(m.high_ns == 9);
  CHECK(m.samples == 10);
  CHECK(m.precision() == Approx(3.5 / 5.5));

  std::vector<double> nine{9, 8, 7, 6, 5, 4, 3, 2, 1};
  CHECK(interval_of(nine).median_ns == 5);
  CHECK(interval_of(nine).low_ns == 2);
  CHECK(interval_of(nine).high_ns == 8);

  std::vector<double> same(20, 3.0);
  CHECK(interval_of(same).precision() == 0);
}

TEST_CASE("median_interval.too_few_values_have_none") {
  std::vector<double> none, five{1, 2, 3, 4, 5}, zeros(30, 0.0);
  CHECK(interval_of(none).median_ns == 0);
  CHECK(interval_of(none).precision() == 1);
  CHECK(interval_of(five).median_ns == 3);
  CHECK_FALSE(interval_of(five).has_interval());
  CHECK(interval_of(five).precision() == 1);
  CHECK(interval_of(zeros).precision() == 1);  // nobody knows what a share of nothing is
}

TEST_CASE("median_interval.holds_the_median_in_95_of_100_cases") {
  std::mt19937 generator(15);
  std::exponential_distribution<double> skewed(0.693147180559945);  // median 1
  int held = 0;
  constexpr int cases = 4000;
  for (int i = 0; i < cases; ++i) {
    std::vector<double> values(25);
    for (double& v : values) v = skewed(generator);
    const median_interval m = interval_of(values);
    held += m.low_ns <= 1 && 1 <= m.high_ns ? 1 : 0;
  }
  CHECK(held > 0.945 * cases);  // 95.7 % with 25 values
  CHECK(held < 0.97 * cases);
}
