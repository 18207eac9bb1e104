// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <kprof/attribute/graph_nodes.hpp>

#include <cstdint>
#include <ctime>
#include <utility>

using kprof::detail::captured_scope;
using kprof::detail::graph_nodes;

TEST_CASE("graph_nodes.destroyed_graphs_are_known_for_a_while_and_then_forgotten") {
  graph_nodes g;
  g.set_limit(5000);
  captured_scope where;
  const auto at = [](std::uint64_t graph, std::uint64_t node) { return graph << 32U | node; };
  for (std::uint64_t i = 1; i <= 20'000; i += 2) {  // captured, instantiated, thrown away
    for (std::uint64_t n = 0; n < 10; ++n) {
      g.made(at(i, n), {static_cast<std::uint32_t>(i), 0});
      g.copied(at(i + 1, n), at(i, n));
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

TEST_CASE("graph_nodes.graphs_whose_destruction_is_not_reported_do_not_pile_up") {
  graph_nodes g;
  g.set_limit(5000);
  captured_scope where;
  for (std::uint64_t i = 1; i <= 10'000; ++i)
    for (std::uint64_t n = 0; n < 10; ++n) g.made(i << 32U | n, {7, 0});
  CHECK(g.size() <= 20'010);
  CHECK(g.find(std::uint64_t{10'000} << 32U, 0, where));
  CHECK_FALSE(g.find(std::uint64_t{1} << 32U, 0, where));
}

TEST_CASE("graph_nodes.of_too_many_graphs_those_in_use_are_kept") {
  graph_nodes g;
  g.set_limit(5000);
  captured_scope where;
  // captured once
  for (std::uint64_t n = 0; n < 10; ++n) g.made(1ULL << 32U | n, {7, 0});
  // launched all the time
  for (std::uint64_t n = 0; n < 10; ++n) g.copied(2ULL << 32U | n, 1ULL << 32U | n);
  std::uint64_t known = 0;
  for (std::uint64_t i = 3; i <= 10'000; ++i) {
    // instantiated again and again
    for (std::uint64_t n = 0; n < 10; ++n) g.copied(i << 32U | n, 1ULL << 32U | n);
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

TEST_CASE("graph_nodes.a_node_belongs_to_the_scope_it_had_when_its_graph_was_launched") {
  graph_nodes g;
  captured_scope where;
  const std::uint64_t first = std::uint64_t{1} << 32U, second = std::uint64_t{2} << 32U,
                      exec = std::uint64_t{3} << 32U;
  g.made(first, {10, 1});
  g.made(second, {20, 2});
  g.made(exec, {99, 0});  // instantiating reports it both ways, in either order
  g.copied(exec, first);
  g.made(exec, {98, 0});
  g.updated(exec, second, 500);  // an update
  g.updated(exec, second, 600);  // that changes nothing
  g.updated(exec, first, 900);
  for (const auto& [launched, path] :
       {std::pair{200U, 10U}, std::pair{499U, 10U}, std::pair{500U, 20U}, std::pair{700U, 20U},
        std::pair{901U, 10U}}) {
    REQUIRE(g.find(exec, launched, where));
    CHECK(where.path == path);
  }
  g.updated(exec, 424242, 1000);  // a copy of what is not known is not known
  CHECK_FALSE(g.find(exec, 1001, where));
  CHECK(g.find(exec, 950, where));
}

// What ran before the update is nobody's, rather than of whom the update was captured in.
TEST_CASE("graph_nodes.before_an_update_a_node_that_nobody_told_of_belongs_to_no_scope") {
  graph_nodes g;
  captured_scope where;
  const std::uint64_t captured = std::uint64_t{1} << 32U, exec = std::uint64_t{2} << 32U;
  g.made(captured, {10, 1});
  g.updated(exec, captured, 500);
  CHECK_FALSE(g.find(exec, 499, where));
  REQUIRE(g.find(exec, 500, where));
  CHECK(where.path == 10);
}

TEST_CASE("graph_nodes.a_copy_is_found_by_its_original_until_it_is_gone") {
  graph_nodes g;
  constexpr std::uint64_t captured = 1ULL << 32U, other = captured | 1, exec = 5ULL << 32U;
  g.made(captured, {7, 2});
  g.made(other, {8, 0});
  g.copied(exec | 3, captured);  // of another number than the original
  g.copied(exec | 1, other);
  std::uint64_t id = 0;
  captured_scope where;
  CHECK(g.find_copy(5, captured, id, where));
  CHECK(id == (exec | 3));
  CHECK(where.path == 7);
  CHECK(g.find_copy(5, other, id, where));
  CHECK(id == (exec | 1));
  CHECK_FALSE(g.find_copy(6, captured, id, where));
  CHECK_FALSE(g.find_copy(5, 99, id, where));
  g.set(exec | 3, 70, 100);
  CHECK(g.find(exec | 3, 99, where));
  CHECK(where.path == 7);
  CHECK(g.find(exec | 3, 100, where));
  CHECK(where.path == 70);
  CHECK(where.scopes_started_here == 2);
  g.destroyed(exec | 3);
  CHECK_FALSE(g.find_copy(5, captured, id, where));
  CHECK(g.find(exec | 3, 100, where));  // of launches before that
}

TEST_CASE("graph_nodes.the_nodes_of_a_call_are_set_together") {
  graph_nodes g;
  constexpr std::uint64_t captured = 1ULL << 32U, child = 2ULL << 32U, exec = 5ULL << 32U;
  for (std::uint32_t i = 0; i < 6; ++i) {  // two calls of two nodes, and one of two others
    g.made(captured | i, {i < 4 ? 7U : 8U, i % 2 == 0 ? 1U : 0U});
    g.copied(exec | (i < 1 ? i : i + 1), captured | i);
  }
  g.made(child, {7, 0});
  g.copied(exec | 1, child);  // of a graph that the first call has launched into the capture
  g.set(exec | 2, 70, 100);
  captured_scope where;
  const std::uint32_t paths[] = {70, 7, 70, 7, 7, 8, 8};
  for (std::uint32_t i = 0; i < 7; ++i) {
    INFO(i);
    CHECK(g.find(exec | i, 99, where));
    CHECK(where.path == (paths[i] == 70 ? 7 : paths[i]));
    CHECK(g.find(exec | i, 100, where));
    CHECK(where.path == paths[i]);
  }
  g.set(exec | 4, 71, 200);
  CHECK(g.find(exec | 3, 200, where));
  CHECK(where.path == 71);
  CHECK(where.scopes_started_here == 1);
  CHECK(g.find(exec | 0, 200, where));
  CHECK(where.path == 70);
}

TEST_CASE("graph_nodes.a_moved_node_is_what_it_was") {
  graph_nodes g;
  constexpr std::uint64_t embedded = 3ULL << 32U, child = 2ULL << 32U, exec = 5ULL << 32U,
                          inner = 6ULL << 32U;
  g.made(embedded, {7, 1});
  g.made(child, {8, 0});
  g.copied(inner, embedded);
  g.copied(exec, child);
  g.destroyed(exec);  // the only node so far: its graph counts as destroyed
  g.moved(exec | 2, inner);
  std::uint64_t id = 0;
  captured_scope where;
  CHECK(g.find(exec | 2, 1, where));
  CHECK(where.path == 7);
  CHECK(g.find_copy(5, embedded, id, where));
  CHECK(id == (exec | 2));
  CHECK_FALSE(g.find_copy(5, child, id, where));
  CHECK_FALSE(g.find_copy(6, embedded, id, where));
  // The graph is alive again: many others that are destroyed do not push it out.
  g.set_limit(0);
  for (std::uint64_t i = 100; i < 6000; ++i) {
    g.copied(i << 32U, embedded);
    g.destroyed(i << 32U);
  }
  CHECK(g.find(exec | 2, 1, where));
  CHECK_FALSE(g.find(100ULL << 32U, 1, where));
}

// CUDA numbers the nodes of a graph anew where one of them is destroyed and another is made.
TEST_CASE("graph_nodes.an_id_that_is_used_again_is_of_the_latest_node") {
  graph_nodes g;
  constexpr std::uint64_t captured = 1ULL << 32U, other = captured | 1, inner = 2ULL << 32U,
                          exec = 5ULL << 32U;
  std::uint64_t id = 0;
  captured_scope where;
  g.made(captured, {7, 1});
  g.made(other, {8, 0});
  SECTION("by a node that has moved") {
    g.copied(inner, other);
    g.copied(exec, captured);
    g.destroyed(exec);
    g.moved(exec, inner);
    CHECK(g.find_copy(5, other, id, where));
    CHECK_FALSE(g.find_copy(5, captured, id, where));
  }
  SECTION("by a copy") {
    g.copied(exec, captured);
    g.destroyed(exec);
    g.copied(exec, other);
    CHECK(g.find_copy(5, other, id, where));
    CHECK_FALSE(g.find_copy(5, captured, id, where));
  }
  SECTION("by a node that is no copy") {
    g.copied(exec, captured);
    g.destroyed(exec);
    g.made(exec, {8, 0});
    CHECK_FALSE(g.find_copy(5, captured, id, where));
  }
  REQUIRE(g.find(exec, 1, where));
  CHECK(where.path == 8);
  // The graph has a node: however many others are destroyed, it is known.
  g.set_limit(0);
  for (std::uint64_t i = 100; i < 6000; ++i) {
    g.copied(i << 32U, captured);
    g.destroyed(i << 32U);
  }
  CHECK(g.find(exec, 1, where));
  CHECK_FALSE(g.find(100ULL << 32U, 1, where));
}

TEST_CASE("graph_nodes.a_graph_lives_as_long_as_one_of_its_nodes") {
  graph_nodes g;
  constexpr std::uint64_t captured = 1ULL << 32U, other = captured | 1;
  captured_scope where;
  g.made(captured, {7, 1});
  g.made(other, {8, 0});
  SECTION("though another is destroyed twice") {
    g.destroyed(captured);
    g.destroyed(captured);
  }
  SECTION("though its id was of one before") {
    g.destroyed(other);
    g.made(other, {8, 0});
    g.destroyed(captured);
  }
  REQUIRE(g.find(other, 1, where));
  CHECK(where.path == 8);
}

// As in a decode that sets all nodes of a graph in a graph before each launch.
TEST_CASE("graph_nodes.finding_all_copies_takes_time_in_proportion") {
  graph_nodes g;
  constexpr std::uint64_t nodes = 30'000, embedded = 2ULL << 32U, inner = 3ULL << 32U,
                          exec = 5ULL << 32U;
  for (std::uint64_t n = 0; n < nodes; ++n) {
    g.made(embedded + n, {7, 0});
    g.copied(inner + n, embedded + n);
    g.moved(exec + 1 + n, inner + n);  // no copy has its original's number
  }
  g.made(embedded + nodes, {8, 0});
  g.copied(exec + nodes + 1, embedded + nodes);
  const std::clock_t begin = std::clock();
  std::uint64_t found = 0;
  for (int step = 0; step < 3; ++step)
    for (std::uint64_t n = 0; n < nodes; ++n) {
      std::uint64_t id = 0;
      captured_scope where;
      found += g.find_copy(5, embedded + n, id, where) && id == exec + 1 + n ? 1 : 0;
    }
  CHECK(found == 3 * nodes);
  CHECK(static_cast<double>(std::clock() - begin) < 2.0 * CLOCKS_PER_SEC);  // 5 s without
}
