// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_BUILD_NAME_HPP
#define KPROF_SESSION_BUILD_NAME_HPP

// The name of this build of the session. Modules share a session only if theirs is the same; a file
// that leaves the session to a library is linked only with a library of the same build.

#include <kprof/build_options.hpp>
#include <kprof/session/shared_layout.hpp>
#include <kprof/version.hpp>

#include <cstdint>
#include <string>  // with it the standard library's own macros

KPROF_DETAIL_BEGIN
namespace detail {

// What lays out std::string and std::vector, and with them a profile.
#if defined(_LIBCPP_VERSION)
#define KPROF_DETAIL_LIBRARY "libc++"
using standard_library = struct libcxx;
#elif defined(_GLIBCXX_DEBUG)
#define KPROF_DETAIL_LIBRARY "libstdc++ in debug mode"
using standard_library = struct libstdcxx_in_debug_mode;
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
#define KPROF_DETAIL_LIBRARY "libstdc++"
using standard_library = struct libstdcxx;
#else
#define KPROF_DETAIL_LIBRARY "libstdc++ with the old string"
using standard_library = struct libstdcxx_with_the_old_string;
#endif

/// The build as a type: in the name of a function that one file calls and a library defines, it
/// makes the linker tell which builds were mixed.
template <class StandardLibrary, int Major, int Minor, int Patch, std::uint32_t Layout>
struct build {};
using this_build = build<standard_library, KPROF_VERSION_MAJOR, KPROF_VERSION_MINOR,
                         KPROF_VERSION_PATCH, session_layout>;

#define KPROF_DETAIL_TEXT_(x) #x
#define KPROF_DETAIL_TEXT(x) KPROF_DETAIL_TEXT_(x)
/// The build as text, with the layout in hexadecimal at the end. Commits of one version differ in
/// it if they lay out differently what modules pass to each other.
struct build_text {
  char text[96] = "kprof " KPROF_DETAIL_TEXT(KPROF_VERSION_MAJOR) "." KPROF_DETAIL_TEXT(
      KPROF_VERSION_MINOR) "." KPROF_DETAIL_TEXT(KPROF_VERSION_PATCH) " " KPROF_DETAIL_LIBRARY
                                                                      " layout ";

  constexpr build_text() noexcept {
    std::uint32_t end = 0;
    while (text[end] != '\0') ++end;
    for (std::uint32_t digit = 0; digit < 8; ++digit)
      text[end + digit] = "0123456789abcdef"[session_layout >> (28 - 4 * digit) & 15U];
  }
};
inline constexpr build_text build_of_this_file{};
inline constexpr const char* session_build = build_of_this_file.text;
#undef KPROF_DETAIL_TEXT
#undef KPROF_DETAIL_TEXT_
#undef KPROF_DETAIL_LIBRARY

}  // namespace detail
KPROF_DETAIL_END

#endif
