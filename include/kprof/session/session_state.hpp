// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SESSION_STATE_HPP
#define KPROF_SESSION_SESSION_STATE_HPP

// The session of the process: made by the first module that asks for it, which owns it, and never
// freed. The others find it through the hub and call the owner's functions. Every function locks
// what it needs, in the order of "Locks" in docs/architecture.md. Without memory they throw.

#include <kprof/attach/hub.hpp>
#include <kprof/attribute/build.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/cupti.hpp>
#include <kprof/collect/uses_cuda.hpp>
#include <kprof/emit/nvtx.hpp>
#include <kprof/record/scope_functions.hpp>
#include <kprof/session/apply_settings.hpp>
#include <kprof/session/bootstrap.hpp>
#include <kprof/session/build_name.hpp>
#include <kprof/session/device_session.hpp>
#include <kprof/session/emitting.hpp>
#include <kprof/session/end_watch.hpp>
#include <kprof/session/environment.hpp>
#include <kprof/session/exit_outputs.hpp>
#include <kprof/session/exit_report.hpp>
#include <kprof/session/exit_writing.hpp>
#include <kprof/session/join_recording.hpp>
#include <kprof/session/live_calls.hpp>
#include <kprof/session/notes.hpp>
#include <kprof/session/opening_turn.hpp>
#include <kprof/session/other_builds.hpp>
#include <kprof/session/phases.hpp>
#include <kprof/session/precedence.hpp>
#include <kprof/session/preloaded.hpp>
#include <kprof/session/session_ceilings.hpp>
#include <kprof/session/session_clock.hpp>
#include <kprof/session/session_steps.hpp>
#include <kprof/settings.hpp>
#include <kprof/status.hpp>
#include <kprof/write/attempt.hpp>
#include <kprof/write/message.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL session_state {
 public:
  const standard_streams streams;  // as they were when the session was made
  exit_writing writing;            // at the end of the program
  session_ceilings ceilings{recording_control::by(*this), &device_};
  session_steps steps{*this};  // stands before arm(), start(), stop() and snapshot()

  session_state() {
    device_.set_owner(device_session::functions_of_this_module(
        cupti_api(), [] { own_session->ceilings.end_devices(); }));
  }

  /// Makes this module the owner of `session`; nullptr: of none.
  static void own(session_state* session) noexcept {
    own_session = session;
    own_recorder = session == nullptr ? nullptr : &session->recorder_;
    own_start_recording = [] { static_cast<void>(attempt([] { own_session->start_if_armed(); })); };
    device_session::own(session == nullptr ? nullptr : &session->device_);
  }

  /// Waits for the first scope, with the settings in KPROF. False where that is no news.
  bool arm() {
    const session_lock lock(mutex_);
    if (!phases_.is(session_phase::idle)) return false;
    const effective_settings wanted = combine(environment(), environment());
    if (writes_at_exit(wanted.value)) exit_report_.request(&write_outputs_at_exit);
    settings_ = wanted.value;
    if (!settings_.enabled || !settings_.nvtx) refuse_nvtx();
    if (settings_.enabled) {
      phases_.arm();
      listen_by(&bootstrap::api());
    } else {
      phases_.turn_off(wanted.off_reason);
    }
    return true;
  }

  /// Starts a recording with the program's settings, as far as KPROF lets them hold, or its own.
  status start(const settings& wanted) {
    return steps.start(combine(wanted, effective_environment().value), false);
  }
  status start() { return steps.start(effective_environment(), true); }
  status start(const effective_settings& wanted, bool from_environment) {
    const opening_turn turn(*this);
    open_libraries(wanted);
    const session_lock lock(mutex_);
    settings_are_from_environment_ = from_environment;
    return start_locked(wanted);
  }
  effective_settings effective_environment() {
    const session_lock lock(mutex_);
    return combine(environment(), environment());
  }
  /// The first scope of an armed session starts the recording.
  void start_if_armed() {
    const mark_inside_kprof mark;
    if (!is_armed()) return;
    const effective_settings wanted = effective_environment();
    const opening_turn turn(*this);
    open_libraries(wanted);
    const session_lock lock(mutex_);
    if (phases_.is(session_phase::armed)) start_locked(wanted);
    else if (phases_.is_running()) join_recording(device_, recorder_, clock_, settings_);
  }

  void stop() {
    const opening_turn turn(*this);
    static_cast<void>(attempt([this] { device_.stop_unless([] { return false; }); }));
    const session_lock lock(mutex_);
    steps.count(false);
    const bool was_running = phases_.is_running();
    const session_phase before = phases_.stop(clock_.elapsed_ns());
    if (was_running || before == session_phase::armed) listen_by(nullptr);
    if (!was_running) return;
    device_.set_recording(false);
    clock_.stop();
  }

  bool pause() {
    start_if_armed();
    const session_lock lock(mutex_);
    const bool has_paused = phases_.pause(clock_.elapsed_ns());
    if (has_paused) listen_by(nullptr), device_.set_recording(false), clock_.count_cpu(false);
    return has_paused;
  }

  void resume() {
    const session_lock lock(mutex_);
    if (!phases_.resume(clock_.elapsed_ns())) return;
    device_.set_recording(true), clock_.count_cpu(true), listen_by(recording_api());
  }

  profile snapshot(single_scopes wanted) {
    device_.flush();
    if (!device_.has_collected() && missed_cuda()) device_.note_cuda_came_late();
    const session_lock lock(mutex_);
    profile out;
    if (phases_.has_profile()) {
      if (phases_.is_running()) clock_.calibrate_again();
      const std::uint64_t now = clock_.time().last().ticks;
      {
        const attribution_lock devices = device_.lock_attribution();
        out = build_profile(recorder_, device_.attributed(devices), {clock_.time(), now, wanted});
      }
      device_.describe(out.device, out.notes);
      apply_settings(out, settings_);
      out.paused_ns = phases_.paused_ns(clock_.elapsed_ns());
      clock_.describe(out, now);
      out.cost.memory = recorder_.memory_held() + device_.memory_held();
      out.cost.memory_limit = memory_;
    }
    out.recording = phases_.is(session_phase::recording);
    out.state = phases_.description();
    tell_other_builds(notes_);
    for (const std::string& note : notes_.all()) out.notes.push_back(note);
    return out;
  }

  report_options report_settings() {
    const session_lock lock(mutex_);
    environment_.leave_parents_paths(settings_);
    return settings_.report;
  }
  /// The program has printed `run` as the settings say.
  void reported(const profile& run) {
    const session_lock lock(mutex_);
    const bool as_at_exit =
        settings_are_from_environment_ || !asks_for_main_report(environment_.value());
    exit_report_.note_reported(run.complete, as_at_exit);
  }

  /// A module is about to be unloaded.
  static void detach(const module_record& leaving) noexcept {
    guards_have_left = true, modules_told.forget(leaving);
    if (!inside_kprof) own_session->recorder_.detach(leaving);  // exit() after a jump out of it
    if (own_session->previous_detach_ != nullptr) own_session->previous_detach_(leaving);
  }
  void (*previous_detach_)(const module_record&) noexcept = nullptr;  // the hub's, before this one

  void before_fork() {
    mutex_.lock();
    device_.before_fork();
    recorder_.before_fork();
  }
  void after_fork() {
    recorder_.after_fork();
    device_.after_fork();
    mutex_.unlock();
  }
  void in_child() {
    const calibration_point now = clock_.read();
    recorder_.in_child(now.ticks);
    device_.in_child(now.realtime_ns);
    if (phases_.has_recorded()) {
      clock_.restart(now), clock_.count_cpu(phases_.is(session_phase::recording));
      phases_.restart_in_child(0);
      exit_report_.restart();
      notes_.add_fork();
    }
    environment_.in_child();
    mutex_.unlock();
  }

  KPROF_DETAIL_LOCAL static session_state* own_session;  // in the owner

 private:
  friend class session_steps;
  friend class opening_turn<session_state>;
  /// The caller holds the lock.
  const settings& environment() {
    environment_.leave_parents_paths(settings_);
    return environment_.read(notes_);
  }
  bool is_armed() const {
    const session_lock lock(mutex_);
    return phases_.is(session_phase::armed);
  }
  /// Whether the program uses CUDA, which is to be collected, but only since the recording began.
  bool missed_cuda() const {
    const session_lock lock(mutex_);
    return phases_.has_recorded() && settings_.cupti == cupti_choice::automatic &&
           collects_by_default();
  }
  // Locked, as all walks of the modules: or a fork would leave the child with the loader's lock.
  bool may_collect() const {
    const session_lock lock(mutex_);
    return collects_by_default();
  }
  /// Opens the NVTX tool's library and CUPTI, as the settings want. Without the session's lock: a
  /// thread that is opening a library may be waiting for this session.
  void open_libraries(const effective_settings& wanted) {
    const settings& s = wanted.value;
    if (s.enabled && s.nvtx) static_cast<void>(attach_nvtx_or_disarm());
    const bool has_cuda = s.enabled && (s.cupti == cupti_choice::on || may_collect());
    if (has_cuda && s.cupti != cupti_choice::off)
      device_.collect(s, s.clock == clock_choice::automatic && counter_clock::usable());
    else device_.collect_nothing(has_cuda ? wanted.cupti_off_reason : "");
  }

  status start_locked(const effective_settings& wanted) {
    if (!wanted.value.enabled) {
      listen_by(nullptr);
      device_.set_recording(false), clock_.count_cpu(false);
      phases_.turn_off(wanted.off_reason);
      return {};
    }
    environment_.tell_mistakes();
    settings before = std::exchange(settings_, wanted.value);
    ceilings.choose(settings_);
    clock_.choose(settings_.clock, phases_.has_recorded(), notes_);
    print_live_calls();
    if (!attempt([this] { restart_recording(); })) {
      std::swap(settings_, before);
      return {out_of_memory};
    }
    start_live_calls(recorder_, clock_.time(), settings_.verbose, notes_);
    if (writes_at_exit(settings_) || !environment_.value().outputs.empty()) {
      exit_report_.request(&write_outputs_at_exit);
      if (settings_.signals && !end_watch::start(&write_outputs))
        notes_.add("the system gave no thread: a signal that ends the program loses outputs");
    }
    emitting_.restart(settings_.nvtx);
    phases_.record();
    steps.count(settings_.step.empty());
    device_.set_recording(true);
    store(the_hub().end_recorded, recording_api()->end);
    listen_by(recording_api());
    return {};
  }
  /// Forgets what was recorded, and shares the memory out anew.
  void restart_recording() {
    const std::size_t memory = usable_memory(settings_, notes_);
    recorder_.sites().set_step_name(settings_.step);
    const calibration_point now = clock_.read();
    {
      const attribution_lock devices = device_.lock_attribution();
      const std::size_t of_devices = device_.has_collected() ? device_session::share(memory) : 0;
      if (!phases_.has_recorded()) recorder_.set_memory(memory - of_devices);
      else recorder_.restart(now.ticks, memory - of_devices);  // may fail for want of memory
      clock_.restart(now), exit_report_.restart();
      memory_ = memory;
      device_.restart(devices, now, memory, settings_.device_timeline);
    }
  }
  const scope_api* recording_api() const noexcept {
    return emitting_.functions(clock_.uses_counter() ? tables_of_recorder<counter_clock>()
                                                     : tables_of_recorder<system_clock>());
  }

  static void write_outputs_at_exit() {
    if (inside_kprof) return tell({exit_inside_kprof});
    end_watch::leave_end_to_signal();
    write_outputs(0, nullptr);
  }
  static void write_outputs(int signal, void (*end)(int) noexcept) {
    own_session->writing.run(signal, end, [signal] {
      if (!attempt([signal] { own_session->write_profile(signal); }))
        tell({"nothing is written at the end: out of memory"});
    });
  }
  void write_profile(int signal) {
    print_live_calls();
    device_.end();  // waits for the devices, but not for ever
    profile run = steps.snapshot(single_scopes::beside_devices);
    if (signal != 0) note_ending_signal(run.notes, signal);
    if (has_nothing_to_report(run)) return;
    may_run_again = signal == 0;
    ceilings.add_to_report(run, signal);
    exit_outputs wanted;
    bool report_is_printed = false;
    {
      const session_lock lock(mutex_);
      environment_.leave_parents_paths(settings_);
      wanted = outputs_at_exit(settings_, environment_.value());
      report_is_printed = !exit_report_.is_due(run.complete);
    }
    write_at_exit(run, wanted, report_is_printed);
  }

  mutable std::mutex mutex_;  // guards all below but what recorder_ and device_ guard themselves
  recorder recorder_;
  device_session device_{recorder_};
  session_clock clock_;
  session_phases phases_;
  std::atomic<int> openers_{0};  // see opening_turn; not guarded
  environment_settings environment_;
  settings settings_;  // those that hold
  bool settings_are_from_environment_ = true;
  exit_report exit_report_;
  std::size_t memory_ = 0;  // bytes
  session_emitting emitting_;
  session_notes notes_;
};
KPROF_DETAIL_LOCAL inline constinit session_state* session_state::own_session = nullptr;

}  // namespace detail
KPROF_DETAIL_END

#endif
