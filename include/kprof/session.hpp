// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_HPP
#define KPROF_SESSION_HPP

// Start, stop and read a recording. There is one session a process, whichever binary made it;
// including kprof.hpp arms it so that it starts with the first scope. Every function may be called
// from any thread at any time, also while other threads are inside guards, from an atexit handler,
// and in the child of a fork, whose profile is its own.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text.hpp>
#include <kprof/report/write.hpp>
#include <kprof/settings.hpp>
#include <kprof/status.hpp>
#if !KPROF_SESSION_ELSEWHERE
#include <kprof/session/exit_outputs.hpp>
#if KPROF_ENABLE
#include <kprof/session/find_session.hpp>
#endif

#include <cstdio>
#include <string>
#endif

KPROF_DETAIL_BEGIN

/// Starts a recording. What was recorded before is forgotten; scopes that are open now count from
/// now. What the variable KPROF turns off (recording, NVTX) stays off. Fails, and changes nothing,
/// when another build of kprof owns the process's session, and where kprof is compiled out.
KPROF_DETAIL_SESSION status start(const settings& wanted);
/// Starts a recording with the settings in KPROF, or the defaults.
KPROF_DETAIL_SESSION status start();

/// Ends the recording. What was recorded stays and can be read. Guards cost a load and a branch
/// again, unless an NVTX tool is attached, which still gets its ranges.
KPROF_DETAIL_SESSION void stop();

/// Stops recording new scopes until resume(). Scopes that are open go on and count to their end.
KPROF_DETAIL_SESSION void pause();

/// Goes on after pause().
KPROF_DETAIL_SESSION void resume();

/// What a snapshot holds besides the totals.
struct snapshot_options {
  bool timeline = false;  ///< single scopes, as far back as the memory reaches
};

/// The run so far. Without a session the profile is empty and its `state` says why. Takes time in
/// proportion to what was recorded since the last one (200 ns a scope at the most), to the rows of
/// the profile, and to the timeline where it is asked for.
KPROF_DETAIL_SESSION profile snapshot(const snapshot_options& options = {});

/// Prints the profile, as `options` say, to standard output or their file. An error says what to do
/// and harms nothing; it is returned and, since a report is easily missed, told on standard error.
KPROF_DETAIL_SESSION status report(const profile& run, const report_options& options);
/// Prints the run so far.
KPROF_DETAIL_SESSION status report(const report_options& options);
/// Prints the run so far, as the settings say. When KPROF asks for a report at the end too, and no
/// scope has begun or ended since, that one is left out.
KPROF_DETAIL_SESSION status report();

#if !KPROF_SESSION_ELSEWHERE  // each finds the process's session and passes the call on

#if KPROF_ENABLE

KPROF_DETAIL_SESSION status start(const settings& wanted) {
  std::string why;
  detail::session_state* s = detail::find_session(why);
  return s == nullptr ? status{why} : s->start(wanted);
}
KPROF_DETAIL_SESSION status start() {
  std::string why;
  detail::session_state* s = detail::find_session(why);
  return s == nullptr ? status{why} : s->start();
}

KPROF_DETAIL_SESSION void stop() {
  std::string why;
  if (detail::session_state* s = detail::find_session(why)) s->stop();
}
KPROF_DETAIL_SESSION void pause() {
  std::string why;
  if (detail::session_state* s = detail::find_session(why)) s->pause();
}
KPROF_DETAIL_SESSION void resume() {
  std::string why;
  if (detail::session_state* s = detail::find_session(why)) s->resume();
}

KPROF_DETAIL_SESSION profile snapshot(const snapshot_options& options) {
  std::string why;
  if (detail::session_state* s = detail::find_session(why)) return s->snapshot(options.timeline);
  profile none;
  none.state = why;
  return none;
}

namespace detail {
KPROF_DETAIL_LOCAL inline report_options default_report_options() {
  std::string why;
  const session_state* s = find_session(why);
  return s == nullptr ? report_options{} : s->report_settings();
}
KPROF_DETAIL_LOCAL inline void reported(const profile& run) {
  std::string why;
  if (session_state* s = find_session(why)) s->reported(run);
}
}  // namespace detail

#else  // KPROF_ENABLE == 0: the same functions, and nothing is ever recorded.

namespace detail {
inline constexpr const char* compiled_out = "compiled out (KPROF_ENABLE=0)";
KPROF_DETAIL_LOCAL inline report_options default_report_options() { return {}; }
KPROF_DETAIL_LOCAL inline void reported(const profile&) {}
}  // namespace detail

KPROF_DETAIL_SESSION status start(const settings&) { return {detail::compiled_out}; }
KPROF_DETAIL_SESSION status start() { return {detail::compiled_out}; }
KPROF_DETAIL_SESSION void stop() {}
KPROF_DETAIL_SESSION void pause() {}
KPROF_DETAIL_SESSION void resume() {}
KPROF_DETAIL_SESSION profile snapshot(const snapshot_options&) {
  profile none;
  none.state = detail::compiled_out;
  return none;
}

#endif

KPROF_DETAIL_SESSION status report(const profile& run, const report_options& options) {
  status s = detail::write_report_to_its_path(run, options);
  if (!s) std::fprintf(stderr, "kprof: no report: %s\n", s.message.c_str());
  return s;
}
KPROF_DETAIL_SESSION status report(const report_options& options) {
  return report(snapshot(), options);
}
KPROF_DETAIL_SESSION status report() {
  const profile run = snapshot();
  status s = report(run, detail::default_report_options());
  if (s) detail::reported(run);
  return s;
}

#endif  // !KPROF_SESSION_ELSEWHERE

KPROF_DETAIL_END

#endif
