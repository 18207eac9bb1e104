// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_MOVED_CLOCK_HPP
#define KPROF_TESTS_MOVED_CLOCK_HPP

// Scopes of an engine by a clock that the test moves, in nanoseconds.

#include "attribution_engine.hpp"

#include <atomic>
#include <cstdint>

namespace kprof_test {

/// Nanoseconds, as the test sets them; for the thread that runs.
struct set_clock {
  static inline std::atomic<std::uint64_t> time{0};
  static std::uint64_t now() noexcept { return time; }
};
using moved_scopes = scope_functions<set_clock, false>;

inline void at(std::uint64_t time) { set_clock::time = time; }

inline scope_token begin_at(std::uint64_t time, std::int64_t n) {
  at(time);
  const Op params{n};
  return moved_scopes::api().begin_any(op_site, &params, sizeof params);
}
inline void end_at(std::uint64_t time, scope_token t) {
  at(time);
  moved_scopes::api().end(t);
}
inline void call(std::int64_t n, std::uint64_t from, std::uint64_t to) {
  end_at(to, begin_at(from, n));
}
/// The profile of a session that began at 0, at `now`.
inline kprof::profile profile_at(engine& e, std::uint64_t now) {
  timebase time;
  time.reset({0, 0, 0});
  return build_profile(e.threads, nullptr, {time, now, single_scopes::none});
}

}  // namespace kprof_test

#endif
