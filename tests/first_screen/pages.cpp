// SPDX-License-Identifier: MIT
// Pages of recorded profiles, as accepted, and what must hold of them and of random ones.
// tests/accept_golden.sh makes what is printed now the new baseline.

#include <kprof/report/load.hpp>
#include <kprof/report/text.hpp>

#include "../support/catch.hpp"
#include "../support/golden.hpp"
#include "../support/grouped_rows.hpp"
#include "../support/page_checks.hpp"
#include "../support/random_kernels.hpp"
#include "../support/random_reports.hpp"
#include "../support/report_page.hpp"
#include "../support/torch_training.hpp"
#include "recorded.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using kprof_test::page_of;
using kprof_test::recorded;

namespace {

// What the present layout of the table of operators does not hold yet: true has it checked.
constexpr bool rows_are_told_apart = true;
constexpr bool shares_add_up = true;
constexpr bool operators_fit_a_screen = true;

void check_golden(const std::string& name, std::string page) {
  const std::string version = std::to_string(KPROF_VERSION_MAJOR) + '.' +
                              std::to_string(KPROF_VERSION_MINOR) + '.' +
                              std::to_string(KPROF_VERSION_PATCH);
  CHECK((kprof_test::mask_version(page, version) || name.starts_with("kernels_")));
  const std::string expected = kprof_test::golden("first_screen/" + name, page);
  INFO("tests/golden/first_screen/"
       << name << " differs; when the new page is right, run tests/accept_golden.sh");
  CHECK(page == expected);
}

void check_page(const std::string& page, int width) {
  INFO(page);
  CHECK(kprof_test::lines_wider_than(page, static_cast<std::size_t>(width)) == "");
  if (rows_are_told_apart) CHECK(kprof_test::rows_that_read_the_same(page) == "");
  if (shares_add_up) CHECK(kprof_test::shares_not_whole(page) == "");
  CHECK(kprof_test::kernels_that_read_the_same(page) == "");
}

/// Of recorded runs: a text of random ones may look like a range.
void check_recorded_page(const std::string& page, int width) {
  check_page(page, width);
  CHECK(kprof_test::ranges_without_sets(page) == "");
}

/// The section of kernels alone.
std::string kernels_of(const kprof::profile& run, const kprof::report_options& options) {
  kprof::detail::text_plan plan(options);
  REQUIRE(plan.prepare().ok());
  plan.look_at(run);
  kprof::detail::page page(static_cast<std::size_t>(options.width), options.ascii);
  kprof::detail::print_kernels(page, run, plan);
  return page.take();
}

}  // namespace

TEST_CASE("first_screen.recorded_pages_are_as_accepted") {
  REQUIRE(kprof_test::use_utf8_locale());
  for (const char* const name : kprof_test::recorded_names) {
    const kprof::profile run = recorded(name);
    for (const int width : kprof_test::page_widths) {
      const std::string page = page_of(run, kprof_test::plain_at_width(width));
      check_recorded_page(page_of(run, kprof_test::at_width(width)), width);
      check_golden(std::string(name) + '_' + std::to_string(width) + ".txt", page);
      check_recorded_page(page, width);
    }
    check_golden(std::string(name) + "_ascii.txt", page_of(run, [] {
                   kprof::report_options options = kprof_test::plain_at_width(100);
                   options.ascii = true;
                   return options;
                 }()));
  }
}

TEST_CASE("first_screen.operators_of_recorded_runs_fit_a_screen") {
  if (!operators_fit_a_screen) return;
  REQUIRE(kprof_test::use_utf8_locale());
  for (const char* const name : kprof_test::recorded_names) {
    const std::string page = page_of(recorded(name), kprof_test::plain_at_width(100));
    INFO(page);
    CHECK(kprof_test::lines_of_operators(page) <= 50);
    CHECK(kprof_test::lines_of_operators(page) > 3);
    // Nobody asked for the tree: twelve rows, and the line of those that are left out.
    CHECK(kprof_test::tree_rows_of(page).size() <= 13);
  }
}

TEST_CASE("first_screen.random_pages_hold_what_every_page_must") {
  REQUIRE(kprof_test::use_utf8_locale());
#if defined(KPROF_TEST_SHORT)
  constexpr std::uint32_t reports = 40;
#else
  constexpr std::uint32_t reports = 400;  // of 25 operators each
#endif
  for (std::uint32_t seed = 1; seed <= reports; ++seed) {
    const kprof::profile run = kprof_test::random_report(seed).make(25);
    std::mt19937 random(seed);
    const int width = 60 + static_cast<int>(random() % 141);
    kprof::report_options options = kprof_test::at_width(width);
    if (random() % 2 == 0) options.top = 0;
    INFO("seed " << seed << ", width " << width);
    check_page(page_of(run, options), width);
  }
}

TEST_CASE("first_screen.scopes_below_one_are_told_apart_in_the_tree") {
  REQUIRE(kprof_test::use_utf8_locale());
#if defined(KPROF_TEST_SHORT)
  constexpr std::uint32_t reports = 20;
#else
  constexpr std::uint32_t reports = 200;
#endif
  const auto check = [](const kprof::profile& run, kprof::report_options options) {
    options.tree = true;
    options.table = false;
    const std::string page = page_of(run, options);
    INFO("width " << options.width << '\n' << page);
    REQUIRE(kprof_test::siblings_that_read_the_same(page) == "");
    REQUIRE(kprof_test::lines_wider_than(page, static_cast<std::size_t>(options.width)) == "");
    REQUIRE(kprof_test::tree_rows_of(page).size() > 2);
  };
  for (const char* const name : kprof_test::recorded_names)
    for (const int width : {40, 60, 80, 100, 160})
      check(recorded(name), kprof_test::plain_at_width(width));
  for (std::uint32_t seed = 1; seed <= reports; ++seed) {
    std::mt19937 random(seed);
    kprof::report_options options =
        kprof_test::plain_at_width(40 + static_cast<int>(random() % 161));
    options.ascii = random() % 4 == 0;
    if (random() % 2 == 0) options.top = 0;
    INFO("seed " << seed);
    check(kprof_test::random_report(seed).make(25), options);
  }
}

TEST_CASE("first_screen.a_decode_leaves_little_of_the_tree_to_more_rows") {
  REQUIRE(kprof_test::use_utf8_locale());
  for (const int width : kprof_test::page_widths) {
    kprof::report_options options = kprof_test::plain_at_width(width);
    options.tree = true;
    options.table = false;
    kprof::detail::text_plan plan(options);
    REQUIRE(plan.prepare().ok());
    const kprof::profile run = recorded("decode");
    plan.look_at(run);
    const kprof::detail::chosen_tree tree(run, plan);
    CHECK(tree.cut.self_ns < 0.02 * plan.all_self_ns);
    CHECK(tree.cut.rows == 0);  // 2,700 sets of parameters fold into some
    const std::string page = page_of(run, options);
    INFO(page);
    CHECK(kprof_test::tree_rows_of(page).size() <= 40);
    CHECK(kprof_test::has(page, "\u00D7900"));
  }
}

TEST_CASE("first_screen.the_tree_is_as_accepted") {
  REQUIRE(kprof_test::use_utf8_locale());
  for (const char* const name : kprof_test::recorded_names) {
    kprof::report_options options = kprof_test::plain_at_width(100);
    options.tree = true;
    options.table = false;
    check_golden(std::string(name) + "_tree.txt", page_of(recorded(name), options));
  }
}

TEST_CASE("first_screen.colour_says_nothing_that_the_text_does_not") {
  kprof::profile run = kprof_test::troubled_device_profile();
  run.notes.emplace_back("a note");
  kprof::report_options options = kprof_test::at_width(100);
  const std::string plain = page_of(run, options);
  CHECK_FALSE(kprof_test::has(plain, "\x1b"));
  options.color = true;
  std::string page = page_of(run, options);
  check_golden("troubled_color.txt", page);
  for (const char* const begin :
       {"\x1b[1mOperators", "\x1b[1moperator", "\x1b[1mKernels, ", "\x1b[1mCopies",
        "\x1b[1mCompleteness", "\x1b[33mn/a, ", "\x1b[31m! 1,024 dropped", "\x1b[33m  - a note"})
    CHECK(kprof_test::has(page, begin));
  for (std::size_t at = 0; (at = page.find("\x1b[", at)) != std::string::npos;)
    page.erase(at, page.find('m', at) + 1 - at);
  CHECK(page == plain);
}

TEST_CASE("first_screen.kernels_of_libraries_are_as_accepted") {
  REQUIRE(kprof_test::use_utf8_locale());
  const kprof::profile run = kprof_test::real_kernels_profile();
  for (const int width : kprof_test::page_widths) {
    kprof::report_options options = kprof_test::at_width(width);
    options.top = 0;
    const std::string page = kernels_of(run, options);
    check_golden("kernels_" + std::to_string(width) + ".txt", page);
    CHECK(kprof_test::lines_wider_than(page, static_cast<std::size_t>(width)) == "");
    CHECK(kprof_test::kernels_that_read_the_same(page) == "");
    CHECK(kprof_test::kernel_rows_of(page).size() == std::size(kprof_test::real_kernel_names) + 2);
  }
  check_golden("kernels_ascii.txt", kernels_of(run, kprof_test::ascii_at_width(100)));
  for (const int width : kprof_test::page_widths)
    check_golden("kernels_torch_" + std::to_string(width) + ".txt",
                 kernels_of(kprof_test::torch_training(), kprof_test::plain_at_width(width)));
}

TEST_CASE("first_screen.rows_of_random_kernels_are_told_apart") {
  REQUIRE(kprof_test::use_utf8_locale());
#if defined(KPROF_TEST_SHORT)
  constexpr std::uint32_t pages = 100;
#else
  constexpr std::uint32_t pages = 600;
#endif
  for (std::uint32_t seed = 1; seed <= pages; ++seed) {
    kprof_test::random_kernels random(seed);
    const kprof::profile run = random.profile(random.names(12));
    kprof::report_options options = kprof_test::at_width(60 + static_cast<int>(random.below(141)));
    options.ascii = random.below(4) == 0;
    options.top = random.below(4) == 0 ? 3 : 0;
    if (random.below(3) == 0) options.kernels.reset(), options.top = 40;
    const std::string page = kernels_of(run, options);
    INFO("seed " << seed << ", width " << options.width << '\n' << page);
    REQUIRE(kprof_test::kernels_that_read_the_same(page) == "");
    REQUIRE(kprof_test::lines_wider_than(page, static_cast<std::size_t>(options.width)) == "");
    REQUIRE(kprof_test::kernel_rows_of(page).size() > 0);
  }
}

TEST_CASE("first_screen.random_names_of_kernels_are_told_apart") {
#if defined(KPROF_TEST_SHORT)
  constexpr std::uint32_t sets = 500;
#else
  constexpr std::uint32_t sets = 10'000;
#endif
  for (std::uint32_t seed = 1; seed <= sets; ++seed) {
    kprof_test::random_kernels random(seed + 1'000'000);
    std::set<std::string> kernels, spaceless;  // lines show no spaces at their ends
    for (const std::string& name : random.names(5)) {
      std::string text = kprof::kernel_name(name);
      const std::string whole = text;
      std::erase(text, ' ');
      if (name.size() < 900 && spaceless.insert(text).second) kernels.insert(whole);
    }
    const std::size_t width = 16 + random.below(100);
    std::set<std::string> texts;
    for (const std::vector<std::string>& lines :
         kprof::detail::kernel_texts({kernels.begin(), kernels.end()}, false).at_width(width)) {
      std::string text;
      for (const std::string& line : lines) {
        INFO("seed " << seed << ", width " << width << ": " << line);
        REQUIRE(kprof::detail::display_width(line) <= width);
        text += line + '\n';
      }
      texts.insert(text);
    }
    INFO("seed " << seed << ", width " << width);
    REQUIRE(texts.size() == kernels.size());
  }
}

TEST_CASE("first_screen.checks_find_what_is_wrong") {
  REQUIRE(kprof_test::use_utf8_locale());
  using kprof_test::lines_of_operators;
  using kprof_test::lines_wider_than;
  using kprof_test::ranges_without_sets;
  using kprof_test::rows_that_read_the_same;
  using kprof_test::shares_not_whole;
  const std::string rule = "────────────────────────────────────────────────────────────\n";
  const std::string flat = "operator  parameters      calls    self  share\n" + rule +
                           "Gemm      M=1 N=2         1,000  1.2 ms  60.0%\n"
                           "Gemm      M=1 N=3             2  0.6 ms  30.0%\n"
                           "Relu                          1  0.1 ms  <0.1%\n\n"
                           "more rows: 4 (sort=self): 9 calls, self 1 ms, 4.0%\n"
                           "in regions, outside operators: self 1 ms, 6.0%\n\nCall tree\n";
  const auto with = [](std::string page, const std::string& from, const std::string& to) {
    const std::size_t at = page.find(from);
    REQUIRE(at != std::string::npos);
    return page.replace(at, from.size(), to);
  };
  CHECK(rows_that_read_the_same(flat) == "");
  CHECK(shares_not_whole(flat) == "");
  CHECK(lines_of_operators(flat) == 8);
  CHECK(lines_wider_than(flat, 60) == "");
  CHECK(lines_wider_than(flat, 59) != "");
  CHECK(rows_that_read_the_same(with(flat, "N=3", "N=2")) != "");
  CHECK(ranges_without_sets(flat) == "");
  CHECK(ranges_without_sets(with(flat, "M=1 N=3    ", "M=1\u20263 N=3")) != "");
  CHECK(ranges_without_sets(with(flat, "M=1 N=3    ", "1\u20263, 3 sets")) == "");
  CHECK(shares_not_whole(with(flat, "30.0%", "31.0%")) != "");
  CHECK(shares_not_whole(with(flat, "4.0%", "3.0%")) != "");
  CHECK(shares_not_whole(with(flat, "6.0%", "7.0%")) != "");

  const std::string tree =
      "Call tree, sorted by total\n\nscope             calls  total\n" + rule +
      "step                  4    1 s\n\u251C\u2500 Linear(1 \u2192 2)      4    1 s\n"
      "\u2502  \u2514\u2500 Add            4    1 s\n\u2514\u2500 Linear(\u2026            4    1 "
      "s\n"
      "   2 \u2192 1)\n   \u2514\u2500 Add            4    1 s\n" +
      rule + "all scopes           20    1 s\n";
  using kprof_test::siblings_that_read_the_same;
  CHECK(kprof_test::tree_rows_of(tree).size() == 5);
  CHECK(siblings_that_read_the_same(tree) == "");
  CHECK(siblings_that_read_the_same(
            with(with(tree, "(1 \u2192 2)", "(\u2026      "), "   2 \u2192 1)\n", "")) != "");

  const std::string grouped =
      "Do first\n  1  Linear 384 → 50304, dgrad, is 39% of the run.\n\n"
      "operator   parameters            pass   calls    self  share        median  roof\n" +
      rule +
      "Linear     T=256 f32 in all rows          363  21.5 s  ████████▉ 90%           7%\n"
      "             384 → 50304         dgrad      3  9.24 s  ███▉      50%  2.93 s   2%\n"
      "             384 → 50304         fprop      8  6.18 s  ██▌       26%  740 ms  10%\n"
      "             1 → 2                          8  6.18 s             4%  740 ms  10%\n"
      "               behind a long one\n"
      "             … 10 more, each < 2%        253  2.42 s  █         10%\n"
      "AdamW      30,357,504 f32        update     3  643 ms  ▎          5%  57.8 ms 10%\n"
      "… 7 operators, each < 0.2%              458  96.2 ms            <1%\n" +
      rule +
      "in operators                            898  22.9 s            96%\n"
      "in regions, outside operators                305 ms             1%  forward 180 ms\n"
      "outside all scopes                           600 ms             3%  reading data\n\n"
      "Nothing was lost: 1,021 scopes\n";
  CHECK(rows_that_read_the_same(grouped) == "");
  CHECK(shares_not_whole(grouped) == "");
  CHECK(lines_of_operators(grouped) == 14);
  CHECK(rows_that_read_the_same(with(grouped, "50304         fprop", "50304         dgrad")) != "");
  CHECK(shares_not_whole(with(grouped, "█         10%", "█         20%")) != "");
  CHECK(shares_not_whole(with(grouped, " 90% ", " 70% ")) != "");
  CHECK(shares_not_whole(with(grouped, " 3%  reading", "13%  reading")) != "");
  CHECK(shares_not_whole(with(grouped, "96%", "90%")) != "");
}
