// SPDX-License-Identifier: MIT
// The tokens of one thread's open scopes, against a plain model of what is open.

#include <kprof/record/open_scopes.hpp>

#include "catch.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using kprof::detail::depth_of;
using kprof::detail::open_scopes;
using kprof::detail::scope_token;

namespace {

open_scopes of_log(std::uint32_t number) {
  open_scopes scopes;
  scopes.restart(number);
  return scopes;
}

}  // namespace

TEST_CASE("open_scopes.closing_in_order_gives_the_same_tokens_again") {
  open_scopes scopes = of_log(7);
  const scope_token outer = scopes.open();
  const scope_token inner = scopes.open();
  CHECK(outer >> 32U == 7);
  CHECK(depth_of(outer) == 1);
  CHECK(depth_of(inner) == 2);
  CHECK(scopes.innermost() == inner);
  scopes.close_innermost(inner);
  CHECK(scopes.innermost() == outer);
  CHECK_FALSE(scopes.is_open(inner));
  CHECK(scopes.is_open(outer));
  CHECK(scopes.open() == inner);
}

TEST_CASE("open_scopes.no_token_is_open_that_was_never_given_out") {
  open_scopes scopes = of_log(7);
  CHECK_FALSE(scopes.is_open(0));
  CHECK_FALSE(scopes.is_open(scope_token{7} << 32U));
  const scope_token outer = scopes.open();
  CHECK_FALSE(scopes.is_open(outer + 1));
  CHECK_FALSE(scopes.is_open(outer + (scope_token{1} << 32U)));  // another thread's
}

TEST_CASE("open_scopes.closing_an_outer_scope_invalidates_the_tokens_inside_it") {
  open_scopes scopes = of_log(1);
  const scope_token around = scopes.open();
  const scope_token outer = scopes.open();
  const scope_token inner = scopes.open();
  scopes.close_from(depth_of(outer));
  CHECK(scopes.depth() == 1);
  CHECK(scopes.is_open(around));
  CHECK_FALSE(scopes.is_open(outer));
  CHECK_FALSE(scopes.is_open(inner));
  const scope_token new_outer = scopes.open();
  const scope_token new_inner = scopes.open();
  CHECK(new_outer != outer);
  CHECK(scopes.is_open(new_outer));
  CHECK(scopes.is_open(new_inner));
  CHECK_FALSE(scopes.is_open(outer));
  CHECK_FALSE(scopes.is_open(inner));
  CHECK(scopes.is_open(around));
}

TEST_CASE("open_scopes.agrees_with_a_model_for_any_order") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    open_scopes scopes = of_log(3);
    std::vector<scope_token> open;
    std::vector<scope_token> stale;
    for (int i = 0; i < 200; ++i) {
      if (open.empty() || (open.size() < 40 && random() % 2 == 0)) {
        open.push_back(scopes.open());
        continue;
      }
      const std::size_t at = random() % 3 != 0 ? open.size() - 1 : random() % open.size();
      const auto closed = open.begin() + static_cast<std::ptrdiff_t>(at);
      scopes.close_from(depth_of(*closed));
      // The token of a scope that was closed in order may be given out again.
      if (at != open.size() - 1) stale.insert(stale.end(), closed, open.end());
      open.erase(closed, open.end());
      for (const scope_token t : open) REQUIRE(scopes.is_open(t));
      for (const scope_token t : stale) REQUIRE_FALSE(scopes.is_open(t));
    }
  }
}

TEST_CASE("open_scopes.any_number_of_ends_out_of_order_keep_open_scopes_open") {
  open_scopes scopes = of_log(1);
  const scope_token around = scopes.open();
  for (int i = 0; i < 150'000; ++i) {
    const scope_token outer = scopes.open();
    const scope_token inner = scopes.open();
    scopes.close_from(depth_of(outer));
    REQUIRE_FALSE(scopes.is_open(inner));
    REQUIRE(scopes.is_open(around));
  }
}

TEST_CASE("open_scopes.stale_tokens_are_known_of_the_64_innermost_ends_out_of_order") {
  open_scopes scopes = of_log(1);
  std::vector<scope_token> open;
  std::vector<scope_token> stale;
  const auto end_out_of_order = [&] {
    open.push_back(scopes.open());
    stale.push_back(scopes.open());
    static_cast<void>(scopes.open());
    scopes.close_from(depth_of(stale.back()));
  };
  for (int cut = 0; cut < 64; ++cut) end_out_of_order();
  for (const scope_token t : open) CHECK(scopes.is_open(t));
  open.push_back(scopes.open());  // at the depth of the scope that ended last
  for (const scope_token t : stale) CHECK_FALSE(scopes.is_open(t));
  open.pop_back();
  scopes.close_innermost(scopes.innermost());

  // One more: the first is forgotten, and its token taken for that of the scope at its depth.
  end_out_of_order();
  static_cast<void>(scopes.open());
  for (const scope_token t : open) CHECK(scopes.is_open(t));
  CHECK(scopes.is_open(stale[0]));
  for (std::size_t i = 1; i < stale.size(); ++i) CHECK_FALSE(scopes.is_open(stale[i]));
}

TEST_CASE("open_scopes.an_end_out_of_order_is_forgotten_after_0x4000_others") {
  open_scopes scopes = of_log(1);
  static_cast<void>(scopes.open());
  const scope_token stale = scopes.open();
  static_cast<void>(scopes.open());
  scopes.close_from(depth_of(stale));
  const scope_token around = scopes.open();  // at the depth of the stale token
  const auto end_out_of_order = [&] {
    const scope_token outer = scopes.open();
    const scope_token inner = scopes.open();
    REQUIRE(scopes.is_open(outer));  // also where epochs have gone round
    REQUIRE(scopes.is_open(inner));
    scopes.close_from(depth_of(outer));
    REQUIRE_FALSE(scopes.is_open(inner));
    REQUIRE(scopes.is_open(around));
  };
  for (int others = 0; others < 0x4000; ++others) end_out_of_order();
  CHECK_FALSE(scopes.is_open(stale));
  end_out_of_order();
  CHECK(scopes.is_open(stale));
  for (int others = 0; others < 0x20000; ++others) end_out_of_order();
}
