// SPDX-License-Identifier: MIT
// needs: guards
#include "catch.hpp"

#include "find.hpp"

#include <kprof/attribute/build.hpp>
#include <kprof/op.hpp>
#include <kprof/record/scope_functions.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace kprof::detail;  // the pieces below the session

namespace {

struct Op {
  std::int64_t n = 0;
  constexpr std::int64_t flops() const { return 2 * n; }
};

using functions = scope_functions<kprof::detail::system_clock, false>;

site op_site{0, 1, "a.cpp", &op_desc_of<Op>, &this_module};
site region_site{0, 2, "a.cpp", nullptr, &this_module};

scope_token begin_op(std::int64_t n) {
  const Op params{n};
  return functions::api().begin_any(op_site, &params, sizeof params);
}
scope_token begin_region(const std::string& name) {
  return functions::api().begin_any(region_site, name.data(),
                                    static_cast<std::uint32_t>(name.size()));
}
void end(scope_token t) { functions::api().end(t); }

/// A recorder with attribution, as a session has them: one for all tests, since threads leave it
/// when they end.
struct engine {
  recorder& threads;
  attribution& joined;

  static recorder& all_threads() {
    static recorder* const one = new recorder;
    return *one;
  }
  static attribution& all_joined() {
    static attribution* const one = new attribution(all_threads(), all_threads().budget());
    return *one;
  }

  explicit engine(std::size_t memory = std::size_t{16} << 20U)
      : threads(all_threads()), joined(all_joined()) {
    own_recorder = &threads;
    threads.set_memory(memory);
    threads.restart(0);
    joined.restart(0, memory);
  }
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  void launch(std::vector<std::uint32_t> ids, std::uint64_t when = 1) {
    threads.note_launch(ids.data(), static_cast<std::uint32_t>(ids.size()), when, false);
  }
  void node(std::uint64_t id, bool does_work = true) {
    joined.graphs().made(id, threads.capture_for_graph(id >> 32U, does_work));
  }
  void take_launches() {
    joined.take_launches([](std::uint64_t ticks) { return ticks; });
  }
  void read(std::vector<activity> some) {
    joined.take(some.data(), some.size());
    joined.retry_pending_if_due();
  }
  kprof::profile profile() {
    take_launches();
    joined.retry_pending();
    timebase time;
    time.reset(calibrate<kprof::detail::system_clock>());
    return build_profile(threads, &joined, {time, 0, false});
  }
};

activity kernel(std::uint32_t correlation, const char* name = "k", std::uint64_t start = 100,
                std::uint64_t ns = 10) {
  activity a;
  a.kind = activity_kind::kernel;
  a.correlation = correlation;
  a.name = name;
  a.start = start;
  a.end = start + ns;
  return a;
}
activity of_graph(std::uint32_t correlation, std::uint64_t node, const char* name = "k") {
  activity a = kernel(correlation, name);
  a.graph_node = node;
  return a;
}
activity copy(std::uint32_t correlation, std::uint64_t bytes) {
  activity a;
  a.kind = activity_kind::copy;
  a.direction = 1, a.from = 1, a.to = 3;
  a.correlation = correlation;
  a.start = 50, a.end = 60;
  a.bytes = bytes;
  return a;
}

/// "path: kernel" to runs, over all threads.
std::map<std::string, std::uint64_t> runs(const kprof::profile& p) {
  std::map<std::string, std::uint64_t> out;
  for (const kprof::device_work& w : p.device.work) {
    const std::string where = w.scope == kprof::device_work::none ? "unknown" : path_of(p, w.scope);
    const std::string what = w.merged                               ? "merged"
                             : w.task == kprof::device_task::kernel ? p.device.kernels[w.kernel]
                                                                    : "copy";
    out[where + ": " + what] += w.calls;
  }
  return out;
}
std::uint64_t replays(const kprof::profile& p, const std::string& path) {
  std::uint64_t n = 0;
  for (const auto* node : find_all(p, path)) n += node->replays;
  return n;
}
using counts = std::map<std::string, std::uint64_t>;

}  // namespace

TEST_CASE("attribution.work_belongs_to_the_innermost_scope_of_its_launch") {
  engine e;
  e.launch({1});
  const scope_token outer = begin_op(1);
  e.launch({2});
  const scope_token inner = begin_region("part");
  e.launch({3});
  e.launch({4});
  end(inner);
  e.launch({5});
  end(outer);
  e.take_launches();
  e.read({kernel(5), kernel(3, "x"), kernel(1, "out"), copy(4, 64), kernel(2)});
  const kprof::profile p = e.profile();
  CHECK(runs(p) ==
        counts{{": out", 1}, {"Op n=1: k", 2}, {"Op n=1/part: x", 1}, {"Op n=1/part: copy", 1}});
  const auto& c = p.device.complete;
  CHECK(c.launches == 5);
  CHECK(c.attributed == 4);
  CHECK(c.outside == 1);
  CHECK(c.open == 0);
  CHECK(c.unknown == 0);
  CHECK(c.records == 5);
}

TEST_CASE("attribution.sums_are_of_the_runs_and_gaps_from_launch_to_start") {
  engine e;
  const scope_token t = begin_op(1);
  e.launch({1}, 40);
  e.launch({2}, 90);
  e.launch({3}, 500);
  end(t);
  e.take_launches();
  activity untimed = kernel(3);
  untimed.start = untimed.end = 0;
  e.read({kernel(1, "k", 100, 10), kernel(2, "k", 200, 30), untimed});
  kprof::profile p = e.profile();
  REQUIRE(p.device.work.size() == 1);
  const kprof::device_work& w = p.device.work[0];
  CHECK(w.calls == 3);
  CHECK(w.untimed == 1);
  CHECK(w.total_ns == 40);
  CHECK(w.min_ns == 10);
  CHECK(w.max_ns == 30);
  CHECK(w.gaps == 2);
  CHECK(w.gap_ns == (100 - 40) + (200 - 90));
  CHECK(p.device.complete.untimed == 1);
  REQUIRE(p.device.devices.size() == 1);
  CHECK(p.device.devices[0].busy_ns == 40);
  activity backwards = kernel(2, "k", 200, 0);
  backwards.end = 150;
  e.read({backwards});  // counted, not averaged
  p = e.profile();
  CHECK(p.device.complete.untimed == 2);
  CHECK(p.device.work[0].total_ns == 40);
  e.launch({4}, 5000);
  e.take_launches();
  // two clocks: a start that seems to come before the launch is no negative gap
  e.read({kernel(4, "early", 100)});
  p = e.profile();
  REQUIRE(p.device.work.size() == 2);
  CHECK(p.device.work[1].gaps == 1);
  CHECK(p.device.work[1].gap_ns == 0);
}

TEST_CASE("attribution.a_record_may_come_before_its_launch_is_known") {
  engine e;
  e.read({kernel(7)});
  kprof::profile p = e.profile();
  CHECK(p.device.complete.unknown == 1);
  CHECK(runs(p) == counts{{"unknown: k", 1}});
  const scope_token t = begin_op(2);
  e.launch({7});
  end(t);
  p = e.profile();
  CHECK(p.device.complete.unknown == 0);
  CHECK(runs(p) == counts{{"Op n=2: k", 1}});
}

TEST_CASE("attribution.what_never_meets_is_counted_and_listed_by_name") {
  engine e;
  const scope_token t = begin_op(2);
  e.launch({1});
  e.launch({2});
  end(t);
  e.take_launches();
  e.read({kernel(8, "lost"), kernel(9, "lost"), kernel(1)});
  e.joined.count_pending_as_unknown();
  const kprof::profile p = e.profile();
  CHECK(p.device.complete.unknown == 2);
  CHECK(p.device.complete.open == 1);
  CHECK(p.device.complete.records == 3);
  CHECK(runs(p) == counts{{"Op n=2: k", 1}, {"unknown: lost", 2}});
}

TEST_CASE("attribution.work_launched_before_the_recording_or_in_a_pause_is_left_out") {
  engine e;
  e.joined.restart(1000, 1 << 20);
  e.read({kernel(9001, "early", 900), kernel(9002, "late", 1100)});
  e.joined.count_pending_as_unknown();
  const scope_token t = begin_op(2);
  const std::uint32_t id = 9003;
  e.threads.note_launch(&id, 1, 1, true);
  end(t);
  e.take_launches();
  e.read({kernel(9003, "paused", 1200)});
  const kprof::profile p = e.profile();
  CHECK(p.device.complete.ignored == 2);
  CHECK(p.device.complete.unknown == 1);
  CHECK(p.device.complete.launches == 0);
  CHECK(runs(p) == counts{{"unknown: late", 1}});
}

TEST_CASE("attribution.a_launch_known_by_several_ids_counts_once") {
  engine e;
  const scope_token t = begin_op(2);
  e.launch({1, 2});
  e.launch({3, 4, 5});
  end(t);
  e.take_launches();
  e.read({kernel(2), kernel(5), kernel(3, "more")});
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"Op n=2: k", 2}, {"Op n=2: more", 1}});
  CHECK(p.device.complete.launches == 2);
  CHECK(p.device.complete.attributed == 2);
  CHECK(p.device.complete.open == 0);
}

TEST_CASE("attribution.graph_work_stands_under_launch_graph_and_captured_scopes") {
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
    e.node(exec + i), e.joined.graphs().copied(exec + i, graph + i, 0);
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
TEST_CASE("attribution.a_graph_whose_nodes_end_late_is_still_known") {
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
TEST_CASE("attribution.records_may_come_before_the_end_of_the_call_that_launched_them") {
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

// What waits for a launch that never comes must not be looked for again with each buffer.
TEST_CASE("attribution.records_of_unknown_launch_do_not_slow_down_the_others") {
  engine e;
  std::vector<activity> strangers;
  for (std::uint32_t i = 0; i < 20'000; ++i) strangers.push_back(kernel(0x8000'0000U + i));
  e.read(strangers);
  const auto begin = std::chrono::steady_clock::now();
  const scope_token t = begin_op(1);
  for (std::uint32_t i = 6'000'001; i <= 6'200'000; i += 10) {
    for (std::uint32_t k = 0; k < 10; ++k) e.launch({i + k});
    e.take_launches();
    e.read({kernel(i), kernel(i + 1), kernel(i + 2), kernel(i + 3), kernel(i + 4), kernel(i + 5),
            kernel(i + 6), kernel(i + 7), kernel(i + 8), kernel(i + 9)});
  }
  end(t);
  const kprof::profile p = e.profile();
  CHECK(runs(p)["Op n=1: k"] == 200'000);
  CHECK(p.device.complete.attributed == 200'000);
  // 400 million looks otherwise, which take minutes: far beyond what a slow machine explains.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
}

TEST_CASE("attribution.each_graph_and_each_copy_of_one_counts_its_scopes") {
  engine e;
  const auto at = [](std::uint64_t graph, std::uint64_t node) { return graph << 32U | node; };
  const scope_token t = begin_op(1);  // one call captures into two graphs
  e.node(at(1, 0));
  e.node(at(1, 1));
  e.node(at(2, 0));
  end(t);
  for (const std::uint64_t exec : {11U, 12U})  // one graph, instantiated twice
    for (std::uint64_t i = 0; i < 2; ++i) e.joined.graphs().copied(at(exec, i), at(1, i), 0);
  e.joined.graphs().copied(at(13, 0), at(2, 0), 0);
  e.joined.graphs().copied(at(14, 0), at(13, 0), 0);  // a copy of a copy
  for (std::uint32_t id = 1; id <= 4; ++id) e.launch({id});
  e.take_launches();
  e.read({of_graph(1, at(11, 0)), of_graph(1, at(11, 1)), of_graph(2, at(12, 1)),
          of_graph(2, at(12, 0)), of_graph(3, at(13, 0)), of_graph(4, at(14, 0))});
  const kprof::profile p = e.profile();
  CHECK(replays(p, "graph/Op n=1") == 4);
  CHECK(replays(p, "graph") == 4);
  CHECK(p.device.complete.attributed == 4);
}

TEST_CASE("attribution.graphs_of_before_the_recording_say_so") {
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

TEST_CASE("attribution.graphs_that_are_gone_are_known_for_a_while_and_then_forgotten") {
  graph_nodes g;
  g.set_limit(5000);
  captured_scope where;
  const auto at = [](std::uint64_t graph, std::uint64_t node) { return graph << 32U | node; };
  for (std::uint64_t i = 1; i <= 20'000; i += 2) {  // captured, instantiated, thrown away
    for (std::uint64_t n = 0; n < 10; ++n) {
      g.made(at(i, n), {static_cast<std::uint32_t>(i), 0});
      g.copied(at(i + 1, n), at(i, n), 0);
    }
    for (std::uint64_t n = 0; n < 10; ++n) g.destroyed(at(i, n)), g.destroyed(at(i + 1, n));
    REQUIRE_FALSE(g.find(at(i, 3), 0, where));  // no record names a graph that cannot be launched
    REQUIRE(g.find(at(i + 1, 3), 0, where));
    REQUIRE(where.path == i);
    if (i > 801) REQUIRE(g.find(at(i + 1 - 800, 3), 0, where));  // 4000 nodes ago
  }
  CHECK(g.size() <= 5010);
  CHECK_FALSE(g.find(at(2, 3), 0, where));
}

TEST_CASE("attribution.graphs_that_go_without_a_word_do_not_pile_up") {
  graph_nodes g;
  g.set_limit(5000);
  captured_scope where;
  for (std::uint64_t i = 1; i <= 10'000; ++i)
    for (std::uint64_t n = 0; n < 10; ++n) g.made(i << 32U | n, {7, 0});
  CHECK(g.size() <= 20'010);
  CHECK(g.find(std::uint64_t{10'000} << 32U, 0, where));
  CHECK_FALSE(g.find(std::uint64_t{1} << 32U, 0, where));
}

TEST_CASE("attribution.of_too_many_graphs_those_in_use_are_kept") {
  graph_nodes g;
  g.set_limit(5000);
  captured_scope where;
  // captured once
  for (std::uint64_t n = 0; n < 10; ++n) g.made(1ULL << 32U | n, {7, 0});
  // launched all the time
  for (std::uint64_t n = 0; n < 10; ++n) g.copied(2ULL << 32U | n, 1ULL << 32U | n, 0);
  std::uint64_t known = 0;
  for (std::uint64_t i = 3; i <= 10'000; ++i) {
    // instantiated again and again
    for (std::uint64_t n = 0; n < 10; ++n) g.copied(i << 32U | n, 1ULL << 32U | n, 0);
    known += g.find(2ULL << 32U | i % 10, 0, where) && where.path == 7 ? 1 : 0;
    if (i == 1000) CHECK(g.forgotten() == 0);
  }
  CHECK(known == 9998);
  CHECK(g.size() <= 20'010);
  CHECK(g.forgotten() >= 7990);
  CHECK_FALSE(g.find(5000ULL << 32U, 0, where));
  REQUIRE(g.find(9'999ULL << 32U, 0, where));
  CHECK(where.path == 7);
}

TEST_CASE("attribution.a_node_stands_for_what_it_did_when_its_graph_was_launched") {
  graph_nodes g;
  captured_scope where;
  const std::uint64_t first = std::uint64_t{1} << 32U, second = std::uint64_t{2} << 32U,
                      exec = std::uint64_t{3} << 32U;
  g.made(first, {10, 1});
  g.made(second, {20, 2});
  g.made(exec, {99, 0});  // instantiating reports it both ways, in either order
  g.copied(exec, first, 100);
  g.made(exec, {98, 0});
  g.copied(exec, second, 500);  // an update
  g.copied(exec, second, 600);  // that changes nothing
  g.copied(exec, first, 900);
  for (const auto& [launched, path] :
       {std::pair{200U, 10U}, std::pair{499U, 10U}, std::pair{500U, 20U}, std::pair{700U, 20U},
        std::pair{901U, 10U}}) {
    REQUIRE(g.find(exec, launched, where));
    CHECK(where.path == path);
  }
  g.copied(exec, 424242, 1000);  // a copy of what is not known is not known
  CHECK_FALSE(g.find(exec, 1001, where));
  CHECK(g.find(exec, 950, where));
}

TEST_CASE("attribution.work_of_threads_that_ended_stays_and_of_too_many_is_kept_together") {
  engine e;
  std::uint32_t id = 0;
  for (int i = 0; i < 200; ++i)
    std::thread([&] {
      const scope_token t = begin_op(i % 2);
      e.launch({++id});
      end(t);
    }).join();
  std::vector<activity> all;
  // of the latest, which are kept apart
  for (std::uint32_t n = 151; n <= 200; ++n) all.push_back(kernel(n));
  e.take_launches();
  e.read(all);
  for (int i = 0; i < 100; ++i) std::thread([&] { end(begin_op(7)); }).join();  // pushes them out
  all.clear();
  for (std::uint32_t n = 1; n <= 150; ++n) all.push_back(kernel(n));
  e.read(all);
  const kprof::profile p = e.profile();
  CHECK(runs(p) == counts{{"Op n=0: k", 100}, {"Op n=1: k", 100}});
  CHECK(p.device.complete.attributed == 200);
}

TEST_CASE("attribution.adopted_work_belongs_to_the_scope_that_was_captured") {
  engine e;
  const scope_token t = begin_op(1);
  const std::uint32_t path = functions::api().capture();
  std::thread([&] {
    const scope_token own = begin_op(2);
    const scope_token adopted = functions::api().adopt(path);
    e.launch({1});
    const scope_token region = begin_region("inside");
    e.launch({2});
    end(region);
    functions::api().release(adopted);
    end(own);
  }).join();
  end(t);
  e.take_launches();
  e.read({kernel(1), kernel(2)});
  CHECK(runs(e.profile()) == counts{{"Op n=1: k", 1}, {"Op n=1/inside: k", 1}});
}

TEST_CASE("attribution.contexts_and_graphs_outlive_recordings") {
  engine e;
  const scope_token t = begin_op(31);
  const std::uint32_t path = functions::api().capture();
  e.node(std::uint64_t{77} << 32U);
  end(t);
  for (int i = 0; i < 4; ++i) {  // others come and go meanwhile
    e.threads.restart(0);
    e.joined.restart(0, 1 << 24);
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

TEST_CASE("attribution.paths_are_given_back_two_recordings_later") {
  tree_budget budget;
  budget.limit = 1 << 20;
  path_table paths(budget);
  const auto number = [&](std::uint32_t parent, std::uint32_t where) {
    return paths.number_of({parent, where, "", false, work{}});
  };
  const std::uint32_t outer = number(0, 1), inner = number(outer, 2), kept = number(0, 3),
                      inside_kept = number(kept, 4);
  paths.keep(inside_kept);
  const std::uint64_t used = budget.now();
  paths.next_recording();
  CHECK(paths[inner].site == 2);  // a log may still be in the last recording
  CHECK(number(0, 1) == outer);   // used again
  CHECK(number(0, 5) != inner);
  paths.next_recording();
  CHECK(paths[outer].site == 1);
  CHECK(number(outer, 6) == inner);  // its place
  CHECK(paths[inside_kept].parent == kept);
  for (int i = 0; i < 3; ++i) paths.next_recording();
  CHECK(paths[inside_kept].site == 4);
  CHECK(paths[kept].site == 3);
  CHECK(budget.now() == used / 2);
}

TEST_CASE("attribution.names_are_told_apart_by_their_text") {
  engine e;
  char name[] = "one";
  for (const std::uint32_t id : {1U, 2U, 3U}) e.launch({id});
  e.take_launches();
  e.read({kernel(1, name)});
  name[0] = 't', name[1] = 'w', name[2] = 'o';  // a library went, and another came to its place
  e.read({kernel(2, name), kernel(3, "one")});
  CHECK(runs(e.profile()) == counts{{": one", 2}, {": two", 1}});
}

TEST_CASE("attribution.memory_is_bounded_and_counts_stay_exact") {
  engine e(std::size_t{2} << 20U);
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i)
    names.push_back("a_kernel_with_a_rather_long_name_" + std::to_string(i));
  std::uint32_t id = 0;
  for (int round = 0; round < 40; ++round) {
    const scope_token t = begin_op(round);
    std::vector<activity> some;
    for (int i = 0; i < 1000; ++i) {
      e.launch({++id});
      activity a =
          kernel(id, names[static_cast<std::size_t>(round * 1000 + i) % names.size()].c_str());
      a.grid[0] = static_cast<std::uint32_t>(i);
      some.push_back(a);
    }
    end(t);
    e.take_launches();
    e.read(some);
  }
  const kprof::profile p = e.profile();
  std::uint64_t all = 0;
  double ns = 0;
  for (const auto& w : p.device.work) all += w.calls, ns += w.total_ns;
  CHECK(all == 40'000);
  CHECK(ns == 400'000);
  CHECK(p.device.complete.attributed == 40'000);
  CHECK(p.device.complete.merged > 0);
  // the row that was one too many
  CHECK(e.threads.budget().now() <= (std::size_t{2} << 20U) / 4 + 1024);
}

TEST_CASE("attribution.launches_and_records_without_a_partner_do_not_pile_up") {
  engine e(std::size_t{1} << 20U);
  std::vector<activity> some;
  for (std::uint32_t i = 1; i <= 300'000; ++i) {
    if (i % 3 == 0) e.launch({i});
    some.push_back(kernel(1'000'000 + i));
    if (some.size() == 500) {
      e.take_launches();
      e.read(some);
      some.clear();
    }
  }
  // of the largest recording so far
  CHECK(e.joined.bytes() < 2 * attribution::share(std::size_t{16} << 20U));
  const kprof::profile p = e.profile();
  CHECK(p.device.complete.open == 100'000);
  CHECK(p.device.complete.unknown == 300'000);
  CHECK(p.device.complete.launches == 100'000);
}

namespace {

/// A random program and what is true of it. Its threads take turns, so that what it does is told by
/// the seed alone.
class schedule {
 public:
  explicit schedule(unsigned seed) : random_(seed) {}

  void run() {
    const int threads = 1 + static_cast<int>(draw(3));
    for (int i = 0; i < threads; ++i) std::thread([this] { work(0, ""); }).join();
    deliver(true);
    const kprof::profile p = e_.profile();
    CHECK(runs(p) == truth_);
    CHECK(p.device.complete.launches == launches_);
    CHECK(p.device.complete.attributed + p.device.complete.outside == launches_);
    CHECK(p.device.complete.unknown == 0);
    CHECK(p.device.complete.open == 0);
    for (const auto& [path, n] : replays_) CHECK(replays(p, path) == n);
  }

 private:
  struct graph_node {
    std::uint64_t id;
    std::vector<std::string> around;  // scopes, from the outermost
    std::uint32_t scopes_started_here;
  };

  unsigned draw(std::size_t below) { return static_cast<unsigned>(random_() % below); }
  bool chance(unsigned percent) { return draw(100) < percent; }

  void work(int depth, const std::string& path) {
    const int steps = 1 + static_cast<int>(draw(6));
    for (int i = 0; i < steps; ++i) {
      if (depth < 4 && chance(40)) {
        const std::int64_t n = static_cast<std::int64_t>(draw(3));
        const bool op = chance(60);
        const std::string name = op ? "Op n=" + std::to_string(n) : "r" + std::to_string(n);
        const scope_token t = op ? begin_op(n) : begin_region(name);
        scopes_.push_back(name);
        work(depth + 1, path + (path.empty() ? "" : "/") + name);
        scopes_.pop_back();
        end(t);
      } else if (chance(20)) {
        capture_graph();
      } else if (!graphs_.empty() && chance(30)) {
        replay(path);
      } else {
        launch(path);
      }
      if (chance(10)) deliver(false);
    }
  }

  std::vector<std::uint32_t> ids() {
    std::vector<std::uint32_t> out;
    for (unsigned i = 0, n = 1 + draw(3); i < n; ++i) out.push_back(++last_id_);
    return out;
  }
  void launch(const std::string& path) {
    const auto some = ids();
    static const char* const names[] = {"a", "b", "c"};
    const char* name = names[draw(3)];
    activity a = kernel(some[draw(some.size())], name);
    if (chance(20)) pending_.push_back(a), a.correlation = 0;  // before its launch is noted
    e_.launch(some);
    if (a.correlation != 0) pending_.push_back(a);
    ++launches_;
    ++truth_[path + ": " + name];
  }

  /// A graph is captured in scopes of its own below where the thread is, and instantiated once or
  /// twice.
  void capture_graph() {
    const std::uint64_t graph = ++last_graph_ << 32U;
    std::vector<graph_node> nodes;
    for (unsigned op = 0, ops = 1 + draw(3); op < ops; ++op) {
      const std::string name = "Op n=" + std::to_string(10 + draw(2));
      const scope_token t = begin_op(name.back() - '0' + 10);
      for (unsigned i = 0, n = 1 + draw(3); i < n; ++i) {
        graph_node made{graph + nodes.size(), scopes_, i == 0 ? 1U : 0U};
        if (op == 0 && i == 0) made.scopes_started_here = 1 + static_cast<std::uint32_t>(scopes_.size());
        made.around.push_back(name);
        e_.node(made.id);
        nodes.push_back(made);
      }
      end(t);
    }
    for (unsigned copy = 0, copies = 1 + draw(2); copy < copies; ++copy) {
      const std::uint64_t exec = ++last_graph_ << 32U;
      std::vector<graph_node> copied = nodes;
      for (std::size_t i = 0; i < copied.size(); ++i) {
        copied[i].id = exec + i;
        e_.joined.graphs().copied(copied[i].id, nodes[i].id, 0);
      }
      graphs_.push_back(std::move(copied));
    }
  }
  void replay(const std::string& path) {
    const auto some = ids();
    const auto& graph = graphs_[draw(graphs_.size())];
    const std::string base = path + (path.empty() ? "" : "/") + "graph";
    ++launches_;
    ++replays_[base];
    for (const graph_node& n : graph) {
      pending_.push_back(of_graph(some[0], n.id));
      std::size_t common = 0;  // the scopes that are around both the capture and the launch
      while (common < n.around.size() && common < scopes_.size() &&
             n.around[common] == scopes_[common])
        ++common;
      std::string where = base;
      for (std::size_t i = common; i < n.around.size(); ++i) {
        where += "/" + n.around[i];
        if (n.around.size() - i <= n.scopes_started_here) ++replays_[where];
      }
      ++truth_[where + ": k"];
    }
    e_.launch(some);
  }

  /// Some or all of the records, in any order and in pieces.
  void deliver(bool all) {
    std::shuffle(pending_.begin(), pending_.end(), random_);
    while (!pending_.empty()) {
      const std::size_t n = 1 + draw(pending_.size());
      if (chance(50)) e_.take_launches();
      e_.read({pending_.end() - static_cast<std::ptrdiff_t>(n), pending_.end()});
      pending_.resize(pending_.size() - n);
      if (!all) return;
    }
  }

  std::mt19937 random_;
  engine e_;
  std::vector<std::string> scopes_;
  std::vector<std::vector<graph_node>> graphs_;
  std::vector<activity> pending_;
  counts truth_, replays_;
  std::uint64_t launches_ = 0;
  inline static std::uint32_t last_id_ = 1'000'000;  // CUPTI never gives an id twice
  inline static std::uint64_t last_graph_ = 1000;    // graphs outlive a recording
};

}  // namespace

TEST_CASE("attribution.agrees_with_the_truth_of_random_programs") {
#ifdef KPROF_TEST_SHORT
  constexpr unsigned seeds = 200;
#else
  constexpr unsigned seeds = 1000;
#endif
  for (unsigned seed = 0; seed < seeds; ++seed) {
    INFO("seed " << seed);
    schedule(seed).run();
  }
}
