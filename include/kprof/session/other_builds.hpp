// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_OTHER_BUILDS_HPP
#define KPROF_SESSION_OTHER_BUILDS_HPP

// Tells of modules whose guards another build of kprof made, so that nothing of them is recorded.
// Included by the session.

#include <kprof/attach/find_modules.hpp>
#include <kprof/build_options.hpp>
#include <kprof/report/text/format.hpp>
#include <kprof/session/notes.hpp>

#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

/// Notes the modules that are loaded now, each once.
inline void tell_other_builds(session_notes& notes) {
  for_each_other_module([&notes](const char* path) {
    const std::string name = path == nullptr || *path == '\0' ? "the program" : path;
    notes.add(printable(name, 300) +
              " has guards of another build of kprof, which are not recorded; build it with the "
              "headers that the session is built with");
  });
}

}  // namespace detail
KPROF_DETAIL_END

#endif
