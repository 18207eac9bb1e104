// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_STEP_FUNCTIONS_HPP
#define KPROF_SESSION_STEP_FUNCTIONS_HPP

// Defines the functions of session_steps, after the session that they call.

#include <kprof/build_options.hpp>
#include <kprof/record/note_step.hpp>
#include <kprof/session/bootstrap.hpp>
#include <kprof/session/session_state.hpp>
#include <kprof/session/session_steps.hpp>
#include <kprof/write/attempt.hpp>

#include <cstdint>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

inline void session_steps::plan(const effective_settings& wanted, bool from_environment) {
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
  is_left_out_ = is_only_recorded_ = has_cycle_ = false;
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

inline status session_steps::start(const effective_settings& wanted, bool from_environment) {
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
  scheduled_ = false;
  session_->stop();
  if (counts) finish_cycle(lock);
}

inline status session_steps::set_schedule(const step_schedule& wanted) {
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

inline profile session_steps::snapshot(single_scopes wanted) {
  const steps_lock lock(mutex_);
  const bool warms_up = scheduled_ && action(step_) == step_action::warm_up;
  const bool shows_cycle = has_cycle_ && (warms_up || !has_profile());
  profile run = shows_cycle ? cycle_ : session_->snapshot(scopes_in_profile(wanted));
  tell_left_out(run);
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
  const auto number = static_cast<std::uint32_t>(step_);
  if (goes_on) return note_mark(number);
  if (before == step_action::record_last) {
    const std::uint64_t plan = plans_;
    note_mark(no_step);
    session_->stop();
    if (!std::exchange(is_left_out_, false)) finish_cycle(lock);
    // The program has stopped meanwhile, or begun with step 0 of another schedule.
    if (!scheduled_ || plans_ != plan) return;
  }
  if (now == step_action::nothing) return rest();
  begin_cycle();
  note_mark(number);
}

inline void session_steps::begin_cycle() {
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

inline void session_steps::finish_cycle(steps_lock& lock) {
  ++cycles_;
  if (use_ == nullptr && !scheduled_) return;
  profile ended;
  const bool had_memory = attempt([&] {
    profile run = session_->snapshot(scopes_in_profile(single_scopes::beside_devices));
    session_->ceilings.add_to(run);
    if (use_ != nullptr) ended = run, tell_left_out(ended);
    cycle_ = std::move(run);
  });
  is_only_recorded_ = !had_memory;
  has_cycle_ = has_cycle_ || had_memory;
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
