// SPDX-License-Identifier: MIT
#include <kprof/attribute/graph_nodes.hpp>

#include <cstddef>
#include <cstdint>

#include "catch.hpp"

using kprof::detail::captured_scope;
using kprof::detail::graph_nodes;

namespace {

constexpr std::uint64_t exec = 1'000'000ULL << 32U;

/// Graph i, which was captured under path i.
void capture(graph_nodes& g, std::uint32_t i) { g.made(std::uint64_t{i} << 32U, {i, 1}); }
/// The path of a node when it was launched; 0: not known.
std::uint32_t path_of(graph_nodes& g, std::uint64_t node, std::uint64_t launched) {
  captured_scope where{};
  return g.find(node, launched, where) ? where.path : 0;
}

}  // namespace

TEST_CASE("graph_versions.many_updates_may_come_before_the_first_record") {
  graph_nodes g;
  constexpr std::uint32_t updates = 5000;
  for (std::uint32_t i = 1; i <= updates; ++i) capture(g, i);
  g.copied(exec, 1ULL << 32U);
  for (std::uint32_t i = 2; i <= updates; ++i) g.updated(exec, std::uint64_t{i} << 32U, 10 * i);
  for (std::uint32_t i = 1; i <= updates; ++i) {
    INFO(i);
    REQUIRE(path_of(g, exec, 10 * i + 9) == i);
  }
}

TEST_CASE("graph_versions.those_whose_launches_have_been_read_are_forgotten") {
  graph_nodes g;
  for (std::uint32_t i = 1; i <= 2; ++i) capture(g, i);
  g.copied(exec, 2ULL << 32U);
  g.updated(exec, 1ULL << 32U, 20);
  const std::size_t few = g.bytes();
  for (std::uint32_t i = 3; i < 2000; ++i) {
    g.updated(exec, (1 + i % 2ULL) << 32U, 10 * i);
    REQUIRE(path_of(g, exec, 10 * i + 5) == 1 + i % 2);
    if (i == 3) continue;
    REQUIRE(path_of(g, exec, 10 * i - 25) == 1 + (i - 3) % 2);  // a record that comes late
  }
  CHECK(g.bytes() < few + 1000);
  CHECK(path_of(g, exec, 11) == 0);  // too late: it is not told of a wrong scope
}

TEST_CASE("graph_versions.versions_of_others_that_have_been_read_give_way") {
  graph_nodes g;
  g.set_limit(4096);
  for (std::uint32_t i = 1; i <= 2; ++i) capture(g, i);
  g.copied(exec, 1ULL << 32U);
  g.copied(exec + 1, 1ULL << 32U);
  for (std::uint64_t i = 1; i <= 2 * 4096; ++i) g.updated(exec, (1 + i % 2) << 32U, 10 * i);
  REQUIRE(path_of(g, exec, 90'000) == 1);  // its records have come
  g.updated(exec + 1, 2ULL << 32U, 100'000);
  g.updated(exec + 1, 1ULL << 32U, 100'010);
  CHECK(path_of(g, exec + 1, 99'999) == 1);
  CHECK(path_of(g, exec + 1, 100'005) == 2);
  CHECK(path_of(g, exec + 1, 100'015) == 1);
}

TEST_CASE("graph_versions.their_memory_is_bounded_and_the_present_scope_is_kept") {
  graph_nodes g;
  g.set_limit(4096);
  constexpr std::uint64_t nodes = 8000;
  for (std::uint32_t i = 1; i <= 2; ++i) capture(g, i);
  for (std::uint64_t n = 0; n < nodes; ++n) g.copied(exec + n, 1ULL << 32U);
  const std::size_t without = g.bytes();
  for (std::uint64_t i = 1; i <= 64; ++i)
    for (std::uint64_t n = 0; n < nodes; ++n) g.updated(exec + n, (1 + i % 2) << 32U, 1000 * i);
  CHECK(g.bytes() < without + nodes * 72 + 8192 * 64);
  for (std::uint64_t n = 0; n < nodes; n += 97) {
    INFO(n);
    CHECK(path_of(g, exec + n, 64'001) == 1);
    // What it was before is known or said not to be.
    const std::uint32_t before = path_of(g, exec + n, 63'001);
    CHECK((before == 0 || before == 2));
  }
}

TEST_CASE("graph_versions.what_ran_before_an_update_may_be_older_than_the_recording") {
  graph_nodes g;
  constexpr std::uint64_t captured = 1ULL << 32U, other = 2ULL << 32U;
  g.made(captured, {7, 1});
  g.copied(exec, captured);
  const auto is_older = [&](std::uint64_t launched) {
    captured_scope where;
    bool older = false;
    CHECK(g.find(exec, launched, where, &older));
    return older;
  };
  CHECK_FALSE(is_older(10));
  g.stop_listening();
  CHECK(is_older(20));
  SECTION("of other scopes") { g.made(other, {8, 1}); }
  SECTION("of the same scopes") { g.made(other, {7, 1}); }
  g.updated(exec, other, 30);
  CHECK(is_older(29));
  CHECK_FALSE(is_older(30));
}
