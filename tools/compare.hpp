// SPDX-License-Identifier: MIT
#ifndef KPROF_TOOLS_COMPARE_HPP
#define KPROF_TOOLS_COMPARE_HPP

// `kprof compare`: says which operators became slower or faster between two sets of saved profiles.

#include <kprof/model/compare/comparison.hpp>
#include <kprof/model/compare/sentences.hpp>

#include <string>
#include <vector>

namespace kprof_tool {

/// The command line behind `kprof compare`.
struct compare_words {
  std::vector<std::string> before, after;  // files
  double threshold_percent = 3;
  bool is_gate = false;  // "slower" ends with 3
  bool as_json = false;
};

/// Prints a table, or one JSON object. Returns the exit status: 0, 1 where a file cannot be read or
/// the table not be written, 2 where a word is wrong, 3 where something is slower and is_gate.
int compare(const compare_words& given);

/// The table, in lines of at most 100 columns.
std::string comparison_table(const kprof::comparison& c, const std::string& program);
/// The answer in the envelope of `kprof query`.
std::string comparison_json(const kprof::comparison& c, const std::string& program);

}  // namespace kprof_tool

#endif
