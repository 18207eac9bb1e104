// SPDX-License-Identifier: MIT
// What is said of the rows of an operator: ranges of numbers, what rows share, and that no two rows
// read the same in a column of any width.

#include <kprof/model/row_texts.hpp>
#include <kprof/model/text_range.hpp>
#include <kprof/report/text/telling_lines.hpp>

#include "../support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

using kprof::detail::described_row;
using kprof::detail::display_width;
using kprof::detail::joined;
using kprof::detail::part_list;
using kprof::detail::part_ranges;
using kprof::detail::take_shared;
using kprof::detail::telling_lines;
using kprof::detail::text_range;

namespace {

std::string range_of(const std::vector<std::string>& texts) {
  text_range range(texts.at(0));
  for (const std::string& text : texts)
    if (!range.add(text)) return "none";
  return range.text();
}

part_list parts_of(const std::vector<std::string>& texts) {
  part_list parts;
  for (const std::string& text : texts)
    parts.push_back({static_cast<std::uint32_t>(parts.size()), text});
  return parts;
}

std::vector<std::vector<std::string>> lines_of(const std::vector<std::vector<std::string>>& rows,
                                               std::size_t width, bool ascii = false) {
  std::vector<described_row> described;
  for (const auto& row : rows) described.push_back({parts_of(row), "", described.size()});
  return telling_lines(described, ascii).at_width(width);
}

}  // namespace

TEST_CASE("row_texts.numbers_become_a_range") {
  CHECK(range_of({"Skv=1", "Skv=900", "Skv=17"}) == "Skv=1\u2026900");
  CHECK(range_of({"Skv=7", "Skv=7"}) == "Skv=7");
  CHECK(range_of({"B=4 Skv=9", "B=4 Skv=10"}) == "B=4 Skv=9\u202610");
  CHECK(range_of({"1,234 f32", "98,765 f32"}) == "1,234\u202698,765 f32");
  CHECK(range_of({"p=0.5", "p=0.25"}) == "p=0.25\u20260.5");
  CHECK(range_of({"[1,2]", "[3,2]"}) == "[1\u20263,2]");
  CHECK(range_of({"32\u00D764", "32\u00D7128"}) == "32\u00D764\u2026128");
  // digits that are part of a word
  CHECK(range_of({"f16", "f32"}) == "none");
  CHECK(range_of({"x1y", "x2y"}) == "none");
  CHECK(range_of({"a=1", "b=1"}) == "none");
  CHECK(range_of({"a=1", "a=1 b=2"}) == "none");
  CHECK(range_of({"", "1"}) == "none");
}

TEST_CASE("row_texts.what_rows_share_is_taken_out_once") {
  std::vector<part_list> rows{parts_of({"N=32", "K=64", "f32"}),
                              parts_of({"N=32", "K=128", "f32"})};
  CHECK(joined(take_shared(rows)) == "N=32 f32");
  CHECK(joined(rows[0]) == "K=64");
  CHECK(joined(rows[1]) == "K=128");
  std::vector<part_list> one{parts_of({"N=32"})};
  CHECK(take_shared(one).empty());
  CHECK(joined(one[0]) == "N=32");
  // the same text in another place says something else
  std::vector<part_list> shifted{{{0, "1"}, {1, "2"}}, {{1, "1"}, {0, "2"}}};
  CHECK(take_shared(shifted).empty());
}

TEST_CASE("row_texts.sets_of_a_row_become_ranges") {
  part_ranges ranges;
  ranges.add(parts_of({"B=1", "Skv=1", "causal"}));
  ranges.add(parts_of({"B=1", "Skv=900", "causal"}));
  CHECK(joined(ranges.parts()) == "B=1 Skv=1\u2026900 causal");
  ranges.add(parts_of({"B=1", "Skv=30"}));
  CHECK(joined(ranges.parts()) == "B=1 Skv=1\u2026900");
  ranges.add(parts_of({"B=one", "Skv=30"}));
  CHECK(joined(ranges.parts()) == "Skv=1\u2026900");
}

TEST_CASE("row_texts.what_tells_least_is_left_out_first") {
  const std::vector<std::vector<std::string>> rows{{"mode=same", "M=1024", "N=1"},
                                                   {"mode=same", "M=1024", "N=2"},
                                                   {"mode=other", "M=1024", "N=3"}};
  CHECK(lines_of(rows, 40)[1] == std::vector<std::string>{"mode=same M=1024 N=2"});
  CHECK(lines_of(rows, 16)[1] == std::vector<std::string>{"mode=same \u2026 N=2"});
  CHECK(lines_of(rows, 8)[2] == std::vector<std::string>{"\u2026 N=3"});
}

TEST_CASE("row_texts.a_row_takes_more_lines_before_it_reads_like_another") {
  const std::vector<std::vector<std::string>> rows{
      {"alpha=1", "beta=1"}, {"alpha=1", "beta=2"}, {"alpha=2", "beta=1"}, {"alpha=2", "beta=2"}};
  CHECK(lines_of(rows, 15)[3] == std::vector<std::string>{"alpha=2 beta=2"});
  CHECK(lines_of(rows, 10)[3] == std::vector<std::string>{"alpha=2", "  beta=2"});
  const part_list sets{{0, "alpha=1"}, {1, "beta=1"}, {2, "2 sets", false, true}};
  CHECK(telling_lines({{sets, "", 1}}, false).at_width(11)[0] ==
        std::vector<std::string>{"alpha=1 \u2026", "  2 sets"});
}

TEST_CASE("row_texts.equal_rows_are_told_apart_by_their_keys") {
  const auto lines = lines_of({{"n=1"}, {"n=1"}}, 40);
  CHECK(lines[0][0] == "n=1 #0000000000000000");
  CHECK(lines[1][0] == "n=1 #0000000000000001");
}

TEST_CASE("row_texts.signs_have_ascii_forms") {
  CHECK(lines_of({{"4\u00D74 \u2192 8", "a\u202Eb"}}, 60, true)[0][0] == "4x4 -> 8 a\\u202eb");
}

TEST_CASE("row_texts.no_two_random_rows_read_the_same") {
  std::mt19937_64 random(7);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  static const std::string pieces[] = {"a",      "=",      "1",  "22", "\u00D7",   "long_name",
                                       "\u202E", "\n",     "\\", " ",  "\xFF",     "\u6F22\u5B57",
                                       "3.5",    "\u2026", ",",  "",   "e\u0301x", "[-1,-1]"};
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<std::vector<std::string>> rows(1 + below(30));
    const std::size_t fields = 1 + below(8), variety = 1 + below(6);
    for (auto& row : rows)
      for (std::size_t f = 0; f < fields; ++f) {
        std::string text;
        for (std::size_t n = below(6); n > 0; --n)
          text += pieces[below(std::min(std::size(pieces), variety + f))];
        row.push_back(text);
      }
    const std::size_t width = 8 + below(60);
    const auto lines = lines_of(rows, width, below(2) == 0);
    REQUIRE(lines.size() == rows.size());
    std::set<std::vector<std::string>> seen;
    for (const auto& line : lines) {
      REQUIRE(!line.empty());
      for (const std::string& text : line) REQUIRE(display_width(text) <= width);
      INFO("width " << width << ", trial " << trial << ", row " << line[0]);
      REQUIRE(seen.insert(line).second);
    }
  }
}
