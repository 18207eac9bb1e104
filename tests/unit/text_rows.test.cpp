// SPDX-License-Identifier: MIT
// What the text report shows, leaves out and says of it.

#include <kprof/report/text.hpp>

#include "../support/cases.hpp"
#include "../support/catch.hpp"
#include "../support/report_page.hpp"
#include "../support/sample_profile.hpp"
#include "../support/utf8.hpp"
#include "groupings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

using kprof::grouping;
using kprof::report_options;
using kprof_test::at_width;
using kprof_test::count_of;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::words;

namespace {

std::string error_of(const report_options& options) {
  std::string page = "untouched";
  const kprof::status s = write_text(kprof_test::sample_profile(), options, page);
  CHECK_FALSE(s);
  CHECK(page == "untouched");
  return s.message;
}

}  // namespace

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
  CHECK(order("self") == "Conv2dGrad Conv2d Decode Gemm Relu Sgd Softmax Clip ");
  CHECK(order("name") == "Clip Conv2d Conv2dGrad Decode Gemm Relu Sgd Softmax ");
  CHECK(order("operator") == order("name"));
  CHECK(order("mean").starts_with("Conv2dGrad Conv2d Gemm Softmax "));
  CHECK(order("calls").starts_with("Sgd Clip Decode "));
  CHECK(order("gbs").ends_with("Decode Clip "));
  CHECK(order("GB/s") == order("gbs"));
  CHECK(order("intensity").starts_with("Gemm Conv2dGrad Conv2d Softmax Sgd "));
  for (const kprof::detail::column& c : kprof::detail::columns)
    if (c.as != kprof::detail::look::bar && c.as != kprof::detail::look::cumulative)
      CHECK(order(c.id).size() == order("self").size());
}

TEST_CASE("report.rows_that_are_not_shown_are_summed") {
  report_options options = at_width(100);
  options.top = 2;
  const std::string page = page_of(kprof_test::sample_profile(), options);
  CHECK(words(line_with(page, "operators, each")) ==
        "\u2026 6 operators, each < 13.4%: Decode, Gemm, Relu\u2026 12,500 2.02 s 34.9%");
  CHECK(words(line_with(page, "more rows")) ==
        "\u2026 12 more rows (top=2) 13,600 5.33 s 92.4% 5.33 s");
  CHECK(
      words(line_with(page, "all scopes  ")).starts_with("all scopes 13,701 5.77 s 100.0% 5.77 s"));
  options.top = 0;
  const std::string whole = page_of(kprof_test::sample_profile(), options);
  CHECK_FALSE(has(whole, "more rows"));
  CHECK_FALSE(has(whole, ", each <"));
}

// A cache that grows by one with each call is a row, though each size takes its part of the time; a
// series of sizes that somebody compares is not.
TEST_CASE("report.a_number_alone_makes_no_screen_full_of_rows") {
  const auto page_with = [](int sizes) {
    kprof_test::profile_builder b;
    const auto main = b.thread("main", 1);
    for (int i = 1; i <= sizes; ++i)
      b.calls(b.op(main, "Decode",
                   "heads=12 batch=16 S=" + std::to_string(i) + " window=4096 pages=16 type=f32"),
              8, 1e6);
    kprof::profile p = b.done();
    kprof_test::add_surroundings(p);
    report_options options = at_width(60);
    options.columns = {"operator", "parameters", "calls", "self"};
    return page_of(p, options);
  };
  const std::string grown = page_with(120);
  INFO(grown);
  CHECK(has(grown, "S=1\u2026120"));  // which stays, whatever else is left out
  CHECK(has(grown, "120 sets"));
  CHECK_FALSE(has(grown, "S=60"));
  const std::string series = page_with(30);
  CHECK(has(series, "S=30"));
  CHECK_FALSE(has(series, "sets"));
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
        REQUIRE((tree.rows[i].row.parent == kprof::scope_node::none ||
                 tree.shown[tree.rows[i].row.parent]));
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
  CHECK(words(line_with(page, "filtered out (filter=^Gemm .*K=4096)")) ==
        "filtered out (filter=^Gemm .*K=4096) 13,100 4.89 s 84.8%");
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
  CHECK(line_with(page, "Gemm ") == "Gemm      n=1                      3  3.00 \u00B5s  10.0%");
  CHECK(words(line_with(page, "filtered out (")) ==
        "filtered out (filter=n=1$) 5 25.0 \u00B5s 83.3%");
  CHECK(words(line_with(page, "in regions")) == "in regions, outside operators 2.00 \u00B5s 6.7%");
  options.filter = "n=[23]0";
  page = page_of(p, options);
  CHECK(words(line_with(page, "Gemm ")) == "Gemm n=20\u202630, 2 sets 3 23.0 \u00B5s 76.7%");
  CHECK(words(line_with(page, "filtered out (")) ==
        "filtered out (filter=n=[23]0) 5 5.00 \u00B5s 16.7%");
}

TEST_CASE("report.rows_and_what_is_not_shown_add_up_to_all_scopes") {
  for (unsigned seed = 0; seed < kprof_test::cases(200); ++seed) {
    const kprof::profile p = kprof_test::random_profile(seed);
    std::uint64_t calls = 0;
    for (const auto& n : p.nodes) calls += n.kind == kprof::scope_kind::op ? n.calls : 0;
    report_options options;
    options.by = kprof_test::finer_and_finer()[seed % 4];
    options.filter = seed % 3 == 0 ? "" : "[aeiou]";
    options.top = 5;
    kprof::detail::text_plan plan(options);
    REQUIRE(plan.prepare().ok());
    const kprof::detail::operator_groups chosen(p, plan);
    double self = chosen.folded.self_ns;
    calls -= chosen.folded.calls + chosen.filtered.calls;
    for (const kprof::detail::operator_group& g : chosen.groups) {
      self += g.folded.self_ns, calls -= g.folded.calls;
      for (std::size_t i = 0; i < g.shown; ++i) self += g.rows[i].self_ns, calls -= g.rows[i].calls;
    }
    REQUIRE(calls == 0);
    REQUIRE(self == Approx(chosen.all.self_ns));
  }
}

TEST_CASE("report.wrong_options_are_errors_that_list_what_is_valid") {
  report_options options;
  options.sort = "gigaflops\x1b";
  CHECK(
      error_of(options) ==
      "unknown sort \"gigaflops\\x1b\"; choose from: operator, parameters, call_site, thread, "
      "region, layer, pass, calls, replays, open, device, device_share, "
      "device_total, kernels, copies, gap, waited, self, share, cumulative, total, cpu, median, "
      "mean, p99, "
      "min, max, "
      "first, gflops, gbs, roof, bound, lost, ideal, projected, intensity, flops, bytes, threads, "
      "imbalance, waiting, dtype (or name, which is operator)");
  options = {};
  options.columns = {"calls", "spam"};
  CHECK(has(error_of(options), "unknown column \"spam\"; choose from: operator, parameters,"));
  options = {};
  options.filter = "Gemm(";
  CHECK(has(error_of(options), "filter \"Gemm(\" is not a POSIX extended regular expression"));
}

TEST_CASE("report.sections_can_be_left_out") {
  report_options options = at_width(100);
  options.table = false;
  options.tree = false;
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
      if (c.as == kprof::detail::look::bar) continue;
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
            "parameters lack them. Totals may take half of "
            "the memory limit (64.0 MiB), and merging begins at three quarters of that half. Raise "
            "the limit, or have fewer distinct parameters.\n"));
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
  const std::string name = std::string(18, 'x') + "\u2026" + std::string(21, 'x');
  CHECK(line_with(page, "n/a, no flops()") ==
        "n/a, no flops() declared: " + name + " (1 of 2 rows), Relu");
  CHECK(line_with(page, "n/a, invalid") ==
        "n/a, invalid parameters, or a formula that gives no number for them: Gemm (1 of 5 rows)");
  CHECK(has(line_with(page, "short, so partly kprof's own time"),
            "(an empty scope shows 11.2 ns): Gemm (2 of 5 rows), Relu"));
}

TEST_CASE("report.what_others_ran_for_a_thread_is_outside_its_operators") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  b.calls(b.op(main, "Batch"), 1, 900);
  b.calls(b.region(b.op(worker, "Batch"), "copy"), 1, 100);
  const kprof::profile p = b.done();
  report_options options = at_width(100);
  options.advice = {"-R4"};  // names Batch too
  CHECK_FALSE(has(page_of(p, options), "in regions"));
  CHECK_FALSE(has(page_of(p, options), "no call has finished"));
  CHECK(has(words(line_with(page_of(p, options), "Batch ")),
            "1.00 \u00B5s \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588 100.0%"));
  options.by = kprof_test::by_thread();
  CHECK(words(line_with(page_of(p, options), "in regions")) ==
        "in regions, outside own operators 100 ns 10.0%");
  CHECK_FALSE(has(page_of(p, options), "no call has finished"));
}
