// SPDX-License-Identifier: MIT
#ifndef KPROF_REPORT_OUTPUT_PROFILE_LOADER_HPP
#define KPROF_REPORT_OUTPUT_PROFILE_LOADER_HPP

// How an output reads saved profiles without including load.hpp, which needs Boost.JSON. Included
// by html.hpp and load.hpp.

#include <kprof/build_options.hpp>
#include <kprof/status.hpp>

#include <string>

KPROF_DETAIL_BEGIN

struct profile;

namespace detail {

/// Puts the profile saved in the file into `run`.
using profile_loader = status (*)(const std::string& path, profile& run);

/// What outputs of this binary load profiles with; null until load_for_outputs() of load.hpp.
KPROF_DETAIL_LOCAL inline constinit profile_loader loader_of_outputs = nullptr;

}  // namespace detail
KPROF_DETAIL_END

#endif
