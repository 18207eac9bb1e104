// SPDX-License-Identifier: MIT
// What a page shows unasked: no column without a value, the column of the order, a short tree, and
// at its end what else there is.

#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/machines.hpp"
#include "../support/report_page.hpp"
#include "../support/sample_profile.hpp"

#include <string>

using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::plain_at_width;
using kprof_test::words;

namespace {

std::string head_of(const std::string& page) {
  return words(line_with(page.substr(page.find("\nOperators")), "operator "));
}
std::string more_of(const kprof::profile& p, const kprof::report_options& options) {
  const std::string page = page_of(p, options);
  return words(page.substr(page.find("More:")));
}

/// A parser without formulas and, if wanted, a product beside it.
kprof::profile parsing(bool with_product) {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.op(main, "Parse", "n=1"), 3, 14e6);
  if (with_product) {
    const auto product = b.op(main, "Gemm", "n=2");
    b.calls(product, 3, 14e6).work(product, 700'000'000, 1000, 1000);
  }
  kprof::profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  return p;
}

}  // namespace

TEST_CASE("report.columns_without_a_value_in_any_row_make_room") {
  kprof::report_options options = plain_at_width(200);
  const std::string page = page_of(parsing(false), options);
  INFO(page);
  for (const char* const header : {"GFLOP/s", "GB/s", "FLOP/B", "roof", "bound", "lost"})
    CHECK_FALSE(has(head_of(page), header));
  CHECK(has(page, "\nnot shown, n/a in every row: GFLOP/s, GB/s, roof, bound, lost, FLOP/B\n"));
  CHECK(has(page, "\nn/a, no flops() declared: Parse\n"));
  CHECK(has(page, "\nOperators, sorted by self\n"));

  // One row with a value is enough, and what was asked for stays.
  const std::string beside = page_of(parsing(true), options);
  INFO(beside);
  for (const char* const header : {"GFLOP/s", "GB/s", "FLOP/B", "roof", "bound", "lost"})
    CHECK(has(head_of(beside), header));
  CHECK_FALSE(has(beside, "in every row"));
  CHECK(has(beside, "\nOperators, sorted by lost"));
  options.columns = {"operator", "calls", "gflops", "roof", "bound"};
  const std::string asked = page_of(parsing(false), options);
  CHECK(head_of(asked) == "operator calls GFLOP/s roof bound");
  CHECK_FALSE(has(asked, "in every row"));
}

TEST_CASE("report.the_column_that_rows_are_sorted_by_is_shown") {
  kprof::profile p = kprof_test::sample_profile();
  p.machine.cpu = kprof_test::two_cpus();
  for (const int width : {80, 100, 120, 160}) {
    kprof::report_options options = plain_at_width(width);
    const std::string page = page_of(p, options);
    INFO(page);
    CHECK(has(page, "\nOperators, sorted by lost"));
    CHECK(head_of(page).find(" lost") != std::string::npos);
    options.sort = "max";
    CHECK(head_of(page_of(p, options)).find(" max") != std::string::npos);
  }
}

TEST_CASE("report.a_tree_that_nobody_asked_for_is_short") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  for (int i = 0; i < 30; ++i) {
    const auto region = b.region(main, std::string(1, static_cast<char>('A' + i)) + " region");
    b.calls(region, 1, 1e6 * (40 - i));
    b.calls(b.op(region, "Parse", "n=" + std::to_string(i)), 1, 1e5);
  }
  kprof::profile p = b.done();
  p.complete.recorded = 60;
  kprof::report_options options = plain_at_width(100);
  const auto rows = [&] { return kprof_test::count_of(page_of(p, options), " region "); };
  CHECK(rows() == 12);
  CHECK(has(page_of(p, options), "\u2026 48 more rows (tree=on: up to 40) "));
  options.top = 5;
  CHECK(has(page_of(p, options), "\u2026 55 more rows (top=5) "));
  options.top = 0;
  CHECK(rows() == 30);
  options.top = 40;
  options.tree = true;
  CHECK(rows() == 30);
  CHECK_FALSE(has(more_of(p, options), "tree,"));
  options.tree.reset();
  options.table = false;
  CHECK(rows() == 30);
}

TEST_CASE("report.the_end_names_the_timeline_where_there_is_one") {
  kprof::profile p = kprof_test::sample_profile();
  p.complete.in_timeline = 0;
  p.steps.clear();
  kprof::report_options options = plain_at_width(200);
  CHECK_FALSE(has(more_of(p, options), "timeline"));
  p.complete.in_timeline = 5;
  CHECK(has(more_of(p, options), "timeline,legend,"));
  options.timeline = true;
  CHECK_FALSE(has(more_of(p, options), "timeline"));
}
