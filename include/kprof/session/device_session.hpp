// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_DEVICE_SESSION_HPP
#define KPROF_SESSION_DEVICE_SESSION_HPP

// The session's device part: starts and stops a collector, and gives what it tells to the recorder
// and to attribution. Belongs to the session, which never frees it. The collector is of the binary
// that made the session; other binaries reach it by its functions.
//
// Collectors open libraries and call drivers, so nothing here is called with the session's lock: a
// thread that is opening a library may be waiting for the session.

#include <kprof/attribute/attribution.hpp>
#include <kprof/attribute/transcript.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/activity.hpp>
#include <kprof/collect/lock_within.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/clock.hpp>
#include <kprof/record/recorder.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

class KPROF_DETAIL_LOCAL device_session {
 public:
  /// What only the binary that made the session can give: its own code.
  struct maker_code {
    const collector_api* collector;
    device_listener tell;
    void (*at_exit)();
  };

  explicit device_session(recorder& threads) : joined_(threads, threads.budget()) {}

  /// This binary's code serves the process from now on.
  void own() noexcept { own_device = this; }

  static maker_code code(const collector_api& collector) noexcept {
    return {&collector,
            {&now, &launched, &graph_node_made, &graph_node_copied,
             [](std::uint64_t node) noexcept { own_device->joined_.graphs().gone(node); },
             []() noexcept { own_device->register_exit(); }, &begin_reading, &read,
             &describe_device, &count_dropped, &end_reading},
            [] { own_device->end(); }};
  }
  void set_code(const maker_code& code) noexcept { code_ = code; }

  /// Bytes of `memory` that buffers and tables take; the rest is for logs and totals.
  static constexpr std::size_t share(std::size_t memory) noexcept {
    return buffers_share(memory) + attribution::share(memory);
  }

  // ---- without the session's lock

  /// Begins to collect if that is `wanted`, or goes on; ends it if not.
  void collect(bool wanted, const char* why_not, std::size_t memory, bool uses_counter) {
    // Launches made before another thread is through with this would not be seen.
    const auto lock = control();
    if (!lock || abandoned_) return;
    if (!wanted) {
      if (collecting_) finish(code_.collector->stop);
      set_state(why_not);
      return;
    }
    if (collecting_) return;
    uses_counter_ = uses_counter;
    {
      const std::lock_guard own(joined_.mutex());
      const calibration_point at = calibrate_now();
      time_.reset(at);
      // launches may come before the recording begins
      if (!has_collected()) joined_.restart(at.realtime_ns, memory);
    }
    transcript_.open();
    __atomic_store_n(&opening_, true, __ATOMIC_RELAXED);
    const status s = code_.collector->start(code_.tell, buffers_share(memory));
    __atomic_store_n(&opening_, false, __ATOMIC_RELAXED);
    __atomic_store_n(&collecting_, s.ok(), __ATOMIC_RELAXED);
    if (s) __atomic_store_n(&has_collected_, true, __ATOMIC_RELAXED);
    set_state(s ? code_.collector->version() : s.message);
    if (s) register_exit();
  }
  /// Has all that was launched so far read. Waits for the devices.
  void flush() {
    if (const auto lock = control(); lock && collecting_) code_.collector->flush();
  }
  void stop() {
    if (const auto lock = control(); lock && collecting_) finish(code_.collector->stop);
  }
  /// CUDA is about to go: what is left is read, and no call is made any more. Whoever waits for a
  /// device that never ends is not waited for.
  void end() {
    if (const auto lock = abandoned_ ? std::unique_lock<std::mutex>() : lock_within(5000, control_);
        lock && collecting_)
      finish(code_.collector->end);
  }

  /// The program was not found to use CUDA when the recording began, and now is.
  void note_late() {
    const std::lock_guard lock(state_mutex_);
    if (state_.empty())
      state_ =
          "not collected: the program loaded CUDA after the recording had begun; KPROF=cupti=on, "
          "or kprof::start() once it is loaded";
  }

  // ---- with it

  /// A recording begins; restart_threads() makes the threads' logs begin anew. Nothing is
  /// attributed between the two.
  template <class RestartThreads>
  void restart(std::uint64_t realtime_ns, std::size_t memory, RestartThreads restart_threads) {
    const std::lock_guard own(joined_.mutex());
    // also of threads that have ended: what they launched may still run
    if (has_collected()) take_launches();
    restart_threads();
    if (has_collected()) joined_.restart(realtime_ns, memory);
    __atomic_store_n(&in_recording_, __atomic_load_n(&collecting_, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
  }
  /// Launches made while this is false are ignored.
  void set_recording(bool on) noexcept { __atomic_store_n(&recording_, on, __ATOMIC_RELAXED); }
  /// In this process, and in this recording.
  bool has_collected() const noexcept { return __atomic_load_n(&has_collected_, __ATOMIC_RELAXED); }
  bool in_recording() const noexcept { return __atomic_load_n(&in_recording_, __ATOMIC_RELAXED); }

  /// The profile's device part is filled by `build`(attribution or nullptr), the rest here.
  template <class Build>
  profile build(Build make) {
    const std::lock_guard own(joined_.mutex());
    if (has_collected()) {
      take_launches();
      joined_.settle();
    }
    profile out = make(in_recording() ? &joined_ : nullptr);
    out.device.collecting = in_recording();
    {
      const std::lock_guard lock(state_mutex_);
      out.device.state = in_recording() ? code_.collector->version() : state_;
    }
    return out;
  }
  std::size_t memory_held() {
    if (!has_collected()) return 0;
    const std::lock_guard own(joined_.mutex());
    return joined_.bytes() + code_.collector->memory();
  }

  // ---- fork

  void before_fork() {
    transcript_.flush();  // or the child would write it once more
    joined_.mutex().lock();
    joined_.graphs().mutex().lock();
    state_mutex_.lock();
  }
  void after_fork() {
    state_mutex_.unlock();
    joined_.graphs().mutex().unlock();
    joined_.mutex().unlock();
  }
  /// Neither CUDA nor its tools work in the child of a fork.
  void in_child(std::uint64_t realtime_ns) {
    after_fork();
    const bool is_busy = !control_.try_lock();  // with another thread, which is not here
    if (!is_busy) control_.unlock();
    if (code_.collector == nullptr || (!has_collected() && !is_busy)) return;
    abandoned_ = true;
    collecting_ = false;
    code_.collector->abandon();
    joined_.restart(realtime_ns, 0);
    __atomic_store_n(&has_collected_, false, __ATOMIC_RELAXED);
    __atomic_store_n(&in_recording_, false, __ATOMIC_RELAXED);
    set_state("not collected in the child of a fork, where CUDA cannot be used");
  }

 private:
  static constexpr std::size_t buffers_share(std::size_t memory) noexcept { return memory / 8; }

  void set_state(std::string state) {
    const std::lock_guard lock(state_mutex_);
    state_ = std::move(state);
  }

  /// The lock of who starts, flushes or stops the collector; none where that cannot be had.
  /// Flushing takes as long as the devices do. But a thread that opens CUPTI may wait for a library
  /// that this one is loading.
  std::unique_lock<std::mutex> control() {
    std::unique_lock lock(control_, std::defer_lock);
    for (int waited = 0; !abandoned_ && !lock.try_lock() && waited < 20000;) {
      static_cast<void>(usleep(100));
      waited = __atomic_load_n(&opening_, __ATOMIC_RELAXED) ? waited + 1 : 0;
    }
    return lock;
  }

  void finish(void (*how)()) {
    how();
    __atomic_store_n(&collecting_, false, __ATOMIC_RELAXED);
    transcript_.flush();
    const std::lock_guard own(joined_.mutex());
    take_launches();
    joined_.settle();
    joined_.give_up_waiting();
  }

  // The handlers run in the opposite order, so that one registered once CUDA has registered its own
  // comes before it.
  void register_exit() noexcept {
    if (__atomic_fetch_add(&exits_, 1, __ATOMIC_RELAXED) < 4) std::atexit(code_.at_exit);
  }

  calibration_point calibrate_now() const noexcept {
    return uses_counter_ ? calibrate<counter_clock>() : calibrate<system_clock>();
  }

  /// With the lock of joined_.
  void take_launches() {
    time_.add(calibrate_now());
    const double rate = time_.ns_per_tick();
    joined_.take_launches([&](std::uint64_t ticks) { return realtime_of(ticks, rate); });
  }
  /// CLOCK_REALTIME, by its latest reading: it may have been set meanwhile.
  std::uint64_t realtime_of(std::uint64_t ticks, double ns_per_tick) const noexcept {
    const double ago =
        static_cast<double>(static_cast<std::int64_t>(time_.last().ticks - ticks)) * ns_per_tick;
    return time_.last().realtime_ns - static_cast<std::uint64_t>(static_cast<std::int64_t>(ago));
  }

  void write_launch(const std::uint32_t* ids, std::uint32_t count, std::uint64_t when,
                    bool ignored) {
    std::uint64_t realtime = 0;
    {
      const std::lock_guard own(joined_.mutex());
      time_.add(calibrate_now());
      realtime = realtime_of(when, time_.ns_per_tick());
    }
    transcript_.launch(*own_recorder, own_recorder->this_thread(), realtime, ids, count,
                       own_recorder->capture_for_graph(0, false).path, ignored);
  }

  // ---- what the collector calls

  static std::uint64_t now() noexcept {
    return own_device->uses_counter_ ? counter_clock::now() : system_clock::now();
  }
  static void launched(const std::uint32_t* ids, std::uint32_t count, std::uint64_t when) noexcept {
    const bool ignored = !__atomic_load_n(&own_device->recording_, __ATOMIC_RELAXED);
    own_recorder->note_launch(ids, count, when, ignored);
    // launches may have no records that would make kprof look at them
    if ((++launches_noted & 0xFFFU) == 0) {
      const staying_inside guard;
      const std::lock_guard own(own_device->joined_.mutex());
      own_device->take_launches();
    }
    if (own_device->transcript_.is_open()) own_device->write_launch(ids, count, when, ignored);
  }
  static void graph_node_made(std::uint64_t node, bool does_work) noexcept {
    const captured_scope where = own_recorder->capture_for_graph(node >> 32U, does_work);
    if (own_device->transcript_.is_open()) own_device->transcript_.node(*own_recorder, node, where);
    own_device->joined_.graphs().made(node, where);
  }
  static void graph_node_copied(std::uint64_t node, std::uint64_t original) noexcept {
    const std::uint64_t when = nanoseconds_of(CLOCK_REALTIME);
    if (own_device->transcript_.is_open()) own_device->transcript_.cloned(node, original, when);
    own_device->joined_.graphs().copied(node, original, when);
  }
  static void begin_reading() noexcept {
    own_device->reading_since_ = nanoseconds_of(CLOCK_MONOTONIC);
    const staying_inside guard;  // where a launching thread reads, its allocator may have guards
    const std::lock_guard own(own_device->joined_.mutex());
    own_device->take_launches();
  }
  static void read(const activity* some, std::size_t count) noexcept {
    if (own_device->transcript_.is_open())
      for (std::size_t i = 0; i < count; ++i) own_device->transcript_.read(some[i]);
    const staying_inside guard;
    const std::lock_guard own(own_device->joined_.mutex());
    own_device->joined_.take(some, count);
  }
  static void describe_device(const device_description& d) noexcept {
    if (own_device->transcript_.is_open()) own_device->transcript_.describe(d);
    const std::lock_guard own(own_device->joined_.mutex());
    own_device->joined_.describe(d);
  }
  static void count_dropped(std::uint64_t records) noexcept {
    if (own_device->transcript_.is_open()) own_device->transcript_.dropped(records);
    const std::lock_guard own(own_device->joined_.mutex());
    own_device->joined_.count_dropped(records);
  }
  static void end_reading() noexcept {
    const staying_inside guard;
    const std::lock_guard own(own_device->joined_.mutex());
    own_device->joined_.settle_if_worth_it();
    own_device->joined_.count_reading(nanoseconds_of(CLOCK_MONOTONIC) - own_device->reading_since_);
  }

  static thread_local constinit std::uint32_t launches_noted;  // by this thread
  static device_session* own_device;  // in the binary that made the session

  attribution joined_;
  timebase time_;  // guarded by joined_'s lock
  maker_code code_{};
  std::mutex control_;  // one at a time starts, flushes or stops the collector
  bool collecting_ = false;
  bool abandoned_ = false;
  bool opening_ = false;  // a library, maybe
  bool has_collected_ = false;
  bool in_recording_ = false;
  bool recording_ = false;
  bool uses_counter_ = false;
  int exits_ = 0;
  std::uint64_t reading_since_ = 0;  // of the one thread that reads
  device_transcript transcript_;
  std::mutex state_mutex_;
  std::string state_;
};
KPROF_DETAIL_LOCAL inline thread_local constinit std::uint32_t device_session::launches_noted = 0;
KPROF_DETAIL_LOCAL inline constinit device_session* device_session::own_device = nullptr;

}  // namespace detail
KPROF_DETAIL_END

#endif
