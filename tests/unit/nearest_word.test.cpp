// SPDX-License-Identifier: MIT
// Which known word somebody meant.

#include <kprof/model/nearest_word.hpp>

#include "catch.hpp"

#include <string>
#include <vector>

using kprof::detail::before_valid_words;
using kprof::detail::nearest_word;
using kprof::detail::word_distance;

TEST_CASE("nearest_word.distances_are_of_letters") {
  CHECK(word_distance("", "") == 0);
  CHECK(word_distance("abc", "") == 6);
  CHECK(word_distance("", "ab") == 4);
  CHECK(word_distance("report", "report") == 0);
  CHECK(word_distance("reprt", "report") == 2);    // one left out
  CHECK(word_distance("repoort", "report") == 2);  // one too many
  CHECK(word_distance("repert", "report") == 2);   // one replaced
  CHECK(word_distance("reprot", "report") == 2);   // two exchanged
  CHECK(word_distance("Report", "report") == 1);   // another case
  CHECK(word_distance("kitten", "sitting") == 6);
}

TEST_CASE("nearest_word.what_is_far_is_not_meant") {
  const std::vector<std::string> known{"report", "trace", "csv", "on"};
  CHECK(nearest_word("reprot", known) == "report");
  CHECK(nearest_word("Trace", known) == "trace");
  CHECK(nearest_word("cvs", known) == "csv");
  CHECK(nearest_word("xyzzy", known).empty());
  CHECK(nearest_word("", known).empty());
  CHECK(nearest_word(std::string(10'000, 'r'), known).empty());
  CHECK(nearest_word("report", {}).empty());
}

TEST_CASE("nearest_word.a_sentence_goes_on_with_what_is_valid") {
  const std::vector<std::string> known{"report"};
  CHECK(before_valid_words("reprot", known) == "did you mean report? Valid: ");
  CHECK(before_valid_words("xyzzy", known) == "valid: ");
  CHECK(before_valid_words("rport", known, "it has") == "did you mean report? It has: ");
}
