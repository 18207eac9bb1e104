// SPDX-License-Identifier: MIT
// What rows of recorded calls say so that they are told apart.
// needs: guards

#include <kprof/kprof.hpp>
#include <kprof/ops.hpp>

#include "../support/catch.hpp"
#include "../support/report_page.hpp"

#include <string>

namespace {

/// Its short form leaves out what tells its calls apart.
struct Embed {
  kprof::extent rows = 1, columns = 1, vocabulary = 0;
  constexpr void brief(kprof::brief_text& out) const { out.put(rows).by(columns); }
};

struct Attend {
  kprof::extent position = 0, heads = 0, width = 8;
  kprof::dtype type = kprof::dtype::f32;
};

kprof::report_options with_tree(bool tree) {
  kprof::report_options options = kprof_test::at_width(120);
  options.tree = tree;
  return options;
}

}  // namespace

TEST_CASE("telling_rows.short_forms_that_are_equal_have_the_fields_that_differ_beside_them") {
  REQUIRE(kprof::start());
  for (const int size : {1000, 2000, 3000}) {
    KPROF_OP(Embed, {.rows = 8, .columns = 64, .vocabulary = size});
  }
  const kprof::profile run = kprof::snapshot();
  const std::string table = kprof_test::page_of(run, with_tree(false));
  INFO(table);
  CHECK(kprof_test::words(kprof_test::line_with(table, "all 3 rows: 8\u00D764"))
            .starts_with("Embed"));
  for (const char* size : {"vocabulary=1000", "vocabulary=2000", "vocabulary=3000"})
    CHECK(kprof_test::words(kprof_test::line_with(table, size))
              .starts_with(size + std::string{" 1 "}));
  CHECK(kprof_test::count_of(table, "#") == 0);
  CHECK(kprof_test::count_of(table, "(default)") == 0);
  const std::string tree = kprof_test::page_of(run, with_tree(true));
  INFO(tree);
  CHECK(kprof_test::count_of(tree, "Embed(8\u00D764 vocabulary=2000)") == 1);
  CHECK(kprof_test::count_of(tree, "#") == 0);
}

TEST_CASE("telling_rows.sets_whose_short_forms_share_no_range_have_the_fields") {
  using kprof::ops::Sdpa;
  REQUIRE(kprof::start());
  for (int length = 1; length <= 40; ++length) {
    KPROF_OP(Sdpa, {.B = 1, .Hq = 12, .Sq = 1, .Sk = length, .D = 64});
  }
  kprof::report_options options = with_tree(false);
  options.by = kprof::grouping::op;
  const std::string page = kprof_test::page_of(kprof::snapshot(), options);
  INFO(page);
  CHECK(kprof_test::words(kprof_test::line_with(page, "Sdpa")).find("Sk=1\u202640, 40 sets") !=
        std::string::npos);
}

TEST_CASE("telling_rows.a_folded_field_has_its_range_where_one_set_has_the_default") {
  REQUIRE(kprof::start());
  for (int position = 0; position < 30; ++position) {
    KPROF_OP(Attend, {.position = position, .heads = 6});
    KPROF_OP(Embed, {.rows = 1});  // of another type
  }
  kprof::report_options options = with_tree(false);
  options.fold = {"position"};
  const std::string page = kprof_test::page_of(kprof::snapshot(), options);
  INFO(page);
  CHECK(kprof_test::has(page, "position=0\u202629 heads=6, 30 sets"));
  CHECK_FALSE(kprof_test::has(page, "width"));
}

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
