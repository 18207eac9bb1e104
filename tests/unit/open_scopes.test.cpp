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
