// SPDX-License-Identifier: MIT
// What rows of recorded calls say so that they are told apart.
// needs: guards

#include <kprof/kprof.hpp>
#include <kprof/ops.hpp>

#include "../support/catch.hpp"
#include "../support/report_page.hpp"

#include <string>

TEST_CASE("telling_rows.a_row_of_defaults_says_them_where_others_have_none") {
  using kprof::ops::Linear, kprof::ops::pass;
  REQUIRE(kprof::start());
  for (const kprof::extent tokens : {1, 32})
    for (const pass direction : {pass::fprop, pass::bprop}) {
      if (tokens == 1 && direction == pass::bprop) continue;
      KPROF_OP(Linear,
               {.tokens = tokens, .in_features = 120, .out_features = 10, .pass = direction});
    }
  kprof::report_options options = kprof_test::at_width(160);
  options.tree = false;
  const std::string page = kprof_test::page_of(kprof::snapshot(), options);
  INFO(page);
  CHECK(
      kprof_test::words(kprof_test::line_with(page, "tokens=1 ")).starts_with("tokens=1 fprop 1"));
  CHECK(kprof_test::count_of(page, "tokens=32 ") == 2);
}
