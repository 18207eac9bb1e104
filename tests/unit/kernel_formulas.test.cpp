// SPDX-License-Identifier: MIT
#include <kprof/model/kernel_table.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"
#include "../support/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

using kprof::absence;
using kprof::device_work;
using kprof::grouping;
using kprof::kernel_row;
using kprof::kernel_table;
using kprof::scope_node;
using kprof::tensor_use;
using kprof_test::device_builder;
using kprof_test::kernel_row_of;

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
  CHECK(kernel_row_of(p, "alone").flops.value == Approx(500));
  CHECK(kernel_row_of(p, "alone").bytes.value == Approx(50));
  CHECK(kernel_row_of(p, "two_a").flops.why == absence::several_kernels);
  CHECK(kernel_row_of(p, "two_b").bytes.why == absence::several_kernels);
  CHECK(kernel_row_of(p, "twice").flops.why == absence::several_kernels);
  const auto table = kernel_table(p);
  for (const kernel_row& row : table)
    if (row.kernel == "shapes") CHECK(row.flops.value == Approx(row.grid[0] == 1 ? 300 : 200));
  CHECK(kernel_row_of(p, "layer").flops.why == absence::several_kernels);
  CHECK(kernel_row_of(p, "part").flops.why == absence::no_flops);
  CHECK(kernel_row_of(p, "part").bytes.why == absence::no_bytes);
  CHECK(kernel_row_of(p, "waiting").flops.value == Approx(600));
  CHECK(kernel_row_of(p, "").flops.why == absence::several_kernels);
  CHECK(kernel_row_of(p, "").several_configurations);
  CHECK(kernel_row_of(p, "outside").flops.why == absence::no_operator);
  CHECK(kernel_row_of(p, "outside").bytes.why == absence::no_operator);
}

TEST_CASE("kernel_table.replayed_calls_count_and_captured_ones_do_not") {
  device_builder b;
  const auto main = b.thread("main", 1);
  const auto captured = b.op(main, "A"), graph = b.graph(main, 9), replayed = b.op(graph, "A");
  b.calls(captured, 1, 10).work(captured, 100, 6, 4).work(replayed, 100, 6, 4);
  b.p.nodes[captured].captured = 1;
  b.p.nodes[replayed].replays = 9;
  b.kernel(replayed, "k", 9, 10);
  CHECK(kernel_row_of(b.done(), "k").flops.value == Approx(900));
  b.p.device.work[0].calls = 10;  // one more than there were calls that did anything
  CHECK(kernel_row_of(b.p, "k").flops.why == absence::several_kernels);
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
  CHECK(kernel_row_of(p, "no_flops").flops.why == absence::no_flops);
  CHECK(kernel_row_of(p, "no_flops").bytes.known());
  CHECK(kernel_row_of(p, "no_bytes").bytes.why == absence::no_bytes);
  CHECK(kernel_row_of(p, "no_bytes").flops.known());
  CHECK(kernel_row_of(p, "invalid").flops.why == absence::invalid);
  CHECK(kernel_row_of(p, "invalid").invalid);
  CHECK(kernel_row_of(p, "merged").flops.why == absence::merged);
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
  CHECK(kernel_row_of(p, "ampere_h16816gemm").tensor_core == tensor_use::yes_by_name);
  CHECK(kernel_row_of(p, "volta_sgemm").tensor_core == tensor_use::unknown);
  CHECK(kernel_row_of(p, "mine").tensor_core == tensor_use::yes_declared);
  CHECK(kernel_row_of(p, "plain").tensor_core == tensor_use::no_declared);
  CHECK(kernel_row_of(p, "prepare").tensor_core == tensor_use::unknown);
  CHECK(kernel_row_of(p, "multiply").tensor_core == tensor_use::unknown);
  CHECK(kernel_row_of(p, "first").tensor_core == tensor_use::no_declared);
  CHECK(kernel_row_of(p, "second").tensor_core == tensor_use::no_declared);
  CHECK(kernel_row_of(p, "turing_s1688gemm").tensor_core == tensor_use::yes_by_name);
  CHECK(kernel_row_of(p, "h884gemm").tensor_core == tensor_use::yes_by_name);
  CHECK(kernel_row_of(p, "whatever").tensor_core == tensor_use::unknown);
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
