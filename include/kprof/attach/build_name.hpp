// SPDX-License-Identifier: MIT
#ifndef KPROF_ATTACH_BUILD_NAME_HPP
#define KPROF_ATTACH_BUILD_NAME_HPP

// The name of this build of the session. Binaries share a session only if theirs is the same.

#include <kprof/build_options.hpp>
#include <kprof/version.hpp>

#include <string>  // with it the standard library's own macros

KPROF_DETAIL_BEGIN
namespace detail {

#define KPROF_DETAIL_TEXT_(x) #x
#define KPROF_DETAIL_TEXT(x) KPROF_DETAIL_TEXT_(x)
// Builds that agree on this lay out the session's classes alike.
inline constexpr const char* session_build =
    "kprof " KPROF_DETAIL_TEXT(KPROF_VERSION_MAJOR) "." KPROF_DETAIL_TEXT(
        KPROF_VERSION_MINOR) "." KPROF_DETAIL_TEXT(KPROF_VERSION_PATCH)
#if defined(_LIBCPP_VERSION)
        " libc++";
#elif defined(_GLIBCXX_DEBUG)
        " libstdc++ in debug mode";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
        " libstdc++";
#else
        " libstdc++ with the old string";
#endif
#undef KPROF_DETAIL_TEXT
#undef KPROF_DETAIL_TEXT_

}  // namespace detail
KPROF_DETAIL_END

#endif
