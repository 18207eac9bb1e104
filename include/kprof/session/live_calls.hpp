// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_LIVE_CALLS_HPP
#define KPROF_SESSION_LIVE_CALLS_HPP

// How the session has calls printed soon after they end, where verbose.hpp is in its binary.

#include <kprof/build_options.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/session/notes.hpp>
#include <kprof/session/settings_value.hpp>

#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

struct live_calls_functions {
  /// Prints the calls of the recording that begins, as settings::verbose says. Returns what is
  /// wrong. The caller holds the session's lock.
  std::string (*start)(recorder& of, const timebase& time, const std::string& to);
  /// Prints all that has ended and has not been printed.
  void (*print)() noexcept;
};
// Set before main() by verbose.hpp.
KPROF_DETAIL_LOCAL inline constinit const live_calls_functions* live_calls = nullptr;

inline bool wants_live_calls(const std::string& verbose) noexcept { return verbose != "off"; }

/// Whether something is to be done when the program ends.
inline bool writes_at_exit(const settings& s) noexcept {
  return !s.outputs.empty() || wants_live_calls(s.verbose);
}

inline void start_live_calls(recorder& of, const timebase& time, const std::string& to,
                             session_notes& notes) {
  std::string wrong;
  if (live_calls != nullptr) wrong = live_calls->start(of, time, to);
  else if (wants_live_calls(to))
    wrong =
        "verbose= prints nothing: include kprof/verbose.hpp in the file that includes kprof.hpp, "
        "or link kprof::session";
  if (!wrong.empty()) notes.add(wrong);
}
inline void print_live_calls() noexcept {
  if (live_calls != nullptr) live_calls->print();
}

}  // namespace detail
KPROF_DETAIL_END

#endif
