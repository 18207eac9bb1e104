// SPDX-License-Identifier: MIT
// What tables and reports say of time off the CPU.

#include <kprof/report/text/page.hpp>
#include <kprof/tables.hpp>

#include "catch.hpp"
#include "device_builder.hpp"
#include "report_page.hpp"

#include <cstdint>
#include <limits>
#include <string>

using kprof::absence;
using kprof::grouping;
using kprof::operator_row;
using kprof::operator_table;
using kprof_test::at_width;
using kprof_test::device_builder;
using kprof_test::has;
using kprof_test::line_with;
using kprof_test::page_of;

namespace {

struct builder : device_builder {
  builder() { p.clock.cpu_interval_ns = 200'000; }
  void cpu(std::uint32_t node, double measured_ns, double off_ns) {
    p.nodes[node].measured_ns = measured_ns;
    p.nodes[node].off_cpu_ns = off_ns;
  }
};

operator_row row_of(const kprof::profile& p, const std::string& name) {
  for (operator_row& row : operator_table(p, grouping::op))
    if (row.name == name) return row;
  FAIL("no row " << name);
  return {};
}
constexpr const char* lead = "off the CPU, waiting or for want of a CPU: ";

}  // namespace

TEST_CASE("off_cpu.a_row_has_the_sums_of_its_calls") {
  builder b;
  const auto main = b.thread("main", 1), other = b.thread("other", 2);
  const auto here = b.op(main, "A", "n=1"), there = b.op(other, "A", "n=2"),
             brief = b.op(main, "B");
  b.calls(here, 2, 500).calls(there, 1, 3000).calls(brief, 9, 1);
  b.cpu(here, 500, 400);
  b.cpu(there, 3000, 300);
  const kprof::profile p = b.done();
  const operator_row a = row_of(p, "A");
  CHECK(a.measured_ns == 3500);
  CHECK(a.off_cpu_ns == 700);
  CHECK(a.off_cpu_self_ns == 700);
  REQUIRE(a.cpu.known());
  CHECK(a.cpu.value == Approx(0.8));
  CHECK(row_of(p, "B").cpu.why == absence::too_short);
}

TEST_CASE("off_cpu.a_call_inside_one_of_the_same_row_counts_once_and_regions_to_their_operator") {
  builder b;
  const auto main = b.thread("main", 1);
  const auto outer = b.op(main, "A", "n=1"), region = b.region(outer, "wait"),
             inner = b.op(region, "A", "n=1"), leaf = b.op(inner, "B");
  b.calls(leaf, 1, 300).calls(inner, 1, 400).calls(region, 1, 800).calls(outer, 1, 1000);
  b.cpu(outer, 1000, 700);
  b.cpu(region, 800, 650);
  b.cpu(inner, 400, 350);
  b.cpu(leaf, 300, 290);
  const kprof::profile p = b.done();
  const operator_row a = row_of(p, "A");
  CHECK(a.measured_ns == 1000);
  CHECK(a.off_cpu_ns == 700);
  CHECK(a.cpu.value == Approx(0.3));
  CHECK(a.off_cpu_self_ns == 700 - 290);
  CHECK(row_of(p, "B").off_cpu_self_ns == 290);
}

TEST_CASE("off_cpu.why_a_share_is_not_known_is_said") {
  builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.op(main, "A"), 1, 5);
  const auto open = b.op(main, "Open");
  b.p.nodes[open].open = 1;
  CHECK(row_of(b.done(), "A").cpu.why == absence::too_short);
  CHECK(row_of(b.done(), "Open").cpu.why == absence::no_calls);
  b.p.clock.cpu_interval_ns = 0;
  CHECK(row_of(b.done(), "A").cpu.why == absence::no_cpu_time);
  b.p.clock.cpu_interval_ns = -1;
  CHECK(row_of(b.done(), "A").cpu.why == absence::not_noted);
  const std::string page =
      page_of(b.done(), {.width = 100, .columns = {"operator", "self", "cpu"}});
  CHECK(has(page, "n/a, not in the file: an older kprof saved it: A"));
}

TEST_CASE("off_cpu.senseless_times_of_a_file_are_survived") {
  builder b;
  const auto main = b.thread("main", 1);
  const auto a = b.op(main, "A"), c = b.op(main, "C");
  b.calls(a, 1, 100).calls(c, 1, 100);
  b.cpu(a, 10, 1e30);
  b.cpu(c, std::numeric_limits<double>::quiet_NaN(), -5);
  CHECK(row_of(b.done(), "A").cpu.value == 0);
  CHECK_FALSE(row_of(b.done(), "C").cpu.known());
  CHECK(row_of(b.done(), "C").off_cpu_self_ns == 0);
}

TEST_CASE("off_cpu.a_report_names_rows_that_were_off_the_cpu_for_long") {
  builder b;
  const auto main = b.thread("main", 1);
  const auto step = b.region(main, "step"), read = b.op(step, "Read", "n=1"),
             gemm = b.op(step, "Gemm", "n=1"), load = b.region(main, "load");
  b.calls(read, 10, 20e6).calls(gemm, 10, 30e6).calls(step, 10, 55e6).calls(load, 1, 100e6);
  b.cpu(gemm, 300e6, 25e6);  // below a tenth
  b.cpu(read, 150e6, 10e6);
  CHECK_FALSE(has(page_of(b.done(), at_width(120)), "off the CPU"));
  CHECK_FALSE(has(page_of(b.done(), at_width(120)), " cpu "));
  b.cpu(read, 150e6, 120e6);
  b.cpu(step, 550e6, 150e6);  // what is inside accounts for it
  b.cpu(load, 100e6, 90e6);
  std::string page = page_of(b.done(), at_width(120));
  CHECK(line_with(page, lead) ==
        std::string{lead} + "Read (120 ms of 150 ms), load (90.0 ms of 100 ms)");
  CHECK(has(page, " cpu "));
  CHECK(has(page, " 20.0% "));
  // Measured for less than half of its time.
  b.cpu(read, 90e6, 80e6);
  b.cpu(load, 49e6, 49e6);
  CHECK_FALSE(has(page_of(b.done(), at_width(120)), "off the CPU"));
}

TEST_CASE("off_cpu.rows_are_named_by_what_tells_them_apart") {
  builder b;
  const auto main = b.thread("main", 1);
  const std::string same = "batch=32 height=1024 width=1024 channels=256 ";  // 40 columns, and more
  for (const char* last : {"filters=1", "filters=2"}) {
    const auto conv = b.op(main, "Conv", same + last);
    b.calls(conv, 1, 50e6);
    b.cpu(conv, 50e6, 40e6);
  }
  CHECK(line_with(page_of(b.done(), at_width(160)), lead) ==
        std::string{lead} +
            "Conv filters=1 (40.0 ms of 50.0 ms), Conv filters=2 (40.0 ms of 50.0 ms)");
}

TEST_CASE("off_cpu.a_long_name_keeps_its_end") {
  CHECK(kprof::detail::short_name("a_very_long_layer_name_of_a_model.encoder.7", false) ==
        "a_very_long_layer_\u2026_of_a_model.encoder.7");
  CHECK(kprof::detail::short_name("a_very_long_layer_name_of_a_model.encoder.7", true) ==
        "a_very_long_layer_...f_a_model.encoder.7");
  CHECK(kprof::detail::short_name("exactly_forty_columns_and_not_one_more__", true) ==
        "exactly_forty_columns_and_not_one_more__");
  builder b;
  const auto main = b.thread("main", 1);
  for (const char* last : {"1", "2"}) {
    const auto layer =
        b.region(main, std::string("a_very_long_layer_name_of_a_model.encoder.") + last);
    const auto conv = b.op(layer, "Conv", "n=1");
    b.calls(layer, 1, 51e6).calls(conv, 1, 50e6).calls(b.op(layer, "Pool", "n=1"), 1, 1e6);
    b.cpu(conv, 50e6, 40e6);
  }
  auto options = at_width(160);
  options.by = kprof::grouping::parse("layer").value;
  const std::string line = line_with(page_of(b.done(), options), lead);
  INFO(line);
  CHECK(has(line, "(all) a_very"));
  CHECK(has(line, "encoder.1, 2 sets (40.0 ms"));
  CHECK(has(line, "encoder.2, 2 sets (40.0"));
}

TEST_CASE("off_cpu.little_of_the_run_is_not_told_and_many_rows_are_counted") {
  builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.op(main, "Gemm"), 1, 1e9);
  const auto little = b.op(main, "Little");
  b.calls(little, 1, 9e6);
  b.cpu(little, 9e6, 9e6);
  CHECK_FALSE(has(page_of(b.done(), at_width(120)), "off the CPU"));
  for (int i = 0; i < 5; ++i) {
    const auto wait = b.op(main, "Wait" + std::to_string(i));
    b.calls(wait, 1, (50 + i) * 1e6);
    b.cpu(wait, 50e6, (40 + i) * 1e6);
  }
  CHECK(has(line_with(page_of(b.done(), at_width(160)), lead),
            "Wait4 (44.0 ms of 50.0 ms), Wait3 (43.0 ms of 50.0 ms), Wait2 (42.0 ms of 50.0 ms) "
            "and 2 more"));
}

TEST_CASE("off_cpu.a_scope_that_handed_its_path_to_other_threads_waits_for_them") {
  builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto all = b.region(main, "all"), part = b.region(all, "parallel");
  b.calls(part, 1, 900).calls(all, 1, 1000);
  b.cpu(part, 900, 880);
  b.cpu(all, 1000, 890);
  CHECK(has(page_of(b.done(), at_width(120)), "parallel ("));
  const auto handed = b.region(b.region(worker, "all"), "parallel");
  b.calls(b.op(handed, "Work"), 1, 800);
  CHECK_FALSE(has(page_of(b.done(), at_width(120)), "off the CPU"));
}

TEST_CASE("off_cpu.a_host_that_waits_for_its_device_is_not_blamed") {
  builder b;
  const auto main = b.thread("main", 1);
  const auto sync = b.op(main, "Sync");
  b.calls(sync, 1, 1e6);
  b.cpu(sync, 1e6, 0.9e6);
  CHECK(has(page_of(b.done(), at_width(120)), "off the CPU"));
  b.kernel(sync, "k", 1, 0.8e6);
  const std::string page = page_of(b.done(), at_width(120));
  CHECK_FALSE(has(page, "off the CPU"));
  CHECK_FALSE(has(page, " cpu "));
  CHECK(has(page_of(b.done(), {.width = 100, .columns = {"operator", "cpu"}}), "10.0%"));
}

TEST_CASE("off_cpu.a_thread_that_was_off_the_cpu_for_long_says_so_where_it_has_a_line") {
  builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.op(main, "A"), 1, 100e6);
  b.p.wall_ns = b.p.threads[0].wall_ns = 200e6;
  b.p.threads[0].in_scopes_ns = 100e6;
  b.p.threads[0].off_cpu_ns = 19e6;
  CHECK(has(page_of(b.done(), at_width(120)), "(wall 200 ms, in scopes 100 ms)"));
  b.p.threads[0].off_cpu_ns = 90e6;
  CHECK(has(page_of(b.done(), at_width(120)),
            "(wall 200 ms, in scopes 100 ms, off the CPU 90.0 ms)"));
}
