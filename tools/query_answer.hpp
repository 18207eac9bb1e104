// SPDX-License-Identifier: MIT
#ifndef KPROF_TOOLS_QUERY_ANSWER_HPP
#define KPROF_TOOLS_QUERY_ANSWER_HPP

// The answers of `kprof query`, before they are cut to a budget. All numbers are those of the
// report: they come from the same tables.

#include "query_json.hpp"

#include <kprof/model/summary.hpp>
#include <kprof/profile.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kprof_tool {

/// A row of an answer.
struct answer_row {
  std::string json;
  double ns = 0;  // what is counted in "cut" where the row is left out
};

/// Words that could stand in place of a wrong one.
struct choice {
  std::string word, meaning;
};

/// Rows, the most important first, and what they are of.
struct answer {
  std::string totals = "null";  // JSON
  std::string json_schema;      // JSON; empty where nobody asked for it
  std::vector<answer_row> rows;
  double time_ns = 0;           // what shares of what is cut are of
  std::string error;            // what is wrong and what to do; empty: nothing
  std::vector<choice> choices;  // the words that are valid, or the nearest keys
};

/// A question: its word, and what answers it.
struct question {
  std::string_view word, meaning;
  bool has_key;
  answer (*ask)(const kprof::profile& run, const std::string& key);
};

/// How far the numbers of a run can be trusted, as a JSON object.
std::string trust_in(const kprof::profile& run);

answer rows_of(const kprof::profile& run, const std::string& key);
answer row_of(const kprof::profile& run, const std::string& key);
answer kernels_of(const kprof::profile& run, const std::string& key);
answer steps_of(const kprof::profile& run, const std::string& key);
answer advice_of(const kprof::profile& run, const std::string& key);

// ---- what the answers share

/// The totals of an answer: of how many rows, in which order, of how much time, and of which run.
json_object totals_of(const kprof::profile& run, const answer& of, std::string_view sorted_by);
/// Advice, what saves most first; where `about` is not empty, only that about the row of this key.
std::vector<answer_row> advice_rows(const kprof::profile& run, const kprof::operator_rows& table,
                                    const std::string& about);

}  // namespace kprof_tool

#endif
