// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SESSION_STEPS_HPP
#define KPROF_SESSION_SESSION_STEPS_HPP

// The schedule of a session: which step the program is in, and what is done when the next one
// begins. It stands before the session's own start and stop, which it calls. Its functions are in
// step_functions.hpp. Its lock is taken before all others; the program's function is called without
// it.

#include <kprof/build_options.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/this_thread.hpp>
#include <kprof/session/owner_functions.hpp>
#include <kprof/session/precedence.hpp>
#include <kprof/session/step_schedule.hpp>
#include <kprof/status.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

class session_state;

class KPROF_DETAIL_LOCAL session_steps {
 public:
  explicit session_steps(session_state& session) noexcept : session_(&session) {}

  /// What the program and KPROF call.
  void arm();
  status start(const effective_settings& wanted, bool from_environment);
  void stop();
  profile snapshot(single_scopes wanted);
  status set_schedule(const step_schedule& wanted);
  void on_profile(profile_function use, void* context) noexcept;
  /// The step of the calling thread ends, and the next begins.
  void next_step();
  /// Whether the recording takes note of that. By the session.
  void count(bool on) noexcept { counts_ = on; }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  /// Its thread is inside kprof: a signal's handler that comes meanwhile waits for no lock.
  class steps_lock {
   public:
    explicit steps_lock(std::mutex& mutex) : lock_(mutex) {}
    /// Calls a function of the program, without the lock.
    template <class Function>
    void call(Function function) {
      const without_lock around(*this);
      function();
    }

   private:
    struct without_lock {
      explicit without_lock(steps_lock& lock) : of(lock) {
        of.lock_.unlock();
        of.mark_.leave();
      }
      ~without_lock() {
        of.mark_.enter();
        of.lock_.lock();
      }
      steps_lock& of;
    };
    mark_inside_kprof mark_;
    std::unique_lock<std::mutex> lock_;
  };

  /// This thread calls the program's function, until the end of the block or an exception of that
  /// function's. `handing`: the member, which names the thread.
  class hands_to_program {
   public:
    explicit hands_to_program(const bool*& handing) noexcept
        : handing_(handing), before_(std::exchange(handing, &inside_kprof)) {}
    ~hands_to_program() { handing_ = before_; }
    hands_to_program(const hands_to_program&) = delete;
    hands_to_program& operator=(const hands_to_program&) = delete;

   private:
    const bool*& handing_;
    const bool* before_;
  };

  /// Begins with step 0 of a schedule. The caller holds the lock, here and below.
  void plan(const effective_settings& wanted, bool from_environment);
  step_action action(std::uint64_t step) const noexcept {
    return action_of(wanted_.value.schedule, step);
  }
  void advance(steps_lock& lock);
  /// A recording of a cycle begins with the step that runs. Without memory for that the cycle is
  /// left out, and so is what was recorded of its warm-up.
  void begin_cycle();
  /// The cycle has ended with this step: keeps its profile, unless the program has stopped within
  /// it, and hands it to the program, without the lock.
  void finish_cycle(steps_lock& lock, std::uint64_t last_step);
  /// Keeps the profile of a cycle and copies it to `ended` where the program wants it; false where
  /// the cycle has nothing.
  bool keep_cycle(std::uint64_t last_step, profile& ended);
  std::string why_resting() const;
  /// The latest whole cycle, and which it is.
  profile whole_cycle() const;
  /// Says in the notes of a profile that its cycle has not ended, or that the program has cut it.
  void tell_unfinished(profile& run) const;
  /// The session stops until the schedule comes to its next step. `why`: for reports.
  void rest();
  bool is_running() const;
  bool has_profile() const;
  /// Says in the profile's notes how many cycles it lacks.
  void tell_left_out(profile& run) const;
  /// `wanted`, or all where a report of the settings shows them.
  single_scopes scopes_in_profile(single_scopes wanted) const;
  void note_mark(std::uint32_t which) const noexcept;

  session_state* session_;
  std::atomic<bool> scheduled_{false};
  std::atomic<bool> counts_{false};
  std::mutex mutex_;  // guards all below
  effective_settings wanted_{};
  bool from_environment_ = true;
  std::uint64_t plans_ = 0;       // schedules begun; the program may begin one without the lock
  std::uint64_t step_ = 0;        // that runs
  const bool* driver_ = nullptr;  // names the thread whose steps are counted: the first to call
  std::uint64_t cycles_ = 0;      // that have ended
  bool is_left_out_ = false;      // the cycle that runs
  bool is_cut_ = false;           // the program has stopped within a cycle, at step_
  std::uint64_t left_out_ = 0;    // cycles that there was no memory for
  // The latest cycle has ended without memory for its profile: it is still in the recorder.
  bool is_only_recorded_ = false;
  bool has_cycle_ = false;
  profile cycle_;                   // the latest that has ended with memory
  std::uint64_t cycle_number_ = 0;  // its number, from 1
  profile_function use_ = nullptr;
  void* context_ = nullptr;
  const bool* handing_ = nullptr;  // names the thread that the program's function runs on
};

}  // namespace detail
KPROF_DETAIL_END

#endif
