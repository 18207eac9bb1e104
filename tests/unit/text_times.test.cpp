// SPDX-License-Identifier: MIT
// What the text report says of first calls, of threads, of the largest count and of the work done.

#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/machines.hpp"
#include "../support/profile_builder.hpp"
#include "../support/report_page.hpp"
#include "../support/sample_profile.hpp"

#include <cstdint>
#include <string>

using kprof::report_options;
using kprof_test::at_width;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;

TEST_CASE("report.a_slow_first_call_is_told_apart") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  const auto slow = b.op(main, "AdamW", "n=30357504"), steady = b.op(main, "Gemm", "M=1"),
             little = b.op(main, "Gemm", "M=2"), both = b.op(main, "Copy"),
             rare = b.op(main, "Rare", "n=1");
  const auto first_of = [&](std::uint32_t node, double ns) {
    b.calls(node, 1, ns);
    b.p.nodes[node].first_ns = ns;
    b.p.nodes[node].first_end_ns = 0;
  };
  first_of(slow, 517e6), b.calls(slow, 9, 24e6);
  first_of(steady, 40e6), b.calls(steady, 9, 24e6);
  // Five times the median, and less than 1 % of the row's time.
  first_of(little, 6e6), b.calls(little, 1000, 1e6);
  // A slow first call does not account for one that is as slow later.
  first_of(both, 400e6), b.calls(both, 8, 1e6).calls(both, 1, 400e6);
  first_of(rare, 9e3), b.calls(rare, 5, 1e3);  // less than a thousandth of the run
  const std::string page = page_of(b.done(), at_width(200));
  CHECK(line_with(page, "first call far above the median: ") ==
        "first call far above the median: AdamW (first 517 ms, then 24.0 ms), Copy (first 400 ms, "
        "then 1.00 ms)");
  CHECK(line_with(page, "mean above 3 times the median") ==
        "mean above 3 times the median, a few calls take most of the time, see report(slowest): "
        "Copy");
  first_of(b.op(main, "AdamW", "n=1"), 100e6);
  b.calls(static_cast<std::uint32_t>(b.p.nodes.size() - 1), 9, 1e6);
  CHECK(has(line_with(page_of(b.done(), at_width(200)), "first call far above"),
            "AdamW n=30357504 (first 517 ms, then 24.0 ms), Copy (first 400 ms, then 1.00 ms), "
            "AdamW n=1 (first 100 ms, then 1.00 ms)"));
  for (kprof::scope_node& n : b.p.nodes) n.first_ns = n.first_end_ns = -1;
  CHECK_FALSE(has(page_of(b.done(), at_width(200)), "first call"));
}

TEST_CASE("report.time_outside_all_scopes_is_told_by_thread") {
  kprof::profile p = kprof_test::sample_profile();
  const auto thread = [&](const char* name, double wall_ns, double in_scopes_ns) {
    kprof::thread_info t;
    t.id = 7, t.name = name, t.wall_ns = wall_ns, t.in_scopes_ns = in_scopes_ns;
    p.threads.push_back(t);
  };
  const auto told = [&](const report_options& options) {
    std::string lines;
    for (const std::string& line : kprof_test::lines_of(page_of(p, options)))
      if (line.starts_with("outside all scopes: ")) lines += line.substr(20) + '\n';
    return lines;
  };
  REQUIRE(p.wall_ns == Approx(5.03e9));
  const report_options wide = at_width(120);
  CHECK(told(wide).empty());  // the sample's threads have no times
  thread("little", 4e9, 3.95e9);
  CHECK(told(wide).empty());
  thread("reader", 5e9, 4.3e9);
  CHECK(told(wide) ==
        "700 ms, 14.0% of reader 7 (wall 5.00 s, in scopes 4.30 s)\n"
        "50.0 ms, 1.3% of 1 more thread (wall 4.00 s, in scopes 3.95 s)\n");
  p.paused_ns = 1e9;
  CHECK(has(told(wide), "reader 7 (wall 5.00 s, in scopes 4.30 s; pauses count as outside)\n"));
  p.paused_ns = 0;
  p.threads.pop_back();
  for (const char* name : {"a", "b\x1b", "c", "d"}) thread(name, 2e9, 1e9);
  p.threads.back().merged = 12, p.threads.back().wall_ns = 1.5e9;
  p.threads[2].in_scopes_ns = 9e9;  // more than it ran, as only a damaged file has it
  CHECK(told(wide) ==
        "1.00 s, 50.0% of a 7 (wall 2.00 s, in scopes 1.00 s)\n"
        "1.00 s, 50.0% of b\\x1b 7 (wall 2.00 s, in scopes 1.00 s)\n"
        "1.00 s, 50.0% of c 7 (wall 2.00 s, in scopes 1.00 s)\n"
        "0 ns, 0% of 13 more threads (wall 5.50 s, in scopes 10.0 s)\n");
}

TEST_CASE("report.cpu_time_without_guards_is_told") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.op(main, "Op"), 10, 100e6);
  kprof::profile p = b.done();
  p.wall_ns = 2e9;
  p.threads[0].begin_ns = 0.25e9, p.threads[0].wall_ns = 1.5e9, p.threads[0].off_cpu_ns = 0.75e9;
  const auto told = [&] {
    const std::string page = page_of(p, at_width(120));
    return has(page, "without guards: ") ? line_with(page, "without guards: ") : "";
  };
  CHECK(told().empty());  // the process's is not known
  p.cpu_ns = 4e9;
  CHECK(told() ==
        "without guards: 3.00 s of CPU time, 75.0% of the process's 4.00 s, in threads that no row "
        "tells of");
  p.cpu_ns = 1.021e9;
  CHECK(told() ==
        "without guards: 21.0 ms of CPU time, 2.1% of the process's 1.02 s, in threads that no row "
        "tells of");
  p.cpu_ns = 1.02e9;
  CHECK(told().empty());
}

TEST_CASE("report.the_largest_count_of_calls_is_printed") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1), op = b.op(main, "Largest");
  b.calls(op, 1, 1e3);
  kprof::profile run = b.done();
  run.nodes[op].calls = ~std::uint64_t{0};
  report_options options = at_width(100);
  options.columns = {"operator", "calls"};
  options.advice = {"-R4"};  // names the operator too
  CHECK(has(line_with(page_of(run, options), "Largest"), "18.4 E"));
}

TEST_CASE("report.the_head_says_at_least_where_parameters_were_not_kept") {
  kprof_test::profile_builder b;
  const auto main = b.thread("main", 1);
  const auto kept = b.op(main, "Gemm", "n=1"), merged = b.op(main, "Gemm", "n=2");
  b.calls(kept, 10, 100).work(kept, 1'000'000, 100, 0);
  b.calls(merged, 10, 100).work(merged, 1'000'000, 100, 0);
  kprof::profile p = b.done();
  p.wall_ns = 1e6;
  CHECK(has(page_of(p, at_width(100)), " 20.0 MFLOP at 20.0 GFLOP/s"));
  p.nodes[merged].merged = true;
  CHECK(has(page_of(p, at_width(100)), " at least 10.0 MFLOP at 10.0 GFLOP/s"));
}

TEST_CASE("report.the_head_says_whose_share_of_the_roof_where_operators_are_little_of_the_run") {
  kprof_test::profile_builder b;
  const auto op = b.op(b.thread("main", 1), "Gemm", "n=1");
  b.calls(op, 10, 1e6).work(op, 1'000'000, 100, 0);
  kprof::profile p = b.done();
  p.machine.cpu = kprof_test::two_cpus();
  p.wall_ns = 19e6;
  CHECK(has(page_of(p, at_width(200)), "MFLOP/s, 1.0% of the roof"));
  p.wall_ns = 21e6;
  CHECK(has(page_of(p, at_width(200)), "MFLOP/s \u00B7 operators at 1.0% of the roof"));
}
