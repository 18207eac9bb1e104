// SPDX-License-Identifier: MIT

#include <kprof/model/compare.hpp>

#include "../support/catch.hpp"
#include "../support/compared_runs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

using kprof::change_verdict;
using kprof::detail::holm;
using kprof::detail::runs_that_show;
using kprof::detail::two_sided_p;
using kprof::detail::two_sided_t;

namespace {

constexpr double pi = 3.14159265358979323846;

bool is_close(double value, double wanted, double relative) {
  return std::fabs(value - wanted) <= relative * std::fabs(wanted);
}

struct noise {
  double own = 0.006, common = 0.016;  // standard deviations of logarithms, of a row and of a run
};
/// One side: `rows` rows in `runs` runs, the first one `factor` times as long.
std::vector<kprof::compared_run> random_side(std::mt19937& random, std::size_t rows,
                                             std::size_t runs, double factor, const noise& n) {
  std::normal_distribution<double> normal;
  std::vector<kprof_test::row_times> times;
  for (std::size_t i = 0; i < rows; ++i)
    times.push_back({"row " + std::to_string(i), std::vector<double>(runs, 100)});
  for (std::size_t r = 0; r < runs; ++r) {
    const double common = n.common * normal(random);
    for (std::size_t i = 0; i < rows; ++i)
      times[i].us[r] *= std::exp(common + n.own * normal(random)) * (i == 0 ? factor : 1);
  }
  return kprof_test::runs_of(times);
}

}  // namespace

TEST_CASE("compare_statistics.quantiles_are_those_of_published_tables") {
  // Table of critical values of Student's t, NIST/SEMATECH e-Handbook, 1.3.6.7.2.
  const struct {
    double df, p, t;
  } table[] = {{1, 0.05, 12.706},  {2, 0.05, 4.303},  {3, 0.10, 2.353},  {4, 0.01, 4.604},
               {5, 0.05, 2.571},   {8, 0.05, 2.306},  {8, 0.002, 4.501}, {10, 0.20, 1.372},
               {20, 0.02, 2.528},  {30, 0.05, 2.042}, {60, 0.01, 2.660}, {100, 0.05, 1.984},
               {1e9, 0.05, 1.960}, {1e9, 0.4, 0.842}};
  for (const auto& entry : table) {
    INFO("df " << entry.df << " p " << entry.p);
    CHECK(std::fabs(two_sided_t(entry.p, entry.df) - entry.t) <= 0.00051);
  }
}

TEST_CASE("compare_statistics.probabilities_have_closed_forms_to_compare_with") {
  for (double t = 0.001; t < 1e6; t *= 1.7) {
    INFO("t " << t);
    CHECK(is_close(two_sided_p(t, 1), 2 / pi * std::atan(1 / t), 1e-11));
    // 1 - t / sqrt(2 + t t), without its cancellation
    const double root = std::sqrt(2 + t * t);
    CHECK(is_close(two_sided_p(t, 2), 2 / (root * (root + t)), 1e-11));
    const double s = std::sqrt(3.0), angle = std::atan(s / t);
    if (t < 30)  // it cancels beyond
      CHECK(is_close(two_sided_p(t, 3), 2 / pi * (angle - t * s / (3 + t * t)), 1e-9));
    CHECK(two_sided_p(-t, 7.3) == two_sided_p(t, 7.3));
  }
  CHECK(two_sided_p(0, 5) == 1);
  CHECK(two_sided_p(HUGE_VAL, 5) == 0);
  CHECK(std::isnan(two_sided_p(std::nan(""), 5)));
  // Of very many degrees of freedom it is the normal distribution.
  CHECK(is_close(two_sided_p(3, 1e6), std::erfc(3 / std::sqrt(2.0)), 1e-4));
  // A quantile has its probability, also between whole degrees.
  for (const double df : {1.0, 1.37, 2.0, 7.352, 8.0, 55.5, 4000.0})
    for (const double p : {0.9, 0.4, 0.05, 1e-3, 1e-9}) {
      INFO("df " << df << " p " << p);
      CHECK(is_close(two_sided_p(two_sided_t(p, df), df), p, 1e-9));
    }
}

TEST_CASE("compare_statistics.holm_corrects_as_published_and_is_monotone") {
  // Wright (1992), Adjusted p-values for simultaneous inference: 0.01 0.02 0.04 by hand.
  const std::vector<double> small = holm({0.04, 0.01, 0.02});
  CHECK(is_close(small[1], 0.03, 1e-12));
  CHECK(is_close(small[2], 0.04, 1e-12));
  CHECK(is_close(small[0], 0.04, 1e-12));
  CHECK(holm({}).empty());
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::vector<double> p(1 + random() % 30);
    for (double& x : p) x = std::pow(std::uniform_real_distribution<double>(0, 1)(random), 4);
    const std::vector<double> corrected = holm(p);
    const double least = *std::min_element(p.begin(), p.end());
    for (std::size_t a = 0; a < p.size(); ++a) {
      CHECK(corrected[a] >= p[a]);
      CHECK(corrected[a] <=
            std::min(1.0, static_cast<double>(p.size()) * p[a]) + 1e-15 + (p[a] > least ? 1 : 0));
      CHECK(corrected[a] <= 1);
      for (std::size_t b = 0; b < p.size(); ++b)
        if (p[a] <= p[b]) CHECK(corrected[a] <= corrected[b]);
    }
  }
}

TEST_CASE("compare_statistics.least_changes_need_the_runs_that_they_are_known_to_need") {
  // With s = 0.6 %: 5 runs find 1.2 %, 20 rows 2.0 %; 10 runs 0.8 % and 1.2 %.
  CHECK(runs_that_show(0.0125, 0.006, 0.05) == 5);
  CHECK(runs_that_show(0.0205, 0.006, 0.05 / 20) == 5);
  CHECK(runs_that_show(0.0080, 0.006, 0.05) == 10);
  CHECK(runs_that_show(0.0120, 0.006, 0.05 / 20) == 10);
  CHECK(runs_that_show(1, 0.006, 0.05) == 3);
  CHECK(runs_that_show(1e-4, 0.1, 0.05) == 0);
  CHECK(runs_that_show(0, 0.1, 0.05) == 0);
}

TEST_CASE("compare_statistics.without_a_difference_there_is_hardly_an_alarm") {
  std::mt19937 random(11);
#ifdef KPROF_TEST_SHORT
  constexpr int sets = 100;
#else
  constexpr int sets = 400;
#endif
  int alarms = 0, small_alarms = 0;
  kprof::compare_settings any_size;
  any_size.threshold = 1e-9;
  for (int i = 0; i < sets; ++i) {
    const auto before = random_side(random, 20, 5, 1, {}),
               after = random_side(random, 20, 5, 1, {});
    const kprof::comparison c = compare(before, after), all = compare(before, after, any_size);
    alarms += c.count(change_verdict::slower) + c.count(change_verdict::faster) > 0 ? 1 : 0;
    small_alarms += all.count(change_verdict::slower) + all.count(change_verdict::faster) > 0;
  }
  CHECK(alarms == 0);
  // By Holm at most 5 % in the mean: 20 of 400 with a deviation of 4.4.
  CHECK(small_alarms <= sets / 20 + 16);
}

TEST_CASE("compare_statistics.a_row_that_takes_five_percent_more_is_found") {
  std::mt19937 random(12);
  int found = 0, wrong = 0;
  constexpr int sets = 100;
  for (int i = 0; i < sets; ++i) {
    const kprof::comparison c =
        compare(random_side(random, 20, 5, 1, {}), random_side(random, 20, 5, 1.05, {}));
    for (const kprof::row_change& row : c.rows) {
      const bool is_changed = row.change.verdict == change_verdict::slower ||
                              row.change.verdict == change_verdict::faster;
      (row.name == "row 0" ? found : wrong) += is_changed ? 1 : 0;
    }
  }
  CHECK(found >= 95);
  CHECK(wrong == 0);
}
