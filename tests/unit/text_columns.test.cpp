// SPDX-License-Identifier: MIT
// Columns of the table of operators that are not numbers of one row: regions, cumulative shares.

#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/report_page.hpp"
#include "../support/sample_profile.hpp"
#include "../support/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using kprof::report_options;
using kprof_test::at_width;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::words;

TEST_CASE("report.regions_are_columns_where_they_are_asked_for") {
  report_options options = at_width(160);
  options.tree = false;
  options.columns = {"operator", "parameters", "layer", "calls"};
  const std::string page = page_of(kprof_test::sample_profile(), options);
  CHECK(has(page, "Operators by parameters and layer, "));

  CHECK(words(line_with(page, "Decode")) == "Decode batch=32 codec=jpeg load batch 3,200");
  CHECK_FALSE(has(page, "layer="));
  // beside parameters they have a column unasked, and nothing says them twice
  options.columns.clear();
  options.by = kprof::grouping::parameters + kprof::grouping::region;
  const std::string unasked = page_of(kprof_test::sample_profile(), options);
  CHECK(words(line_with(unasked, "operator")).starts_with("operator parameters region "));
  CHECK(words(line_with(unasked, "Decode")).starts_with("Decode batch=32 codec=jpeg load batch "));
  options.by = kprof::grouping::op + kprof::grouping::region;
  const std::string described = page_of(kprof_test::sample_profile(), options);
  CHECK(words(line_with(described, "operator ")).starts_with("operator region calls "));
}

TEST_CASE("report.cumulative_shares_reach_that_of_all_operators") {
  report_options options = at_width(140);
  options.tree = false;
  options.columns = {"operator", "parameters", "share", "cumulative"};
  const auto last_cumulative = [&](const kprof::profile& p, const char* sum) {
    const std::vector<std::string> lines = kprof_test::lines_of(page_of(p, options));
    const auto at = std::find_if(lines.begin(), lines.end(),
                                 [&](const std::string& line) { return line.starts_with(sum); });
    REQUIRE(at - lines.begin() > 2);
    const std::string above = words(*(at - 2)), all = words(*at);
    CHECK(above.substr(above.rfind(' ')) == all.substr(all.rfind(' ')));
  };
  for (const std::size_t top : {0U, 2U, 5U, 40U}) {
    options.top = top;
    last_cumulative(kprof_test::sample_profile(), "in operators");
  }
  options.columns[2] = "device_share";
  last_cumulative(kprof_test::small_device_profile(), "in operators");
  report_options by_it = options;
  by_it.sort = "cumulative";
  std::string out;
  CHECK(has(kprof::write_text(kprof_test::sample_profile(), by_it, out).message,
            "sort=cumulative: "));
}

TEST_CASE("report.sums_have_names_where_no_column_of_operators_is_shown") {
  report_options options = at_width(120);
  options.tree = false;
  options.by = kprof::grouping::layer;
  const std::string page = page_of(kprof_test::sample_profile(), options);
  CHECK(has(page, "\nin operators "));
  CHECK(has(page, "\nin regions, outside operators "));
  CHECK_FALSE(has(page, ": ,"));
  options.columns = {"layer", "parameters", "self"};
  CHECK(has(page_of(kprof_test::sample_profile(), options), "\nin operators "));
}
