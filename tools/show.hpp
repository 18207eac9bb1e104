// SPDX-License-Identifier: MIT
#ifndef KPROF_TOOLS_SHOW_HPP
#define KPROF_TOOLS_SHOW_HPP

// `kprof show`: writes a saved profile in any output.

#include <string>
#include <vector>

namespace kprof_tool {

/// Writes the profile saved in `file` as each text of `outputs` says, which are as in the variable
/// KPROF, and as a page beside the file where `page` says so; the report where neither does.
/// Returns the exit status: 0, 1 where a file cannot be read or written, 2 where a text is wrong.
int show(const std::string& file, const std::vector<std::string>& outputs, bool page);

}  // namespace kprof_tool

#endif
