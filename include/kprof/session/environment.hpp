// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_ENVIRONMENT_HPP
#define KPROF_SESSION_ENVIRONMENT_HPP

// The settings in the environment variable KPROF, read once a process. Guarded by the session's
// lock.

#include <kprof/build_options.hpp>
#include <kprof/session/notes.hpp>
#include <kprof/settings.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

class environment_settings {
 public:
  /// Reads KPROF at the first call. Mistakes go to standard error and to `notes`, which all reports
  /// show.
  const settings& read(session_notes& notes) {
    const char* const text = read_ ? nullptr : std::getenv("KPROF");
    read_ = true;
    if (text == nullptr) return value_;
    parsed_settings parsed = settings::parse(text);
    value_ = parsed.value;
    for (const std::string& e : parsed.errors) {
      notes.add("KPROF: " + e);
      std::fprintf(stderr, "kprof: KPROF: %s\n", e.c_str());
    }
    return value_;
  }
  /// What read() has read.
  const settings& value() const noexcept { return value_; }

 private:
  settings value_;
  bool read_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
