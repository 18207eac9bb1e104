// SPDX-License-Identifier: MIT

// The roofline chart, as numbers and drawn with characters.

#include "cases.hpp"
#include "catch.hpp"

#include "golden.hpp"
#include "machines.hpp"
#include "random_reports.hpp"
#include "report_page.hpp"
#include "utf8.hpp"

#include <kprof/model/roofline_chart.hpp>
#include <kprof/report/text.hpp>
#include <kprof/tables.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using kprof::profile;
using kprof::report_options;
using kprof_test::has;
using kprof_test::lines_of;
using kprof_test::page_of;
using kprof_test::profile_builder;

namespace {

/// A GEMM at 80 % of the arithmetic roof of one thread, a saxpy at 75 % of that of memory, a dot
/// product far below, and an operator without formulas.
profile three_points() {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto gemm = b.op(main, "Gemm", "n=512"), saxpy = b.op(main, "Saxpy", "n=1000000"),
             dot = b.op(main, "Dot", "n=1000"), silent = b.op(main, "Silent", "n=1");
  b.calls(gemm, 1, 10e6).work(gemm, 800'000'000, 10'000'000, 0);
  b.calls(saxpy, 1, 8e6).work(saxpy, 20'000'000, 80'000'000, 40'000'000);
  b.calls(dot, 1, 4e6).work(dot, 1'000'000, 4'000'000, 0);
  b.calls(silent, 1, 1e6);
  profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  return p;
}

std::string picture(const profile& p, int width, bool ascii) {
  report_options options;
  options.width = width;
  options.ascii = ascii;
  options.table = false;
  options.tree = false;
  options.roofline = true;
  const std::string page = page_of(p, options);
  const std::size_t begin = page.find("Roofline"), end = page.find("\nComplete");
  return page.substr(begin, end - begin);
}

void check_golden(const std::string& name, const std::string& page) {
  INFO("tests/golden/" << name << " differs; when the new page is right, set KPROF_ACCEPT=1");
  CHECK(page == kprof_test::golden(name, page));
}

}  // namespace

TEST_CASE("roofline_chart.has_the_roofs_of_the_types_in_use_and_a_point_for_each_row") {
  const profile p = three_points();
  const std::vector<kprof::operator_row> rows = kprof::operator_table(p);
  const kprof::roofline_chart chart = kprof::make_roofline_chart(p, rows);
  REQUIRE(chart.roofs.size() == 2);
  CHECK(chart.roofs[0].name == "f32, 1 thread");
  CHECK(chart.roofs[0].flops_per_s == 100e9);
  CHECK(chart.roofs[0].bytes_per_s == 20e9);
  CHECK(chart.roofs[0].at(1) == 20e9);
  CHECK(chart.roofs[0].at(100) == 100e9);
  CHECK(chart.roofs[1].name == "f32, 2 threads");
  REQUIRE(chart.points.size() == 3);
  CHECK(chart.left_out == 1);
  for (const kprof::chart_point& point : chart.points) {
    CHECK(point.flops_per_s == rows[point.row].flops_per_s.value);
    CHECK(point.flops_per_s / chart.roofs[0].at(point.flops_per_byte) ==
          Approx(rows[point.row].verdict.roof.value));
  }
}

TEST_CASE("roofline_chart.a_region_has_the_roof_of_the_operators_in_it") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  std::vector<std::uint32_t> layers;
  for (const char* name : {"layer 0", "layer 1"}) {
    const auto layer = b.region(main, name);
    const auto gemm = b.op(layer, "Gemm", "n=1"), silent = b.op(layer, "Silent");
    b.calls(gemm, 1, layers.empty() ? 20e6 : 40e6).work(gemm, 1'000'000'000, 0, 0);
    b.calls(silent, 1, 5e6).calls(layer, 1, layers.empty() ? 30e6 : 50e6);
    layers.push_back(layer);
  }
  profile p = b.done();
  for (const kprof::tree_row& row : kprof::call_tree(p)) CHECK(!row.roof.known());
  p.machine.cpu = kprof_test::two_cpus();
  const std::vector<kprof::tree_row> tree = kprof::call_tree(p);
  for (const kprof::tree_row& row : tree) {
    if (row.name == "layer 0") CHECK(row.roof.value == Approx(10. / 30));
    if (row.name == "layer 1") CHECK(row.roof.value == Approx(10. / 50));
    if (row.name == "Silent") CHECK(row.roof.why == kprof::absence::no_flops);
  }
  REQUIRE(tree.size() == 6);
  // Folded, as one.
  const std::vector<kprof::folded_row> folded = kprof::fold_siblings(tree);
  CHECK(folded[0].row.roof.value == Approx(20. / 80));
}

TEST_CASE("roofline_picture.is_as_accepted") {
  check_golden("roofline_80.txt", picture(three_points(), 80, false));
  check_golden("roofline_ascii_60.txt", picture(three_points(), 60, true));
}

TEST_CASE("roofline_picture.slopes_have_their_bandwidth") {
  for (const int width : {60, 80, 160}) {
    const std::string drawn = picture(three_points(), width, true);
    INFO(drawn);
    CHECK(has(drawn, "/ 20.0 GB/s\n"));
    CHECK(has(drawn, " 30.0 GB/s /"));
  }
}

TEST_CASE("roofline_picture.draws_each_point_under_its_roof") {
  // The letter of a row at its roof stands on the line; one below it stands below.
  const std::vector<std::string> lines = lines_of(picture(three_points(), 80, true));
  std::size_t flat = 0, gemm = 0, dot = 0;
  for (std::size_t i = 2; i < 23; ++i) {
    if (has(lines[i], "f32, 1 thread")) flat = i;
    const std::string cells = lines[i].substr(11);
    if (has(cells, "-B")) gemm = i;
    if (has(cells, " A")) dot = i;
  }
  CHECK(flat > 0);
  CHECK(gemm >= flat);
  CHECK(gemm <= flat + 1);
  CHECK(dot > gemm + 8);
}

TEST_CASE("roofline_picture.says_why_there_is_none") {
  profile p = three_points();
  p.machine = {};
  CHECK(has(picture(p, 80, false), "this machine's highest rates are not known"));
  profile_builder b;
  b.calls(b.op(b.thread("main", 1), "Silent"), 1, 10);
  p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  CHECK(has(picture(p, 80, false), "no row has both FLOPs and bytes"));
}

TEST_CASE("roofline_picture.fits_every_width") {
  kprof_test::use_utf8_locale();
  for (std::uint32_t seed = 0; seed < kprof_test::cases(300); ++seed) {
    profile p = kprof_test::random_report(seed).make(1 + seed % 9);
    p.machine.cpu = kprof_test::two_cpus();
    p.machine.gpus = {kprof_test::h100()};
    const int width = 40 + static_cast<int>(seed % 90);
    const std::string page = picture(p, width, seed % 2 == 0);
    for (const std::string& line : lines_of(page)) {
      INFO(seed << ": " << line);
      CHECK(kprof_test::c_library_width(line) <= static_cast<std::size_t>(width));
    }
  }
}

TEST_CASE("roofline_picture.an_infinite_rate_is_at_an_end_of_the_axis") {
  // Of a call that took next to no time.
  const kprof::detail::log_axis axis(1e9, HUGE_VAL, 20);
  CHECK(axis.cell(1e9) == 0);
  CHECK(axis.cell(HUGE_VAL) == 19);
}
