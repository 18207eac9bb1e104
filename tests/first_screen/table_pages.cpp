// SPDX-License-Identifier: MIT
// The table of operators of recorded and random profiles: what folds, and what each row says.

#include <kprof/report/text.hpp>

#include "../support/grouped_rows.hpp"
#include "../support/page_checks.hpp"
#include "../support/random_reports.hpp"
#include "../support/report_page.hpp"
#include "../support/row_sums.hpp"
#include "recorded.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using kprof_test::page_of;
using kprof_test::recorded;

TEST_CASE("first_screen.a_decode_leaves_little_of_the_table_to_more_rows") {
  REQUIRE(kprof_test::use_utf8_locale());
  const kprof::profile run = recorded("decode");
  for (const int width : kprof_test::page_widths) {
    const kprof::report_options options = kprof_test::plain_at_width(width);
    kprof::detail::text_plan plan(options);
    REQUIRE(plan.prepare().ok());
    plan.look_at(run);
    const kprof::detail::operator_groups table(run, plan);
    std::size_t rows = 0;
    double folded_ns = table.folded.self_ns;
    for (const kprof::detail::operator_group& g : table.groups) {
      rows += g.shown;
      folded_ns += g.folded.self_ns;
    }
    CHECK(rows <= 40);
    CHECK(rows > 5);
    CHECK(folded_ns < 0.02 * plan.all_self_ns);
    const std::string page = page_of(run, options);
    INFO(page);
    CHECK(kprof_test::operator_table_of(page).rows.size() <= 40);
    // QK^T by the growing cache and PV of it: each has one range, and says of how many sets.
    CHECK(kprof_test::has(page, "2\u00D71\u2026900\u00D716, 900 sets"));
    CHECK(kprof_test::has(page, "2\u00D716\u00D71\u2026900, 899 sets"));
  }
}

TEST_CASE("first_screen.operators_whose_rows_all_fold_take_one_line") {
  REQUIRE(kprof_test::use_utf8_locale());
  const std::string page = page_of(recorded("hpcg"), kprof_test::plain_at_width(120));
  INFO(page);
  CHECK(kprof_test::count_of(page, "Prolong") == 1);
  CHECK(kprof_test::words(kprof_test::line_with(page, "Prolong"))
            .starts_with("Prolong 3 rows, each < 0.1% "));
  const kprof_test::operator_page table = kprof_test::operator_table_of(page);
  for (std::size_t i = 0; i + 1 < table.rows.size(); ++i)
    if (!table.rows[i].indented)
      CHECK_FALSE((table.rows[i + 1].indented && table.rows[i + 1].folded));
}

TEST_CASE("first_screen.a_row_of_defaults_says_them_where_others_have_none") {
  REQUIRE(kprof_test::use_utf8_locale());
  const std::string page = page_of(recorded("device"), kprof_test::plain_at_width(100));
  INFO(page);
  CHECK(kprof_test::has(page, "\n              to=device pinned=false "));
  CHECK_FALSE(kprof_test::has(page, "(default)"));
}

TEST_CASE("first_screen.every_grouped_row_says_of_how_many_sets") {
  REQUIRE(kprof_test::use_utf8_locale());
  for (const char* const name : kprof_test::recorded_names) {
    const kprof::profile run = recorded(name);
    for (const char* const by : {"op", "op+pass", "op+region", "layer", "thread", "op+thread"})
      for (const int width : kprof_test::page_widths) {
        kprof::report_options options = kprof_test::plain_at_width(width);
        options.by = kprof_test::parsed_grouping(by);
        options.top = 0;
        options.tree = options.kernels = options.copies = false;
        const std::string page = page_of(run, options);
        INFO(name << " by " << by << '\n' << page);
        CHECK(kprof_test::ranges_without_sets(page) == "");
        CHECK(kprof_test::rows_without_sets(page, run, options.by) == "");
      }
  }
}

TEST_CASE("first_screen.random_pages_by_random_keys_hold_what_every_page_must") {
  REQUIRE(kprof_test::use_utf8_locale());
#if defined(KPROF_TEST_SHORT)
  constexpr std::uint32_t reports = 40;
#else
  constexpr std::uint32_t reports = 400;
#endif
  std::uint32_t pages_read = 0;
  for (std::uint32_t seed = 1; seed <= reports; ++seed) {
    const kprof::profile run = kprof_test::random_report(seed + 10'000).make(12);
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    const std::vector<std::string> keys = kprof_test::keys_of(run, 20),
                                   fields = kprof_test::fields_of(run, 40);
    kprof::report_options options =
        kprof_test::plain_at_width(60 + static_cast<int>(random() % 141));
    std::string by = below(3) == 0 ? "parameters" : keys[below(keys.size() - 1)];
    if (below(2) == 0) by += '+' + keys[below(keys.size() - 1)];
    options.by = kprof_test::parsed_grouping(by);
    for (std::size_t i = fields.empty() ? 0 : below(3); i > 0; --i)
      options.fold.push_back(fields[below(fields.size())]);
    options.ascii = below(4) == 0;
    options.tree = options.kernels = options.copies = false;
    const bool whole = below(2) == 0;
    if (whole) options.top = 0;
    const std::string page = page_of(run, options);
    INFO("seed " << seed << ", width " << options.width << ", by " << by << ", folded "
                 << options.fold.size() << '\n'
                 << page);
    REQUIRE(kprof_test::lines_wider_than(page, static_cast<std::size_t>(options.width)) == "");
    REQUIRE(kprof_test::rows_that_read_the_same(page) == "");
    REQUIRE(kprof_test::shares_not_whole(page) == "");
    // The checks read tables with a column of shares; a narrow page may have no room for it.
    const bool is_read = kprof_test::operator_table_of(page).rows.size() > 0;
    pages_read += is_read ? 1 : 0;
    if (whole && is_read)
      REQUIRE(kprof_test::rows_without_sets(page, run, options.by.folding(options.fold)) == "");

    // Columns that were asked for are there, as far as they fit, and nothing runs over the page.
    options.columns = {"operator", "parameters", "calls"};
    for (const char* const column : {"self", "share", "median", "pass", "gflops", "bytes"})
      if (below(2) == 0) options.columns.emplace_back(column);
    const std::string chosen = page_of(run, options);
    INFO(chosen);
    REQUIRE(kprof_test::lines_wider_than(chosen, static_cast<std::size_t>(options.width)) == "");
    REQUIRE(kprof_test::has(chosen, " calls"));
  }
  CHECK(pages_read > reports / 2);
}
