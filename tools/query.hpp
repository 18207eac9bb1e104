// SPDX-License-Identifier: MIT
#ifndef KPROF_TOOLS_QUERY_HPP
#define KPROF_TOOLS_QUERY_HPP

// `kprof query`: answers questions about a saved profile as JSON, for scripts and agents.

#include <optional>
#include <string>
#include <vector>

namespace kprof_tool {

/// The command line behind `kprof query`.
struct query_words {
  std::vector<std::string> words;     // FILE, the question, KEY
  std::optional<std::string> budget;  // of --budget
  std::vector<std::string> unknown;   // options that there are not
};

/// Prints one JSON object, also where something is wrong. Returns the exit status: 0, 1 where a
/// file cannot be read or written, 2 where a word is wrong or the budget too small.
int query(const query_words& given);

}  // namespace kprof_tool

#endif
