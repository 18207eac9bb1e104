// SPDX-License-Identifier: MIT
#ifndef KPROF_TOOLS_CEILINGS_HPP
#define KPROF_TOOLS_CEILINGS_HPP

#include <kprof/profile/ceilings.hpp>

#include <string>

namespace kprof_tool {

/// A table of what a machine reaches, one line a rate; `seconds` is what measuring took.
std::string ceilings_table(const kprof::cpu_ceilings& ceilings, double seconds);

}  // namespace kprof_tool

#endif
