// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTRIBUTE_PROCESS_FACTS_HPP
#define KPROF_ATTRIBUTE_PROCESS_FACTS_HPP

// What a profile says of the process that it is of. Included by build.hpp.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>

#include <sched.h>

#include <cerrno>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// CPUs that the process may run on; 0 where that is not known.
inline std::uint32_t usable_cpus() noexcept {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::uint32_t>(CPU_COUNT(&set))
                                                     : 0;
}

inline void describe_process(profile& out) {
  out.program = program_invocation_short_name;
  out.cpus = usable_cpus();
}

}  // namespace detail
KPROF_DETAIL_END

#endif
