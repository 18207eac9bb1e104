// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_STEP_FUNCTIONS_HPP
#define KPROF_SESSION_STEP_FUNCTIONS_HPP

// Defines the functions of session_steps, after the session that they call.

#include <kprof/build_options.hpp>
#include <kprof/record/note_step.hpp>
#include <kprof/session/bootstrap.hpp>
#include <kprof/session/exit_report.hpp>
#include <kprof/session/session_state.hpp>
#include <kprof/session/session_steps.hpp>
#include <kprof/write/attempt.hpp>

#include <cstdint>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Neither a scope nor anything on a device.
inline bool has_recorded_nothing(const profile& run) {
  return same_scopes(run.complete, {}) && run.device.work.empty();
}

[[gnu::cold]] inline void session_steps::plan(const effective_settings& wanted,
                                              bool from_environment) {
  wanted_ = wanted;
  from_environment_ = from_environment;
  if (wanted_.value.schedule.is_on() && !wanted_.value.step.empty()) {
    const session_lock session(session_->mutex_);
    session_->notes_.add(
        "schedule(...) counts the steps that kprof::step() begins, and step=" +
        printable(wanted_.value.step, 60) +
        " names a region, which is not seen while nothing is recorded: the schedule is "
        "left out");
    wanted_.value.schedule = {};
  }
  ++plans_;
  step_ = cycles_ = left_out_ = 0;
  driver_ = nullptr;
  is_left_out_ = is_only_recorded_ = has_cycle_ = is_cut_ = false;
  cycle_ = {};
  scheduled_.store(wanted_.value.enabled && wanted_.value.schedule.is_on());
}

[[gnu::cold]] inline std::string session_steps::why_resting() const {
  const step_schedule& s = wanted_.value.schedule;
  if (cycles_ == 0)
    return "no step of the schedule has been recorded: this is step " + std::to_string(step_) +
           ", and the first that counts is step " +
           std::to_string(std::uint64_t{s.skip} + s.wait + s.warmup) +
           " (kprof::step() begins each)";
  return "resting after " + std::to_string(cycles_) + (cycles_ == 1 ? " cycle" : " cycles") +
         " of the schedule; this is the latest";
}

[[gnu::cold]] inline profile session_steps::whole_cycle() const {
  profile run = cycle_;
  run.state = "cycle " + std::to_string(cycle_number_) + " of the schedule, the latest whole one";
  const std::uint64_t running = cycle_of(wanted_.value.schedule, step_);
  if (scheduled_ && running > cycle_number_)
    run.state += "; cycle " + std::to_string(running) + " has not ended";
  if (is_cut_ && running > cycle_number_ && place_in_cycle(wanted_.value.schedule, step_) > 0)
    run.state += "; the program stopped within cycle " + std::to_string(running);
  return run;
}
[[gnu::cold]] inline void session_steps::tell_unfinished(profile& run) const {
  const step_schedule& s = wanted_.value.schedule;
  const std::uint64_t place = place_in_cycle(s, step_) - s.wait - s.warmup;
  const std::string cycle = "cycle " + std::to_string(cycle_of(s, step_)) + " of the schedule",
                    active = std::to_string(place) + " of its " + std::to_string(s.active) +
                             " active steps ";
  run.notes.push_back(is_cut_ ? "the program stopped within " + cycle + ": " + active + "had ended"
                              : cycle + " has not ended: " + active + "have");
}

inline void session_steps::rest() {
  session_->stop();
  const session_lock session(session_->mutex_);
  session_->phases_.rest(why_resting());
}
inline bool session_steps::is_running() const {
  const session_lock session(session_->mutex_);
  return session_->phases_.is_running();
}
inline bool session_steps::has_profile() const {
  const session_lock session(session_->mutex_);
  return session_->phases_.has_profile();
}
inline void session_steps::tell_left_out(profile& run) const {
  if (left_out_ == 0) return;
  const bool one = left_out_ == 1;
  run.notes.push_back(std::to_string(left_out_) +
                      (one ? " cycle of the schedule is" : " cycles of the schedule are") +
                      " left out: there was no memory for " + (one ? "it" : "them"));
}
inline single_scopes session_steps::scopes_in_profile(single_scopes wanted) const {
  if (wanted != single_scopes::beside_devices) return wanted;
  const session_lock session(session_->mutex_);
  return shows_timeline(session_->settings_) || shows_timeline(session_->environment())
             ? single_scopes::all
             : wanted;
}
inline void session_steps::note_mark(std::uint32_t which) const noexcept {
  if (counts_) append_step(which, recording_clock.load()());
}

inline void session_steps::arm() {
  const steps_lock lock(mutex_);
  if (!session_->arm()) return;
  plan(session_->effective_environment(), true);
  if (scheduled_ && action(0) == step_action::nothing) rest();
}

[[gnu::cold]] inline status session_steps::start(const effective_settings& wanted,
                                                 bool from_environment) {
  const steps_lock lock(mutex_);
  plan(wanted, from_environment);
  status s = session_->start(wanted_, from_environment_);
  if (!s) scheduled_ = false;
  if (scheduled_ && action(0) == step_action::nothing) rest();
  return s;
}

inline void session_steps::stop() {
  steps_lock lock(mutex_);
  const bool counts = is_running() && (!scheduled_ || action(step_) >= step_action::record);
  is_cut_ = is_cut_ || (scheduled_ && is_running());
  scheduled_ = false;
  session_->stop();
  if (counts) finish_cycle(lock, step_);
}

[[gnu::cold]] inline status session_steps::set_schedule(const step_schedule& wanted) {
  if (status s = check_schedule(wanted); !s) return s;
  const steps_lock lock(mutex_);
  effective_settings next{};
  bool was_on = false;
  {
    const session_lock session(session_->mutex_);
    const session_phases& phases = session_->phases_;
    if (phases.is(session_phase::off)) return {};
    // While the program looks at the profile of a cycle, a schedule is on and the session stopped.
    if (phases.is(session_phase::idle) || (phases.is(session_phase::stopped) && !scheduled_))
      return {"nothing is recorded; give the schedule to kprof::start() as settings::schedule"};
    next = combine(session_->settings_, session_->environment());
    if (!session_->environment().schedule.is_on()) next.value.schedule = wanted;
    was_on = !phases.is(session_phase::armed);
  }
  plan(next, from_environment_);
  if (!scheduled_) return {};
  if (action(0) == step_action::nothing) rest();
  else if (was_on) begin_cycle();
  return {};
}

inline void session_steps::on_profile(profile_function use, void* context) noexcept {
  const steps_lock lock(mutex_);
  use_ = use;
  context_ = context;
}

[[gnu::cold]] inline profile session_steps::snapshot(single_scopes wanted) {
  const steps_lock lock(mutex_);
  const bool warms_up = (scheduled_ || is_cut_) && action(step_) == step_action::warm_up;
  // A recording that a schedule has on is of a cycle that has not ended.
  const bool is_unfinished = scheduled_ && is_running();
  bool shows_cycle = has_cycle_ && (warms_up || is_unfinished || is_cut_ || !has_profile());
  profile run = shows_cycle ? whole_cycle() : session_->snapshot(scopes_in_profile(wanted));
  if (!shows_cycle && has_cycle_ && !scheduled_ && has_recorded_nothing(run)) {
    shows_cycle = true;  // the program has stopped before the next cycle
    run = whole_cycle();
  }
  tell_left_out(run);
  if (!shows_cycle && (is_unfinished || is_cut_) && !warms_up) tell_unfinished(run);
  if (!shows_cycle && warms_up && run.complete.recorded != 0)
    run.notes.push_back(
        "these are steps of the schedule's warm-up, which does not count: none of "
        "its active steps has come");
  return run;
}

inline void session_steps::next_step() {
  if (inside_kprof || recorder_is_lost) return;
  if (load(this_module.api) == &bootstrap::api()) own_start_recording();
  if (!scheduled_.load(std::memory_order_relaxed)) { return note_mark(detail::next_step); }
  steps_lock lock(mutex_);
  if (!scheduled_) return;
  if (driver_ == nullptr) driver_ = &inside_kprof;
  if (driver_ == &inside_kprof) advance(lock);
  else note_mark(detail::next_step);
}

inline void session_steps::advance(steps_lock& lock) {
  const step_action before = action(step_), now = action(++step_);
  const bool recorded = before != step_action::nothing;
  const bool goes_on = recorded && before != step_action::record_last &&
                       (before == step_action::warm_up) == (now == step_action::warm_up);
  const bool is_second = step_ == 1;  // the first began with the recording, without a mark
  const auto number = static_cast<std::uint32_t>(step_);
  if (goes_on) return note_mark(is_second ? second_step : number);
  if (before == step_action::record_last) {
    const std::uint64_t plan = plans_;
    note_mark(is_second ? no_second_step : no_step);
    session_->stop();
    if (!std::exchange(is_left_out_, false)) finish_cycle(lock, step_ - 1);
    // The program has stopped meanwhile, or begun with step 0 of another schedule.
    if (!scheduled_ || plans_ != plan) return;
  }
  if (now == step_action::nothing) return rest();
  begin_cycle();
  note_mark(number);
}

[[gnu::cold]] inline void session_steps::begin_cycle() {
  // A recording that begins forgets the last one, whether it gets its memory or not.
  if (std::exchange(is_only_recorded_, false)) ++left_out_;
  is_left_out_ = false;
  bool has_begun = false;
  static_cast<void>(attempt([&] { has_begun = session_->start(wanted_, from_environment_).ok(); }));
  if (has_begun) return;
  session_->stop();
  {
    const session_lock session(session_->mutex_);
    session_->phases_.leave_out();
  }
  if (action(step_) == step_action::warm_up) return;  // the steps that count may find memory
  is_left_out_ = true;
  ++left_out_;
}

[[gnu::cold]] inline bool session_steps::keep_cycle(std::uint64_t last_step, profile& ended) {
  profile run = session_->snapshot(scopes_in_profile(single_scopes::beside_devices));
  if (has_cycle_ && !scheduled_ && has_recorded_nothing(run)) return false;
  if (scheduled_) cycle_number_ = cycle_of(wanted_.value.schedule, last_step);
  session_->ceilings.add_to(run);
  if (use_ != nullptr) {
    ended = run;
    tell_left_out(ended);
    if (is_cut_) tell_unfinished(ended);
  }
  if (scheduled_) cycle_ = std::move(run);  // else the program has stopped within it
  return true;
}
[[gnu::cold]] inline void session_steps::finish_cycle(steps_lock& lock, std::uint64_t last_step) {
  ++cycles_;
  if (use_ == nullptr && !scheduled_) return;
  profile ended;
  bool is_empty = false;
  const bool had_memory = attempt([&] { is_empty = !keep_cycle(last_step, ended); });
  is_only_recorded_ = !had_memory;
  has_cycle_ = has_cycle_ || (had_memory && scheduled_);
  if (is_empty) return;  // the program has stopped before the next cycle
  // A cycle that ends inside the function is kept, but not handed to it: it could never return.
  if (use_ == nullptr || !had_memory || handing_ == &inside_kprof) return;
  const hands_to_program hands(handing_);
  static_cast<void>(attempt(
      [&] { lock.call([&ended, use = use_, context = context_] { use(ended, context); }); }));
}

/// hub_record::step.
KPROF_DETAIL_LOCAL inline void step_of_own_session() noexcept {
  const hold_cancellation hold;
  static_cast<void>(attempt([] { session_state::own_session->steps.next_step(); }));
}

}  // namespace detail
KPROF_DETAIL_END

#endif
