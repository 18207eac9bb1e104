// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_ENVIRONMENT_VARIABLE_HPP
#define KPROF_ATTACH_ENVIRONMENT_VARIABLE_HPP

// The only place where kprof reads environment variables. A set-user-ID, set-group-ID or
// file-capability program has rights that its caller lacks, and the caller chooses its environment:
// a path there could make the program load any library or write any file. So kprof reads no
// variable in such a process. Include it to read a variable. Any thread.

#include <kprof/build_options.hpp>

KPROF_DETAIL_BEGIN
namespace detail {

/// getenv() and getauxval(). Every file with guards includes this header, and <cstdlib> and
/// <sys/auxv.h> would be 840 lines of it.
extern "C" char* kprof_find_variable(const char* name) noexcept __asm__("getenv");
extern "C" unsigned long kprof_auxiliary_value(unsigned long type) noexcept __asm__("getauxval");
inline constexpr unsigned long auxiliary_secure = 23;  // AT_SECURE of <elf.h>

/// Whether the process was started with rights that its caller lacks. This stays true when the
/// process gives these rights up.
inline bool environment_is_foreign() noexcept {
  return kprof_auxiliary_value(auxiliary_secure) != 0;
}

/// The variable's value; nullptr where it is unset, and always where the environment is foreign.
inline const char* environment_variable(const char* name) noexcept {
  return environment_is_foreign() ? nullptr : kprof_find_variable(name);
}

}  // namespace detail
KPROF_DETAIL_END

#endif
