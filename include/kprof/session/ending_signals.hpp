// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_ENDING_SIGNALS_HPP
#define KPROF_SESSION_ENDING_SIGNALS_HPP

// The signals by which users, terminals and batch systems end a program. Any thread, and signal
// handlers.

#include <kprof/build_options.hpp>

#include <signal.h>

#include <cstddef>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

struct ending_signal {
  int number;
  const char* name;
};
inline constexpr ending_signal ending_signals[] = {
    {SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
inline constexpr std::size_t ending_signal_count = sizeof ending_signals / sizeof ending_signals[0];

/// The signal's place in the table; ending_signal_count where it is none of them.
inline std::size_t place_of_ending_signal(int number) noexcept {
  std::size_t at = 0;
  while (at < ending_signal_count && ending_signals[at].number != number) ++at;
  return at;
}

/// Whether the signal ends the program because nothing handles or ignores it.
inline bool is_default_action(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

/// Says in the report which of the signals ended the program.
inline void note_ending_signal(std::vector<std::string>& notes, int number) {
  const std::size_t at = place_of_ending_signal(number);
  if (at == ending_signal_count) return;
  notes.push_back(std::string("ended by ") + ending_signals[at].name +
                  "; the program ran on while this was written");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
