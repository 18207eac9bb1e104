// SPDX-License-Identifier: MIT
// needs: guards
#include "attribution_engine.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

using namespace kprof::detail;
using namespace kprof_test;

TEST_CASE("attribution_graphs.graph_work_stands_under_launch_graph_and_captured_scopes") {
  engine e;
  const std::uint64_t graph = std::uint64_t{3} << 32U, exec = std::uint64_t{4} << 32U;
  const scope_token train = begin_region("train");
  const scope_token capture = begin_region("capture");
  for (std::uint64_t layer = 0; layer < 2; ++layer) {  // the same operator twice
    const scope_token t = begin_op(5);
    e.node(graph + 2 * layer);
    e.node(graph + 2 * layer + 1);
    end(t);
  }
  e.node(graph + 4);
  end(capture);
  // as instantiating does
  for (std::uint64_t i = 0; i < 5; ++i)
    e.node(exec + i), e.devices.graphs().copied(exec + i, graph + i);
  const scope_token step = begin_op(9);
  e.launch({1});
  e.launch({2});
  end(step);
  end(train);
  e.take_launches();
  for (const std::uint32_t id : {1U, 2U})
    for (std::uint64_t i = 0; i < 5; ++i) e.read({of_graph(id, exec + i)});
  const kprof::profile p = e.profile();
  const std::string under = "train/Op n=9/graph/capture";
  CHECK(runs(p) == counts{{under + "/Op n=5: k", 8}, {under + ": k", 2}});
  CHECK(replays(p, "train/Op n=9/graph") == 2);
  CHECK(replays(p, under) == 2);
  CHECK(replays(p, under + "/Op n=5") == 4);
  CHECK(replays(p, "train") == 0);
  CHECK(find_all(p, "train/capture/Op n=5")[0]->captured == 2);
  CHECK(find_all(p, "train/capture/Op n=5")[0]->calls == 2);
  CHECK(find_all(p, "train/capture")[0]->captured == 1);
  CHECK(find_all(p, "train/Op n=9")[0]->captured == 0);
  CHECK(find_all(p, "train")[0]->captured == 0);  // there was a launch in it
  CHECK(p.device.complete.launches == 2);
  CHECK(p.device.complete.attributed == 2);
}

// The first node of a graph has run; the second runs when very many other launches have come and
// gone.
TEST_CASE("attribution_graphs.a_graph_whose_nodes_end_late_is_still_known") {
  engine e(16U << 20U);
  const std::uint64_t graph = std::uint64_t{7} << 32U;
  const scope_token capture = begin_op(1);
  e.node(graph), e.node(graph + 1);
  end(capture);
  scope_token t = begin_op(2);
  e.launch({1, 2});
  end(t);
  e.take_launches();
  e.read({of_graph(1, graph)});
  for (std::uint32_t i = 0; i < 70'000; ++i) {
    t = begin_op(3);
    e.launch({10 + 2 * i, 11 + 2 * i});
    end(t);
    if (i % 100 == 99) {
      e.take_launches();
      for (std::uint32_t k = i - 99; k <= i; ++k) e.read({kernel(10 + 2 * k)});
    }
  }
  e.read({of_graph(1, graph + 1)});
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"Op n=2/graph/Op n=1: k", 2}, {"Op n=3: k", 70'000}});
  CHECK(p.device.complete.unknown == 0);
  CHECK(p.device.complete.attributed == p.device.complete.launches);
}

// The call that launches a large graph has not returned when most of its nodes have run.
TEST_CASE("attribution_graphs.records_may_come_before_the_end_of_the_call_that_launched_them") {
  engine e(16U << 20U);
  const std::uint64_t graph = std::uint64_t{77} << 32U;
  const scope_token capture = begin_op(1);
  for (std::uint64_t i = 0; i < 6000; ++i) e.node(graph + i);
  end(capture);
  const scope_token t = begin_op(2);
  for (std::uint64_t i = 0; i < 6000; ++i) e.read({of_graph(5'000'000, graph + i)});
  e.launch({5'000'000});  // CUPTI never gives an id twice
  end(t);
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"Op n=2/graph/Op n=1: k", 6000}});
  CHECK(p.device.complete.unknown == 0);
}

TEST_CASE("attribution_graphs.each_graph_and_each_copy_of_one_counts_its_scopes") {
  engine e;
  const auto at = [](std::uint64_t graph, std::uint64_t node) { return graph << 32U | node; };
  const scope_token t = begin_op(1);  // one call captures into two graphs
  e.node(at(1, 0));
  e.node(at(1, 1));
  e.node(at(2, 0));
  end(t);
  for (const std::uint64_t exec : {11U, 12U})  // one graph, instantiated twice
    for (std::uint64_t i = 0; i < 2; ++i) e.devices.graphs().copied(at(exec, i), at(1, i));
  e.devices.graphs().copied(at(13, 0), at(2, 0));
  e.devices.graphs().copied(at(14, 0), at(13, 0));  // a copy of a copy
  for (std::uint32_t id = 1; id <= 4; ++id) e.launch({id});
  e.take_launches();
  e.read({of_graph(1, at(11, 0)), of_graph(1, at(11, 1)), of_graph(2, at(12, 1)),
          of_graph(2, at(12, 0)), of_graph(3, at(13, 0)), of_graph(4, at(14, 0))});
  const kprof::profile p = e.profile();
  CHECK(replays(p, "graph/Op n=1") == 4);
  CHECK(replays(p, "graph") == 4);
  CHECK(p.device.complete.attributed == 4);
}

TEST_CASE("attribution_graphs.graphs_of_before_the_recording_say_so") {
  engine e;
  const scope_token t = begin_op(1);
  e.launch({1});
  end(t);
  e.take_launches();
  e.read({of_graph(1, 77), of_graph(1, 78)});
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"Op n=1/graph/(graph captured before recording): k", 2}});
  CHECK(p.device.complete.foreign_graphs == 2);
  CHECK(replays(p, "Op n=1/graph") == 1);
}

TEST_CASE("attribution_graphs.contexts_and_graphs_outlive_recordings") {
  engine e;
  const scope_token t = begin_op(31);
  const std::uint32_t path = functions::api().capture();
  e.node(std::uint64_t{77} << 32U);
  end(t);
  for (int i = 0; i < 4; ++i) {  // others come and go meanwhile
    e.threads.restart(0);
    e.devices.restart(0, 1 << 24);
    const scope_token other = begin_op(100 + i);
    e.launch({static_cast<std::uint32_t>(10 + i)});
    end(other);
    e.take_launches();
  }
  const scope_token adopted = functions::api().adopt(path);
  e.launch({1});
  functions::api().release(adopted);
  e.launch({2});
  e.take_launches();
  e.read({kernel(1), of_graph(2, std::uint64_t{77} << 32U)});
  CHECK(runs(e.profile()) == counts{{"Op n=31: k", 1}, {"graph/Op n=31: k", 1}});
}

TEST_CASE("attribution_graphs.updates_and_launches_are_ordered_by_ticks_whatever_realtime_does") {
  using kprof::detail::tick_line;
  constexpr std::uint64_t graph_a = 1ULL << 32U, graph_b = 2ULL << 32U, exec = 3ULL << 32U;
  engine e;
  for (const auto& [node, n] : {std::pair{graph_a, 10}, {graph_b, 20}}) {
    const scope_token t = begin_op(n);
    e.node(node);
    end(t);
  }
  graph_nodes& nodes = e.devices.graphs();
  nodes.copied(exec, graph_a);
  e.launch({1}, 1000, record_kind::graph_launch);
  e.devices.take_launches({2000, 6'000'000'000, 1});
  nodes.updated(exec, graph_b, 2100);
  e.launch({2}, 2101, record_kind::graph_launch);
  // CLOCK_REALTIME is set back by a second each time, and runs at another rate.
  e.devices.take_launches({3000, 5'000'000'000, 1.5});
  nodes.updated(exec, graph_a, 3100);
  e.launch({3}, 3101, record_kind::graph_launch);
  e.devices.take_launches({4000, 4'000'000'000, 0.5});
  e.read({of_graph(3, exec), of_graph(1, exec), of_graph(2, exec)});
  e.devices.take_launches({4000, 4'000'000'000, 0.5});
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"graph/Op n=10: k", 2}, {"graph/Op n=20: k", 1}});
}

TEST_CASE("attribution_graphs.a_call_that_captures_kernels_may_copy_at_once") {
  constexpr std::uint64_t graph = 1ULL << 32U;
  engine e;
  const auto call = [&](std::int64_t n, std::uint32_t id, record_kind kind, bool captures) {
    const scope_token t = begin_op(n);
    if (captures) e.node(graph + static_cast<std::uint64_t>(n));
    e.launch({id}, 1, kind);
    end(t);
  };
  call(1, 1, record_kind::transfer_launch, true);
  call(2, 2, record_kind::kernel_launch, true);
  call(3, 3, record_kind::graph_launch, true);
  call(4, 4, record_kind::transfer_launch, false);
  const kprof::profile p = e.profile();
  CHECK(find_all(p, "Op n=1")[0]->captured == 1);
  CHECK(find_all(p, "Op n=1")[0]->unlaunched == 0);
  for (const char* direct : {"Op n=2", "Op n=3", "Op n=4"}) {
    INFO(direct);
    CHECK(find_all(p, direct)[0]->captured == 0);
    CHECK(find_all(p, direct)[0]->unlaunched == 0);
  }
}

TEST_CASE("attribution_graphs.calls_older_than_the_recording_lack_work_if_they_launch_more") {
  engine e;
  const scope_token untold = begin_op(1), inner = begin_op(2), host = begin_op(3);
  e.threads.restart(5);
  e.devices.restart(5, 1 << 24);
  e.threads.restart(6);
  e.devices.restart(6, 1 << 24);
  end(host);
  e.launch({1});
  end(inner);
  end(untold);
  e.take_launches();
  e.read({kernel(1)});
  const kprof::profile p = e.profile();
  CHECK(find_all(p, "Op n=1")[0]->unrecorded == 1);
  CHECK(find_all(p, "Op n=1/Op n=2")[0]->unrecorded == 1);
  CHECK(find_all(p, "Op n=1/Op n=2/Op n=3")[0]->unrecorded == 0);  // never on a device
  e.threads.restart(7);
  e.devices.restart(7, 1 << 24);
  const scope_token told = begin_op(4);
  e.launch({9}, 1, record_kind::ignored_launch);
  e.threads.restart(8);
  e.devices.restart(8, 1 << 24);
  end(told);
  CHECK(find_all(e.profile(), "Op n=4")[0]->unrecorded == 1);  // what came before is missing
}

TEST_CASE("attribution_graphs.graphs_that_outlive_a_recording_may_have_been_updated_unseen") {
  // not the numbers of other tests, whose nodes were updated later than this one's
  constexpr std::uint64_t captured = 201ULL << 32U, exec = 202ULL << 32U, other = 203ULL << 32U,
                          late = 204ULL << 32U;
  engine e;
  const scope_token t = begin_op(10);
  e.node(captured);
  e.node(other);
  end(t);
  graph_nodes& nodes = e.devices.graphs();
  nodes.copied(exec, captured);
  nodes.copied(other, captured);
  e.devices.stop_listening();
  nodes.updated(other, captured, 5);  // in this recording
  nodes.copied(late, captured);
  e.launch({1}, 10, record_kind::graph_launch);
  e.launch({2}, 11, record_kind::graph_launch);
  e.launch({3}, 12, record_kind::graph_launch);
  e.take_launches();
  e.read({of_graph(1, exec), of_graph(2, other), of_graph(3, late)});
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"graph/Op n=10: k", 3}});
  CHECK(p.device.complete.older_graphs == 1);
  CHECK(std::any_of(p.notes.begin(), p.notes.end(), [](const std::string& note) {
    return note.starts_with(
        "work of graphs that were instantiated before an earlier recording stopped (1)");
  }));
}
