// SPDX-License-Identifier: MIT
#ifndef KPROF_TOOLS_SAVED_FILE_HPP
#define KPROF_TOOLS_SAVED_FILE_HPP

// Loads saved profiles for the commands of the program kprof. The one file that includes Boost.JSON
// is behind it.

#include <kprof/profile.hpp>
#include <kprof/status.hpp>

#include <string>

namespace kprof_tool {

/// Puts the profile saved in `file` into `run`; else the status says what is wrong and what to do.
kprof::status load_saved(const std::string& file, kprof::profile& run);

/// Lets outputs load profiles by it, as html(against=before.json) does.
void load_for_outputs();

}  // namespace kprof_tool

#endif
