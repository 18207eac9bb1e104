// SPDX-License-Identifier: MIT
#ifndef KPROF_TOOLS_QUERY_ENVELOPE_HPP
#define KPROF_TOOLS_QUERY_ENVELOPE_HPP

// The JSON object around the answers of `kprof query`, and of `kprof compare --json`.

#include "query_answer.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace kprof_tool {

/// Everything that is printed but the rows.
struct envelope {
  std::string command = "null", trust = "null";  // JSON
  answer of;
  std::size_t needed = 0;  // the least budget, where the one given is too small

  /// With the first `kept` of the rows.
  std::string print(std::size_t kept) const;
};

/// Writes to standard output. Returns `code`, or 1 where that cannot be written to.
int print_answer(const std::string& text, int code);
/// Prints an answer that is an error, and returns `code`.
int refuse(envelope e, int code, std::string message, std::vector<choice> choices = {});

}  // namespace kprof_tool

#endif
