// SPDX-License-Identifier: MIT
#include <kprof/report/table/dimensions.hpp>
#include <kprof/report/text/columns.hpp>
#include <kprof/tables.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/sample_profile.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using kprof::additivity;
using kprof::figure;
using kprof::metric;
using kprof::operator_row;
using kprof::detail::dimension_count;
using kprof::detail::place_of_dimension;

namespace {

/// What the figures of several rows make together by the metric's own rule.
double together(const metric& m, const std::vector<operator_row>& rows) {
  double sum = 0, least = HUGE_VAL, most = 0;
  for (const operator_row& row : rows) {
    const figure f = m.of(row);
    if (!f.known()) continue;
    sum += f.value;
    least = std::min(least, f.value);
    most = std::max(most, f.value);
  }
  return m.adds == additivity::minimum ? least : m.adds == additivity::maximum ? most : sum;
}

}  // namespace

TEST_CASE("metrics.have_names_units_and_meanings_of_their_own") {
  std::set<std::string_view> ids, labels;
  for (const metric& m : kprof::metrics) {
    INFO(m.id);
    CHECK(ids.insert(m.id).second);
    CHECK(labels.insert(m.label).second);
    CHECK(std::string_view{m.meaning}.size() > 10);
    CHECK(std::string_view{m.meaning_in(true)}.size() > 10);
    CHECK(kprof::find_metric(m.id) == &m);
    CHECK(place_of_dimension(m.id) == dimension_count);
  }
  CHECK(kprof::find_metric("speed") == nullptr);
  STATIC_REQUIRE(kprof::metrics[kprof::detail::place_of_metric("gflops")].unit.scale == 1e-9);
}

TEST_CASE("metrics.give_the_numbers_of_a_row") {
  operator_row row;
  row.calls = 3;
  row.replays = 2;
  row.open = 4;
  row.self_ns = 5;
  row.kernels = 6;
  row.flops_per_s = {7, kprof::absence::none};
  const auto value = [&](const char* id) { return kprof::find_metric(id)->of(row).value; };
  CHECK(value("calls") == 5);
  CHECK(value("replays") == 2);
  CHECK(value("open") == 4);
  CHECK(value("self") == 5);
  CHECK(value("kernels") == 6);
  CHECK(value("gflops") == 7);
  CHECK(kprof::find_metric("gap")->of(row).why == kprof::absence::no_launch);
}

// What a metric says of how it adds up is true of rows by parameters and the rows by operator that
// they make, where each operator's rows are not nested in one another.
TEST_CASE("metrics.add_up_as_they_say") {
  for (const kprof::profile& run :
       {kprof_test::sample_profile(), kprof_test::transformer_profile()}) {
    const std::vector<operator_row> fine = kprof::operator_table(run);
    for (const operator_row& whole : kprof::operator_table(run, kprof::grouping::op)) {
      std::vector<operator_row> parts;
      for (const operator_row& row : fine)
        if (row.name == whole.name) parts.push_back(row);
      for (const metric& m : kprof::metrics) {
        INFO(whole.name << ' ' << m.id);
        if (m.adds == additivity::ratio || m.adds == additivity::none || !m.of(whole).known())
          continue;
        CHECK(together(m, parts) == Approx(m.of(whole).value));
      }
    }
  }
}

TEST_CASE("metrics.columns_take_names_and_meanings_from_what_is_declared") {
  for (const kprof::detail::column& c : kprof::detail::columns) {
    // columns of the text report alone
    if (c.as == kprof::detail::look::bar || c.as == kprof::detail::look::cumulative ||
        c.as == kprof::detail::look::around || c.number == &kprof::detail::projected_metric)
      continue;
    INFO(c.id);
    const metric* const m = kprof::find_metric(c.id);
    CHECK((m != nullptr) == (place_of_dimension(c.id) == dimension_count));
    CHECK(c.number == m);
    if (m == nullptr) continue;
    CHECK(std::string_view{c.header} == m->label);
    CHECK(std::string_view{c.meaning} == m->meaning);
    CHECK((c.rank == kprof::detail::not_here) == m->of_device);
  }
}
