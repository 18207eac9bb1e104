// SPDX-License-Identifier: MIT
#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/golden.hpp"
#include "../support/sample_profile.hpp"
#include "../support/utf8.hpp"

#include <cstddef>
#include <string>
#include <vector>

using kprof::grouping;
using kprof::report_options;
using kprof::write_text;

namespace {

std::string page_of(const kprof::profile& p, const report_options& options) {
  std::string page;
  const kprof::status s = write_text(p, options, page);
  INFO(s.message);
  REQUIRE(s.ok());
  return page;
}

std::string error_of(const report_options& options) {
  std::string page = "untouched";
  const kprof::status s = write_text(kprof_test::sample_profile(), options, page);
  CHECK_FALSE(s);
  CHECK(page == "untouched");
  return s.message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++n;
  return n;
}

std::string line_with(const std::string& page, const std::string& part) {
  for (const std::string& line : kprof_test::lines_of(page))
    if (has(line, part)) return line;
  return {};
}

report_options at_width(int width) {
  report_options options;
  options.width = width;
  return options;
}

// The version stands in the first line of every page; baselines do not depend on it.
void check_golden(const std::string& name, std::string page) {
  const std::string version = "kprof " + std::to_string(KPROF_VERSION_MAJOR) + '.' +
                              std::to_string(KPROF_VERSION_MINOR) + '.' +
                              std::to_string(KPROF_VERSION_PATCH);
  REQUIRE(page.starts_with(version));
  page.replace(0, version.size(), "kprof X.Y.Z");
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
  by_thread.by = grouping::thread;
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
  by_thread.by = grouping::thread;
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
  constexpr int step = 2, random_step = 11;
#endif
  std::size_t variant = 0;
  for (const kprof::profile& p : profiles)
    for (int width = 40; width <= 200;
         width +=
         static_cast<std::size_t>(&p - profiles.data()) < made_by_hand ? step : random_step,
             ++variant) {
      report_options options = at_width(width);
      options.by = static_cast<grouping>(variant % 4);
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
  for (const char* header :
       {"parameters", "calls", "self", "share", "total", "mean", "GFLOP/s", "GB/s"})
    CHECK(has(narrow, header));
  const std::string wide =
      line_with(page_of(kprof_test::sample_profile(), at_width(160)), "operator ");
  for (const char* header : {"parameters", "calls", "self", "share", "total", "mean", "median",
                             "min", "max", "GFLOP/s", "GB/s", "FLOP/B"})
    CHECK(has(wide, header));
  CHECK_FALSE(has(wide, "open"));
  CHECK_FALSE(has(wide, "p99"));
}

TEST_CASE("report.columns_that_do_not_fit_are_named") {
  CHECK(has(page_of(kprof_test::sample_profile(), at_width(100)),
            "not shown at width 100: FLOP/B, max, median, min"));
  CHECK_FALSE(has(page_of(kprof_test::sample_profile(), at_width(160)), "not shown"));
}

TEST_CASE("report.texts_that_are_cut_say_at_which_width_they_are_not") {
  const std::string page = page_of(kprof_test::sample_profile(), at_width(100));
  CHECK(
      has(page,
          "\ncut at width 100: parameters; whole with width=171, or KPROF='report(width=171)'\n"));
  CHECK(
      has(page, "\ncut at width 100: scope; whole with width=125, or KPROF='report(width=125)'\n"));
  CHECK(count_of(page, "cut at width") == 2);
  CHECK(count_of(page_of(kprof_test::sample_profile(), at_width(171)), "cut at width") == 0);
  CHECK(count_of(page_of(kprof_test::sample_profile(), at_width(170)), "cut at width") == 1);
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
  constexpr unsigned seeds = 20;
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
        options.by = static_cast<grouping>(variant % 4);
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

TEST_CASE("report.rows_are_sorted_as_asked_and_unknown_numbers_come_last") {
  const auto order = [](const std::string& sort) {
    report_options options = at_width(160);
    options.sort = sort;
    options.tree = false;
    std::string names;
    for (const std::string& line :
         kprof_test::lines_of(page_of(kprof_test::sample_profile(), options)))
      for (const char* name :
           {"Conv2d ", "Conv2dGrad ", "Decode ", "Gemm ", "Relu ", "Sgd ", "Softmax ", "Clip "})
        if (line.starts_with(name)) names += name;
    return names;
  };
  CHECK(order("self") == "Conv2dGrad Conv2d Decode Gemm Gemm Relu Sgd Softmax Clip ");
  CHECK(order("name") == "Clip Conv2d Conv2dGrad Decode Gemm Gemm Relu Sgd Softmax ");
  CHECK(order("operator") == order("name"));
  CHECK(order("mean").starts_with("Conv2dGrad Conv2d Gemm Gemm Softmax "));
  CHECK(order("calls").starts_with("Sgd Clip Decode "));
  CHECK(order("gbs").ends_with("Decode Clip "));
  CHECK(order("GB/s") == order("gbs"));
  CHECK(order("intensity").starts_with("Gemm Gemm Conv2dGrad Conv2d Softmax Sgd "));
  for (const kprof::detail::column& c : kprof::detail::columns)
    CHECK(order(c.id).size() == order("self").size());
}

TEST_CASE("report.rows_that_are_not_shown_are_summed") {
  report_options options = at_width(100);
  options.top = 2;
  const std::string page = page_of(kprof_test::sample_profile(), options);
  CHECK(has(page, "more rows: 7 (sort=self, top=2): 12,500 calls, self 2.02 s, 34.9%"));
  CHECK(has(page, "more rows: 12 (by total, top=2): 13,600 calls, self 5.33 s, 92.4%"));
  CHECK(count_of(page, "Gemm") == 0);
  options.top = 0;
  CHECK_FALSE(has(page_of(kprof_test::sample_profile(), options), "more rows"));
}

TEST_CASE("report.a_tree_that_is_cut_keeps_the_parents_of_what_it_shows") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const kprof::profile p = kprof_test::random_profile(seed);
    for (const std::size_t top : {1U, 3U, 10U}) {
      report_options options;
      options.top = top;
      kprof::detail::text_plan plan(options);
      REQUIRE(plan.prepare().ok());
      const kprof::detail::chosen_tree tree(p, plan);
      std::size_t shown = 0;
      for (std::size_t i = 0; i < tree.rows.size(); ++i) {
        if (!tree.shown[i]) continue;
        ++shown;
        REQUIRE(
            (tree.rows[i].parent == kprof::scope_node::none || tree.shown[tree.rows[i].parent]));
      }
      REQUIRE(shown == std::min(top, tree.rows.size()));
      REQUIRE(shown + tree.cut.rows == tree.rows.size());
    }
  }
}

TEST_CASE("report.a_filter_is_searched_in_name_and_parameters") {
  report_options options = at_width(100);
  options.filter = "^Gemm .*K=4096";
  const std::string page = page_of(kprof_test::sample_profile(), options);
  CHECK(has(page, "filtered out: 8 (filter=^Gemm .*K=4096)"));
  CHECK(has(page, "\u2514\u2500 Gemm(M=1024 N=1024 K=4096"));
  CHECK(has(page, "\u2514\u2500 backward"));  // what is around a match
  CHECK_FALSE(has(page, "forward"));
  options.filter = "^update";
  // what is inside a match
  CHECK(has(page_of(kprof_test::sample_profile(), options), "Sgd(n=1247312)"));
  options.filter = "no such name";
  const std::string none = page_of(kprof_test::sample_profile(), options);
  CHECK(has(none, "no operator matches the filter"));
  CHECK(has(none, "no scope matches the filter"));
}

// Three sizes of one operator are one row of by=op; what the filter does not match is in none of
// its numbers.
TEST_CASE("report.a_filter_finds_calls_before_they_are_put_together") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  const auto small = b.op(main, "Gemm", "n=1"), large = b.op(main, "Gemm", "n=20"),
             third = b.op(main, "Gemm", "n=30"), copy = b.op(large, "Copy");
  const auto inside = b.region(small, "pack"), alone = b.region(main, "setup");
  b.calls(small, 3, 1000)
      .calls(inside, 3, 400)
      .calls(large, 2, 10'000)
      .calls(third, 1, 5000)
      .calls(copy, 2, 1000)
      .calls(alone, 1, 2000);
  kprof::profile p = b.done();
  kprof_test::add_surroundings(p);
  report_options options = at_width(100);
  options.by = grouping::op;
  options.tree = false;
  options.filter = "n=1$";
  options.columns = {"operator", "parameters", "calls", "self", "share"};
  std::string page = page_of(p, options);
  CHECK(line_with(page, "Gemm ") == "Gemm      n=1             3  3.00 \u00B5s  10.0%");
  CHECK(has(page, "filtered out: 2 (filter=n=1$): 5 calls, self 25.0 \u00B5s, 83.3%"));
  CHECK(has(page, "in regions, outside operators: self 2.00 \u00B5s, 6.7%"));
  options.filter = "n=[23]0";
  page = page_of(p, options);
  CHECK(line_with(page, "Gemm ") == "Gemm      2 variants      3  23.0 \u00B5s  76.7%");
  CHECK(has(page, "filtered out: 2 (filter=n=[23]0): 5 calls, self 5.00 \u00B5s, 16.7%"));
}

TEST_CASE("report.rows_and_what_is_not_shown_add_up_to_all_scopes") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const kprof::profile p = kprof_test::random_profile(seed);
    std::uint64_t calls = 0;
    for (const kprof::scope_node& n : p.nodes)
      calls += n.kind == kprof::scope_kind::op ? n.calls : 0;
    report_options options;
    options.by = static_cast<grouping>(seed % 4);
    options.filter = seed % 3 == 0 ? "" : "[aeiou]";
    options.top = 5;
    kprof::detail::text_plan plan(options);
    REQUIRE(plan.prepare().ok());
    const kprof::detail::chosen_rows chosen(p, plan);
    double self = 0;
    for (const kprof::operator_row& row : chosen.rows) self += row.self_ns, calls -= row.calls;
    REQUIRE(calls == chosen.cut.calls + chosen.filtered.calls);
    REQUIRE(self + chosen.cut.self_ns + chosen.filtered.self_ns ==
            Approx(chosen.operators_self_ns));
  }
}

TEST_CASE("report.wrong_options_are_errors_that_list_what_is_valid") {
  report_options options;
  options.sort = "gigaflops\x1b";
  CHECK(error_of(options) ==
        "unknown sort \"gigaflops\\x1b\"; choose from: operator, parameters, call_site, thread, "
        "calls, replays, open, device, device_share, "
        "device_total, kernels, copies, gap, self, share, total, mean, median, p99, min, max, "
        "gflops, gbs, intensity, flops, bytes, dtype (or "
        "name, which is operator)");
  options = {};
  options.columns = {"calls", "spam"};
  CHECK(has(error_of(options), "unknown column \"spam\"; choose from: operator, parameters,"));
  options = {};
  options.filter = "Gemm(";
  CHECK(has(error_of(options), "filter \"Gemm(\" is not a POSIX extended regular expression"));
}

TEST_CASE("report.sections_can_be_left_out") {
  report_options options = at_width(100);
  options.table = options.tree = false;
  const std::string page = page_of(kprof_test::sample_profile(), options);
  CHECK_FALSE(has(page, "Operators"));
  CHECK_FALSE(has(page, "Call tree"));
  CHECK(has(page, "Completeness"));
  options.legend = true;
  CHECK(has(page_of(kprof_test::sample_profile(), options), "Legend"));
}

TEST_CASE("report.the_legend_explains_every_column") {
  report_options options = at_width(100);
  options.legend = true;
  for (const bool device : {false, true}) {
    const std::string page =
        page_of(device ? kprof_test::transformer_profile() : kprof_test::sample_profile(), options);
    const std::string legend = page.substr(page.find("\nLegend"));
    for (const kprof::detail::column& c : kprof::detail::columns) {
      INFO(c.header);
      CHECK(has(legend, std::string{"\n  "} + c.header + ' ') ==
            (device || c.rank != kprof::detail::not_here));
    }
    CHECK(has(legend, "\nLegend of the kernels\n") == device);
    CHECK(has(legend, "\nLegend of the copies\n") == device);
    for (const auto& c : kprof::detail::kernel_columns)
      CHECK((!device || has(legend, std::string{"\n  "} + c.header + ' ')));
    for (const auto& c : kprof::detail::copy_columns)
      CHECK((!device || has(legend, std::string{"\n  "} + c.header + ' ')));
  }
}

TEST_CASE("report.what_went_wrong_stands_out") {
  const kprof::profile clean = kprof_test::sample_profile();
  CHECK(count_of(page_of(clean, at_width(200)), "\n! ") == 0);
  CHECK(has(page_of(clean, at_width(200)),
            "none open, left open, dropped, dropped inside kprof, closed by an outer scope, closed "
            "elsewhere, invalid or merged"));
  kprof::profile dropped = clean;
  dropped.complete.dropped = 1234;
  const std::string page = page_of(dropped, at_width(200));
  CHECK(count_of(page, "\n! ") == 1);
  CHECK(has(page, "\n! 1,234 dropped: "));
  CHECK(has(page, "Raise the memory limit (64.0 MiB)"));
  CHECK(has(page,
            "none open, left open, dropped inside kprof, closed by an outer scope, closed "
            "elsewhere, invalid or merged"));
  kprof::profile inside = clean;
  inside.complete.dropped_inside = 12;
  CHECK(has(page_of(inside, at_width(300)),
            "\n! 12 dropped inside kprof: not recorded, as a guard opened them while kprof itself "
            "was at work on that thread, in an allocator for "
            "instance. Nothing is wrong unless there are many; put no guards into operator new or "
            "malloc.\n"));
  CHECK(has(page_of(inside, at_width(300)), "none open, left open, dropped, closed by"));
  CHECK(count_of(page_of(kprof_test::troubled_profile(), at_width(200)), "\n! ") == 7);
  CHECK(has(page_of(kprof_test::troubled_profile(), at_width(300)),
            "\n! 77,000 merged: calls kept without their parameters for want of memory; rows by "
            "parameters lack them. Totals may take a quarter of "
            "the memory limit (64.0 MiB), and merging begins at half of that quarter. Raise the "
            "limit, or have fewer distinct parameters.\n"));
}

TEST_CASE("report.the_state_is_told_when_nothing_is_being_recorded") {
  kprof::profile p = kprof_test::sample_profile();
  CHECK_FALSE(has(page_of(p, at_width(100)), "recording"));
  p.recording = false;
  p.state = "stopped";
  CHECK(has(kprof_test::lines_of(page_of(p, at_width(100)))[0], "stopped"));
  p.state.clear();
  CHECK(has(kprof_test::lines_of(page_of(p, at_width(100)))[0], "not recording"));
}

TEST_CASE("report.long_lists_of_names_say_how_many_are_left_out") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  for (int i = 0; i < 30; ++i) b.calls(b.op(main, "Operator" + std::to_string(i)), 1, 1000);
  const std::string line =
      line_with(page_of(b.done(), at_width(100)), "n/a, no flops() declared: ");
  CHECK(line ==
        "n/a, no flops() declared: Operator0, Operator1, Operator2, Operator3, Operator4 and 25 "
        "more");
}

TEST_CASE("report.names_under_the_table_say_how_many_rows_they_mean") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  for (int i = 0; i < 5; ++i) {
    const auto gemm = b.op(main, "Gemm", "n=" + std::to_string(i));
    b.calls(gemm, 1, i < 2 ? 20 : 1000).work(gemm, 100, 10, 10);
    b.p.nodes[gemm].work.valid = i != 3;
  }
  b.calls(b.op(main, std::string(50, 'x'), "n=1"), 1, 1000)
      .calls(b.op(main, "Relu", "n=1"), 1, 10)
      .calls(b.op(main, "Relu", "n=2"), 1, 10);
  const auto good = b.op(main, std::string(50, 'x'), "n=2");
  b.calls(good, 1, 1000).work(good, 100, 10, 10);
  kprof::profile p = b.done();
  kprof_test::add_surroundings(p);
  const std::string page = page_of(p, at_width(160));
  CHECK(line_with(page, "n/a, no flops()") ==
        "n/a, no flops() declared: " + std::string(39, 'x') + "\u2026 (1 of 2 rows), Relu");
  CHECK(line_with(page, "n/a, invalid") ==
        "n/a, invalid parameters, or a formula that gives no number for them: Gemm (1 of 5 rows)");
  CHECK(
      line_with(page, "short, so") ==
      "short, so partly kprof's own time (an empty scope shows 11.2 ns): Gemm (2 of 5 rows), Relu");
}

TEST_CASE("report.what_others_ran_for_a_thread_is_outside_its_operators") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  b.calls(b.op(main, "Batch"), 1, 900);
  b.calls(b.region(b.op(worker, "Batch"), "copy"), 1, 100);
  const kprof::profile p = b.done();
  report_options options = at_width(100);
  CHECK_FALSE(has(page_of(p, options), "in regions"));
  CHECK_FALSE(has(page_of(p, options), "no call has finished"));
  CHECK(has(line_with(page_of(p, options), "Batch "), "1.00 \u00B5s  100.0%"));
  options.by = grouping::thread;
  CHECK(has(page_of(p, options),
            "in regions, outside operators of their thread: self 100 ns, 10.0%"));
  CHECK_FALSE(has(page_of(p, options), "no call has finished"));
}
