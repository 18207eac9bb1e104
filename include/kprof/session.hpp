// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_HPP
#define KPROF_SESSION_HPP

// Start, stop and read a recording. There is one session a process, whichever binary made it;
// including kprof.hpp arms it so that it starts with the first scope. Every function may be called
// from any thread at any time, also while other threads are inside guards, from an atexit handler,
// and in the child of a fork, whose profile is its own. Want of memory is the error "out of memory"
// and harms nothing; functions that return nothing then do nothing.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/report/text.hpp>
#include <kprof/report/write.hpp>
#include <kprof/settings.hpp>
#include <kprof/status.hpp>
#if !KPROF_SESSION_ELSEWHERE
#include <kprof/attribute/single_scopes.hpp>
#include <kprof/record/hold_cancellation.hpp>
#include <kprof/session/exit_outputs.hpp>
#include <kprof/write/attempt.hpp>
#include <kprof/write/default_arithmetic.hpp>
#if KPROF_ENABLE
#include <kprof/session/find_session.hpp>
#endif
#include <kprof/write/message.hpp>

#include <string>
#include <utility>
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

/// From now on only some of the program's steps are recorded: the step that runs is number 0, and
/// each call of kprof::step() begins the next one. What was recorded is forgotten when a cycle
/// begins. A schedule in the variable KPROF holds in its place. Fails for a schedule of no steps.
///     kprof::set_schedule({.wait = 1, .warmup = 1, .active = 3});
KPROF_DETAIL_SESSION status set_schedule(const step_schedule& wanted);

/// Has `use(run, context)` called with the profile of each cycle of the schedule when it has ended,
/// and of what was recorded when stop() ends a recording: by the thread that calls step() or
/// stop(), which waits for it. nullptr: nobody any more. Not called when the process ends, nor for
/// a cycle that ends while it runs. What it throws leaves stop(), and ends the program in step(),
/// which is noexcept.
///     kprof::on_profile([](const kprof::profile& run, void*) { kprof::report(run, {}); });
KPROF_DETAIL_SESSION void on_profile(profile_function use, void* context = nullptr);

/// What a snapshot holds besides the totals.
struct snapshot_options {
  bool timeline = false;  ///< single scopes, as far back as the memory reaches
};

/// The run so far. Without a session the profile is empty and its `state` says why; it is "out of
/// memory" where there was none for the profile, and what was recorded stays: save(), write() and
/// report() return that error then and write nothing. Takes time in proportion to what was recorded
/// since the last one (200 ns a scope at the most), to the rows of the profile, and to the timeline
/// where it is asked for.
KPROF_DETAIL_SESSION profile snapshot(const snapshot_options& options = {});

/// Prints the profile, as `options` say, to standard output or their file. An error says what to do
/// and harms nothing; it is returned and, since a report is easily missed, told on standard error.
KPROF_DETAIL_SESSION status report(const profile& run, const report_options& options);
/// Prints the run so far.
KPROF_DETAIL_SESSION status report(const report_options& options);
/// Prints the run so far, as the settings say. When KPROF asks for a report at the end too, and no
/// scope has begun or ended since, that one is left out.
KPROF_DETAIL_SESSION status report();

namespace detail {
/// Adds the machine's ceilings to a profile that is to be printed, measured where that is wanted.
KPROF_DETAIL_SESSION void add_ceilings_for_report(profile& run);
}  // namespace detail

#if !KPROF_SESSION_ELSEWHERE  // each finds the process's session and passes the call on

#if KPROF_ENABLE

namespace detail {
/// For functions of the session that return nothing.
template <class Use>
KPROF_DETAIL_LOCAL void tell_session(Use use) {
  static_cast<void>(with_session([&](const owner_functions& s) {
    use(s);
    return status{};
  }));
}
KPROF_DETAIL_LOCAL inline profile take_snapshot(single_scopes wanted) {
  profile out;
  status s = with_session([&](const owner_functions& owner) {
    out = owner.snapshot(wanted);
    return status{};
  });
  if (s) return out;
  out = {};
  out.state = std::move(s.message);
  return out;
}
KPROF_DETAIL_SESSION void add_ceilings_for_report(profile& run) {
  tell_session([&](const owner_functions& s) { s.add_ceilings(run); });
}
/// The run so far for a report of kprof's own.
KPROF_DETAIL_LOCAL inline profile profile_for_report(bool with_scopes = false) {
  profile run = take_snapshot(with_scopes ? single_scopes::all : single_scopes::beside_devices);
  if (run.state != out_of_memory) add_ceilings_for_report(run);
  return run;
}
KPROF_DETAIL_LOCAL inline report_options default_report_options() {
  report_options out;
  tell_session([&](const owner_functions& s) { out = s.report_settings(); });
  return out;
}
KPROF_DETAIL_LOCAL inline void reported(const profile& run) {
  tell_session([&](const owner_functions& s) { s.reported(run); });
}
}  // namespace detail

KPROF_DETAIL_SESSION status start(const settings& wanted) {
  return detail::with_session(
      [&](const detail::owner_functions& s) { return s.start_with(wanted); });
}
KPROF_DETAIL_SESSION status start() {
  return detail::with_session([](const detail::owner_functions& s) { return s.start(); });
}
KPROF_DETAIL_SESSION void stop() {
  detail::tell_session([](const detail::owner_functions& s) { s.stop(); });
}
KPROF_DETAIL_SESSION void pause() {
  detail::tell_session([](const detail::owner_functions& s) { s.pause(); });
}
KPROF_DETAIL_SESSION void resume() {
  detail::tell_session([](const detail::owner_functions& s) { s.resume(); });
}
KPROF_DETAIL_SESSION status set_schedule(const step_schedule& wanted) {
  return detail::with_session(
      [&](const detail::owner_functions& s) { return s.set_schedule(wanted); });
}
KPROF_DETAIL_SESSION void on_profile(profile_function use, void* context) {
  detail::tell_session([&](const detail::owner_functions& s) { s.on_profile(use, context); });
}

#else  // KPROF_ENABLE == 0: the same functions, and nothing is ever recorded.

namespace detail {
inline constexpr const char* compiled_out = "compiled out (KPROF_ENABLE=0)";
KPROF_DETAIL_LOCAL inline profile take_snapshot(single_scopes) {
  profile out;
  out.state = compiled_out;
  return out;
}
KPROF_DETAIL_SESSION void add_ceilings_for_report(profile&) {}
KPROF_DETAIL_LOCAL inline profile profile_for_report(bool = false) { return snapshot(); }
KPROF_DETAIL_LOCAL inline report_options default_report_options() { return {}; }
KPROF_DETAIL_LOCAL inline void reported(const profile&) {}
}  // namespace detail

KPROF_DETAIL_SESSION status start(const settings&) { return {detail::compiled_out}; }
KPROF_DETAIL_SESSION status start() { return {detail::compiled_out}; }
KPROF_DETAIL_SESSION void stop() {}
KPROF_DETAIL_SESSION void pause() {}
KPROF_DETAIL_SESSION void resume() {}
KPROF_DETAIL_SESSION status set_schedule(const step_schedule&) { return {detail::compiled_out}; }
KPROF_DETAIL_SESSION void on_profile(profile_function, void*) {}

#endif

KPROF_DETAIL_SESSION profile snapshot(const snapshot_options& options) {
  return detail::take_snapshot(options.timeline ? detail::single_scopes::all
                                                : detail::single_scopes::none);
}

namespace detail {
/// Prints what options() are for, unless there was no memory for the profile itself.
template <class Options>
KPROF_DETAIL_LOCAL status report_as(const profile& run, Options options) {
  const hold_cancellation hold;
  const default_arithmetic arithmetic;
  status s;
  const bool had_memory = run.state != out_of_memory && attempt([&] {
                            s = write_report_to_its_path(run, options(), write_time::now);
                          });
  if (!had_memory) s = {out_of_memory};
  if (!s) tell({"no report: ", s.message});
  return s;
}
}  // namespace detail

KPROF_DETAIL_SESSION status report(const profile& run, const report_options& options) {
  return detail::report_as(run, [&]() -> const report_options& { return options; });
}
KPROF_DETAIL_SESSION status report(const report_options& options) {
  return report(detail::profile_for_report(detail::shows_timeline(options)), options);
}
KPROF_DETAIL_SESSION status report() {
  const profile run = detail::profile_for_report();
  status s = detail::report_as(run, [] { return detail::default_report_options(); });
  if (s) detail::reported(run);
  return s;
}

#endif  // !KPROF_SESSION_ELSEWHERE

KPROF_DETAIL_END

#endif
