// SPDX-License-Identifier: MIT
// needs: guards
// The cells of steps: those of many nodes of which each step has few, and what is given up where
// there are too many.

#include <kprof/attribute/step_share_table.hpp>
#include <kprof/kprof.hpp>

#include "catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace step_share_table_test {
namespace {

struct Decode {
  std::int64_t length = 0;
};
struct Norm {
  std::int64_t length = 0;
};

using table = kprof::detail::step_share_table;
using calls_of_cells = std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t>;

/// Adds a call to the cells of a scope from step `first` to step `last`.
void touch(table& t, calls_of_cells& wanted, std::size_t first, std::size_t last,
           std::uint32_t node) {
  for (std::size_t step = first; step <= last; ++step) {
    if (table::cell* const c = t.at(step, node)) ++c->calls;
    ++wanted[{step, node}];
  }
}

calls_of_cells cells_in(table& t, std::size_t steps) {
  calls_of_cells out;
  for (std::size_t i = 0; i < steps; ++i) {
    if (t.is_given_up(i)) continue;
    std::int64_t before = -1;
    for (const table::cell& c : t.sorted(i)) {
      CHECK(c.node > before);
      before = c.node;
      out[{i, c.node}] += c.calls;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("step_share_table.has_a_cell_for_each_node_that_had_a_scope_in_a_step") {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    const std::size_t steps = 1 + below(30), nodes = 1 + below(50);
    table t(steps, below(steps + 1));
    calls_of_cells wanted;
    t.begin_thread(nodes);
    std::size_t last = 0;
    for (int i = 0; i < 200; ++i) {
      last = std::min(steps - 1, last + below(2));
      const std::size_t first = below(4) == 0 ? below(last + 1) : last;
      touch(t, wanted, first, last, static_cast<std::uint32_t>(below(nodes)));
    }
    REQUIRE(t.given_up() == 0);
    REQUIRE(cells_in(t, steps) == wanted);
  }
}

TEST_CASE("step_share_table.gives_up_the_earliest_steps_and_those_that_are_kept_last") {
  constexpr std::size_t most = kprof::most_step_shares, nodes = most / 4;
  table t(8, 2);
  calls_of_cells all;
  const auto fill = [&](std::size_t step) {
    for (std::uint32_t n = 0; n < nodes; ++n) touch(t, all, step, step, n);
  };
  t.begin_thread(nodes);
  for (std::size_t step = 0; step < 4; ++step) fill(step);
  CHECK(t.given_up() == 0);
  fill(4);
  CHECK(t.given_up() == 1);
  CHECK(t.is_given_up(2));
  CHECK(t.at(2, 0) == nullptr);
  for (std::size_t step = 5; step < 8; ++step) fill(step);
  CHECK(t.given_up() == 4);
  for (const std::size_t left : {0U, 1U, 6U, 7U}) CHECK_FALSE(t.is_given_up(left));
  CHECK(cells_in(t, 8).size() == most);
  // Another thread's cells count too, and are its own.
  t.begin_thread(nodes);
  calls_of_cells second;
  for (std::uint32_t n = 0; n < 10; ++n) touch(t, second, 7, 7, n);
  CHECK(t.given_up() == 5);
  CHECK(t.is_given_up(6));
  CHECK(cells_in(t, 8) == second);

  table large(1, 0);
  large.begin_thread(most + 1);
  for (std::uint32_t n = 0; n < most + 1; ++n) static_cast<void>(large.at(0, n));
  CHECK(large.is_given_up(0));
  CHECK(large.at(0, 0) == nullptr);
}

// A decode whose cache grows has a place in the call tree for each length.
TEST_CASE("step_share_table.steps_of_many_different_calls_all_have_shares") {
  REQUIRE(kprof::start());
  constexpr std::int64_t tokens = 600;
  for (std::int64_t token = 0; token < tokens; ++token) {
    KPROF_STEP();
    for (int layer = 0; layer < 4; ++layer) { KPROF_OP(Decode, {token * 4 + layer}); }
    KPROF_OP(Norm, {0});
  }
  kprof::stop();
  const kprof::profile p = kprof::snapshot();
  CHECK(p.nodes.size() > 2'400);
  CHECK(p.stepping.without_shares == 0);
  std::map<std::uint32_t, std::uint64_t> calls;  // by step
  for (const kprof::step_share& s : p.stepping.shares) calls[s.step] += s.calls;
  REQUIRE(calls.size() >= tokens - 1);
  for (const auto& [step, n] : calls) CHECK(n == 5);
}

}  // namespace step_share_table_test
