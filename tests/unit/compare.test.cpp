// SPDX-License-Identifier: MIT

#include <kprof/model/compare.hpp>

#include "../support/catch.hpp"
#include "../support/compared_runs.hpp"
#include "../support/profile_builder.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using kprof::change_verdict;
using kprof_test::row_times;
using kprof_test::runs_of;

namespace {

/// The numbers of shared/reference/analysis.md, in microseconds, five runs a side.
const std::vector<row_times> example_before = {
    {"Gemm", {100, 101.2, 99.5, 100.8, 100.1}}, {"Conv", {50, 50.4, 49.8, 50.5, 50.1}},
    {"Norm", {20, 20.3, 19.9, 20.2, 20}},       {"Relu", {5, 5.06, 4.98, 5.05, 5.01}},
    {"Attn", {300, 302.9, 298.8, 303, 300.2}},
};
const std::vector<row_times> example_after = {
    {"Gemm", {106, 107.3, 105.2, 106.6, 106.1}}, {"Conv", {50.2, 50.8, 49.7, 50.4, 50.3}},
    {"Norm", {20.1, 20.4, 19.8, 20.1, 20.1}},    {"Relu", {5.02, 5.08, 4.97, 5.04, 5.03}},
    {"Attn", {301, 304.1, 298.1, 302.2, 301.4}},
};

kprof::comparison example() { return compare(runs_of(example_before), runs_of(example_after)); }

const kprof::row_change& row(const kprof::comparison& c, const std::string& name) {
  for (const kprof::row_change& r : c.rows)
    if (r.name == name) return r;
  FAIL("there is no row " << name);
  return c.rows[0];
}

/// Whether `value` is `wanted` to the digits in which it is printed there.
bool is_near(double value, double wanted, double unit) {
  return std::fabs(value - wanted) <= 0.5000001 * unit;
}

}  // namespace

TEST_CASE("compare.gives_the_published_example_to_its_digits") {
  const kprof::comparison c = example();
  REQUIRE(c.rows.size() == 5);
  CHECK(c.common_is_removed);
  CHECK_FALSE(c.common_is_large);
  CHECK(is_near(100 * c.common.change(), 0.1984, 1e-4));
  const kprof::row_change& gemm = row(c, "Gemm");
  CHECK(is_near(100 * gemm.change.by.change(), 5.6911, 1e-4));
  CHECK(is_near(gemm.change.by.error, 0.001455, 1e-6));
  CHECK(is_near(gemm.change.by.df, 8, 1e-3));
  CHECK(is_near(gemm.change.by.p, 2.50e-10, 1e-12));
  CHECK(gemm.change.verdict == change_verdict::slower);
  CHECK(is_near(100 * gemm.plain.change(), 5.9008, 1e-4));
  CHECK(is_near(gemm.plain.error, 0.004445, 1e-6));
  CHECK(is_near(gemm.plain.df, 7.947, 1e-3));
  CHECK(is_near(gemm.plain.p, 1.309e-6, 1e-9));
  const kprof::row_change& norm = row(c, "Norm");
  CHECK(is_near(100 * norm.change.by.change(), -0.1004, 1e-4));
  CHECK(is_near(norm.change.by.df, 7.352, 1e-3));
  CHECK(is_near(norm.change.by.p, 0.5831, 1e-4));
  for (const char* name : {"Conv", "Norm", "Relu", "Attn"})
    CHECK(row(c, name).change.verdict == change_verdict::same);
  CHECK(c.is_slower());
}

TEST_CASE("compare.rows_are_in_the_order_of_their_time") {
  const kprof::comparison c = example();
  for (std::size_t i = 1; i < c.rows.size(); ++i)
    CHECK(c.rows[i].before_share <= c.rows[i - 1].before_share);
  CHECK(c.rows[0].name == "Attn");
}
