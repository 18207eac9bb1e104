// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_DEVICE_SESSION_HPP
#define KPROF_SESSION_DEVICE_SESSION_HPP

// The session's device part: starts and stops a collector, and passes what it tells on to the
// recorder and to attribution. Belongs to the session, which never frees it. The collector is the
// owner's; other modules reach it by its functions.

#include <kprof/attribute/attribution.hpp>
#include <kprof/attribute/transcript.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/recorder.hpp>
#include <kprof/session/device_state.hpp>
#include <kprof/session/exit_handlers.hpp>
#include <kprof/session/graph_notes.hpp>
#include <kprof/session/lock_control.hpp>
#include <kprof/session/note_call.hpp>
#include <kprof/session/session_clock.hpp>
#include <kprof/session/settings_value.hpp>
#include <kprof/write/attempt.hpp>
#include <kprof/write/lock_within.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// While it is held, no activity is attributed.
using attribution_lock = std::unique_lock<std::mutex>;

class KPROF_DETAIL_LOCAL device_session {
 public:
  /// Addresses of the owner's code.
  struct owner_functions {
    const collector_api* collector;
    device_listener listener;
    void (*at_exit)();  // CUDA is about to shut down
  };

  explicit device_session(recorder& threads)
      : attribution_(threads, threads.budget()),
        graphs_(threads, attribution_.graphs(), transcript_) {}

  /// Makes this module the owner of `session`; nullptr: of none.
  static void own(device_session* session) noexcept { own_device = session; }
  static owner_functions functions_of_this_module(const collector_api& collector,
                                                  void (*at_exit)()) noexcept {
    return {&collector,
            {&now, &launched, &called, &launched_by_kprof, &graph_node_made, &graph_captured,
             &graph_node_copied, &graph_node_moved, &graph_node_updated, &graph_node_set,
             &graph_node_destroyed, &context_made, &begin_reading, &read, &describe_device,
             &count_loss, &end_reading},
            at_exit};
  }
  void set_owner(const owner_functions& owner) noexcept { owner_ = owner; }

  /// Bytes of a session's `memory` that buffers and tables take; the rest is for logs and totals.
  static constexpr std::size_t share(std::size_t memory) noexcept {
    return buffers_share(memory) + attribution::share(memory);
  }

  // The session calls these without its lock: a thread that opens a library may wait for it.

  /// Begins to collect, or goes on. A failure is part of describe().
  void collect(const settings& wanted, bool uses_counter) {
    // Launches made before another thread has started the collector would not be seen.
    const auto lock = lock_control();
    if (!lock || abandoned_ || collecting_) return;
    // Launches may be seen before the recording begins, and run when it has begun.
    if (own_recorder->memory_limit() == 0) own_recorder->set_memory(recorder::smallest_memory);
    clock_.use_counter(uses_counter);
    const std::size_t memory = wanted.memory;
    const bool timeline = wanted.device_timeline;
    {
      const attribution_lock own(attribution_.mutex());
      const calibration_point at = clock_.read();  // launches may come before the recording begins
      clock_.restart(at);
      session_start_ = at.ticks;
      attribution_.history().describe_function = owner_.collector->function;
      if (!has_collected_) attribution_.restart(at.realtime_ns, memory, timeline);
    }
    transcript_.open();
    opening_ = true, state_.set_opening();
    status s{out_of_memory};
    static_cast<void>(attempt(
        [&] { s = owner_.collector->start(owner_.listener, buffers_share(memory), timeline); }));
    opening_ = false;
    collecting_ = s.ok();
    if (s) has_collected_ = true, exit_.add(owner_.at_exit);
    state_.set(s ? owner_.collector->version() : s.message);
  }
  /// The recording has begun while this thread was opening CUPTI, and goes on with it. False where
  /// it has it, or there is none. `after_ns`: since its begin.
  bool join(const attribution_lock&, std::uint64_t after_ns) {
    if (!collecting_ || in_recording_) return false;
    attribution_.history().whole_since = static_cast<std::int64_t>(after_ns);
    state_.set_joined_after(after_ns);
    return in_recording_ = true;
  }
  /// Ends collecting, if it is on. `reason`: what describe() says from now on.
  void collect_nothing(const char* reason) {
    const auto lock = lock_control();
    if (!lock || abandoned_) return;
    if (collecting_) finish(owner_.collector->stop);
    state_.set(reason);
  }
  /// Has the records of all work launched so far read. Waits for the devices.
  void flush() {
    if (const auto lock = lock_control(); lock && collecting_) fetch_all(owner_.collector->flush);
  }
  /// Ends collecting, if it is on and is_wanted() does not say that there is a recording with it.
  template <class Wanted>
  void stop_unless(Wanted is_wanted) {
    const auto lock = lock_control();
    if (lock && collecting_ && !is_wanted()) finish(owner_.collector->stop), state_.set_late();
  }
  /// CUDA is about to shut down: reads what is left, after which no call is made any more. Gives up
  /// after 5 s if another thread is waiting for a device that never finishes. True if it was
  /// collecting, and has all records now: the devices rest, and CUPTI is gone.
  bool end() {
    if (abandoned_ || recorder_is_lost) return false;
    const auto lock = lock_within(5000, control_);
    return lock && collecting_ && finish(owner_.collector->end);
  }
  /// Whether kprof may launch work of its own on the devices, to measure them.
  bool may_launch() const { return collecting_ && !abandoned_ && !owner_.collector->captures(); }
  void note_cuda_came_late() { state_.note_cuda_came_late(); }

  // The session calls these with its lock.

  /// Takes all launches noted so far, and holds attribution still.
  attribution_lock lock_attribution() {
    attribution_lock lock(attribution_.mutex());
    if (has_collected_) take_launches();
    return lock;
  }
  /// What is attributed in this recording; nullptr where nothing is collected.
  attribution* attributed(const attribution_lock&) {
    if (has_collected_) attribution_.retry_pending();
    return in_recording_ ? &attribution_ : nullptr;
  }
  /// A recording begins. The recorder has emptied the threads' logs while the caller held the lock.
  void restart(const attribution_lock&, const calibration_point& now, std::size_t memory,
               bool history) {
    session_start_ = now.ticks, notes_calls_ = history;
    if (has_collected_) attribution_.restart(now.realtime_ns, memory, history);
    in_recording_ = collecting_.load();
    state_.set_joined_after(0);
  }
  /// Launches made while this is false are ignored.
  void set_recording(bool on) noexcept { recording_ = on; }
  /// Whether anything was ever collected in this process.
  bool has_collected() const noexcept { return has_collected_; }

  /// Writes whether the recording has device activity, and why not; and what there is to note.
  void describe(device_profile& out, std::vector<std::string>& notes) {
    if (has_collected_)
      for (std::string& note : owner_.collector->notes()) notes.push_back(std::move(note));
    state_.add_note(notes);
    out.collecting = in_recording_;
    out.state = in_recording_ ? owner_.collector->version() : state_.text(collecting_);
  }
  std::size_t memory_held() {
    if (!has_collected_) return 0;
    const attribution_lock own(attribution_.mutex());
    return attribution_.bytes() + owner_.collector->memory();
  }

  void before_fork() {
    attribution_.mutex().lock();
    attribution_.graphs().mutex().lock();
    state_.mutex().lock();
  }
  void after_fork() {
    state_.mutex().unlock();
    attribution_.graphs().mutex().unlock();
    attribution_.mutex().unlock();
  }
  /// Neither CUDA nor its tools work in the child of a fork.
  void in_child(std::uint64_t realtime_ns) {
    after_fork();
    const bool in_use = !control_.try_lock();  // by another thread, which is not in the child
    if (!in_use) control_.unlock();
    if (owner_.collector == nullptr || (!has_collected_ && !in_use)) return;
    abandoned_ = true;
    transcript_.forget();
    collecting_ = false;
    owner_.collector->abandon();
    attribution_.restart(realtime_ns, 0);
    has_collected_ = in_recording_ = false;
    state_.set("not collected in the child of a fork, where CUDA cannot be used");
  }

 private:
  friend class session_ceilings;  // measures the devices
  static constexpr std::size_t buffers_share(std::size_t memory) noexcept { return memory / 8; }

  std::unique_lock<std::mutex> lock_control() {
    return detail::lock_control(control_, abandoned_, opening_);
  }

  /// Fetches the records of all launches so far by a function of the collector, which says whether
  /// all have come. The caller holds control_.
  bool fetch_all(bool (*by)()) {
    {
      const attribution_lock own = lock_attribution();
      attribution_.begin_flush(clock_.now());
    }
    if (!by()) return false;
    const attribution_lock own = lock_attribution();
    attribution_.retry_pending();
    attribution_.end_flush();
    return true;
  }
  /// Ends collecting by a function of the collector. The caller holds control_.
  bool finish(bool (*end_collecting)()) {
    const bool all = fetch_all(end_collecting);
    collecting_ = false;
    transcript_.write_through();
    const attribution_lock own = lock_attribution();
    attribution_.retry_pending();
    attribution_.count_pending_as_unknown();
    attribution_.stop_listening();
    return all;
  }

  /// The caller holds attribution's lock.
  void take_launches() {
    const calls_under_way launching = owner_.collector->launching();  // first: the others are noted
    clock_.calibrate_again();
    attribution_.set_epoch(clock_.line().realtime_of(session_start_));
    attribution_.take_launches(clock_.line(), launching);
  }

  /// Without memory they stay in the threads' logs.
  void take_launches_if_possible() noexcept {
    const mark_inside_kprof mark;  // a launching thread's allocator may have guards
    static_cast<void>(attempt([this] { static_cast<void>(lock_attribution()); }));
  }
  std::uint64_t realtime_of(std::uint64_t ticks) {
    const attribution_lock own(attribution_.mutex());
    return clock_.calibrated_realtime_of(ticks);
  }

  // ---- what the collector calls, in the owner

  static std::uint64_t now() noexcept { return own_device->clock_.now(); }
  static void launched(const observed_call& call, launch_kind what) noexcept {
    device_session& own = *own_device;
    const bool ignored = !own.counts_launches();
    own.exit_.launched(own.owner_.at_exit);
    own.note(call, record_kind_of(what, ignored));
    if (own.transcript_.is_open())
      own.transcript_.launch(*own_recorder, call, own.realtime_of(call.began), what, ignored);
  }
  static void called(const observed_call& call) noexcept {
    if (own_device->counts_launches()) own_device->note(call, record_kind::host_call);
  }
  bool counts_launches() const noexcept { return recording_ && in_recording_; }
  void note(const observed_call& call, record_kind kind) noexcept {
    if (note_call(*own_recorder, call, kind, notes_calls_)) take_launches_if_possible();
  }
  static void launched_by_kprof(const observed_call& call) noexcept {
    const attribution_lock lock(own_device->attribution_.mutex());
    static_cast<void>(attempt([&] { own_device->attribution_.leave_out(call); }));
  }
  static void graph_node_made(std::uint64_t node, bool does_work) noexcept {
    own_device->graphs_.made(node, does_work);
  }
  static void graph_captured() noexcept { own_device->graphs_.graph_captured(); }
  static void graph_node_copied(std::uint64_t node, std::uint64_t original) noexcept {
    own_device->graphs_.copied(node, original);
  }
  static void graph_node_moved(std::uint64_t node, std::uint64_t before) noexcept {
    own_device->graphs_.moved(node, before);
  }
  static void graph_node_updated(std::uint64_t node, std::uint64_t original) noexcept {
    own_device->graphs_.updated(node, original, now());
  }
  static bool graph_node_set(std::uint32_t exec, std::uint64_t original) noexcept {
    return own_device->graphs_.set(exec, original, now());
  }
  static void graph_node_destroyed(std::uint64_t node) noexcept {
    own_device->graphs_.destroyed(node);
  }
  static void context_made() noexcept { own_device->exit_.add(own_device->owner_.at_exit); }
  static void begin_reading() noexcept {
    own_device->reading_since_ = nanoseconds_of(CLOCK_MONOTONIC);
    own_device->take_launches_if_possible();
  }
  static void read(const activity* some, std::size_t count) noexcept {
    device_session& own = *own_device;
    if (own.transcript_.is_open()) own.transcript_.read(some, count);
    const mark_inside_kprof mark;
    const attribution_lock lock(own.attribution_.mutex());
    own.attribution_.take(some, count);
  }
  static void describe_device(const device_description& d) noexcept {
    if (own_device->transcript_.is_open()) own_device->transcript_.describe(d);
    const mark_inside_kprof mark;
    const attribution_lock lock(own_device->attribution_.mutex());
    static_cast<void>(attempt([&] { own_device->attribution_.describe(d); }));
  }
  static void count_loss(loss what, std::uint64_t how_many) noexcept {
    if (own_device->transcript_.is_open()) own_device->transcript_.lost(what, how_many);
    const attribution_lock lock(own_device->attribution_.mutex());
    own_device->attribution_.count_loss(what, how_many);
  }
  static void end_reading() noexcept {
    device_session& own = *own_device;
    const mark_inside_kprof mark;
    const attribution_lock lock(own.attribution_.mutex());
    static_cast<void>(attempt([&] { own.attribution_.retry_pending_if_due(); }));
    own.attribution_.count_reading(nanoseconds_of(CLOCK_MONOTONIC) - own.reading_since_);
  }

  static device_session* own_device;  // in the owner

  owner_functions owner_{};  // written before another module finds the session
  attribution attribution_;
  session_clock clock_;  // guarded by attribution_'s lock
  std::mutex control_;   // held to start, flush or stop the collector
  std::atomic<bool> collecting_{false};
  std::atomic<bool> abandoned_{false};  // in the child of a fork
  std::atomic<bool> opening_{false};    // the thread with control_ may be opening a library
  std::atomic<bool> has_collected_{false};
  std::atomic<bool> in_recording_{false};  // else launches that are told are in no profile
  std::atomic<bool> recording_{false};
  exit_handlers exit_;
  std::atomic<bool> notes_calls_{false};  // of functions, and how long they take
  std::uint64_t session_start_ = 0;       // ticks; guarded by attribution_'s lock
  std::uint64_t reading_since_ = 0;       // only one thread at a time reads
  device_transcript transcript_;
  graph_notes graphs_;
  device_state state_;
};
KPROF_DETAIL_LOCAL inline constinit device_session* device_session::own_device = nullptr;

}  // namespace detail
KPROF_DETAIL_END

#endif
