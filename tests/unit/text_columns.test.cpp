// SPDX-License-Identifier: MIT
// Columns of the table of operators that are not numbers of one row: regions, cumulative shares.

#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/machines.hpp"
#include "../support/profile_builder.hpp"
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

TEST_CASE("report.a_share_of_a_ceiling_that_may_be_higher_has_a_sign") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  const auto copy = b.op(main, "Copy", "n=1"), silent = b.op(main, "Silent");
  b.calls(copy, 3, 14e6).work(copy, 100, 200'000'000, 0);
  b.calls(silent, 1, 14e6);
  kprof::profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  p.machine.cpu.memory.back().read.is_lower_bound = true;
  kprof::report_options options = kprof_test::at_width(200);
  options.columns = {"operator", "roof", "bound", "gflops"};
  options.tree = true;
  const std::string page = kprof_test::page_of(p, options);
  INFO(page);
  CHECK(
      kprof_test::words(kprof_test::line_with(page, "Copy ")).starts_with("Copy \u2264 71.4% n/a"));
  CHECK(
      kprof_test::has(page, "\u2264, held against a ceiling that is only known from below, and "));
  CHECK(kprof_test::words(kprof_test::line_with(page, "Copy(n=1)")).find("\u2264 71.4%") !=
        std::string::npos);
  CHECK(kprof_test::has(page, "outside the roofline, 25.0% of the time has no formula: Silent"));
  options.ascii = true;
  CHECK(kprof_test::has(kprof_test::page_of(p, options), "<= 71.4%"));
}

TEST_CASE("report.a_row_of_invalid_parameters_says_so_however_narrow_it_is") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    const auto conv = b.op(main, "Convolution",
                           "batch=3" + n + " channels=6" + n + " height=22" + n + " width=21" + n +
                               " filters=12" + n + " kernel_height=" + n + " kernel_width=1" + n);
    b.calls(conv, 1, 1000).work(conv, 100, 10, 10);
    b.p.nodes[conv].work.valid = i != 3;
  }
  for (const int width : {72, 80, 100}) {
    report_options options = at_width(width);
    options.tree = false;
    const std::string page = page_of(b.done(), options);
    INFO(page);
    CHECK(kprof_test::count_of(page, " invalid: ") == 1);
  }
}

TEST_CASE("report.a_machine_that_could_not_be_measured_has_the_reason") {
  kprof::profile p = kprof_test::sample_profile();
  CHECK_FALSE(kprof_test::has(kprof_test::page_of(p, kprof_test::at_width(160)), "roof: n/a"));
  p.machine.cpu.notes = {"this machine was not measured: valgrind runs the program"};
  CHECK(kprof_test::has(kprof_test::page_of(p, kprof_test::at_width(160)),
                        "roof: n/a, this machine was not measured: valgrind runs the program\n"));
  p.machine.cpu.notes = {std::string{kprof::detail::ceilings_turned_off}};
  CHECK_FALSE(kprof_test::has(kprof_test::page_of(p, kprof_test::at_width(160)), "roof: n/a"));
  // What is known has no need of it.
  p.machine.cpu = kprof_test::two_cpus();
  p.machine.cpu.notes = {"DRAM was not measured: too little memory is free"};
  CHECK_FALSE(kprof_test::has(kprof_test::page_of(p, kprof_test::at_width(160)), "DRAM was not"));
  p.machine.cpu.memory.clear();
  CHECK(kprof_test::has(kprof_test::page_of(p, kprof_test::at_width(160)),
                        "\nroof: DRAM was not measured: too little memory is free\n"));
}

TEST_CASE("report.a_number_stays_beside_its_unit_and_names_break_between_words") {
  kprof::detail::page page(12, false);
  page.paragraph("", "it took 34.5 ms", 0);
  page.paragraph("", "of <0.1 of it", 0);
  page.paragraph("", "-G19 -G20 -C1 -C2", 0);
  CHECK(page.take() == "it took\n34.5 ms\nof <0.1 of\nit\n-G19 -G20\n-C1 -C2\n");
}

TEST_CASE("report.an_impossible_row_does_not_choose_the_unit_of_a_column") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  const auto honest = b.op(main, "Add", "n=1"), slow = b.op(main, "Add", "n=2"),
             wrong = b.op(main, "Wrong", "n=1");
  b.calls(honest, 10, 1e6).work(honest, 4'000'000, 8000, 4000);
  b.calls(slow, 10, 1e6).work(slow, 400'000, 8000, 4000);
  b.calls(wrong, 10, 1e6).work(wrong, 6'929'000'000'000, 8000, 4000);
  kprof::profile p = b.done();
  p.wall_ns = 30e6;
  p.machine.cpu = kprof_test::two_cpus();
  report_options options = at_width(140);
  options.tree = false;
  options.columns = {"operator", "parameters", "gflops"};
  const std::string page = page_of(p, options);
  INFO(page);
  CHECK(has(page, "GFLOP/s\n"));
  CHECK(words(line_with(page, "n=1  ")) == "n=1 4.00");
  CHECK(words(line_with(page, "n=2  ")) == "n=2 0.400");
  CHECK(words(line_with(page, "Wrong")).ends_with("6,929,000"));
  options.tree = true;
  options.table = false;
  const std::string tree = page_of(p, options);
  INFO(tree);
  CHECK(has(tree, "GFLOP/s"));
  CHECK_FALSE(has(tree, "TFLOP/s  "));
  CHECK(has(words(line_with(tree, "Add(n=2)")), " 0.400 "));
}

TEST_CASE("report.what_a_key_says_is_said_once") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  for (int m = 0; m < 4; ++m) b.calls(b.op(main, "G", "M=" + std::to_string(m) + " N=128"), 1, 1e6);
  b.calls(b.op(main, "H", "N=777"), 1, 1e6);
  report_options options = at_width(100);
  options.tree = false;
  options.by = kprof::grouping::parse("parameters+N").value;
  const std::string page = page_of(b.done(), options);
  INFO(page);
  CHECK(has(page, "all 4 rows: N=128 "));
  CHECK(kprof_test::count_of(page, "N=128") == 1);
  CHECK(kprof_test::count_of(page, "N=777") == 1);
  CHECK(has(page, "M=3"));
}
