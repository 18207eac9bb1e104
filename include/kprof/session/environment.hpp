// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_ENVIRONMENT_HPP
#define KPROF_SESSION_ENVIRONMENT_HPP

// The settings in the environment variable KPROF, read once a process. Guarded by the session's
// lock.

#include <kprof/build_options.hpp>
#include <kprof/session/notes.hpp>
#include <kprof/session/preloaded.hpp>
#include <kprof/settings.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class environment_settings {
 public:
  /// Reads KPROF at the first call. Mistakes go to `notes`, which all reports show, and to standard
  /// error: at once, but where the session was preloaded into a process that the program started,
  /// which may have no guards, only when its first scope begins.
  const settings& read(session_notes& notes) {
    const char* const text = read_ ? nullptr : std::getenv("KPROF");
    read_ = true;
    if (text == nullptr) return value_;
    parsed_settings parsed = settings::parse(text);
    value_ = parsed.value;
    for (const std::string& e : parsed.errors) {
      notes.add("KPROF: " + e);
      mistakes_.push_back(e);
    }
    if (!session_is_preloaded || is_program_of_kprof_run()) tell_mistakes();
    return value_;
  }
  /// Tells the mistakes that have not been told.
  void tell_mistakes() {
    for (const std::string& e : mistakes_) std::fprintf(stderr, "kprof: KPROF: %s\n", e.c_str());
    mistakes_.clear();
  }
  /// What read() has read.
  const settings& value() const noexcept { return value_; }

 private:
  settings value_;
  std::vector<std::string> mistakes_;
  bool read_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
