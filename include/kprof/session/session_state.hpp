// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SESSION_STATE_HPP
#define KPROF_SESSION_SESSION_STATE_HPP

// The session of the process: made by the first module that asks for it, found by the others
// through the hub, never freed. Any module may work on it; what must be the owner's own code is
// called through owner_functions. Every function locks what it needs, in the order that
// docs/architecture.md gives under "Locks".

#include <kprof/attach/build_name.hpp>
#include <kprof/attach/hub.hpp>
#include <kprof/attribute/build.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/cupti.hpp>
#include <kprof/collect/uses_cuda.hpp>
#include <kprof/emit/nvtx.hpp>
#include <kprof/record/scope_functions.hpp>
#include <kprof/session/device_session.hpp>
#include <kprof/session/environment.hpp>
#include <kprof/session/exit_outputs.hpp>
#include <kprof/session/exit_report.hpp>
#include <kprof/session/notes.hpp>
#include <kprof/session/owner_functions.hpp>
#include <kprof/session/phases.hpp>
#include <kprof/session/precedence.hpp>
#include <kprof/session/preloaded.hpp>
#include <kprof/session/session_clock.hpp>
#include <kprof/settings.hpp>
#include <kprof/status.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL session_state {
 public:
  // First, so that another build can read it.
  const char* const build = session_build;

  session_state() {
    owner_ = {{tables_of_recorder<counter_clock>(), tables_of_recorder<system_clock>()},
              &bootstrap::api(),
              &attach_nvtx_or_disarm,
              &refuse_nvtx,
              &disarm_nvtx,
              [] { own_session->report_at_exit(); },
              []() noexcept -> bool& { return inside_kprof; }};
    device_.set_owner(device_session::functions_of_this_module(cupti_api()));
  }

  /// Makes this module the owner of `session`; nullptr: of none.
  static void own(session_state* session) noexcept {
    own_session = session;
    own_recorder = session == nullptr ? nullptr : &session->recorder_;
    own_start_recording = [] { own_session->start_if_armed(); };
    device_session::own(session == nullptr ? nullptr : &session->device_);
  }

  /// Waits for the first scope, with the settings in KPROF.
  void arm() {
    const session_lock lock(owner_, mutex_);
    if (!phases_.is(session_phase::idle)) return;
    const effective_settings wanted = combine(environment(), environment());
    if (!wanted.value.outputs.empty()) exit_report_.request(owner_.at_exit);
    settings_ = wanted.value;
    if (!settings_.enabled || !settings_.nvtx) owner_.refuse_nvtx();
    if (settings_.enabled) {
      phases_.arm();
      listen(owner_.bootstrap);
    } else {
      phases_.turn_off(wanted.off_reason);
    }
  }

  /// Starts a recording with the program's settings, as far as KPROF lets them hold.
  status start(const settings& wanted) {
    return start(combine(wanted, locked_environment()), false);
  }
  /// Starts a recording with the settings in KPROF.
  status start() {
    const settings wanted = locked_environment();
    return start(combine(wanted, wanted), true);
  }
  /// The first scope of an armed session starts the recording.
  void start_if_armed() {
    const mark_inside_kprof mark;
    if (!is_armed()) return;
    const settings wanted = locked_environment();
    const effective_settings all = combine(wanted, wanted);
    open_libraries(all);
    const session_lock lock(owner_, mutex_);
    if (phases_.is(session_phase::armed)) start_locked(all);
  }

  void stop() {
    device_.stop();
    const session_lock lock(owner_, mutex_);
    const bool was_running = phases_.is_running();
    const session_phase before = phases_.stop(nanoseconds_of(CLOCK_MONOTONIC));
    if (was_running || before == session_phase::armed) listen(nullptr);
    if (!was_running) return;
    device_.set_recording(false);
    clock_.calibrate_again();
  }

  void pause() {
    start_if_armed();
    const session_lock lock(owner_, mutex_);
    if (!phases_.pause(nanoseconds_of(CLOCK_MONOTONIC))) return;
    listen(nullptr);
    device_.set_recording(false);
  }

  void resume() {
    const session_lock lock(owner_, mutex_);
    if (!phases_.resume(nanoseconds_of(CLOCK_MONOTONIC))) return;
    device_.set_recording(true);
    listen(recording_api());
  }

  profile snapshot(bool timeline) {
    device_.flush();
    if (!device_.has_collected() && missed_cuda()) device_.note_cuda_came_late();
    const session_lock lock(owner_, mutex_);
    profile out;
    if (phases_.has_recorded()) {
      if (phases_.is_running()) clock_.calibrate_again();
      const std::uint64_t now = clock_.time().last().ticks;
      {
        const attribution_lock devices = device_.lock_attribution();
        out = build_profile(recorder_, device_.attributed(devices), {clock_.time(), now, timeline});
      }
      device_.describe(out.device);
      out.wall_ns = clock_.time().since_start_ns(now);
      out.paused_ns = phases_.paused_ns(nanoseconds_of(CLOCK_MONOTONIC));
      clock_.describe(out.clock);
      describe_cost(out);
    }
    out.recording = phases_.is(session_phase::recording);
    out.state = phases_.description();
    out.notes = notes_.all();
    return out;
  }

  report_options report_settings() const {
    const session_lock lock(owner_, mutex_);
    return settings_.report;
  }
  /// The program has printed `run` as the settings say.
  void reported(const profile& run) {
    const session_lock lock(owner_, mutex_);
    const bool as_at_exit =
        settings_are_from_environment_ || !asks_for_main_report(environment_.value());
    exit_report_.note_reported(run.complete, as_at_exit);
  }

  /// A module is about to be unloaded.
  static void detach(const module_record& leaving) noexcept {
    guards_have_left = true;
    own_session->recorder_.detach(leaving);
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
      clock_.restart(now);
      phases_.restart_in_child(now.monotonic_ns);
      exit_report_.restart();
      notes_.add("forked from process " + std::to_string(getppid()) +
                 ": this profile is of the child alone");
    }
    mutex_.unlock();
  }

  KPROF_DETAIL_LOCAL static session_state* own_session;  // in the owner

 private:
  static const emitter_api* attach_nvtx_or_disarm() noexcept {
    const emitter_api* tool = attach_nvtx();
    if (tool == nullptr) disarm_nvtx();
    return tool;
  }

  /// The caller holds the lock.
  const settings& environment() { return environment_.read(notes_); }
  settings locked_environment() {
    const session_lock lock(owner_, mutex_);
    return environment();
  }
  bool is_armed() const {
    const session_lock lock(owner_, mutex_);
    return phases_.is(session_phase::armed);
  }
  /// Whether the program uses CUDA, is expected to be collected, and did not use it when the
  /// recording began.
  bool missed_cuda() const {
    {
      const session_lock lock(owner_, mutex_);
      if (!phases_.has_recorded() || settings_.cupti != cupti_choice::automatic) return false;
    }
    return uses_cuda();
  }

  /// Opens the NVTX tool's library and CUPTI, as the settings want. Without the session's lock: a
  /// thread that is opening a library may be waiting for this session.
  void open_libraries(const effective_settings& wanted) {
    const settings& s = wanted.value;
    if (s.enabled && s.nvtx) static_cast<void>(owner_.attach_nvtx());
    const bool has_cuda = s.enabled && (s.cupti == cupti_choice::on || uses_cuda());
    if (has_cuda && s.cupti != cupti_choice::off)
      device_.collect(s.memory, s.clock == clock_choice::automatic && counter_clock::usable());
    else device_.collect_nothing(has_cuda ? wanted.cupti_off_reason : "");
  }

  status start(const effective_settings& wanted, bool from_environment) {
    open_libraries(wanted);
    const session_lock lock(owner_, mutex_);
    settings_are_from_environment_ = from_environment;
    return start_locked(wanted);
  }
  status start_locked(const effective_settings& wanted) {
    if (!wanted.value.enabled) {
      listen(nullptr);
      device_.set_recording(false);
      phases_.turn_off(wanted.off_reason);
      return {};
    }
    environment_.tell_mistakes();
    settings_ = wanted.value;
    if (!settings_.outputs.empty()) exit_report_.request(owner_.at_exit);
    choose_clock();
    restart_recording();
    use_nvtx(settings_.nvtx);
    phases_.record();
    device_.set_recording(true);
    store(the_hub().end_recorded, recording_api()->end);
    listen(recording_api());
    return {};
  }
  void choose_clock() {
    const bool counter = settings_.clock == clock_choice::automatic && counter_clock::usable();
    if (phases_.has_recorded() && counter != clock_.uses_counter())
      notes_.add("the clock cannot change between recordings of a process; it stays " +
                 std::string(clock_.name()));
    else clock_.use_counter(counter);
  }
  /// Forgets what was recorded, and shares the memory out anew.
  void restart_recording() {
    static_assert(settings::smallest_memory == recorder::smallest_memory);
    memory_ = settings_.memory;
    if (memory_ < recorder::smallest_memory) {
      notes_.add("memory=" + std::to_string(memory_) +
                 " is too small to work with; the smallest, 1 MiB, is used");
      memory_ = recorder::smallest_memory;
    }
    recorder_.set_memory(memory_ - (device_.has_collected() ? device_session::share(memory_) : 0));
    const calibration_point now = clock_.read();
    {
      const attribution_lock devices = device_.lock_attribution();
      if (phases_.has_recorded()) recorder_.restart(now.ticks);
      device_.restart(devices, now.realtime_ns, memory_);
    }
    exit_report_.restart();
    clock_.restart(now);
  }
  void use_nvtx(bool wanted) {
    const emitter_api* emitter = wanted ? owner_.attach_nvtx() : nullptr;
    if (!wanted) owner_.disarm_nvtx();
    if (emitter != nullptr) store(the_hub().emitter, emitter);
    has_emitted_ = has_emitted_ || emits_;
    emits_ = emitter != nullptr;
  }

  const scope_api* recording_api() const noexcept {
    const recorder_tables& tables = owner_.recorder[clock_.uses_counter() ? 0 : 1];
    if (emits_) return tables.emitting;
    return has_emitted_ ? tables.closing : tables.alone;
  }
  /// Has guards call these functions; nullptr: none.
  static void listen(const scope_api* api) noexcept {
    hub_record& hub = the_hub();
    store(hub.recorder, api);
    publish(hub);
  }

  void describe_cost(profile& out) {
    clock_.describe_cost(out.cost);
    out.cost.recording_ns =
        out.cost.scope_ns * static_cast<double>(out.complete.recorded + out.complete.open);
    out.cost.folding_ns = static_cast<double>(recorder_.folding_ns());
    out.cost.memory = recorder_.memory_held() + device_.memory_held();
    out.cost.memory_limit = memory_;
  }

  void report_at_exit() {
    device_.end();  // waits for the devices, but not for ever
    const profile run = snapshot(false);
    if (has_nothing_to_report(run)) return;
    exit_outputs wanted;
    bool report_is_printed = false;
    {
      const session_lock lock(owner_, mutex_);
      wanted = outputs_at_exit(settings_, environment_.value());
      report_is_printed = !exit_report_.is_due(run.complete);
    }
    write_at_exit(run, wanted, report_is_printed);
  }

  owner_functions owner_{};   // written before another module finds the session
  mutable std::mutex mutex_;  // guards all below but what recorder_ and device_ guard themselves
  recorder recorder_;
  device_session device_{recorder_};
  session_clock clock_;
  session_phases phases_;
  environment_settings environment_;
  settings settings_;  // those that hold
  bool settings_are_from_environment_ = true;
  exit_report exit_report_;
  std::size_t memory_ = 0;  // bytes
  bool emits_ = false;      // an NVTX tool is attached
  // The last recording or one before it sent scopes, which may still be open.
  bool has_emitted_ = false;
  session_notes notes_;
};
KPROF_DETAIL_LOCAL inline constinit session_state* session_state::own_session = nullptr;

}  // namespace detail
KPROF_DETAIL_END

#endif
