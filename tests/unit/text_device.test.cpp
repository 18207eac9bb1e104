// SPDX-License-Identifier: MIT
// The tables of the text report in runs with work on a device.

#include <kprof/report/text.hpp>

#include "../support/cases.hpp"
#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/report_page.hpp"
#include "../support/utf8.hpp"
#include "groupings.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using kprof::device_work;
using kprof::grouping;
using kprof::report_options;
using kprof::scope_node;
using kprof_test::ascii_at_width;
using kprof_test::count_of;
using kprof_test::device_builder;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;
using kprof_test::section;
using kprof_test::small_device_profile;
using kprof_test::words;

TEST_CASE("device_report.rows_are_sorted_by_device_time_where_there_is_any") {
  const auto order = [](const kprof::profile& p, const char* sort) {
    report_options options = ascii_at_width(160);
    options.sort = sort;
    std::string names;
    for (const std::string& line : kprof_test::lines_of(section(page_of(p, options), "Operators")))
      for (const char* name : {"Gemm ", "Load ", "Parse "})
        if (line.starts_with(name)) names += name;
    return names;
  };
  const kprof::profile run = small_device_profile();
  CHECK(order(run, "") == "Gemm Load Parse ");
  CHECK(order(run, "device") == "Gemm Load Parse ");
  CHECK(order(run, "self") == "Parse Load Gemm ");
  CHECK(order(run, "copies").starts_with("Load "));
  CHECK(order(run, "kernels").starts_with("Gemm "));
  CHECK(order(run, "gap").ends_with("Parse "));
  CHECK(has(page_of(run, ascii_at_width(160)), "Operators, sorted by device"));
  kprof::profile host = run;
  host.device = {};
  CHECK(order(host, "") == "Parse Load Gemm ");
  CHECK(has(page_of(host, ascii_at_width(160)), "Operators, sorted by self"));
}

TEST_CASE("device_report.a_run_without_device_work_shows_no_device_columns") {
  const report_options options = ascii_at_width(300);
  const std::string host = page_of(kprof_test::sample_profile(), options);
  for (const char* word :
       {"dev", "kernel", "Kernel", "copies", "Copies", "gap", "CUPTI", "sync", "launch"})
    CHECK_FALSE(has(host, word));
  const std::string header =
      line_with(page_of(small_device_profile(), options), "operator  parameters");
  for (const char* name : {"calls", "device", "dev share", "dev total", "kernels", "copies", "gap",
                           "self", "share", "total", "mean", "GFLOP/s", "GB/s"})
    CHECK(has(header, name));
  CHECK_FALSE(has(header, "replays"));
  kprof::profile idle = kprof_test::sample_profile();  // with a device that did nothing
  kprof_test::add_device(idle);
  CHECK(section(page_of(idle, options), "Operators") == section(host, "Operators"));
  CHECK(section(page_of(idle, options), "Call tree") == section(host, "Call tree"));
}

TEST_CASE("device_report.important_columns_come_first") {
  const std::string narrow =
      line_with(page_of(kprof_test::transformer_profile(), ascii_at_width(100)), "operator ");
  for (const char* header :
       {"parameters", "calls", "device", "dev share", "kernels", "self", "TFLOP/s", "GB/s"})
    CHECK(has(narrow, header));
  const std::string kernels =
      line_with(section(page_of(kprof_test::transformer_profile(), ascii_at_width(100)), "Kernels"),
                "operator ");
  for (const char* header : {"kernel", "calls", "total", "share", "mean", "tensor core"})
    CHECK(has(kernels, header));
  const std::string narrowest =
      line_with(section(page_of(kprof_test::transformer_profile(), ascii_at_width(40)), "Kernels"),
                "operator ");
  for (const char* header : {"kernel", "calls", "total"}) CHECK(has(narrowest, header));
}

TEST_CASE("device_report.cells_are_what_the_rows_say") {
  const std::string page = page_of(small_device_profile(), ascii_at_width(300));
  const std::string gemm = line_with(section(page, "Operators"), "Gemm ");
  CHECK(words(gemm) ==
        "Gemm n=2 10 40.0 us ######## 40.0% 40.0 us 10 0 4.00 us 5.00 us 4.5% 5.00 us 500 ns "
        "500 ns 500 ns 500 ns 1,000 0.250 4,000");
  const std::string parse = line_with(section(page, "Operators"), "Parse ");
  CHECK(has(words(parse), "Parse n=9 1 0 ns 0% 0 ns 0 0 n/a 90.0 us 81.8%"));
  CHECK(has(page, "\nn/a, no launch of its own was seen: Parse\n"));
}

TEST_CASE("device_report.calls_include_replays") {
  report_options options = ascii_at_width(100);
  options.columns = {"operator", "calls", "replays", "device", "mean"};
  options.filter = "Adam";
  const std::string page = page_of(kprof_test::transformer_profile(), options);
  CHECK(words(line_with(section(page, "Operators"), "Adam ")) == "Adam 101 100 129 ms 22.0 us");
  options.sort = "replays";
  CHECK(has(page_of(kprof_test::transformer_profile(), options), "sorted by replays"));
  CHECK(words(line_with(page, "graph")) == "`- graph 100 129 ms 25.5% 0 ns 0 ns 1.44 2,696 187 G");
  CHECK(words(line_with(page, "- Adam")) ==
        "`- Adam(n=124439808 f32) 100 129 ms 25.5% 0 ns 0 ns 1.45 2,701 187 G");
}

TEST_CASE("device_report.numbers_that_graphs_do_not_have_are_explained") {
  kprof::profile p = kprof_test::troubled_device_profile();
  CHECK(
      has(page_of(p, ascii_at_width(160)), "\nn/a, records of work on the device were dropped: "));
  p.device.complete.dropped = 0;
  CHECK(has(page_of(p, ascii_at_width(160)),
            "\nn/a, launches could not be noted, for want of memory: "));
  p.device.complete.launches_lost = 0;
  const std::string page = page_of(p, ascii_at_width(160));
  CHECK(!has(page, "were dropped"));
  CHECK(has(page,
            "\nn/a, made by replaying CUDA graphs, which takes no time on the host: Replayed\n"));
  CHECK(
      has(page, "\nn/a, captured into a CUDA graph, and no record of a replay names it: Warmup\n"));
  CHECK(has(page, "\nn/a, CUPTI gave no time for work on the device: Gemm\n"));
}

TEST_CASE("device_report.what_is_outside_of_operators_is_listed_by_name") {
  const std::string page = page_of(small_device_profile(), ascii_at_width(160));
  CHECK(has(page,
            "\noutside any operator: 11 kernels, 0 copies, device 40.0 us, 40.0%; of these, launch "
            "not seen: 1 kernel, 0 copies, device 30.0 us\n"
            "outside any operator, by name: other 30.0 us (1), fill 10.0 us (10)\n"));
  CHECK(has(page, "\noutside all scopes: 6 kernels, 0 copies, device 35.0 us, 35.0%\n"));
  CHECK_FALSE(has(page_of(kprof_test::sample_profile(), ascii_at_width(160)), "outside any"));
  device_builder b;
  const auto op = b.op(b.thread("main", 1), "A");
  b.calls(op, 1, 10);
  b.kernel(op, "k", 1, 10);
  const std::string good = page_of(b.done(), ascii_at_width(160));
  CHECK_FALSE(has(good, "outside any operator:"));
  CHECK_FALSE(has(good, "outside all scopes"));
  CHECK_FALSE(has(good, "launch not seen"));
}

TEST_CASE("device_report.rows_that_are_not_shown_are_summed") {
  report_options options = ascii_at_width(160);
  options.top = 1;
  const std::string page = page_of(small_device_profile(), options);
  CHECK(words(line_with(page, "... ")) ==
        "... 2 operators, each < 40.0%: Gemm, Load 20 60.0 us 60.0% 12.0 us 10.9%");
  CHECK(words(line_with(section(page, "Call tree"), "more rows")) ==
        "... 4 more rows (top=1) 21 60.0 us 60.0% 102 us 92.7% 102 us");
  const std::string kernels = section(page, "Kernels");
  CHECK(words(line_with(kernels, "more rows")) == "... 2 more rows (top=1) 11 40.0 us 40.0%");
  CHECK(words(line_with(kernels, "all kernels")) == "all kernels 21 80.0 us 80.0%");
  options.top = 0;
  options.filter = "Gemm";
  const std::string filtered = page_of(small_device_profile(), options);
  CHECK(words(line_with(section(filtered, "Call tree"), "filtered out")) ==
        "filtered out (filter=Gemm) 11 20.0 us 20.0% 97.0 us 88.2% 97.0 us");
  const std::string found = section(filtered, "Kernels");
  CHECK(words(line_with(found, "that match")) == "kernels that match 10 40.0 us 40.0%");
  CHECK(words(line_with(found, "filtered out")) == "filtered out (filter=Gemm) 11 40.0 us 40.0%");
  CHECK(has(filtered, "\nfiltered out: 10 (filter=Gemm): 20.0 us, 20.0%\n"));
  CHECK(has(filtered, "\noutside any operator: 11 kernels"));  // a filter is no operator
}

TEST_CASE("device_report.a_filter_finds_kernels_by_operator_and_by_name") {
  const auto kernels = [](const char* filter) {
    report_options options = ascii_at_width(160);
    options.filter = filter;
    std::string names;
    const std::string rows = section(page_of(small_device_profile(), options), "Kernels");
    for (const char* name : {" gemm<float> ", " fill ", " other "})
      if (has(rows, name)) names += name;
    return has(rows, "no kernel matches the filter") ? "none" : names;
  };
  CHECK(kernels("Gemm n=2") == " gemm<float> ");
  CHECK(kernels("float\\*") == " gemm<float>  fill ");  // in the whole name
  CHECK(kernels("^other$") == " other ");
  CHECK(kernels("Parse") == "none");
  report_options options = ascii_at_width(160);
  options.filter = "Load";
  CHECK(has(section(page_of(small_device_profile(), options), "Copies"), "host to device"));
  options.filter = "fill";
  CHECK(has(section(page_of(small_device_profile(), options), "Copies"),
            "no copy is of an operator that matches the filter"));
}

TEST_CASE("device_report.shown_and_hidden_rows_add_up_to_all_work") {
  for (unsigned seed = 0; seed < kprof_test::cases(200); ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    report_options options;
    options.by = kprof_test::finer_and_finer()[seed % 4];
    options.filter = seed % 3 == 0 ? "" : "[aeiou]";
    options.top = seed % 5;
    kprof::detail::text_plan plan(options);
    REQUIRE(plan.prepare().ok());
    plan.look_at(p);
    double kernels = 0, all = 0;
    std::uint64_t runs = 0;
    for (const device_work& w : p.device.work) {
      all += w.total_ns;
      if (w.task == kprof::device_task::kernel) kernels += w.total_ns, runs += w.calls;
    }
    const kprof::detail::chosen_kernels chosen(p, plan);
    for (const kprof::kernel_row& row : chosen.rows) kernels -= row.total_ns, runs -= row.calls;
    for (const auto& line : chosen.folded) kernels -= line.ns, runs -= line.calls;
    REQUIRE(runs == chosen.cut.calls + chosen.filtered.calls);
    REQUIRE(kernels == Approx(chosen.cut.ns + chosen.filtered.ns).margin(1));
    const kprof::detail::operator_groups table(p, plan);
    double in_table = table.folded.device_ns + table.filtered.device_ns;
    for (const kprof::detail::operator_group& g : table.groups) {
      in_table += g.folded.device_ns;
      for (std::size_t i = 0; i < g.shown; ++i) in_table += g.rows[i].device_ns;
    }
    REQUIRE(in_table + kprof::outside_operators(p).all.ns == Approx(all).margin(1));
    const kprof::detail::chosen_tree tree(p, plan);
    double in_tree = tree.cut.device_ns + tree.filtered.device_ns;
    for (std::size_t i = 0; i < tree.rows.size(); ++i) {
      if (!tree.shown[i]) continue;
      const kprof::tree_row& row = tree.rows[i].row;
      in_tree += row.device_ns;
      REQUIRE((row.parent == scope_node::none || tree.shown[row.parent]));
    }
    for (const device_work& w : p.device.work)
      if (w.scope >= p.nodes.size() || (p.nodes[w.scope].kind == kprof::scope_kind::root &&
                                        options.by != kprof_test::by_thread()))
        in_tree += w.total_ns;
    REQUIRE(in_tree == Approx(all).margin(1));
  }
}

// A kernel whose blocks grow with a cache has a row for each launch configuration.
TEST_CASE("device_report.many_small_configurations_of_one_kernel_are_one_line") {
  const auto page_with = [](unsigned configurations) {
    device_builder b;
    const auto op = b.op(b.thread("main", 1), "Decode", "heads=12");
    b.calls(op, 1, 1e6);
    for (unsigned i = 1; i <= configurations; ++i) b.kernel(op, "mix", 2, 50e3, i);
    b.kernel(op, "product", 1, 1e9);
    report_options options = ascii_at_width(120);
    options.kernels = true;
    return section(page_of(b.done(), options), "Kernels");
  };
  const std::string many = page_with(30);
  INFO(many);
  CHECK(words(line_with(many, "configurations"))
            .starts_with("... 30 configurations of mix, each at most <0.1% 60 "));
  CHECK(count_of(many, "mix") == 1);
  CHECK(words(line_with(many, "all kernels")).starts_with("all kernels 61 "));
  CHECK(count_of(page_with(8), "mix") == 8);
}

TEST_CASE("device_report.kernels_of_one_row_text_get_lines_of_what_differs") {
  device_builder b;
  const auto main = b.thread("main", 1), other = b.thread("other", 2);
  const auto op = b.op(main, "A", "n=1");
  b.calls(op, 1, 100);
  b.kernel(op, "k", 1, 900).registers = 32;
  b.kernel(op, "k", 1, 800).registers = 64;
  b.kernel(op, "_Z1fi", 1, 700);
  b.kernel(op, "_Z1fd", 1, 600);
  b.kernel(op, "_ZN1a1gEv", 1, 500);
  b.kernel(op, "_ZN1b1gEv", 1, 400);
  b.kernel(main, "h", 1, 300);
  b.kernel(other, "h", 1, 200);
  report_options options = ascii_at_width(80);
  std::string rows = section(page_of(b.done(), options), "Kernels");
  INFO(rows);
  CHECK_FALSE(has(line_with(rows, "operator "), "registers"));
  CHECK(has(rows, "\n                         registers 32\n"));
  CHECK(has(rows, "\n                         registers 64\n"));
  for (const char* kernel : {" f(int) ", " f(double) ", " a::g ", " b::g "})
    CHECK(has(rows, kernel));
  CHECK_FALSE(has(rows, "thread"));  // one row for both
  options.by = kprof_test::by_thread();
  rows = section(page_of(b.done(), options), "Kernels");
  CHECK(has(rows, " thread main"));
  CHECK(has(rows, " thread other"));
  CHECK(words(line_with(rows, "all kernels")) == "all kernels 8 4.40 us 100.0%");
}

TEST_CASE("device_report.kernel_rows_say_what_differs") {
  device_builder b;
  const auto main = b.thread("main", 1);
  for (int i = 0; i < 3; ++i) {
    const auto op =
        b.op(b.region(main, "layer " + std::to_string(i)), "A", "n=" + std::to_string(i / 2));
    b.calls(op, 1, 100).work(op, 2000, 10, 10);
    auto& w = b.kernel(op, "k", 1, 100 + i, 8, 32);
    w.grid[1] = 2;
    w.block[2] = 4;
    w.dynamic_shared = 2048;
    w.static_shared = 1024;
    w.stream = 7 + static_cast<std::uint32_t>(i);
  }
  auto& unknown = b.kernel(scope_node::none, "", 1, 1, 0);
  unknown.kernel = device_work::none;
  const auto bad = b.op(main, "B");
  b.calls(bad, 1, 10).work(bad, 1, 1, 1);
  b.p.nodes[bad].work.valid = false;
  b.kernel(bad, "bad", 1, 50);
  const kprof::profile p = b.done();
  report_options options = ascii_at_width(300);
  std::string rows = section(page_of(p, options), "Kernels");
  CHECK(words(line_with(rows, " k ")) ==
        "A n=0 2 regions k 0 2 streams 8x2 32x1x4 64 3.00 KiB 2 201 ns 56.8% 101 ns 100 ns 101 ns "
        "4.00 k 40");
  CHECK(words(line_with(rows, "layer 2")) ==
        "A n=1 layer 2 k 0 9 8x2 32x1x4 64 3.00 KiB 1 102 ns 28.8% 102 ns 102 ns 102 ns 2.00 k 20");
  INFO(rows);
  CHECK(has(words(line_with(rows, "(unknown) ")),
            "(unknown) (other kernels) 0 7 n/a 256 64 0 B 1 1.00 ns 0.3% 1.00 ns 1.00 ns 1.00 ns "
            "n/a n/a"));
  CHECK(has(line_with(rows, "bad"), "invalid"));
  CHECK(has(words(line_with(section(page_of(small_device_profile(), options), "Kernels"), "fill")),
            "(outside) step, outside fill 0 7 108 256 64 0 B 10"));
  CHECK_FALSE(has(rows, "pass"));  // a column that would be empty
  options.by = grouping::op;
  b.p.device.work[1].block[0] = 64;
  b.p.device.work[1].device = 2;
  rows = section(page_of(b.p, options), "Kernels");
  CHECK(words(line_with(rows, " k ")) ==
        "A 2 variants 3 regions k several 3 streams several several several several 3 303 ns 85.6% "
        "101 ns 100 ns 102 ns 6.00 k 60");
  options.by = kprof_test::by_thread();
  CHECK(count_of(section(page_of(p, options), "Kernels"), "\nA ") == 3);
  CHECK(count_of(page_of(p, options),
                 "\nn/a, invalid parameters, or a formula that gives no number for them: B\n") ==
        2);
}
