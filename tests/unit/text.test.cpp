// SPDX-License-Identifier: MIT
// Pages of the text report as they were accepted, and how they fit their width.

#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/device_builder.hpp"
#include "../support/device_profiles.hpp"
#include "../support/golden.hpp"
#include "../support/report_page.hpp"
#include "../support/sample_profile.hpp"
#include "../support/shared_profile.hpp"
#include "../support/utf8.hpp"
#include "groupings.hpp"

#include <cstddef>
#include <string>
#include <vector>

using kprof::grouping;
using kprof::report_options;
using kprof_test::at_width;
using kprof_test::count_of;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;

namespace {

// The version stands at the end of every page; baselines do not depend on it.
void check_golden(const std::string& name, std::string page) {
  REQUIRE(kprof_test::mask_version(page, kprof::detail::kprof_version().substr(6)));
  const std::string expected = kprof_test::golden(name, page);
  INFO("tests/golden/" << name
                       << " differs; when the new page is right, run tests/accept_golden.sh");
  CHECK(page == expected);
}

}  // namespace

TEST_CASE("report.pages_are_as_accepted") {
  const kprof::profile sample = kprof_test::sample_profile();
  kprof::profile troubled = kprof_test::troubled_profile();
  troubled.complete.dropped_inside = 31;
  check_golden("report_40.txt", page_of(sample, at_width(40)));
  check_golden("report_100.txt", page_of(sample, at_width(100)));
  check_golden("report_160.txt", page_of(sample, at_width(160)));
  report_options ascii = at_width(100);
  ascii.ascii = true;
  check_golden("report_ascii.txt", page_of(sample, ascii));
  report_options by_op = at_width(100);
  by_op.by = grouping::op;
  by_op.legend = true;
  check_golden("report_by_op_legend.txt", page_of(sample, by_op));
  report_options by_thread = at_width(140);
  by_thread.by = kprof_test::by_thread();
  by_thread.sort = "gflops";
  check_golden("report_by_thread.txt", page_of(sample, by_thread));
  report_options few = at_width(100);
  few.top = 3;
  few.filter = "Gemm|Conv|Relu";
  few.columns = {"operator", "call_site", "calls", "p99", "flops", "bytes", "dtype"};
  check_golden("report_filter_top.txt", page_of(sample, few));
  check_golden("report_troubled_100.txt", page_of(troubled, at_width(100)));
  check_golden("report_troubled_160.txt", page_of(troubled, at_width(160)));
  report_options troubled_by_op = at_width(120);
  troubled_by_op.by = grouping::op;
  troubled_by_op.tree = false;
  check_golden("report_troubled_by_op.txt", page_of(troubled, troubled_by_op));
  check_golden("report_shared_100.txt", page_of(kprof_test::shared_profile(), at_width(100)));
}

TEST_CASE("report.pages_of_hostile_names_are_as_accepted") {
  check_golden("report_hostile.txt", page_of(kprof_test::hostile_profile(), at_width(100)));
  report_options ascii = at_width(60);
  ascii.ascii = true;
  check_golden("report_hostile_ascii.txt", page_of(kprof_test::hostile_profile(), ascii));
  check_golden("report_deep.txt", page_of(kprof_test::deep_profile(40), at_width(100)));
}

TEST_CASE("report.pages_without_scopes_are_as_accepted") {
  kprof::profile off;
  off.state = "off (KPROF=off)";
  check_golden("report_off.txt", page_of(off, at_width(100)));
  kprof_test::profile_builder b;
  b.thread("main", 1);
  kprof::profile nothing = b.done();
  kprof_test::add_surroundings(nothing);
  check_golden("report_no_scopes.txt", page_of(nothing, at_width(100)));
  const auto main = b.thread("main", 1);
  b.calls(b.region(main, "setup"), 1, 1000);
  kprof::profile regions = b.done();
  kprof_test::add_surroundings(regions);
  check_golden("report_only_regions.txt", page_of(regions, at_width(100)));
}

TEST_CASE("report.pages_of_a_device_are_as_accepted") {
  const kprof::profile run = kprof_test::transformer_profile();
  for (const int width : {80, 100, 160, 200}) {
    report_options options = at_width(width);
    options.top = 16;
    check_golden("report_device_" + std::to_string(width) + ".txt", page_of(run, options));
  }
  report_options ascii = at_width(100);
  ascii.ascii = ascii.full_names = true;
  ascii.top = 8;
  check_golden("report_device_ascii.txt", page_of(run, ascii));
  report_options by_op = at_width(120);
  by_op.by = grouping::op;
  by_op.legend = true;
  by_op.filter = "Gemm|nccl";
  by_op.top = 5;
  check_golden("report_device_by_op_legend.txt", page_of(run, by_op));
  report_options by_thread = at_width(250);
  by_thread.by = kprof_test::by_thread();
  by_thread.top = 10;
  check_golden("report_device_by_thread.txt", page_of(run, by_thread));
  check_golden("report_device_troubled_100.txt",
               page_of(kprof_test::troubled_device_profile(), at_width(100)));
  check_golden("report_device_troubled_160.txt",
               page_of(kprof_test::troubled_device_profile(), at_width(160)));
  kprof::profile degraded = kprof_test::sample_profile();
  degraded.device.state =
      "no kernels are collected: libcupti.so.13 was not found; install the CUDA Toolkit's "
      "cuda-cupti package, or put its folder into LD_LIBRARY_PATH";
  check_golden("report_device_degraded.txt", page_of(degraded, at_width(100)));
  kprof::profile idle = kprof_test::sample_profile();
  kprof_test::add_device(idle);
  check_golden("report_device_idle.txt", page_of(idle, at_width(100)));
  kprof_test::device_builder b;
  b.kernel(b.thread("main", 1), "_Z4axpyfPKfPfm", 40, 12e3);
  kprof::profile no_scopes = b.done();
  kprof_test::add_surroundings(no_scopes);
  kprof_test::add_device(no_scopes);
  check_golden("report_device_no_scopes.txt", page_of(no_scopes, at_width(100)));
}

TEST_CASE("report.sections_come_unasked_where_they_say_more_than_the_operators") {
  const auto sections = [](double in_region_ns, double copy_ns, double region_kernel_ns) {
    kprof_test::device_builder b;
    const auto step = b.region(b.thread("main", 1), "step"), gemm = b.op(step, "Gemm", "n=2");
    b.calls(step, 1, 900 + in_region_ns).calls(gemm, 1, 900);
    if (copy_ns + region_kernel_ns > 0) {
      b.kernel(gemm, "k", 1, 1000);
      b.copy(gemm, kprof::copy_direction::host_to_device, 1, copy_ns, 1 << 20);
      b.kernel(step, "k", 1, region_kernel_ns);
    }
    const kprof::profile run = b.done();
    report_options options = kprof_test::plain_at_width(100);
    std::string found;
    for (const bool table : {true, false}) {
      options.table = table;
      const std::string page = page_of(run, options);
      for (const char* title : {"Operators", "Call tree", "Kernels", "Copies"})
        found += has(page, std::string{"\n"} + title) ? title[0] : '-';
    }
    return found;
  };
  CHECK(sections(90, 0, 0) == "O----C--");
  CHECK(sections(110, 0, 0) == "OC---C--");
  CHECK(sections(9000, 100, 1) == "O----C--");
  CHECK(sections(9000, 200, 1) == "O--C-C-C");
  CHECK(sections(90, 0, 50) == "O-K--CK-");
  CHECK(sections(90, 0, 200) == "OCK--CK-");
}

TEST_CASE("report.totals_count_nested_work_once_and_their_units_step_up") {
  const auto page = [](std::uint64_t flops) {
    kprof_test::profile_builder b;
    const auto outer = b.op(b.thread("main", 1), "Layer", "n=1"),
               inner = b.op(outer, "Gemm", "n=2");
    b.calls(outer, 10, 600).calls(inner, 10, 400);
    b.work(outer, flops, 600, 600).work(inner, flops, 300, 300);
    kprof::profile p = b.done();
    p.wall_ns = 12'000, p.paused_ns = 2'000;
    report_options options = kprof_test::plain_at_width(100);
    options.columns = {"operator", "gflops", "gbs", "flops", "bytes", "self"};
    return page_of(p, options);
  };
  using kprof_test::words;
  CHECK(words(line_with(page(3'000'000), "in operators")) ==
        "in operators 5,000 2.00 30.0 M 12.0 k 6.00 \u00B5s");
  CHECK(has(page(3'000'000), " \u00B7 30.0 MFLOP at 3.00 TFLOP/s"));
  CHECK(has(page(3'000'000), "  GFLOP/s  GB/s  "));
  CHECK(words(line_with(page(9'000'000), "in operators")).starts_with("in operators 15.0 2.00 90"));
  CHECK(has(words(page(9'000'000)), "Gemm 22.5 "));
  CHECK(has(page(9'000'000), "  TFLOP/s  GB/s  "));
  CHECK(has(page(0), " \u00B7 12.0 kB at 1.20 GB/s"));
}

TEST_CASE("report.one_sentence_stands_for_completeness_where_nothing_was_lost") {
  const auto page = [](const kprof::profile& p) {
    return page_of(p, kprof_test::plain_at_width(200));
  };
  kprof::profile p = kprof_test::sample_profile();
  CHECK(has(page(p), "\nComplete: nothing was lost of "));
  CHECK(has(page(p), "; " + kprof::detail::kprof_version() + " took "));
  CHECK_FALSE(has(page(p), "Completeness"));
  p.cost.scope_ns = 0;
  CHECK(has(page(p), "took n/a: not measured in this process. More: "));
  p.complete.dropped = 1;
  CHECK(has(page(p), "\nCompleteness\n"));
  CHECK(has(page(p), "\n! 1 dropped: "));
  CHECK_FALSE(has(page(p), "  timeline "));
  CHECK_FALSE(has(page(p), "nothing was lost"));
  CHECK(has(page({}), "\n" + kprof::detail::kprof_version() + " recorded nothing.\n"));
}

TEST_CASE("report.no_line_is_wider_than_asked") {
  const bool have_locale = kprof_test::use_utf8_locale();
  std::vector<kprof::profile> profiles = {kprof_test::sample_profile(),
                                          kprof_test::troubled_profile(),
                                          kprof_test::hostile_profile(),
                                          kprof_test::deep_profile(60),
                                          {},
                                          kprof_test::transformer_profile(),
                                          kprof_test::troubled_device_profile()};
  const std::size_t made_by_hand = profiles.size();
  for (unsigned seed = 0; seed < 6; ++seed) profiles.push_back(kprof_test::random_profile(seed));
  for (unsigned seed = 0; seed < 12; ++seed)
    profiles.push_back(kprof_test::random_device_profile(seed));
#ifdef KPROF_TEST_SHORT
  constexpr int step = 13, random_step = 53;
#else
  constexpr int step = 5, random_step = 29;
#endif
  std::size_t variant = 0;
  for (const kprof::profile& p : profiles)
    for (int width = 40; width <= 200;
         width +=
         static_cast<std::size_t>(&p - profiles.data()) < made_by_hand ? step : random_step,
             ++variant) {
      report_options options = at_width(width);
      options.by = kprof_test::finer_and_finer()[variant % 4];
      options.ascii = variant % 3 == 0;
      options.legend = variant % 7 == 0;
      options.full_names = variant % 2 == 0;
      if (variant % 5 == 0) options.filter = "a|1|\\\\";
      if (variant % 6 == 0)
        options.columns = {"operator", "parameters", "call_site", "thread", "calls", "open",
                           "p99",      "flops",      "gflops",    "dtype",  "self"};
      const auto limit = static_cast<std::size_t>(width);
      for (const std::string& line : kprof_test::lines_of(page_of(p, options))) {
        const bool good = kprof_test::is_plain_text(line) &&
                          kprof::detail::display_width(line) <= limit && !line.ends_with(' ') &&
                          (!have_locale || kprof_test::c_library_width(line) <= limit) &&
                          (!options.ascii || kprof_test::is_ascii(line));
        if (good) continue;
        INFO("width " << width << ": " << line);
        REQUIRE(good);
      }
    }
}

TEST_CASE("report.a_page_holds_its_width_whatever_is_put_on_it") {
  kprof::detail::page page(10, false);
  page.line("twelve chars");
  page.line("a\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2");
  page.rule(99);
  page.paragraph("- ", "one two three averyverylongword", 2);
  CHECK(page.take() ==
        "twelve cha\na\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\n"
        "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\n"
        "- one two\n  three\n  averyver\n  ylongwor\n  d\n");
}

TEST_CASE("report.widths_out_of_range_are_taken_to_the_nearest") {
  const kprof::profile p = kprof_test::sample_profile();
  CHECK(page_of(p, at_width(1)) == page_of(p, at_width(40)));
  CHECK(page_of(p, at_width(100'000)) == page_of(p, at_width(1000)));
}

TEST_CASE("report.important_columns_come_first") {
  const std::string narrow =
      line_with(page_of(kprof_test::sample_profile(), at_width(100)), "operator ");
  for (const char* header : {"parameters", "calls", "self", "share", "median", "GFLOP/s"})
    CHECK(has(narrow, header));
  const std::string wide =
      line_with(page_of(kprof_test::sample_profile(), at_width(180)), "operator ");
  for (const char* header : {"parameters", "calls", "self", "share", "total", "mean", "median",
                             "min", "max", "GFLOP/s", "GB/s", "FLOP/B"})
    CHECK(has(wide, header));
  CHECK_FALSE(has(wide, "open"));
  CHECK_FALSE(has(wide, "p99"));
}

TEST_CASE("report.columns_that_do_not_fit_are_named") {
  CHECK(has(page_of(kprof_test::sample_profile(), at_width(100)),
            "not shown at width 100: GB/s, mean, total, FLOP/B, max, min"));
  CHECK_FALSE(has(page_of(kprof_test::sample_profile(), at_width(180)), "not shown"));
}

TEST_CASE("report.texts_that_are_cut_say_at_which_width_they_are_not") {
  const std::string page = page_of(kprof_test::sample_profile(), at_width(100));
  CHECK(
      has(page,
          "\ncut at width 100: parameters; whole with width=175, or KPROF='report(width=175)'\n"));
  CHECK(
      has(page, "\ncut at width 100: scope; whole with width=143, or KPROF='report(width=143)'\n"));
  CHECK(count_of(page, "cut at width") == 2);
  CHECK(count_of(page_of(kprof_test::sample_profile(), at_width(175)), "cut at width") == 0);
  CHECK(has(page_of(kprof_test::hostile_profile(), at_width(300)),
            "cut at width 300: operator, parameters; not whole even with width=1000\n"));
  CHECK(has(page_of(kprof_test::hostile_profile(), at_width(1000)),
            "cut at width 1000: operator, parameters\n"));
}

// The width that a report names is tried, and the one below it.
TEST_CASE("report.the_width_that_is_said_to_be_enough_is_enough") {
  std::vector<kprof::profile> profiles = {
      kprof_test::sample_profile(),      kprof_test::troubled_profile(),
      kprof_test::deep_profile(60),      kprof_test::deep_profile(130),
      kprof_test::transformer_profile(), kprof_test::troubled_device_profile()};
#ifdef KPROF_TEST_SHORT
  constexpr unsigned seeds = 5;
#else
  constexpr unsigned seeds = 10;
#endif
  for (unsigned seed = 0; seed < 2 * seeds; ++seed)
    profiles.push_back(kprof_test::random_profile(seed));
  for (unsigned seed = 0; seed < seeds; ++seed)
    profiles.push_back(kprof_test::random_device_profile(seed));
  std::size_t tried = 0, variant = 0;
  for (const kprof::profile& p : profiles)
    for (const int width : {40, 55, 70, 100, 130})
      for (const int section : {0, 1, 2}) {
        report_options options = at_width(width);
        options.by = kprof_test::finer_and_finer()[variant % 4];
        options.ascii = variant++ % 3 == 0;
        options.table = section == 0;
        options.tree = section == 1;
        options.kernels = section == 2;
        options.copies = false;
        std::string page = page_of(p, options);
        const std::string lead = "KPROF='report(width=";
        const std::size_t at = page.find(lead);
        if (at == std::string::npos) continue;
        ++tried;
        options.width = std::stoi(page.substr(at + lead.size()));
        INFO("variant " << variant << " from " << width << " to " << options.width);
        REQUIRE(options.width > width);
        page = page_of(p, options);
        REQUIRE_FALSE(has(page, "cut at width"));
        REQUIRE_FALSE(has(page, "not shown at width"));
      }
  CHECK(tried > 50);
}
