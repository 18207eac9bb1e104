// SPDX-License-Identifier: MIT
#include <kprof/model/kernel_table.hpp>

#include "../support/cases.hpp"
#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/rows.hpp"
#include "groupings.hpp"
#include "machines.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using kprof::absence;
using kprof::copy_direction;
using kprof::copy_table;
using kprof::device_work;
using kprof::grouping;
using kprof::kernel_row;
using kprof::kernel_table;
using kprof::launch_place;
using kprof::scope_node;
using kprof_test::device_builder;
using kprof_test::kernel_row_of;

TEST_CASE("kernel_table.a_row_has_everything_about_a_kernel") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto step = b.region(main, "step"), layer = b.op(step, "Layer", "n=4 pass=dgrad"),
             inside = b.region(layer, "fused"), gemm = b.op(inside, "Gemm", "M=8");
  b.calls(step, 1, 900)
      .calls(layer, 1, 800)
      .calls(inside, 1, 700)
      .calls(gemm, 3, 100)
      .work(gemm, 1000, 30, 10);
  auto& w = b.kernel(gemm, "_ZN2ns4gemmIfEEvPT_", 3, 20);
  w.grid[1] = 2;
  w.block[2] = 4;
  w.registers = 96;
  w.static_shared = 1024;
  w.dynamic_shared = 2048;
  w.device = 1;
  w.stream = 14;
  w.min_ns = 10;
  w.max_ns = 35;
  b.copy(step, copy_direction::host_to_device, 1, 40, 4);
  const auto table = kernel_table(b.done());
  REQUIRE(table.size() == 1);
  const kernel_row& row = table[0];
  CHECK(row.place == launch_place::in_operator);
  CHECK(row.op == "Gemm");
  CHECK(row.parameters == "M=8");
  CHECK(row.variants == 1);
  CHECK(row.region == "fused");
  CHECK(row.regions == 1);
  CHECK(row.pass == "dgrad");  // of the operator around it
  CHECK(row.kernel == "void ns::gemm<float>(float*)");
  CHECK(row.device == 1);
  CHECK(row.stream == 14);
  CHECK(row.streams == 1);
  CHECK(row.grid[0] == 108);
  CHECK(row.grid[1] == 2);
  CHECK(row.block[2] == 4);
  CHECK(row.registers == 96);
  CHECK(row.shared == 3072);
  CHECK(row.calls == 3);
  CHECK(row.total_ns == Approx(60));
  CHECK(row.mean_ns.value == Approx(20));
  CHECK(row.min_ns.value == 10);
  CHECK(row.max_ns.value == 35);
  CHECK(row.share == Approx(0.6));
  CHECK(row.flops.value == Approx(3000));
  CHECK(row.bytes.value == Approx(120));
  CHECK_FALSE((row.several_passes || row.several_devices || row.several_configurations ||
               row.parameters_merged || row.invalid));
}

TEST_CASE("kernel_table.the_region_is_the_innermost_inside_or_outside_of_the_operator") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto outer = b.region(main, "outer"), op = b.op(outer, "A"), inner = b.region(op, "inner"),
             graph = b.graph(inner, 1), none = b.op(main, "B");
  b.kernel(op, "k_outer", 1, 1);
  b.kernel(inner, "k_inner", 1, 1);
  b.kernel(graph, "k_graph", 1, 1);
  b.kernel(none, "k_none", 1, 1);
  b.kernel(outer, "k_alone", 1, 1);
  const kprof::profile p = b.done();
  CHECK(kernel_row_of(p, "k_outer").region == "outer");
  CHECK(kernel_row_of(p, "k_inner").region == "inner");
  CHECK(kernel_row_of(p, "k_graph").region == "inner");
  CHECK(kernel_row_of(p, "k_none").regions == 0);
  CHECK(kernel_row_of(p, "k_alone").region == "outer");
  CHECK(kernel_row_of(p, "k_alone").place == launch_place::outside_operators);
  CHECK_FALSE(kernel_row_of(p, "k_alone").also_in_none);
  CHECK_FALSE(kernel_row_of(p, "k_none").also_in_none);
  b.kernel(main, "k_alone", 1, 1);
  CHECK(kernel_row_of(b.p, "k_alone").region == "outer");
  CHECK(kernel_row_of(b.p, "k_alone").regions == 1);
  CHECK(kernel_row_of(b.p, "k_alone").also_in_none);
}

TEST_CASE("kernel_table.the_pass_is_a_field_of_the_innermost_operator_that_has_one") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto outer = b.op(main, "A", "pass=dgrad"), region = b.region(outer, "r"),
             inner = b.op(region, "B", "n=1"), own = b.op(inner, "C", "pass=wgrad");
  b.kernel(inner, "k_inner", 1, 1);
  b.kernel(own, "k_own", 1, 1);
  b.kernel(b.op(main, "D"), "k_none", 1, 1);
  const auto merged = b.op(outer, "E", "pass=lost");
  b.p.nodes[merged].merged = true;
  b.kernel(merged, "k_merged", 1, 1);
  const kprof::profile p = b.done();
  CHECK(kernel_row_of(p, "k_inner").pass == "dgrad");
  CHECK(kernel_row_of(p, "k_own").pass == "wgrad");
  CHECK(kernel_row_of(p, "k_none").pass.empty());
  CHECK(kernel_row_of(p, "k_merged").pass == "dgrad");
  CHECK(kernel_row_of(p, "k_merged").parameters_merged);
}

TEST_CASE("kernel_table.rows_are_split_as_the_grouping_says") {
  device_builder b;
  const auto main = b.thread("main", 1), other = b.thread("other", 2);
  const auto launch = [&](std::uint32_t root, const char* region,
                          const char* parameters) -> device_work& {
    return b.kernel(b.op(b.region(root, region), "A", parameters), "k", 1, 10);
  };
  launch(main, "r0", "n=1");
  launch(other, "r0", "n=1");            // by thread
  launch(main, "r1", "n=1");             // by region
  launch(main, "r0", "n=1").stream = 8;  // by thread, as is its stream
  launch(main, "r0", "n=2");             // by parameters, as are these
  launch(main, "r0", "n=1").device = 1;
  launch(main, "r0", "n=1").grid[2] = 5;
  launch(main, "r0", "n=1").block[0] = 32;
  launch(main, "r0", "n=1").registers = 1;
  launch(main, "r0", "n=1").dynamic_shared = 1;
  b.kernel(b.op(b.region(main, "r0"), "B", "n=1"), "k", 1, 10);  // always, as are these
  b.kernel(b.op(b.region(main, "r0"), "A", "n=1"), "l", 1, 10);
  b.kernel(main, "k", 1, 10);
  b.kernel(scope_node::none, "k", 1, 10);
  const kprof::profile p = b.done();
  CHECK(kernel_table(p, grouping::op).size() == 5);
  const auto by_parameters = kernel_table(p);
  REQUIRE(by_parameters.size() == 11);
  CHECK(by_parameters[0].calls == 4);
  CHECK(by_parameters[0].regions == 2);
  CHECK(by_parameters[0].region.empty());
  CHECK(by_parameters[0].streams == 2);
  CHECK(kernel_table(p, grouping(grouping::parameters) + grouping::region).size() == 12);
  CHECK(kernel_table(p, grouping(grouping::parameters) + grouping::region + grouping::thread)
            .size() == 14);
  const kernel_row all = kernel_table(p, grouping::op)[0];
  CHECK(all.calls == 10);
  CHECK(all.variants == 2);
  CHECK(all.parameters.empty());
  CHECK(all.several_devices);
  CHECK(all.several_configurations);
  CHECK(all.streams == 3);  // two of device 0, one of device 1
}

TEST_CASE("kernel_table.rows_of_differing_passes_say_so") {
  device_builder b;
  const auto main = b.thread("main", 1);
  b.kernel(b.op(main, "A", "pass=fprop"), "k", 1, 10);
  b.kernel(b.op(main, "A", "pass=dgrad"), "k", 1, 10);
  const kernel_row row = kernel_table(b.p, grouping::op)[0];
  CHECK(row.several_passes);
  CHECK(row.pass.empty());
  CHECK(kernel_table(b.p).size() == 2);
  for (const char* outer : {"pass=fprop", "pass=dgrad"})
    b.kernel(b.op(b.op(main, "Outer", outer), "Inner", "n=1"), "l", 1, 10);
  CHECK(kernel_table(b.p).size() == 4);
}

TEST_CASE("kernel_table.runs_without_timing_are_in_no_time") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = b.op(main, "A");
  auto& some = b.kernel(op, "some", 4, 10);
  some.untimed = 1;
  some.total_ns = 30;
  b.kernel(op, "none", 2, 0).untimed = 2;
  b.kernel(op, "none", 2, 0).untimed = 9;  // more than there are
  const kprof::profile p = b.done();
  CHECK(kernel_row_of(p, "some").mean_ns.value == Approx(10));
  CHECK(kernel_row_of(p, "none").mean_ns.why == absence::untimed);
  CHECK(kernel_row_of(p, "none").min_ns.why == absence::untimed);
  CHECK(kernel_row_of(p, "none").max_ns.why == absence::untimed);
  CHECK(kernel_row_of(p, "none").untimed == 4);
  b.p.device.work[1].untimed = 0;
  b.p.device.work[1].min_ns = b.p.device.work[1].max_ns = 5;
  CHECK(kernel_row_of(b.p, "none").min_ns.value == 5);  // those without timing have no minimum of 0
}

TEST_CASE("kernel_table.the_longest_come_first_and_nothing_is_lost") {
  for (unsigned seed = 0; seed < kprof_test::cases(300); ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    std::uint64_t runs = 0, untimed = 0;
    double ns = 0, all = 0;
    for (const device_work& w : p.device.work) {
      all += w.total_ns;
      if (w.task == kprof::device_task::kernel)
        runs += w.calls, untimed += w.untimed, ns += w.total_ns;
    }
    std::size_t before = 0;
    for (const grouping& by : kprof_test::finer_and_finer()) {
      const auto table = kernel_table(p, by);
      std::uint64_t row_runs = 0, row_untimed = 0;
      double row_ns = 0, shares = 0;
      for (std::size_t i = 0; i < table.size(); ++i) {
        row_runs += table[i].calls;
        row_untimed += table[i].untimed;
        row_ns += table[i].total_ns;
        shares += table[i].share;
        if (i > 0) REQUIRE(table[i].total_ns <= table[i - 1].total_ns);
        if (!table[i].mean_ns.known()) continue;
        REQUIRE(table[i].min_ns.value <= table[i].mean_ns.value * (1 + 1e-9));
        REQUIRE(table[i].mean_ns.value <= table[i].max_ns.value * (1 + 1e-9));
      }
      INFO("seed " << seed << " by " << by.text());
      REQUIRE(row_runs == runs);
      REQUIRE(row_untimed == untimed);
      REQUIRE(row_ns == Approx(ns).margin(1e-6));
      if (all > 0) REQUIRE(shares == Approx(ns / all).margin(1e-9));
      REQUIRE(table.size() >= before);  // each kind splits the rows of the one before it
      before = table.size();
      std::uint64_t parts = 0;
      for (const bool odd : {true, false})
        for (const kernel_row& row :
             kernel_table(p, by, [&](const device_work& w) { return (w.stream % 2 == 1) == odd; }))
          parts += row.calls;
      REQUIRE(parts == runs);
    }
  }
}

TEST_CASE("kernel_table.impossible_profiles_are_survived") {
  CHECK(kernel_table({}).empty());
  CHECK(copy_table({}).empty());
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = b.op(main, "A");
  auto& w = b.kernel(op, "k", 1, -5);
  w.min_ns = std::numeric_limits<double>::quiet_NaN();
  w.max_ns = -1;
  w.kernel = 77;
  b.kernel(999, "lost", 0, 5).total_ns = std::numeric_limits<double>::quiet_NaN();
  b.p.nodes[op].parent = 55;
  const kprof::profile p = b.p;
  const auto table = kernel_table(p);
  REQUIRE(table.size() == 2);
  CHECK(table[0].kernel.empty());
  CHECK(table[0].total_ns == 0);
  CHECK(table[0].min_ns.value == 0);
  CHECK(table[1].place == launch_place::unknown);
  CHECK(table[1].mean_ns.why == absence::no_calls);
}

TEST_CASE("kernel_table.many_nodes_and_much_work_take_linear_time") {
  device_builder b;
  auto at = b.thread("main", 1);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    at = b.op(i % 1000 == 0 ? 0 : at, "Op" + std::to_string(i % 50), "n=" + std::to_string(i));
    device_work w;
    w.scope = at;
    w.kernel = i % 7;
    w.calls = 1;
    w.total_ns = 1 + i % 13;
    w.grid[0] = i;
    b.p.device.work.push_back(w);
  }
  for (int i = 0; i < 7; ++i) b.p.device.kernels.push_back("k" + std::to_string(i));
  CHECK(kernel_table(b.p).size() == 100'000);
  CHECK(kernel_table(b.p, grouping::op).size() == 350);
}

TEST_CASE(
    "kernel_table.launches_differ_in_clusters_and_cooperation_and_share_what_the_driver_gave") {
  device_builder b;
  const auto op = b.op(b.thread("main", 1), "Op", "n=1");
  b.calls(op, 4, 100);
  const auto launch = [&](std::uint32_t cluster, bool cooperative, std::uint32_t given) {
    device_work& w = b.kernel(op, "k", 1, 10, 264, 256);
    w.registers = 32;
    w.dynamic_shared = 95 * 1024;
    w.stream = given;
    w.multiprocessor_shared = given * 1024;
    if (cluster > 0) w.cluster[0] = cluster, w.cluster[1] = w.cluster[2] = 1;
    w.cooperative = cooperative;
  };
  launch(0, false, 132);
  launch(0, false, 132);
  launch(2, false, 132);
  launch(0, true, 132);
  kprof::profile p = b.done();
  kprof_test::add_device(p);
  std::vector<kernel_row> rows = kernel_table(p);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].calls == 2);
  CHECK(rows[0].occupancy.blocks == 1);
  CHECK(rows[0].multiprocessor_shared == 132 * 1024);
  CHECK(rows[1].cluster[0] + rows[2].cluster[0] == 2);
  CHECK(rows[1].cooperative != rows[2].cooperative);
  CHECK(rows[1].key != rows[2].key);
  CHECK_FALSE(rows[0].several_configurations);
  CHECK(kernel_table(p, grouping::op)[0].several_configurations);
  // Where it differs among the runs, the most that a multiprocessor has.
  p.device.work[1].multiprocessor_shared = 228 * 1024;
  rows = kernel_table(p);
  CHECK(rows.size() == 3);
  CHECK(rows[0].multiprocessor_shared == 0);
  CHECK(rows[0].occupancy.blocks == 2);
}
