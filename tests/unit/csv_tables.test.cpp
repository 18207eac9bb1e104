// SPDX-License-Identifier: MIT
// The tables of the output "csv" beside that of operators, compared with the tables of the model.

#include <kprof/report/csv.hpp>
#include <kprof/tables.hpp>

#include "../support/catch.hpp"
#include "../support/csv_reader.hpp"
#include "../support/device_profiles.hpp"
#include "../support/report_page.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

using kprof_test::csv_of;
using kprof_test::csv_record;
using kprof_test::field_of;

namespace {

double number_of(const std::vector<csv_record>& records, std::size_t row, const std::string& name) {
  const std::string field = field_of(records, row, name);
  REQUIRE_FALSE(field.empty());
  return std::strtod(field.c_str(), nullptr);
}
void check_figure(const std::vector<csv_record>& records, std::size_t row, const std::string& name,
                  const kprof::figure& f, double scale = 1) {
  if (f.known()) CHECK(number_of(records, row, name) == f.value * scale);
  else CHECK(field_of(records, row, name).empty());
}

}  // namespace

TEST_CASE("csv_tables.kernels_are_those_of_the_kernel_table") {
  for (const kprof::profile& run :
       {kprof_test::transformer_profile(), kprof_test::small_device_profile()}) {
    const std::vector<kprof::kernel_row> rows = kprof::kernel_table(run, kprof::grouping::op);
    const std::vector<csv_record> records = csv_of(run, {{"table", "kernels"}, {"by", "op"}});
    REQUIRE(records.size() == rows.size() + 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const kprof::kernel_row& r = rows[i];
      CHECK(field_of(records, i, "kernel") == r.kernel);
      CHECK(field_of(records, i, "operator") == r.op);
      CHECK(field_of(records, i, "key") == kprof::row_key_text(r.key));
      CHECK(number_of(records, i, "runs") == static_cast<double>(r.calls));
      CHECK(number_of(records, i, "total [ns]") == r.total_ns);
      CHECK(number_of(records, i, "share") == r.share);
      check_figure(records, i, "mean [ns]", r.mean_ns);
      check_figure(records, i, "flops [FLOP]", r.flops);
      check_figure(records, i, "roof", r.verdict.roof);
      check_figure(records, i, "lost [ns]", r.verdict.lost_ns);
      const std::string grid = std::to_string(r.grid[0]) + 'x' + std::to_string(r.grid[1]) + 'x' +
                               std::to_string(r.grid[2]);
      CHECK(field_of(records, i, "grid") == (r.several_configurations ? "" : grid));
      CHECK(field_of(records, i, "waves").empty() == (r.occupancy.unknown != nullptr));
      CHECK(field_of(records, i, "not known").empty());
    }
  }
  const std::vector<csv_record> wrong =
      csv_of(kprof_test::small_device_profile(), {{"table", "kernels"}, {"by", "op+nothing"}});
  CHECK(field_of(wrong, 0, "not known").find("nothing") != std::string::npos);
}

TEST_CASE("csv_tables.copies_are_those_of_the_copy_table") {
  const kprof::profile run = kprof_test::transformer_profile();
  const std::vector<kprof::copy_row> rows = kprof::copy_table(run);
  REQUIRE(rows.size() > 1);
  const std::vector<csv_record> records = csv_of(run, {{"table", "copies"}});
  REQUIRE(records.size() == rows.size() + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(field_of(records, i, "kind") == kprof::copy_name(rows[i]));
    CHECK(number_of(records, i, "bytes [B]") == static_cast<double>(rows[i].bytes));
    CHECK(number_of(records, i, "total [ns]") == rows[i].total_ns);
    check_figure(records, i, "rate [GB/s]", rows[i].bytes_per_s, 1e-9);
    CHECK(field_of(records, i, "from").empty() == (rows[i].task == kprof::device_task::set));
  }
}

TEST_CASE("csv_tables.calls_are_those_of_the_call_table") {
  kprof::profile run = kprof_test::small_device_profile();
  run.device.functions = {"cudaLaunchKernel_v7000"};
  run.device.calls = {{.name = 0, .scope = 0, .calls = 12, .total_ns = 900, .max_ns = 100}};
  const std::vector<kprof::call_row> rows = kprof::call_table(run);
  REQUIRE(rows.size() == 1);
  const std::vector<csv_record> records = csv_of(run, {{"table", "calls"}});
  REQUIRE(records.size() == 2);
  CHECK(field_of(records, 0, "function") == rows[0].function);
  CHECK(number_of(records, 0, "calls") == 12);
  CHECK(number_of(records, 0, "total [ns]") == 900);
  CHECK(number_of(records, 0, "max [ns]") == 100);
}

TEST_CASE("csv_tables.steps_and_the_timeline_have_what_the_profile_has") {
  kprof::profile run = kprof_test::small_device_profile();
  run.clock.ns_per_tick = 0.5;
  run.steps = {{7, 0, true, 100, 1100}, {8, 99, false, 1100, 1300}};
  run.stepping.threads.emplace_back().thread = 0;
  run.stepping.threads[0].count = 100'000;
  const std::vector<csv_record> steps = csv_of(run, {{"table", "steps"}});
  REQUIRE(steps.size() == 3);
  CHECK(field_of(steps, 0, "step") == "7");
  CHECK(field_of(steps, 0, "thread") == run.threads[0].name);
  CHECK(field_of(steps, 0, "counts") == "yes");
  CHECK(field_of(steps, 0, "duration [ns]") == "1000");
  CHECK(field_of(steps, 0, "of steps") == "100000");
  CHECK(field_of(steps, 1, "of steps").empty());
  CHECK(field_of(steps, 1, "thread").empty());
  CHECK(field_of(steps, 1, "thread id").empty());
  CHECK(field_of(steps, 1, "counts") == "no");

  std::uint32_t op = 0, work = 0;
  while (run.nodes[op].kind != kprof::scope_kind::op) ++op;
  while (run.device.work[work].task != kprof::device_task::kernel) ++work;
  const auto unknown = static_cast<std::uint32_t>(run.nodes.size());
  run.timeline = {{op, 2000, 300}, {unknown, 0, 1}};
  run.device.timeline.items.clear();
  run.device.timeline.items.push_back({.work = work, .stream = 13, .start = 50, .end = 80});
  run.device.timeline.items.push_back({.work = work, .start = 50, .end = 40});  // no time
  const std::vector<csv_record> slices = csv_of(run, {{"table", "timeline"}});
  REQUIRE(slices.size() == 3);
  CHECK(field_of(slices, 0, "kind") == "operator");
  CHECK(field_of(slices, 0, "name") == run.nodes[op].name);
  CHECK(field_of(slices, 0, "parameters") == kprof::parameter_text(run, run.nodes[op]));
  CHECK(field_of(slices, 0, "begin [ns]") == "1000");
  CHECK(field_of(slices, 0, "duration [ns]") == "150");
  CHECK(field_of(slices, 0, "stream").empty());
  const std::string path = field_of(slices, 0, "path");
  CHECK(path.substr(path.rfind('/') + 1) == run.nodes[op].name);
  CHECK(field_of(slices, 1, "kind") == "kernel");
  CHECK(field_of(slices, 1, "name") ==
        kprof::kernel_name(run.device.kernels[run.device.work[work].kernel]));
  CHECK(field_of(slices, 1, "stream") == "13");
  CHECK(field_of(slices, 1, "duration [ns]") == "30");
}
