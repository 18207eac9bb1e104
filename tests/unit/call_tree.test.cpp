// SPDX-License-Identifier: MIT
#include <kprof/model/tree_summary.hpp>

#include "../support/catch.hpp"
#include "../support/device_profiles.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using kprof::call_tree;
using kprof::copy_direction;
using kprof::device_work;
using kprof::scope_kind;
using kprof::scope_node;
using kprof_test::device_builder;
using kprof_test::profile_builder;

TEST_CASE("call_tree.threads_and_call_sites_are_merged_by_path") {
  profile_builder b;
  for (const std::uint64_t id : {1U, 2U}) {
    const auto root = b.thread("t", id);
    const auto step = b.region(root, "step"), op = b.op(step, "A", "n=1"),
               again = b.op(step, "A", "n=1");
    b.calls(step, 1, 100)
        .calls(op, 1, 30)
        .site(op, "a.cpp", 1)
        .calls(again, 1, 20)
        .site(again, "b.cpp", 2);
  }
  const auto tree = kprof::call_tree(b.done());
  REQUIRE(tree.size() == 2);
  CHECK(tree[0].name == "step");
  CHECK(tree[0].depth == 0);
  CHECK(tree[0].parent == scope_node::none);
  CHECK(tree[0].calls == 2);
  CHECK(tree[0].total_ns == Approx(200));
  CHECK(tree[0].self_ns == Approx(100));
  CHECK(tree[0].total_share == Approx(1));
  CHECK(tree[0].self_share == Approx(0.5));
  CHECK(tree[1].parameters == "n=1");
  CHECK(tree[1].calls == 4);
  CHECK(tree[1].parent == 0);
  CHECK(tree[1].depth == 1);
}

TEST_CASE("call_tree.what_differs_in_kind_name_or_parameters_is_apart") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  b.calls(b.region(main, "A"), 1, 5)
      .calls(b.op(main, "A"), 1, 4)
      .calls(b.op(main, "A", "n=1"), 1, 3)
      .calls(b.op(main, "B"), 1, 2);
  const auto merged = b.op(main, "B");
  b.calls(merged, 1, 1);
  b.p.nodes[merged].merged = true;
  CHECK(kprof::call_tree(b.done()).size() == 5);
}

TEST_CASE("call_tree.children_follow_their_parent_by_falling_time") {
  profile_builder b;
  const auto main = b.thread("main", 1);
  const auto fast = b.region(main, "fast"), slow = b.region(main, "slow");
  b.calls(b.op(slow, "small"), 1, 10)
      .calls(b.op(slow, "large"), 1, 80)
      .calls(b.op(fast, "only"), 1, 5)
      .calls(fast, 1, 20)
      .calls(slow, 1, 100);
  const auto waiting = b.op(slow, "open");
  b.p.nodes[waiting].open = 1;
  b.p.nodes[waiting].open_ns = 50;
  std::string order;
  for (const auto& row : kprof::call_tree(b.done())) order += row.name + ' ';
  CHECK(order == "slow large open small fast only ");
}

TEST_CASE("call_tree.threads_can_be_kept_apart") {
  profile_builder b;
  for (const std::uint64_t id : {1U, 2U}) {
    const auto root = b.thread("t", id);
    b.calls(b.op(root, "A"), id, 100);
  }
  const auto tree = kprof::call_tree(b.done(), true);
  REQUIRE(tree.size() == 4);
  CHECK(tree[0].kind == scope_kind::root);
  CHECK(tree[0].thread == 1);
  CHECK(tree[0].total_ns == Approx(200));
  CHECK(tree[1].name == "A");
  CHECK(tree[1].calls == 2);
  CHECK(tree[2].thread == 0);
  CHECK(tree[3].calls == 1);
}

TEST_CASE("call_tree.a_thread_has_the_time_of_what_it_ran_for_another") {
  profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto step = b.region(main, "step");
  b.calls(step, 1, 1000);
  const auto handed = b.region(worker, "step"), deeper = b.op(handed, "Batch"),
             part = b.op(deeper, "Part"), inside = b.op(part, "Inside");
  b.calls(part, 2, 1200).calls(inside, 2, 100).calls(b.op(worker, "Own"), 1, 7);
  b.p.nodes[part].open = 1;
  b.p.nodes[part].open_ns = 30;
  const auto tree = kprof::call_tree(b.done(), true);
  REQUIRE(tree.size() == 8);
  CHECK(tree[0].thread == 1);
  CHECK(tree[0].total_ns == Approx(2407));
  CHECK(tree[0].open_ns == Approx(30));
  CHECK(tree[1].name == "step");
  CHECK(tree[1].calls == 0);
  CHECK(tree[1].total_ns == 0);
  CHECK(tree[6].thread == 0);
  CHECK(tree[6].total_ns == Approx(1000));
}

TEST_CASE("call_tree.a_scope_whose_work_others_did_stands_where_the_work_belongs") {
  profile_builder b;
  const auto main = b.thread("main", 1), worker = b.thread("worker", 2);
  const auto submit = b.region(main, "submit"), merge = b.region(main, "merge");
  b.calls(merge, 1, 500).calls(submit, 1, 10).calls(b.op(main, "Small"), 1, 100);
  const auto handed = b.region(worker, "submit");
  b.calls(b.op(handed, "Light"), 1, 20).calls(b.op(b.region(handed, "group"), "Part"), 4, 400);
  const auto tree = kprof::call_tree(b.done());
  std::string order;
  for (const auto& row : tree) order += row.name + ' ';
  CHECK(order == "submit group Part Light merge Small ");
}

TEST_CASE("call_tree.nothing_is_lost_in_merging") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const kprof::profile p = kprof_test::random_profile(seed);
    std::uint64_t calls = 0, tree_calls = 0;
    double self = 0, tree_self = 0, shares = 0;
    for (const auto& n : p.nodes)
      calls += n.calls, self += n.kind == scope_kind::root ? 0 : std::max(0.0, n.self_ns);
    const auto tree = kprof::call_tree(p);
    for (std::size_t i = 0; i < tree.size(); ++i) {
      tree_calls += tree[i].calls;
      tree_self += tree[i].self_ns;
      shares += tree[i].self_share;
      REQUIRE((tree[i].parent == scope_node::none
                   ? tree[i].depth == 0
                   : tree[i].parent < i && tree[i].depth == tree[tree[i].parent].depth + 1));
    }
    REQUIRE(tree_calls == calls);
    REQUIRE(tree_self == Approx(self));
    if (self > 0) REQUIRE(shares == Approx(1));
  }
}

TEST_CASE("device_tree.a_scope_has_the_work_of_all_below_it_and_graphs_have_rows") {
  device_builder b;
  const auto main = b.thread("main", 1), other = b.thread("other", 2);
  const auto step = b.region(main, "step"), graph = b.graph(step, 10),
             op = b.op(graph, "Gemm", "n=1"), host = b.op(main, "Decode");
  b.calls(step, 10, 100).calls(host, 1, 1e9);
  b.p.nodes[op].replays = 30;
  b.kernel(op, "k", 30, 10);
  b.set(graph, 10, 1, 4);
  b.copy(step, copy_direction::host_to_device, 1, 5, 4);
  b.kernel(main, "k", 1, 1000);
  const auto again = b.region(other, "step");
  b.calls(again, 1, 50);
  b.kernel(again, "k", 1, 7);
  const kprof::profile p = b.done();
  const auto tree = kprof::call_tree(p);
  REQUIRE(tree.size() == 4);
  CHECK(tree[0].name == "step");  // Decode took longer, but not on the device
  CHECK(tree[0].device_ns == Approx(12));
  CHECK(tree[0].device_total_ns == Approx(12 + 10 + 300));
  CHECK(tree[0].device_share == Approx(322 / 1322.0));
  CHECK(tree[1].kind == scope_kind::graph);
  CHECK(tree[1].name == "graph");
  CHECK(tree[1].replays == 10);
  CHECK(tree[1].calls == 0);
  CHECK(tree[1].device_total_ns == Approx(310));
  CHECK(tree[2].name == "Gemm");
  CHECK(tree[2].replays == 30);
  CHECK(tree[2].total_ns == 0);
  CHECK(tree[3].name == "Decode");
  CHECK(tree[3].device_total_ns == 0);
  const auto apart = kprof::call_tree(p, true);
  CHECK(apart[0].kind == scope_kind::root);
  CHECK(apart[0].thread == 0);
  CHECK(apart[0].device_total_ns == Approx(315 + 1000));
  CHECK(apart[0].device_ns == Approx(1000));
}

TEST_CASE("device_tree.nothing_is_lost_in_merging") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const kprof::profile p = kprof_test::random_device_profile(seed);
    double all = 0, in_tree = 0, outside = 0, top = 0;
    for (const device_work& w : p.device.work) {
      all += w.total_ns;
      if (w.scope >= p.nodes.size() || p.nodes[w.scope].kind == scope_kind::root)
        outside += w.total_ns;
    }
    const auto tree = kprof::call_tree(p);
    std::vector<double> below(tree.size());
    for (std::size_t i = tree.size(); i-- > 0;) {
      in_tree += tree[i].device_ns;
      REQUIRE(tree[i].device_total_ns == Approx(tree[i].device_ns + below[i]).margin(1e-6));
      if (tree[i].parent == scope_node::none) top += tree[i].device_total_ns;
      else {
        below[tree[i].parent] += tree[i].device_total_ns;
        REQUIRE(tree[tree[i].parent].device_total_ns >= tree[i].device_total_ns);
      }
    }
    REQUIRE(in_tree + outside == Approx(all).margin(1e-6));
    REQUIRE(top + outside == Approx(all).margin(1e-6));
  }
}
