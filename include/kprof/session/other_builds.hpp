// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_OTHER_BUILDS_HPP
#define KPROF_SESSION_OTHER_BUILDS_HPP

// Tells of modules whose guards another build of kprof made, so that nothing of them is recorded.
// Included by the session.

#include <kprof/attach/find_modules.hpp>
#include <kprof/build_options.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/session/notes.hpp>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// The paths of these modules, each with a 0 at its end. They are measured first and copied into
/// memory that is there: the loader's lock is held while its list is walked.
inline std::string paths_of_other_builds() {
  const auto size_of = [](const char* path) noexcept {
    return path == nullptr ? 1 : std::strlen(path) + 1;
  };
  std::size_t size = 0;
  for_each_other_module([&](const char* path) noexcept { size += size_of(path); });
  std::string paths(size, '\0');
  std::size_t used = 0;
  for_each_other_module([&](const char* path) noexcept {
    const std::size_t more = size_of(path);
    if (more > paths.size() - used) return;  // it has been loaded since, and is for the next time
    if (path != nullptr) std::memcpy(paths.data() + used, path, more);
    used += more;
  });
  paths.resize(used);
  return paths;
}

/// Notes the modules that are loaded now, each once.
inline void tell_other_builds(session_notes& notes) {
  const std::string paths = paths_of_other_builds();
  for (std::size_t at = 0; at < paths.size(); at = paths.find('\0', at) + 1) {
    const std::string_view path = paths.c_str() + at;
    notes.add((path.empty() ? "the program" : printable(path, 300)) +
              " has guards of another build of kprof, which are not recorded; build it with the "
              "headers that the session is built with");
  }
}

}  // namespace detail
KPROF_DETAIL_END

#endif
