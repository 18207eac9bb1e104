// SPDX-License-Identifier: MIT
// Pages of recorded profiles whose rows are made by two keys.

#include <kprof/report/text.hpp>

#include "../support/page_checks.hpp"
#include "../support/report_page.hpp"
#include "recorded.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using kprof_test::page_of;
using kprof_test::recorded;

namespace {

/// Of the line below the table of operators: "16,200 118 ms 98.5%".
std::string calls_time_and_share_of(const std::string& page) {
  const std::string title = "in operators";
  const std::string line = kprof_test::words(kprof_test::line_with(page, title));
  std::size_t end = title.size();
  for (int words = 0; words < 4; ++words) end = std::min(line.find(' ', end + 1), line.size());
  return line.substr(std::min(title.size() + 1, line.size()), end - title.size() - 1);
}

}  // namespace

TEST_CASE("first_screen.rows_by_every_two_keys_are_told_apart") {
  REQUIRE(kprof_test::use_utf8_locale());
  for (const char* const name : kprof_test::recorded_names) {
    const kprof::profile run = recorded(name);
    std::vector<std::string> keys{"op",     "parameters", "pass",   "dtype",
                                  "region", "layer",      "thread", "call_site"};
    const std::vector<std::string> fields = kprof::detail::field_names(run);
    for (std::size_t i = 0; i < std::min<std::size_t>(fields.size(), 3); ++i)
      keys.push_back(kprof::grouping::field(fields[i]).text());
    std::size_t tables = 0;
    for (std::size_t a = 0; a < keys.size(); ++a)
      for (std::size_t b = a; b < keys.size(); ++b)
        for (const bool folded : {false, true}) {
          kprof::report_options options = kprof_test::plain_at_width(++tables % 2 == 0 ? 100 : 120);
          const kprof::parsed_grouping by = kprof::grouping::parse(keys[a] + '+' + keys[b]);
          REQUIRE(by.error);
          options.by = by.value;
          if (folded) options.fold = {fields.at(0)};
          options.tree = options.kernels = options.copies = false;
          const std::string page = page_of(run, options);
          INFO(name << " by " << by.value.text() << (folded ? ", folded\n" : "\n") << page);
          CHECK(kprof_test::lines_wider_than(page, static_cast<std::size_t>(options.width)) == "");
          CHECK(kprof_test::rows_that_read_the_same(page) == "");
          REQUIRE(kprof_test::operator_table_of(page).rows.size() > 0);
        }
  }
}

// What recorded_sums.cpp says of the tables' rows, said by the pages' total lines.
TEST_CASE("first_screen.pages_by_every_two_keys_show_all_calls_and_times") {
  REQUIRE(kprof_test::use_utf8_locale());
  for (const char* const name : kprof_test::recorded_names) {
    const kprof::profile run = recorded(name);
    const std::string whole =
        calls_time_and_share_of(page_of(run, kprof_test::plain_at_width(100)));
    REQUIRE(whole.find_first_of("0123456789") == 0);
    const std::vector<std::string> keys{"op",     "parameters", "pass",   "dtype",
                                        "region", "layer",      "thread", "call_site"};
    for (std::size_t a = 0; a < keys.size(); ++a)
      for (std::size_t b = a + 1; b < keys.size(); ++b)
        for (const int width : kprof_test::page_widths) {
#if defined(KPROF_TEST_SHORT)
          if (width > 80) continue;
#endif
          kprof::report_options options = kprof_test::plain_at_width(width);
          options.by = kprof::grouping::parse(keys[a] + '+' + keys[b]).value;
          options.tree = options.kernels = options.copies = false;
          const std::string page = page_of(run, options);
          const std::string head =
              kprof_test::line_with(page.substr(page.find("\nOperators")), " calls ");
          INFO(name << " by " << options.by.text() << '\n' << page);
          CHECK(calls_time_and_share_of(page) == whole);
          CHECK(kprof_test::has(head, " calls "));
          CHECK((kprof_test::has(head, " self") || kprof_test::has(head, " device ")));
          CHECK(kprof_test::rows_that_read_the_same(page) == "");
        }
  }
}
