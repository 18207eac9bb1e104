// SPDX-License-Identifier: MIT
#include <kprof/model/kernel_table.hpp>

#include <kprof/model/copy_table.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

using kprof::absence;
using kprof::copy_direction;
using kprof::copy_row;
using kprof::copy_table;
using kprof::device_work;
using kprof::grouping;
using kprof::kernel_row;
using kprof::kernel_table;
using kprof::launch_place;
using kprof::memory_place;
using kprof::scope_node;
using kprof::tensor_use;
using kprof_test::device_builder;

namespace {

kernel_row row_of(const kprof::profile& p, const std::string& kernel,
                  grouping by = grouping::parameters) {
  for (const kernel_row& row : kernel_table(p, by))
    if (row.kernel == kernel) return row;
  FAIL("no row " << kernel);
  return {};
}

}  // namespace

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
  CHECK(row_of(p, "k_outer").region == "outer");
  CHECK(row_of(p, "k_inner").region == "inner");
  CHECK(row_of(p, "k_graph").region == "inner");
  CHECK(row_of(p, "k_none").regions == 0);
  CHECK(row_of(p, "k_alone").region == "outer");
  CHECK(row_of(p, "k_alone").place == launch_place::outside_operators);
  CHECK_FALSE(row_of(p, "k_alone").also_in_none);
  CHECK_FALSE(row_of(p, "k_none").also_in_none);
  b.kernel(main, "k_alone", 1, 1);
  CHECK(row_of(b.p, "k_alone").region == "outer");
  CHECK(row_of(b.p, "k_alone").regions == 1);
  CHECK(row_of(b.p, "k_alone").also_in_none);
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
  CHECK(row_of(p, "k_inner").pass == "dgrad");
  CHECK(row_of(p, "k_own").pass == "wgrad");
  CHECK(row_of(p, "k_none").pass.empty());
  CHECK(row_of(p, "k_merged").pass == "dgrad");
  CHECK(row_of(p, "k_merged").parameters_merged);
}

TEST_CASE("kernel_table.rows_are_split_as_the_grouping_says") {
  device_builder b;
  const auto main = b.thread("main", 1), other = b.thread("other", 2);
  const auto launch = [&](std::uint32_t root, const char* region,
                          const char* parameters) -> device_work& {
    return b.kernel(b.op(b.region(root, region), "A", parameters), "k", 1, 10);
  };
  launch(main, "r0", "n=1");
  launch(other, "r0", "n=1");            // a thread makes no difference
  launch(main, "r1", "n=1");             // by call site
  launch(main, "r0", "n=1").stream = 8;  // by thread
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
  CHECK(kernel_table(p, grouping::call_site).size() == 12);
  CHECK(kernel_table(p, grouping::thread).size() == 13);
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

TEST_CASE("kernel_table.the_formulas_are_a_kernels_where_each_call_runs_it_alone") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = [&](const char* name, std::uint64_t calls) {
    const auto node = b.op(main, name, "n=1");
    b.calls(node, calls, 10).work(node, 100, 6, 4);
    return node;
  };
  b.kernel(op("Alone", 5), "alone", 5, 10);
  const auto two = op("Two", 5);
  b.kernel(two, "two_a", 5, 10);
  b.kernel(two, "two_b", 5, 10);
  b.kernel(op("Twice", 5), "twice", 10, 10);  // the same one two times a call
  const auto shapes = op("Shapes", 5);        // one kernel, two configurations
  b.kernel(shapes, "shapes", 3, 10, 1);
  b.kernel(shapes, "shapes", 2, 10, 2);
  b.set(shapes, 5, 10, 64);  // a memset is no kernel
  const auto layer = op("Layer", 5), part = b.op(b.region(layer, "r"), "Part");
  b.kernel(layer, "layer", 5, 10);
  b.kernel(part, "part", 5, 10);
  const auto waiting = op("Waiting", 5);
  b.p.nodes[waiting].open = 1;  // a call that is under way has launched too
  b.kernel(waiting, "waiting", 6, 10);
  const auto several = op("Merged", 5);
  auto& merged = b.kernel(several, "lost", 5, 10);
  merged.kernel = device_work::none;
  merged.merged = true;
  b.kernel(main, "outside", 5, 10);
  const kprof::profile p = b.done();
  CHECK(row_of(p, "alone").flops.value == Approx(500));
  CHECK(row_of(p, "alone").bytes.value == Approx(50));
  CHECK(row_of(p, "two_a").flops.why == absence::several_kernels);
  CHECK(row_of(p, "two_b").bytes.why == absence::several_kernels);
  CHECK(row_of(p, "twice").flops.why == absence::several_kernels);
  const auto table = kernel_table(p);
  for (const kernel_row& row : table)
    if (row.kernel == "shapes") CHECK(row.flops.value == Approx(row.grid[0] == 1 ? 300 : 200));
  CHECK(row_of(p, "layer").flops.why == absence::several_kernels);
  CHECK(row_of(p, "part").flops.why == absence::no_flops);
  CHECK(row_of(p, "part").bytes.why == absence::no_bytes);
  CHECK(row_of(p, "waiting").flops.value == Approx(600));
  CHECK(row_of(p, "").flops.why == absence::several_kernels);
  CHECK(row_of(p, "").several_configurations);
  CHECK(row_of(p, "outside").flops.why == absence::no_operator);
  CHECK(row_of(p, "outside").bytes.why == absence::no_operator);
}

TEST_CASE("kernel_table.replayed_calls_count_and_captured_ones_do_not") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto captured = b.op(main, "A"), graph = b.graph(main, 9), replayed = b.op(graph, "A");
  b.calls(captured, 1, 10).work(captured, 100, 6, 4).work(replayed, 100, 6, 4);
  b.p.nodes[captured].captured = 1;
  b.p.nodes[replayed].replays = 9;
  b.kernel(replayed, "k", 9, 10);
  CHECK(row_of(b.done(), "k").flops.value == Approx(900));
  b.p.device.work[0].calls = 10;  // one more than there were calls that did anything
  CHECK(row_of(b.p, "k").flops.why == absence::several_kernels);
}

TEST_CASE("kernel_table.what_formulas_do_not_say_has_a_reason") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = [&](const char* name, auto change) {
    const auto node = b.op(main, name, "n=1");
    b.calls(node, 1, 10).work(node, 100, 6, 4);
    change(b.p.nodes[node]);
    b.kernel(node, name, 1, 10);
  };
  op("no_flops", [](scope_node& n) { n.work.has_flops = false; });
  op("no_bytes", [](scope_node& n) { n.work.has_bytes = false; });
  op("invalid", [](scope_node& n) { n.work.valid = false; });
  op("merged", [](scope_node& n) { n.merged = true; });
  const kprof::profile p = b.done();
  CHECK(row_of(p, "no_flops").flops.why == absence::no_flops);
  CHECK(row_of(p, "no_flops").bytes.known());
  CHECK(row_of(p, "no_bytes").bytes.why == absence::no_bytes);
  CHECK(row_of(p, "no_bytes").flops.known());
  CHECK(row_of(p, "invalid").flops.why == absence::invalid);
  CHECK(row_of(p, "invalid").invalid);
  CHECK(row_of(p, "merged").flops.why == absence::merged);
}

TEST_CASE("kernel_table.tensor_cores_are_known_by_name_or_declared_or_not_at_all") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto launch = [&](const char* name, kprof::arithmetic_unit on,
                          std::vector<const char*> kernels) {
    const auto node = b.op(main, name, "n=1");
    b.calls(node, 1, 10).work(node, 100, 6, 4);
    b.p.nodes[node].work.on = on;
    for (const char* kernel : kernels) b.kernel(node, kernel, 1, 10);
  };
  launch("A", kprof::arithmetic_unit::unknown, {"ampere_h16816gemm", "volta_sgemm"});
  launch("B", kprof::arithmetic_unit::tensor_core, {"mine"});
  launch("C", kprof::arithmetic_unit::cuda_core, {"plain"});
  launch("D", kprof::arithmetic_unit::tensor_core, {"prepare", "multiply"});
  launch("E", kprof::arithmetic_unit::cuda_core, {"first", "second"});
  launch("F", kprof::arithmetic_unit::cuda_core,
         {"turing_s1688gemm"});  // the name is nearer to the truth
  b.kernel(main, "h884gemm", 1, 10);
  b.kernel(main, "whatever", 1, 10);
  const kprof::profile p = b.done();
  CHECK(row_of(p, "ampere_h16816gemm").tensor_core == tensor_use::yes_by_name);
  CHECK(row_of(p, "volta_sgemm").tensor_core == tensor_use::unknown);
  CHECK(row_of(p, "mine").tensor_core == tensor_use::yes_declared);
  CHECK(row_of(p, "plain").tensor_core == tensor_use::no_declared);
  CHECK(row_of(p, "prepare").tensor_core == tensor_use::unknown);
  CHECK(row_of(p, "multiply").tensor_core == tensor_use::unknown);
  CHECK(row_of(p, "first").tensor_core == tensor_use::no_declared);
  CHECK(row_of(p, "second").tensor_core == tensor_use::no_declared);
  CHECK(row_of(p, "turing_s1688gemm").tensor_core == tensor_use::yes_by_name);
  CHECK(row_of(p, "h884gemm").tensor_core == tensor_use::yes_by_name);
  CHECK(row_of(p, "whatever").tensor_core == tensor_use::unknown);
}

TEST_CASE("kernel_table.declarations_that_differ_within_a_row_say_nothing") {
  device_builder b;
  const auto main = b.thread("main", 1);
  for (const auto on : {kprof::arithmetic_unit::tensor_core, kprof::arithmetic_unit::cuda_core,
                        kprof::arithmetic_unit::tensor_core}) {
    const auto node = b.op(main, "A", "n=" + std::to_string(b.p.nodes.size()));
    b.calls(node, 1, 10).work(node, 1, 1, 1);
    b.p.nodes[node].work.on = on;
    b.kernel(node, "k", 1, 10);
  }
  CHECK(kernel_table(b.p, grouping::op)[0].tensor_core == tensor_use::unknown);
  CHECK(kernel_table(b.p, grouping::op)[0].flops.value == Approx(3));
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
  CHECK(row_of(p, "some").mean_ns.value == Approx(10));
  CHECK(row_of(p, "none").mean_ns.why == absence::untimed);
  CHECK(row_of(p, "none").min_ns.why == absence::untimed);
  CHECK(row_of(p, "none").max_ns.why == absence::untimed);
  CHECK(row_of(p, "none").untimed == 4);
  b.p.device.work[1].untimed = 0;
  b.p.device.work[1].min_ns = b.p.device.work[1].max_ns = 5;
  CHECK(row_of(b.p, "none").min_ns.value == 5);  // those without timing have no minimum of 0
}

TEST_CASE("kernel_table.the_longest_come_first_and_nothing_is_lost") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    std::uint64_t runs = 0, untimed = 0;
    double ns = 0, all = 0;
    for (const device_work& w : p.device.work) {
      all += w.total_ns;
      if (w.task == kprof::device_task::kernel)
        runs += w.calls, untimed += w.untimed, ns += w.total_ns;
    }
    std::size_t before = 0;
    for (const grouping by :
         {grouping::op, grouping::parameters, grouping::call_site, grouping::thread}) {
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
      INFO("seed " << seed << " by " << static_cast<int>(by));
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

TEST_CASE("kernel_table.formulas_are_evaluated_no_more_often_than_there_were_calls") {
  std::size_t seen = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    std::map<std::string, std::uint64_t> calls, runs;
    for (const scope_node& n : p.nodes)
      if (n.kind == kprof::scope_kind::op)
        calls[n.name + '\1' + parameter_text(p, n)] += n.calls - n.captured + n.replays + n.open;
    for (const kernel_row& row : kernel_table(p))
      if (row.flops.known()) runs[row.op + '\1' + row.parameters] += row.calls;
    for (const auto& [name, n] : runs) {
      INFO("seed " << seed);
      REQUIRE(n <= calls[name]);
      ++seen;
    }
  }
  CHECK(seen > 50);
}

TEST_CASE("kernel_table.each_launch_has_the_formula_of_its_own_operator") {
  device_builder b;
  const auto main = b.thread("main", 1);
  for (const std::uint64_t flops : {100U, 7000U}) {  // two operators of one name
    const auto node = b.op(main, "A", "n=1");
    b.calls(node, 2, 10)
        .work(node, flops, 1, 1)
        .site(node, "a.cpp", static_cast<std::uint32_t>(flops));
    b.kernel(node, "k", 2, 10);
  }
  CHECK(kernel_table(b.done())[0].flops.value == Approx(14'200));
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

TEST_CASE("copy_table.copies_and_memsets_are_told_apart_by_kind_and_memory") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto op = b.op(main, "A");
  b.copy(op, copy_direction::host_to_device, 4, 100, 1000);
  // operator and stream make no difference
  b.copy(main, copy_direction::host_to_device, 1, 100, 500).stream = 3;
  b.copy(op, copy_direction::host_to_device, 1, 90, 1000).from = memory_place::pageable;
  b.copy(op, copy_direction::host_to_device, 1, 80, 1000).to = memory_place::array;
  b.copy(op, copy_direction::device_to_host, 1, 70, 1000);
  b.copy(op, copy_direction::device_to_host, 1, 60, 1000).device = 1;
  auto& set = b.set(op, 2, 25, 100);
  set.direction = copy_direction::host_to_host;  // neither of these is of a memset
  set.from = memory_place::pinned;
  b.set(op, 1, 5, 100);
  b.copy(op, copy_direction::unknown, 1, 1, 8).merged = true;
  b.kernel(op, "k", 1, 244);
  const auto table = copy_table(b.done());
  REQUIRE(table.size() == 7);
  CHECK(table[0].calls == 5);
  CHECK(table[0].direction == copy_direction::host_to_device);
  CHECK(table[0].from == memory_place::pinned);
  CHECK(table[0].to == memory_place::device);
  CHECK(table[0].bytes == 4500);
  CHECK(table[0].total_ns == Approx(500));
  CHECK(table[0].share == Approx(500 / 1100.0));
  CHECK(table[0].bytes_per_s.value == Approx(4500 / 500e-9));
  CHECK(table[1].from == memory_place::pageable);
  CHECK(table[2].to == memory_place::array);
  CHECK(table[4].device == 1);
  CHECK(table[5].task == kprof::device_task::set);
  CHECK(table[5].calls == 3);
  CHECK(table[5].from == memory_place::unknown);
  CHECK(table[6].merged);
}

TEST_CASE("copy_table.rates_are_not_known_without_time") {
  device_builder b;
  const auto main = b.thread("main", 1);
  b.copy(main, copy_direction::host_to_device, 4, 100, 1000).untimed = 1;
  b.set(main, 1, 0, 100);
  const auto table = copy_table(b.done());
  CHECK(table[0].bytes_per_s.why == absence::untimed);
  CHECK(table[1].bytes_per_s.why == absence::no_time);
  const auto sets =
      copy_table(b.p, [](const device_work& w) { return w.task == kprof::device_task::set; });
  REQUIRE(sets.size() == 1);
  CHECK(sets[0].share == 0);
}

TEST_CASE("copy_table.nothing_is_lost") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    std::uint64_t calls = 0, bytes = 0;
    double ns = 0;
    for (const device_work& w : p.device.work)
      if (w.task != kprof::device_task::kernel)
        calls += w.calls, bytes += w.bytes, ns += w.total_ns;
    for (const copy_row& row : copy_table(p))
      calls -= row.calls, bytes -= row.bytes, ns -= row.total_ns;
    REQUIRE(calls == 0);
    REQUIRE(bytes == 0);
    REQUIRE(ns == Approx(0).margin(1));
  }
}
