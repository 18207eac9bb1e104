// SPDX-License-Identifier: MIT
// needs: guards
// Guards that end out of order, late, on another thread or never, and scopes without a block.

#include <kprof/kprof.hpp>

#include "catch.hpp"
#include "find.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Op {
  int k = 0;
  int l = 0;
};

}  // namespace

TEST_CASE("guard_ends.destroyed_out_of_order_is_counted_and_harmless") {
  REQUIRE(kprof::start());
  {
    KPROF_REGION("around");
    auto first = std::make_unique<kprof::op_guard<Op>>(Op{1});
    auto second = std::make_unique<kprof::op_guard<Op>>(Op{2});
    first.reset();
    second.reset();
    { KPROF_OP(Op, {3}); }
  }
  const kprof::profile p = kprof::snapshot();
  INFO(all_paths(p));
  CHECK(calls(p, "around/Op k=1 l=0") == 1);
  CHECK(calls(p, "around/Op k=1 l=0/Op k=2 l=0") == 1);
  CHECK(calls(p, "around/Op k=3 l=0") == 1);
  CHECK(calls(p, "around") == 1);
  CHECK(p.complete.closed_by_parent == 1);
  CHECK(p.complete.closed_elsewhere == 1);
  CHECK(p.complete.open == 0);
}

TEST_CASE("guard_ends.destroyed_late_does_not_close_what_was_opened_in_its_place") {
  REQUIRE(kprof::start());
  {
    KPROF_REGION("around");
    auto first = std::make_unique<kprof::op_guard<Op>>(Op{1});
    auto second = std::make_unique<kprof::op_guard<Op>>(Op{2});
    auto third = std::make_unique<kprof::op_guard<Op>>(Op{3});
    second.reset();  // and the third with it
    KPROF_REGION("new second");
    KPROF_REGION("new third");
    auto fourth = std::make_unique<kprof::op_guard<Op>>(Op{4});
    third.reset();
    { KPROF_OP(Op, {5}); }  // still inside the fourth
    fourth.reset();
    { KPROF_OP(Op, {6}); }
    first.reset();  // closes the two regions
    { KPROF_OP(Op, {7}); }
  }
  { KPROF_OP(Op, {8}); }
  const kprof::profile p = kprof::snapshot();
  INFO(all_paths(p));
  CHECK(calls(p, "around/Op k=1 l=0/new second/new third/Op k=4 l=0/Op k=5 l=0") == 1);
  CHECK(calls(p, "around/Op k=1 l=0/new second/new third/Op k=6 l=0") == 1);
  CHECK(calls(p, "around/Op k=7 l=0") == 1);
  CHECK(calls(p, "Op k=8 l=0") == 1);
  CHECK(p.complete.closed_by_parent == 3);
  // the third, and the two regions when their blocks ended
  CHECK(p.complete.closed_elsewhere == 3);
  CHECK(p.complete.open == 0);
}

TEST_CASE("guard_ends.random_order_of_destruction_keeps_the_tree_well_formed") {
  // Against a plain model: a stack from which a guard takes itself and all above it, if it is still
  // there.
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    REQUIRE(kprof::start());
    std::map<std::string, std::uint64_t> expected;
    std::uint64_t by_parent = 0, elsewhere = 0;
    struct open_guard {
      int number;
      std::unique_ptr<kprof::op_guard<Op>> guard;
    };
    std::vector<open_guard> guards;  // alive
    std::vector<int> stack;          // open
    for (int i = 0; i < 60; ++i) {
      if (stack.size() < 20 && random() % 2 == 0) {
        guards.push_back({i, std::make_unique<kprof::op_guard<Op>>(Op{i})});
        stack.push_back(i);
        std::string path;
        for (const int at : stack)
          path += (path.empty() ? "Op k=" : "/Op k=") + std::to_string(at) + " l=0";
        ++expected[path];
      } else if (!guards.empty()) {
        const auto victim =
            guards.begin() + static_cast<std::ptrdiff_t>(
                                 random() % 3 != 0 ? guards.size() - 1 : random() % guards.size());
        const auto at = std::find(stack.begin(), stack.end(), victim->number);
        if (at == stack.end()) ++elsewhere;
        else by_parent += static_cast<std::uint64_t>(stack.end() - at - 1);
        stack.erase(at, stack.end());
        guards.erase(victim);
      }
    }
    while (!guards.empty()) {
      const auto at = std::find(stack.begin(), stack.end(), guards.back().number);
      if (at == stack.end()) ++elsewhere;
      else by_parent += static_cast<std::uint64_t>(stack.end() - at - 1);
      stack.erase(at, stack.end());
      guards.pop_back();
    }
    const kprof::profile p = kprof::snapshot();
    INFO("round " << round << '\n' << all_paths(p));
    for (const auto& [path, times] : expected) REQUIRE(calls(p, path) == times);
    REQUIRE(p.complete.closed_by_parent == by_parent);
    REQUIRE(p.complete.closed_elsewhere == elsewhere);
    REQUIRE(p.complete.open == 0);
    REQUIRE(p.complete.recorded == expected.size());
  }
}

TEST_CASE("guard_ends.any_number_of_ends_out_of_order_lose_no_scope") {
  // What tells late ends from others goes round after 65,536 of them.
  REQUIRE(kprof::start());
  constexpr int rounds = 150'000;
  auto early = kprof::begin(Op{1});
  auto inside = kprof::begin(Op{2});
  kprof::end(early);
  kprof::end(inside);
  {
    KPROF_REGION("around");
    for (int i = 0; i < rounds; ++i) {
      auto a = kprof::begin(Op{3});
      auto b = kprof::begin(Op{4});
      kprof::end(a);
      kprof::end(b);
    }
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "around") == 1);
  CHECK(calls(p, "around/Op k=3 l=0") == rounds);
  CHECK(calls(p, "around/Op k=3 l=0/Op k=4 l=0") == rounds);
  CHECK(p.complete.closed_elsewhere == rounds + 1);
  CHECK(p.complete.open == 0);
}

TEST_CASE("guard_ends.ends_out_of_order_have_room_wherever_a_chunk_of_the_log_ends") {
  REQUIRE(kprof::start());
  constexpr std::uint64_t rounds = 20'000, deep = 24;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    std::vector<std::unique_ptr<kprof::op_guard<Op>>> guards;
    for (std::uint64_t d = 0; d < deep; ++d)
      guards.push_back(std::make_unique<kprof::op_guard<Op>>(Op{static_cast<int>(d)}));
    // so that chunks end at every place of a round
    for (std::uint64_t d = 0; d < i % 7; ++d) { KPROF_OP(Op, {-1}); }
    guards[deep - 2].reset();
    for (std::uint64_t d = deep; d-- > 0;) guards[d].reset();
  }
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.closed_by_parent == rounds);
  CHECK(p.complete.closed_elsewhere == rounds);
  CHECK(p.complete.open == 0);
  CHECK(p.complete.dropped == 0);
  // of the last, incomplete seven only the first came, which adds none
  CHECK(p.complete.recorded == rounds * deep + rounds / 7 * 21);
}

TEST_CASE("guard_ends.destroyed_on_another_thread_is_counted_and_harmless") {
  REQUIRE(kprof::start());
  {
    KPROF_REGION("around");
    auto guard = std::make_unique<kprof::op_guard<Op>>(Op{1});
    std::thread([&] {
      KPROF_REGION("elsewhere");
      guard.reset();
    }).join();
    std::thread([&] { guard = std::make_unique<kprof::op_guard<Op>>(Op{2}); }).join();
    guard.reset();
  }
  const kprof::profile p = kprof::snapshot();
  INFO(all_paths(p));
  CHECK(p.complete.closed_elsewhere == 2);
  CHECK(calls(p, "around") == 1);
  CHECK(calls(p, "around/Op k=1 l=0") == 1);  // closed with what is around it
  CHECK(calls(p, "elsewhere") == 1);
  CHECK(p.complete.closed_by_parent == 1);
  CHECK(p.complete.never_closed == 1);  // the thread of the second guard ended with it open
}

TEST_CASE("guard_ends.never_destroyed_stays_open") {
  REQUIRE(kprof::start());
  auto* leaked = new kprof::op_guard<Op>(Op{1});
  { KPROF_OP(Op, {2}); }
  const kprof::profile p = kprof::snapshot();
  CHECK(p.complete.open == 1);
  CHECK(calls(p, "Op k=1 l=0/Op k=2 l=0") == 1);
  delete leaked;
  CHECK(kprof::snapshot().complete.open == 0);
}

TEST_CASE("guard_ends.begin_and_end_without_a_block") {
  REQUIRE(kprof::start());
  kprof::open_scope op = kprof::begin(Op{1});
  kprof::open_scope region = kprof::begin_region("r");
  kprof::end(region);
  kprof::end(op);
  kprof::end(op);  // a second time does nothing
  kprof::open_scope none;
  kprof::end(none);
  const kprof::profile p = kprof::snapshot();
  CHECK(calls(p, "Op k=1 l=0") == 1);
  CHECK(calls(p, "Op k=1 l=0/r") == 1);
  CHECK(p.complete.closed_elsewhere == 0);
  kprof::open_scope twice = kprof::begin(Op{2});
  kprof::open_scope copy = twice;
  kprof::end(twice);
  kprof::end(copy);
  CHECK(kprof::snapshot().complete.closed_elsewhere == 1);
}
