// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_PHASES_HPP
#define KPROF_SESSION_PHASES_HPP

// What the session is doing, which steps lead from one phase to another, and how long it was
// paused. Pure: the caller gives the time, in ns since the recording began. Guarded by the
// session's lock.

#include <kprof/build_options.hpp>

#include <cstdint>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

enum class session_phase : std::uint8_t {
  idle,   // made, and nothing has been asked of it
  armed,  // the first scope starts the recording
  off,    // the settings say that nothing is recorded
  recording,
  paused,
  stopped,
  resting,         // stopped until the schedule comes to its next step
  without_memory,  // the same, and what was recorded is no cycle
};

class session_phases {
 public:
  session_phase now() const noexcept { return now_; }
  bool is(session_phase phase) const noexcept { return now_ == phase; }
  /// Whether a recording has begun that has not ended: time goes on for it.
  bool is_running() const noexcept {
    return now_ == session_phase::recording || now_ == session_phase::paused;
  }
  /// Whether a recording has ever begun in this process, so that there is something to show.
  bool has_recorded() const noexcept { return has_recorded_; }
  /// Whether what was recorded counts: it is not what came before a cycle that could not begin.
  bool has_profile() const noexcept { return has_recorded_ && !is_left_out_; }

  void arm() noexcept { now_ = session_phase::armed; }
  void turn_off(std::string reason) {
    now_ = session_phase::off;
    off_reason_ = std::move(reason);
  }
  void record() noexcept {
    now_ = session_phase::recording;
    has_recorded_ = true;
    is_left_out_ = false;
    paused_ns_ = 0;
  }
  /// False, and nothing happens, unless a recording is on.
  bool pause(std::uint64_t now_ns) noexcept {
    if (now_ != session_phase::recording) return false;
    now_ = session_phase::paused;
    paused_since_ = now_ns;
    return true;
  }
  /// False, and nothing happens, unless a recording is paused.
  bool resume(std::uint64_t now_ns) noexcept {
    if (now_ != session_phase::paused) return false;
    paused_ns_ = paused_ns(now_ns);
    now_ = session_phase::recording;
    return true;
  }
  /// Ends a recording, or that the session waits for one. A session that is off stays off. Returns
  /// the phase before.
  session_phase stop(std::uint64_t now_ns) noexcept {
    const session_phase before = now_;
    paused_ns_ = paused_ns(now_ns);
    if (before != session_phase::off) now_ = session_phase::stopped;
    return before;
  }
  /// After stop(), or where nothing has been recorded. `why`: for reports.
  void rest(std::string why) {
    now_ = session_phase::resting;
    off_reason_ = std::move(why);
  }
  /// After stop(): there was no memory for the recording of a cycle to begin, and what was recorded
  /// before is not shown. Takes no memory.
  void leave_out() noexcept {
    now_ = session_phase::without_memory;
    is_left_out_ = true;
  }
  /// In the child of a fork, whose recording begins now.
  void restart_in_child(std::uint64_t now_ns) noexcept {
    paused_ns_ = 0;
    paused_since_ = now_ns;
  }

  /// How long the recording was paused, up to now.
  double paused_ns(std::uint64_t now_ns) const noexcept {
    return now_ == session_phase::paused ? paused_ns_ + static_cast<double>(now_ns - paused_since_)
                                         : paused_ns_;
  }
  /// The phase in words, for reports.
  std::string description() const {
    switch (now_) {
      case session_phase::idle:
        return "not started; call kprof::start() or include <kprof/kprof.hpp>";
      case session_phase::armed: return "armed; no scope has begun yet";
      case session_phase::off: return off_reason_;
      case session_phase::recording: return "recording";
      case session_phase::paused: return "paused";
      case session_phase::stopped: return "stopped";
      case session_phase::resting: return off_reason_;
      case session_phase::without_memory:
        return "resting: there was no memory to begin a cycle of the schedule";
    }
    return {};
  }

 private:
  session_phase now_ = session_phase::idle;
  bool has_recorded_ = false;
  bool is_left_out_ = false;
  std::string off_reason_;
  double paused_ns_ = 0;  // in pauses that are over
  std::uint64_t paused_since_ = 0;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
