// SPDX-License-Identifier: MIT
// needs: guards
// What devices did in single steps: the work that calls in the step launched.

#include <kprof/kprof.hpp>
#include <kprof/tables.hpp>

#include "catch.hpp"
#include "machines.hpp"
#include "report_page.hpp"

#include <cstdint>
#include <string>
#include <vector>

using kprof::absence;
using kprof::device_item;
using kprof::operator_row;
using kprof::profile;

namespace {

/// Ends `count` steps of thread 0, of 1000 ns each, in which `node` was called so often.
void add_steps(profile& p, std::uint32_t node, const std::vector<std::uint64_t>& calls) {
  kprof::thread_steps& t = p.stepping.threads.emplace_back();
  t.thread = 0;
  t.count = calls.size();
  p.stepping.whole_from = 0;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    p.steps.push_back({10 + i, 0, true, 1000 * std::int64_t{i}, 1000 * std::int64_t{i} + 1000});
    p.stepping.shares.push_back({i, node, calls[i], 100 * static_cast<double>(calls[i]), 0});
  }
}
std::uint32_t node_named(const profile& p, const std::string& name) {
  for (std::uint32_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].name == name) return i;
  FAIL("no node is called " << name);
  return 0;
}
/// A run of the work, launched at `call`; the device takes `ns`, from 4 us later on.
void add_run(profile& p, std::uint32_t work, std::int64_t call, std::int64_t ns,
             std::uint32_t correlation = 0, bool graph = false) {
  device_item i;
  i.work = work;
  i.correlation = correlation != 0
                      ? correlation
                      : 1000 + static_cast<std::uint32_t>(p.device.timeline.items.size());
  i.call_begin = p.device.work[work].scope == kprof::scope_node::none ? -1 : call;
  i.call_end = i.call_begin < 0 ? -1 : call + 10;
  i.start = call + 4000;
  i.end = i.start + ns;
  i.graph = graph;
  p.device.timeline.items.push_back(i);
}

/// small_device_profile() in two steps. Of the Gemm's 10 calls, and so of its kernels, 3 and 4 are
/// in them, of the 10 copies 5 and 5.
profile two_steps() {
  profile p = kprof_test::small_device_profile();
  add_steps(p, node_named(p, "Gemm"), {3, 4});
  for (std::uint32_t w = 0; w < p.device.work.size(); ++w)
    for (std::uint32_t run = 0; run < p.device.work[w].calls; ++run) {
      const bool is_gemm = p.device.work[w].total_ns == 40'000;
      const std::uint32_t step = is_gemm ? (run < 3 ? 0 : run < 7 ? 1 : 2) : run % 2;
      const double ns = p.device.work[w].total_ns / static_cast<double>(p.device.work[w].calls);
      // The launch decides, though the device runs it later.
      add_run(p, w, 1000 * std::int64_t{step} + 999, static_cast<std::int64_t>(ns));
    }
  return p;
}

kprof::grouping by_step() { return kprof::grouping::parse("op+step").value; }
std::string step_of(const operator_row& row) {
  return row.values.back().known ? row.values.back().text : "";
}
const operator_row& row_of(const std::vector<operator_row>& rows, const std::string& name,
                           const std::string& step) {
  for (const operator_row& row : rows)
    if (row.name == name && step_of(row) == step) return row;
  FAIL("no row of " << name << " in step " << step);
  return rows.front();
}
double value_of(const operator_row& row, const char* metric) {
  const kprof::figure f = kprof::find_metric(metric)->of(row);
  return f.known() ? f.value : -static_cast<double>(f.why);
}
const double not_by_step = -static_cast<double>(absence::not_by_step);

}  // namespace

TEST_CASE("step_device.a_step_has_the_work_that_its_calls_launched") {
  const profile p = two_steps();
  const std::vector<operator_row> rows = operator_table(p, by_step());
  const operator_row& second = row_of(rows, "Gemm", "11");
  CHECK(second.knows_device_of_step);
  CHECK(second.kernels == 4);
  CHECK(second.copies == 0);
  CHECK(second.device_ns == Approx(16'000));
  CHECK(second.device_total_ns == Approx(16'000));
  CHECK(second.device_mean_ns.value == Approx(4'000));
  CHECK(second.gap_ns.value == Approx(4'000));
  CHECK(second.flops_per_s.value == Approx(4 * 4e6 / 16e-6));
  CHECK(second.bytes_per_s.value == Approx(4 * 1000 / 16e-6));
  CHECK(value_of(second, "device") == Approx(16'000));
  CHECK(value_of(second, "waited") == not_by_step);
  const operator_row& rest = row_of(rows, "Gemm", "");
  CHECK(rest.kernels == 3);
  CHECK(rest.device_ns == Approx(12'000));
  CHECK(rest.flops_per_s.value == Approx(3 * 4e6 / 12e-6));
  // Its scopes are in no step, but what they launched is.
  const operator_row& load = row_of(rows, "Load", "10");
  CHECK(load.copies == 5);
  CHECK(load.calls == 0);
  CHECK_FALSE(kprof::find_metric("gbs")->of(load).known());
}

TEST_CASE("step_device.a_roof_is_that_of_the_calls_in_the_step") {
  profile p = two_steps();
  p.nodes[node_named(p, "Gemm")].work.type = kprof::dtype::f32;
  p.machine.gpus = {kprof_test::h100()};
  const auto rows = operator_table(p, by_step());
  const operator_row& second = row_of(rows, "Gemm", "11");
  const auto whole_rows = operator_table(p, kprof::grouping::op);
  const operator_row& whole = whole_rows[0];
  REQUIRE(whole.name == "Gemm");
  REQUIRE(whole.verdict.ideal_ns.known());
  REQUIRE(whole.verdict.ideal_ns.value > 0);
  CHECK(second.verdict.ideal_ns.value * 10 == Approx(whole.verdict.ideal_ns.value * 4));
  CHECK(second.verdict.roof.value == Approx(whole.verdict.roof.value));
  CHECK(second.verdict.bound == whole.verdict.bound);
}

TEST_CASE("step_device.what_the_timeline_lacks_stays_in_the_rest") {
  const auto n_a = [](const profile& p, const char* step) {
    const auto rows = operator_table(p, by_step());
    const operator_row& row = row_of(rows, "Gemm", step);
    const bool lacks = value_of(row, "device") == not_by_step &&
                       value_of(row, "gflops") == not_by_step &&
                       value_of(row, "gap") == not_by_step;
    CHECK(lacks != row.knows_device_of_step);
    double kernels = 0;
    for (const operator_row& r : rows) kernels += r.name == "Gemm" ? double(r.kernels) : 0;
    CHECK(kernels == 10);
    return lacks;
  };
  const profile good = two_steps();
  CHECK_FALSE(n_a(good, "10"));

  profile cut = good;  // from the second step on
  cut.device.timeline.dropped_items = 1;
  CHECK(n_a(cut, "11"));
  cut.device.timeline.windows = {{1000, 9000}};
  CHECK(n_a(cut, "10"));
  CHECK_FALSE(n_a(cut, "11"));
  // The rest has what the first step's calls launched, and not these calls.
  const auto rows = operator_table(cut, by_step());
  CHECK(row_of(rows, "Gemm", "").kernels == 6);
  CHECK(value_of(row_of(rows, "Gemm", ""), "gflops") == not_by_step);
  cut.device.timeline.windows = {{1001, 9000}};
  CHECK(n_a(cut, "11"));
  cut.device.timeline.windows = {{0, 1999}};
  CHECK_FALSE(n_a(cut, "10"));
  CHECK(n_a(cut, "11"));

  // A window that was kept for another step lacks what ran later.
  cut.device.timeline.windows = {{0, 2000}, {3000, 9000}};
  CHECK(n_a(cut, "10"));
  cut.stepping.kept = {{0, kprof::kept_as::slowest}};
  CHECK_FALSE(n_a(cut, "10"));
  CHECK(n_a(cut, "11"));

  profile off = good;  // the profile was saved without one
  off.device.timeline = {};
  CHECK(n_a(off, "10"));

  profile lost = good;  // nobody knows whose work it is
  lost.device.timeline.items[0].work = device_item::none;
  CHECK(n_a(lost, "10"));
  CHECK_FALSE(n_a(lost, "11"));

  profile more = good;  // more runs than there were
  for (int i = 0; i < 11; ++i) add_run(more, more.device.timeline.items[0].work, 1500, 4000);
  CHECK(n_a(more, "10"));
  CHECK(n_a(more, "11"));
  profile longer = good;
  longer.device.timeline.items[0].end += 1'000'000;
  CHECK(n_a(longer, "11"));

  profile shares = good;  // the step's scopes are not told apart
  shares.stepping.shares.erase(shares.stepping.shares.begin());
  CHECK_FALSE(n_a(shares, "11"));
  for (const operator_row& r : operator_table(shares, by_step())) CHECK(step_of(r) != "10");
}

TEST_CASE("step_device.rates_of_steps_need_to_know_which_calls_launched") {
  profile idle = two_steps();
  idle.nodes[node_named(idle, "Gemm")].unlaunched = 2;
  const auto rows = operator_table(idle, by_step());
  CHECK(value_of(row_of(rows, "Gemm", "11"), "device") == Approx(16'000));
  CHECK(value_of(row_of(rows, "Gemm", "11"), "gflops") == not_by_step);
  CHECK(value_of(row_of(rows, "Gemm", ""), "gflops") == not_by_step);

  profile open = two_steps();
  open.nodes[node_named(open, "Gemm")].unrecorded = 1;
  const auto open_rows = operator_table(open, by_step());
  CHECK(value_of(row_of(open_rows, "Gemm", "11"), "gflops") ==
        -static_cast<double>(absence::not_all_records));
}

TEST_CASE("step_device.work_that_is_missing_may_be_of_any_step") {
  profile p = two_steps();
  p.device.complete.dropped = 1;  // which may be a copy's; a kernel's launch would lack it
  CHECK(value_of(row_of(operator_table(p, by_step()), "Gemm", "11"), "device") == Approx(16'000));
  CHECK(value_of(row_of(operator_table(p, by_step()), "Load", "10"), "device") == not_by_step);
  p.nodes[node_named(p, "Gemm")].unrecorded = 1;
  CHECK(value_of(row_of(operator_table(p, by_step()), "Gemm", "11"), "device") == not_by_step);
}

TEST_CASE("step_device.a_call_over_the_border_of_a_step_has_no_rate") {
  // Its kernels are launched in the first step, and three of four calls end in the second.
  const auto run = [](std::uint32_t thread, std::uint64_t of_first, std::uint64_t of_second) {
    kprof_test::device_builder b;
    const auto main = b.thread("main", 1), other = b.thread("other", 2);
    const auto gemm = b.op(thread == 0 ? main : other, "Gemm", "n=2");
    b.calls(gemm, of_first + of_second, 500).work(gemm, 1'000'000, 600, 400);
    b.kernel(gemm, "_Z4gemmIfEvPT_", of_first + of_second, 100);
    profile p = b.done();
    kprof_test::add_surroundings(p);
    kprof_test::add_device(p);
    add_steps(p, gemm, {of_first, of_second});
    return p;
  };
  profile p = run(1, 1, 3);
  for (std::uint32_t i = 0; i < 4; ++i) add_run(p, 0, i < 3 ? 10 : 1010, 100);
  for (const char* step : {"10", "11"}) {
    const auto rows = operator_table(p, by_step());
    CHECK(value_of(row_of(rows, "Gemm", step), "gflops") == not_by_step);
    CHECK(value_of(row_of(rows, "Gemm", step), "device") > 0);
  }
  // One of ten, on another thread; the thread whose steps they are has its scopes inside them.
  for (const std::uint32_t thread : {0U, 1U}) {
    profile few = run(thread, 9, 11);
    for (std::uint32_t i = 0; i < 20; ++i) add_run(few, 0, i < 10 ? 10 : 1010, 100);
    const auto rows = operator_table(few, by_step());
    CHECK((value_of(row_of(rows, "Gemm", "10"), "gflops") == not_by_step) == (thread == 1));
  }
}

TEST_CASE("step_device.a_graph_calls_its_operators_in_the_step_that_launched_it") {
  kprof_test::device_builder b;
  const auto main = b.thread("main", 1);
  const auto train = b.op(main, "Train", "n=1"), graph = b.graph(train, 5),
             gemm = b.op(graph, "Gemm", "n=2");
  b.calls(train, 5, 700);
  b.work(gemm, 4'000'000, 600, 400);
  b.p.nodes[gemm].replays = 10;  // two in each launch
  b.kernel(gemm, "_Z4gemmIfEvPT_", 10, 4000);
  b.kernel(graph, "_Z4fillPf", 5, 1000);
  profile p = b.done();
  kprof_test::add_surroundings(p);
  kprof_test::add_device(p);
  add_steps(p, train, {2, 1});
  for (std::uint32_t launch = 0; launch < 5; ++launch) {
    const std::int64_t call = launch < 2 ? 100 : launch < 3 ? 1100 : 5000;
    for (int kernel = 0; kernel < 2; ++kernel) add_run(p, 0, call, 4000, 1 + launch, true);
    add_run(p, 1, call, 1000, 1 + launch, true);
  }
  const auto rows = operator_table(p, by_step());
  const operator_row& first = row_of(rows, "Gemm", "10");
  CHECK(first.replays == 4);
  CHECK(first.device_ns == Approx(16'000));
  CHECK(first.flops_per_s.value == Approx(4 * 4e6 / 16e-6));
  CHECK(row_of(rows, "Gemm", "11").replays == 2);
  CHECK(row_of(rows, "Gemm", "").replays == 4);
  CHECK(row_of(rows, "Gemm", "").flops_per_s.value == Approx(4 * 4e6 / 16e-6));
  CHECK(row_of(rows, "Train", "10").device_ns == Approx(2'000));
  CHECK(row_of(rows, "Train", "10").device_total_ns == Approx(18'000));

  // A graph that changed called it in some launches more often than in others.
  p.nodes[gemm].replays = 9;
  const auto odd = operator_table(p, by_step());
  CHECK(value_of(row_of(odd, "Gemm", "10"), "device") == Approx(16'000));
  CHECK(value_of(row_of(odd, "Gemm", "10"), "gflops") == not_by_step);
  CHECK(row_of(odd, "Gemm", "").replays == 9);
}

TEST_CASE("step_device.the_report_says_whose_work_is_whose") {
  profile p = two_steps();
  kprof::report_options options = kprof_test::at_width(120);
  options.by = by_step();
  const std::string page = kprof_test::page_of(p, options);
  INFO(page);
  CHECK(kprof_test::has(page, "sorted by device"));
  CHECK(kprof_test::has(page, "what a device did is in the step whose call launched it"));
  CHECK_FALSE(kprof_test::has(page, "; and the work of devices"));
  p.device.timeline.windows = {{1000, 9000}};
  CHECK(kprof_test::has(kprof_test::page_of(p, options), "and the work of devices for"));
}
