// SPDX-License-Identifier: MIT

// FLOPs of branches of the call tree, its order, and siblings folded into one row.

#include "catch.hpp"

#include "device_profiles.hpp"

#include <kprof/tables.hpp>

#include <cstdint>
#include <string>
#include <vector>

using kprof::absence;
using kprof::fold_siblings;
using kprof::folded_row;
using kprof::profile;
using kprof::tree_order;
using kprof::tree_row;
using kprof_test::profile_builder;

namespace {

template <class Rows, class NameOf>
std::string names_of(const Rows& rows, NameOf name_of) {
  std::string out;
  for (const auto& row : rows) out += (out.empty() ? "" : " | ") + name_of(row);
  return out;
}
std::string names_of(const std::vector<tree_row>& rows) {
  return names_of(rows, [](const tree_row& row) { return row.name; });
}
std::string names_of(const std::vector<folded_row>& rows) {
  return names_of(rows, [](const folded_row& f) {
    return f.row.name + (f.rows > 1 ? " x" + std::to_string(f.siblings) : "");
  });
}

/// Steps with layers in them, the later the slower.
profile training(int steps, int layers) {
  profile_builder b;
  const auto main = b.thread("main", 1);
  for (int s = 0; s < steps; ++s) {
    const auto step = b.region(main, "step " + std::to_string(s));
    const auto forward = b.region(step, "forward");
    for (int l = 0; l < layers; ++l) {
      const auto layer = b.region(forward, "layer " + std::to_string(l));
      const auto linear = b.op(layer, "Linear", "K=" + std::to_string(100 + l));
      b.calls(linear, 2, 10.0 * (l + 1)).work(linear, 1000, 100, 0);
      b.calls(b.op(layer, "Relu", "n=7"), 1, 5);
      b.calls(layer, 1, 100.0 * (l + 1));
    }
    const auto backward = b.region(step, "backward");
    b.calls(forward, 1, 5000).calls(backward, 1, 9000).calls(step, 1, 20'000);
  }
  return b.done();
}

}  // namespace

TEST_CASE("call_tree.a_branch_has_the_work_of_all_operators_below_it") {
  const std::vector<tree_row> tree = kprof::call_tree(training(1, 3), false, tree_order::run);
  REQUIRE(tree.size() == 12);
  CHECK(tree[0].name == "step 0");
  CHECK(tree[0].flops.value == Approx(6000));
  CHECK(tree[0].flops_per_s.value == Approx(6000 / 20'000e-9));
  CHECK(tree[0].bytes_per_s.value == Approx(600 / 20'000e-9));
  CHECK(tree[1].flops_per_s.value == Approx(6000 / 5000e-9));
  CHECK(tree[2].flops_per_s.value == Approx(2000 / 100e-9));
  CHECK(tree[4].name == "Relu");
  CHECK(tree[4].flops.why == absence::no_flops);
  CHECK(tree[11].name == "backward");
  CHECK(tree[11].flops.why == absence::no_operator);
}

TEST_CASE("call_tree.the_work_of_nested_operators_counts_once") {
  profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto block = b.op(main, "Block"), linear = b.op(block, "Linear", "n=1"),
             gemm = b.op(linear, "Gemm", "n=1"), handed = b.op(worker, "Block"),
             there = b.op(handed, "Linear", "n=1"), part = b.op(there, "Part");
  b.calls(block, 1, 1000).calls(linear, 2, 300).calls(gemm, 2, 200).calls(part, 5, 10);
  b.work(linear, 100, 1, 1).work(there, 100, 1, 1).work(gemm, 90, 1, 1).work(part, 7, 1, 1);
  const profile p = b.done();
  const std::vector<tree_row> tree = kprof::call_tree(p);
  CHECK(tree[0].name == "Block");
  CHECK(tree[0].flops.value == Approx(200));
  CHECK(tree[0].flops.value == Approx(operator_total(p).flops.value));
  // On the worker alone there is no Linear that would cover the parts.
  for (const tree_row& row : kprof::call_tree(p, true))
    if (row.kind == kprof::scope_kind::root)
      CHECK(row.flops.value == Approx(row.thread == 0 ? 200 : 35));
  profile wrong = p;
  wrong.nodes[gemm].work.valid = false;  // in a Linear whose formula covers it
  CHECK(kprof::call_tree(wrong)[0].flops.known());
  wrong.nodes[linear].work.valid = wrong.nodes[there].work.valid = false;
  CHECK(kprof::call_tree(wrong)[0].flops.why == absence::invalid);
}

TEST_CASE("call_tree.the_work_of_its_top_is_the_total") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const profile p = kprof_test::random_device_profile(seed);
    double flops = 0, bytes = 0;
    for (const tree_row& row : kprof::call_tree(p)) {
      if (row.parent != kprof::scope_node::none) continue;
      flops += row.flops.value;
      bytes += row.bytes.value;
    }
    const kprof::operator_row total = operator_total(p);
    INFO("seed " << seed);
    REQUIRE(flops == Approx(total.flops.value));
    REQUIRE(bytes == Approx(total.bytes.value));
  }
}

TEST_CASE("call_tree.siblings_come_in_the_order_of_the_run") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  for (const char* name : {"load", "forward", "backward"}) {
    const auto region = b.region(main, name);
    b.calls(b.region(region, "first"), 1, 1).calls(b.region(region, "second"), 1, 2);
    b.calls(region, 1, name[0] == 'l' ? 5 : name[0] == 'f' ? 50 : 20);
  }
  const profile p = b.done();
  CHECK(names_of(kprof::call_tree(p, false, tree_order::run)) ==
        "load | first | second | forward | first | second | backward | first | second");
  CHECK(names_of(kprof::call_tree(p)) ==
        "forward | second | first | backward | second | first | load | second | first");
}

TEST_CASE("call_tree.siblings_of_several_threads_come_in_the_order_of_the_run") {
  profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto began = [&](std::uint32_t thread, const char* name, double ns) {
    const auto node = b.region(thread, name);
    b.calls(node, 1, 10);
    b.p.nodes[node].first_ns = 10;
    b.p.nodes[node].first_end_ns = ns + 10;
    return node;
  };
  began(main, "a", 100), began(main, "c", 300), b.calls(b.region(main, "unknown"), 1, 10);
  began(main, "d", 400), began(worker, "b", 200), began(worker, "e", 500);
  const auto open = b.region(worker, "open");
  b.p.nodes[open].open = 1;
  b.p.nodes[open].open_ns = 250;
  const auto around = b.op(worker, "around");  // it has not ended, and several are open
  b.p.nodes[around].open = 2;
  began(around, "inner", 150);
  profile p = b.done();
  p.wall_ns = 700;
  CHECK(names_of(kprof::call_tree(p, false, tree_order::run)) ==
        "a | around | inner | b | c | unknown | d | open | e");
  CHECK(names_of(kprof::call_tree(p, true, tree_order::run)).find("main") == std::string::npos);
}

TEST_CASE("tree_folding.siblings_that_differ_in_a_number_are_one_row") {
  const auto tree = kprof::call_tree(training(1, 6), false, tree_order::run);
  const std::vector<folded_row> rows = fold_siblings(tree, tree_order::run);
  CHECK(names_of(rows) == "step 0 | forward | layer 0\u20265 x6 | Linear x1 | Relu x1 | backward");
  REQUIRE(rows.size() == 6);
  const folded_row& layers = rows[2];
  CHECK(layers.rows == 6);
  CHECK(layers.row.calls == 6);
  CHECK(layers.row.depth == 2);
  CHECK(layers.row.parent == 1);
  CHECK(layers.row.total_ns == Approx(2100));
  CHECK(layers.least_ns == Approx(100));
  CHECK(layers.most_ns == Approx(600));
  CHECK(layers.row.flops.value == Approx(12'000));
  CHECK(layers.row.flops_per_s.value == Approx(12'000 / 2100e-9));
  CHECK(rows[3].rows == 6);
  CHECK(rows[3].row.calls == 12);
  CHECK(rows[3].row.parameters == "K=100\u2026105");
  CHECK(rows[4].row.parameters == "n=7");
  CHECK(rows[5].rows == 1);
}

TEST_CASE("tree_folding.folded_rows_fold_again") {
  const std::vector<folded_row> rows = fold_siblings(kprof::call_tree(training(3, 4)));
  CHECK(names_of(rows) ==
        "step 0\u20262 x3 | backward x1 | forward x1 | layer 0\u20263 x4 | Linear x1 | Relu x1");
  CHECK(rows[3].rows == 12);
  CHECK(rows[3].least_ns == Approx(100));
}

TEST_CASE("tree_folding.only_regions_of_one_shape_fold") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto region = [&](const char* name) {
    const auto node = b.region(main, name);
    b.calls(node, 1, 10);
    return node;
  };
  for (const char* name : {"a0", "a1", "b", "c 1.0", "c 1.1", "c 2.0", "d0.x", "d1.x", "d1.y"})
    region(name);
  b.calls(b.op(region("e0"), "Gemm", "flag=on"), 1, 1);
  b.calls(b.op(region("e1"), "Gemm", "flag=off"), 1, 1);
  region("e2");
  region("f123456789012345678901");  // no number that anybody counts with
  region("f123456789012345678902");
  b.calls(b.op(main, "Conv2d"), 1, 1).calls(b.op(main, "Conv3d"), 1, 1);
  const auto tree = kprof::call_tree(b.done(), false, tree_order::run);
  CHECK(names_of(fold_siblings(tree, tree_order::run)) ==
        "a0\u20261 x2 | b | c 1.0\u20261.1 x2 | c 2.0 | d0\u20261.x x2 | d1.y | e0 | Gemm | e1 | "
        "Gemm "
        "| e2 | f123456789012345678901 | f123456789012345678902 | Conv2d | Conv3d");
}

TEST_CASE("tree_folding.each_of_a_few_numbers_with_a_point_is_whole") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  for (const char* name : {"scale 1.5", "scale 1.25"}) b.calls(b.region(main, name), 1, 10);
  CHECK(names_of(fold_siblings(kprof::call_tree(b.done()))) == "scale 1.5,1.25 x2");
  // Four that do not follow each other have no range, and 0.05 is not 0.5.
  profile_builder more;
  const auto other = more.thread("main", 1);
  for (const char* name : {"lr 0.05", "lr 0.1", "lr 0.25", "lr 0.125", "lr 0.7"})
    more.calls(more.region(other, name), 1, 10);
  CHECK(names_of(fold_siblings(kprof::call_tree(more.done()))) ==
        "lr 0.1,0.7,0.25,0.125 x4 | lr 0.05");
}

TEST_CASE("tree_folding.operators_of_layers_correspond_by_their_place") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  // the out of a slow and of a quick one
  const int out[][2] = {{64, 128}, {96, 128}, {100, 128}, {128, 256}, {192, 64}, {1000, 64}};
  for (int layer = 0; layer < 6; ++layer) {
    const auto region = b.region(main, "block " + std::to_string(layer));
    for (const int at : {0, 1})
      b.calls(b.op(region, "Lin", "in=768 out=" + std::to_string(out[layer][at])), 1,
              at == 0 ? 1000 : 10);
    b.calls(region, 1, 1100);
  }
  const auto rows = fold_siblings(kprof::call_tree(b.done()));
  CHECK(names_of(rows) == "block 0\u20265 x6 | Lin x1 | Lin x1");
  CHECK(rows[1].row.total_ns == Approx(6000));
  CHECK(rows[1].row.parameters == "in=768 out=64\u20261000");
  CHECK(rows[2].row.total_ns == Approx(60));
}

TEST_CASE("tree_folding.layers_with_the_same_operators_in_another_order_keep_them_apart") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  for (int layer = 0; layer < 4; ++layer) {
    const auto region = b.region(main, "block " + std::to_string(layer));
    for (const int n : {layer % 2, 1 - layer % 2})
      b.calls(b.op(region, "Lin", "n=" + std::to_string(n)), 1, n == 0 ? 1000 : 10);
    b.calls(region, 1, 1100);
  }
  const auto rows = fold_siblings(kprof::call_tree(b.done()));
  REQUIRE(rows.size() == 3);
  CHECK(rows[1].row.parameters == "n=0");
  CHECK(rows[1].row.total_ns == Approx(4000));
}

TEST_CASE("tree_folding.operators_fold_where_that_is_asked_for") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  for (int layer = 0; layer < 2; ++layer) {
    const auto region = b.region(main, "layer " + std::to_string(layer));
    for (int n = 1; n <= 12; ++n) {  // a cache that grows
      const std::string cached = std::to_string(n);
      b.calls(b.op(region, "Bmm", "M=1 N=" + cached + " K=16"), 1, n);
      b.calls(b.op(region, "Bmm", "M=1 N=16 K=" + cached), 2, 20);
    }
    for (const char* out : {"64", "128", "256"})
      b.calls(b.op(region, "Linear", "in=64 out=" + std::string(out)), 1, 50);
    b.calls(b.op(region, "Linear", "in=3 out=5"), 1, 40);
    b.calls(region, 1, 2000);
  }
  const auto tree = kprof::call_tree(b.done());
  CHECK(fold_siblings(tree).size() == 1 + 24 + 4);
  CHECK(fold_siblings(tree, tree_order::time, 13).size() == 1 + 24 + 4);
  const std::vector<folded_row> rows = fold_siblings(tree, tree_order::time, 12);
  CHECK(names_of(rows) ==
        "layer 0\u20261 x2 | Bmm x12 | Bmm x12 | Linear x1 | Linear x1 | Linear x1 | Linear x1");
  CHECK(rows[1].row.parameters == "M=1 N=16 K=1\u202612");
  CHECK(rows[1].row.calls == 48);
  CHECK(rows[1].rows == 24);
  CHECK(rows[1].row.total_ns == Approx(960));
  CHECK(rows[2].row.parameters == "M=1 N=1\u202612 K=16");
  CHECK(rows[2].least_ns == 1);
  CHECK(rows[2].most_ns == 12);
  CHECK(names_of(fold_siblings(tree, tree_order::time, 2)) ==
        "layer 0\u20261 x2 | Bmm x12 | Linear x3 | Bmm x12 | Linear x1");
}

TEST_CASE("tree_folding.operators_with_differing_scopes_inside_do_not_fold") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  for (int n = 0; n < 9; ++n) {
    const auto op = b.op(main, "Gemm", "n=" + std::to_string(n));
    b.calls(b.region(op, n < 4 ? "pack" : "copy"), 1, 1).calls(op, 1, 10);
  }
  CHECK(names_of(fold_siblings(kprof::call_tree(b.done()), tree_order::time, 2)) ==
        "Gemm x5 | copy x1 | Gemm x4 | pack x1");
}

TEST_CASE("tree_folding.regions_around_regions_of_their_own_name_are_told_apart") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  for (const char* name : {"layer 4", "load", "solve 1 2"}) {
    const auto outer = b.region(main, name);
    b.calls(b.region(outer, name), 1, 10).calls(outer, 1, 30);
  }
  const profile p = b.done();
  CHECK(names_of(fold_siblings(kprof::call_tree(p, false))) ==
        "layer 4 | layer 4 | load | load | solve 1 2 | solve 1 2");
}

TEST_CASE("tree_folding.nothing_is_lost_and_depth_costs_no_stack") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto tree = kprof::call_tree(kprof_test::random_device_profile(seed), seed % 2 == 0);
    const auto rows = fold_siblings(tree, tree_order::time, seed % 3);
    std::uint64_t calls = 0, folded_calls = 0, count = 0;
    for (const tree_row& row : tree) calls += row.calls;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      folded_calls += rows[i].row.calls;
      count += rows[i].rows;
      REQUIRE((rows[i].row.parent == kprof::scope_node::none || rows[i].row.parent < i));
    }
    REQUIRE(folded_calls == calls);
    REQUIRE(count == tree.size());
  }
  CHECK(fold_siblings(kprof::call_tree(kprof_test::deep_profile(20'000))).size() >= 20'000);
  CHECK(fold_siblings({}).empty());
}
