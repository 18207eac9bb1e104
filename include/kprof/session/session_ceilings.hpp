// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SESSION_CEILINGS_HPP
#define KPROF_SESSION_SESSION_CEILINGS_HPP

// What the machine of this process reaches, as far as it is known: by the table of GPUs, by what
// was measured, now or earlier, and by a person, who is right. Included by the session. Any thread;
// nothing is read or measured with the session's lock.

#include <kprof/attach/environment_variable.hpp>
#include <kprof/build_options.hpp>
#include <kprof/machine/cuda_functions.hpp>
#include <kprof/machine/gpu_table.hpp>
#include <kprof/machine/measure_cpu.hpp>
#include <kprof/model/ceiling_rates.hpp>
#include <kprof/model/ceilings_text.hpp>
#include <kprof/model/written_ceilings.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/this_thread.hpp>
#include <kprof/session/ceilings_cache.hpp>
#include <kprof/session/device_session.hpp>
#include <kprof/session/measured_gpus.hpp>
#include <kprof/session/settings_value.hpp>
#include <kprof/status.hpp>
#include <kprof/write/attempt.hpp>
#include <kprof/write/write_error.hpp>

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// Pauses the recording of a session while its devices are measured: the time is not the program's.
struct recording_control {
  void* of = nullptr;
  bool (*pause)(void* of) = nullptr;  // whether it was running
  void (*resume)(void* of) = nullptr;

  template <class Session>
  static recording_control by(Session& session) noexcept {
    return {&session, [](void* it) { return static_cast<Session*>(it)->pause(); },
            [](void* it) { static_cast<Session*>(it)->resume(); }};
  }
};

class KPROF_DETAIL_LOCAL session_ceilings {
 public:
  /// `devices`: those of the session, which may be measured.
  explicit session_ceilings(const recording_control& recording = {},
                            device_session* devices = nullptr) noexcept
      : recording_(recording), devices_(devices) {}

  /// Which ceilings hold from now on.
  [[gnu::cold]] void choose(const settings& wanted) {
    const std::lock_guard lock(mutex_);
    if (choice_ != wanted.ceilings) found_ = false;
    choice_ = wanted.ceilings;
    writes_at_exit_ = !wanted.outputs.empty();
    by_program_ = wanted.machine;
  }

  /// Adds to a profile what is known, without measuring.
  [[gnu::cold]] void add_to(profile& run) noexcept {
    if (!attempt([&] { add_known_to(run); })) run.machine = {};
  }

  /// The same for a report: measures the processors before, once a process, where nothing is known
  /// of them and that is wanted. Takes up to a second then. `signal` is not 0 where one ends the
  /// program, which must not wait.
  [[gnu::cold]] void add_to_report(profile& run, int signal) noexcept {
    measure_with([&] {
      if (take_turn(signal)) measure();
    });
    if (signal == 0 && devices_ != nullptr && devices_->may_launch())
      measure_with([&] { measure_gpus(run.device.devices); });
    add_to(run);
  }

  /// CUDA is about to shut down: the last chance to measure the devices for what is written at the
  /// end. The collector has ended by then, and sees nothing of it.
  [[gnu::cold]] void end_devices() noexcept {
    measure_with([&] {
      if (devices_->end() && !inside_kprof && writes_at_exit()) measure_gpus(known_devices_now());
    });
  }

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  void in_child() {
    is_child_ = true;
    is_measuring_ = false;
    mutex_.unlock();
  }

 private:
  /// Under valgrind each instruction takes so long that the rates would be another machine's.
  [[gnu::cold]] static bool is_under_valgrind() noexcept {
    const char* const preloaded = environment_variable("LD_PRELOAD");
    return preloaded != nullptr && std::strstr(preloaded, "/vgpreload_") != nullptr;
  }

  [[gnu::cold]] bool writes_at_exit() {
    const std::lock_guard lock(mutex_);
    return writes_at_exit_;
  }
  [[gnu::cold]] std::vector<device_info> known_devices_now() {
    const attribution_lock lock(devices_->attribution_.mutex());
    return devices_->attribution_.devices();
  }
  /// kprof's own work on the devices begins, or has ended.
  [[gnu::cold]] void mark_own_work(bool begins) {
    const attribution_lock lock(devices_->attribution_.mutex());
    devices_->attribution_.own_work.mark(begins, nanoseconds_of(CLOCK_REALTIME));
  }

  // ---- what is known; with the lock

  [[gnu::cold]] void add_known_to(profile& run) {
    const mark_inside_kprof mark;
    const std::lock_guard lock(mutex_);
    find();
    machine_ceilings& m = run.machine;
    m = {};
    m.cpu = measured_;
    m.source = date_.empty() ? "" : "measured " + date_;
    for (const std::string& note : notes_)
      if (std::find(run.notes.begin(), run.notes.end(), note) == run.notes.end())
        run.notes.push_back(note);
    for (const device_info& d : run.device.devices) {
      gpu_ceilings& gpu = m.gpus.emplace_back(table_ceilings(d));
      if (choice_ == "off") continue;
      const gpu_ceilings& measured = gpus_.of(d, choice_ != "measure");
      if (!measured.measured.empty())
        put_measured_over(gpu, measured, d.compute_major * 10 + d.compute_minor);
    }
    put_over(m, by_program_, "by hand");
    put_over(m, by_file_, "from " + quoted_path(choice_));
    if (m.cpu.arithmetic.empty() && m.cpu.memory.empty()) m.cpu.notes.push_back(why_unknown_);
    if (m.cpu.threads == 0 && run.cpus != 0) m.cpu.threads = run.cpus;
  }

  /// What a person gave, over what is there.
  [[gnu::cold]] static void put_over(machine_ceilings& to, const machine_ceilings& from,
                                     const std::string& source) {
    if (!says_something(from)) return;
    if (!from.cpu.arithmetic.empty() || !from.cpu.memory.empty())
      to.source = to.source.empty() || gives_all_of(from.cpu, to.cpu)
                      ? source
                      : source + ", the rest " + to.source;
    detail::put_over(to.cpu, from.cpu);
    for (gpu_ceilings& gpu : to.gpus)
      for (const gpu_ceilings& given : from.gpus)
        if (given.device == "*" ||
            begins_with_words(name_without_maker(gpu.device), name_without_maker(given.device)))
          detail::put_over(gpu, given);
  }

  [[gnu::cold]] void find() {
    if (std::exchange(found_, true)) return;
    notes_.clear();
    by_file_ = {};
    measured_ = {};
    gpus_.forget();
    date_.clear();
    if (choice_ == "off") {
      why_unknown_ = ceilings_turned_off;
      return;
    }
    const ceilings_cache cache;
    if (choice_ != "measure" && cache.read(measured_, date_)) return read_file();
    why_unknown_ =
        "this machine was not measured yet; KPROF=ceilings=measure and `kprof ceilings --save` do";
    read_file();
  }
  [[gnu::cold]] bool is_file() const {
    return !(choice_ == "auto" || choice_ == "off" || choice_ == "cache" || choice_ == "measure");
  }
  [[gnu::cold]] void read_file() {
    if (!is_file()) return;
    const std::string shown = "ceilings=" + quoted_path(choice_) + ' ';
    const small_file file = read_small_file(choice_);
    if (!file.error.empty()) {
      notes_.push_back(shown + file.error +
                       "; name a file that `kprof ceilings --save FILE` has written, or one of "
                       "auto, cache, measure, off");
      return;
    }
    written_ceilings given = read_ceilings(file.text);
    for (const std::string& mistake : given.mistakes) notes_.push_back(shown + mistake);
    const usable_cpus_of_machine own = find_usable_cpus();
    const cpu_ceilings& cpu = given.value.cpu;
    const std::string model = one_line(own.model);
    if (!cpu.model.empty() && cpu.model != model)
      notes_.push_back(shown + "is of another processor (" + printable(cpu.model, 80) +
                       ") than this machine's (" + printable(model, 80) +
                       ") and is not used; take its line \"processor\" out to use it all the same");
    else if (cpu.threads != 0 && cpu.threads != own.threads())
      notes_.push_back(shown + "is of " + std::to_string(cpu.threads) +
                       " threads, and this process may use " + std::to_string(own.threads()) +
                       "; it is not used; take its line \"threads\" out to use it all the same");
    else if (!says_something(given.value) && given.mistakes.empty())
      notes_.push_back(shown + "has no ceilings");
    else by_file_ = std::move(given.value);
  }

  // ---- measuring

  template <class Measure>
  [[gnu::cold]] void measure_with(const Measure& measure_some) noexcept {
    if (attempt(measure_some)) return;
    const std::lock_guard lock(mutex_);
    is_measuring_ = false;
  }

  /// Why nobody may measure here; nullptr: it is all right.
  [[gnu::cold]] const char* obstacle(int signal) const {
    return signal != 0                ? "a signal ends the program, which does not wait for it"
           : is_child_                ? "the process is the child of a fork"
           : environment_is_foreign() ? "the process has rights that its caller lacks"
           : is_under_valgrind()      ? "valgrind runs the program"
                                      : nullptr;
  }

  /// Whether this thread is to measure now. Else why_unknown_ says why nobody does.
  [[gnu::cold]] bool take_turn(int signal) {
    const mark_inside_kprof mark;
    const std::lock_guard lock(mutex_);
    find();
    const bool is_wanted = choice_ == "measure" || choice_ == "auto";
    if (!is_wanted || !measured_.arithmetic.empty() || has_tried_ || is_measuring_) return false;
    if (const char* const why = obstacle(signal); why != nullptr) {
      why_unknown_ = std::string{"this machine was not measured: "} + why;
      return false;
    }
    is_measuring_ = true;
    return true;
  }

  /// Without the lock: other threads go on, and take snapshots.
  [[gnu::cold]] void measure() {
    const mark_inside_kprof mark;
    ceilings_cache cache;
    const status place = cache.prepare();
    cpu_ceilings measured;
    std::string date, why, note;
    // Another process may have been quicker. Without a place for it, each run would measure anew.
    const bool is_asked_for = choice_ == "measure";
    if (is_asked_for || (place && !cache.read(measured, date))) {
      const std::int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
      const std::int64_t cpu_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
      measured = cpu_measurement{}.take();
      measuring_cpu_ns += read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
      const std::int64_t took_ns = read_clock_ns(CLOCK_MONOTONIC) - begin_ns;
      date = date_of_today();
      // No processor is so slow: the rates are those of an emulator.
      constexpr double slowest_hz = 2e8;
      if (measured.clock_hz > 0 && measured.clock_hz < slowest_hz) {
        why = "this machine was measured, and is an emulator or very busy: its clock came out as " +
              std::to_string(static_cast<std::int64_t>(measured.clock_hz / 1e6)) + " MHz";
        measured = {};
      } else if (measured.arithmetic.empty()) {
        why = measured.notes.empty() ? "this machine could not be measured" : measured.notes[0];
      } else {
        note = "kprof measured what this machine reaches, for " + seconds_text(took_ns);
        status kept = place;
        if (kept) kept = cache.keep(measured);
        note += kept ? ", once: later runs take it from " + quoted_path(cache.path())
                     : "; it is not kept: " + kept.message;
      }
    } else if (!place) {
      why = "this machine was not measured: " + place.message +
            "; KPROF=ceilings=measure measures it for one run";
    }
    const std::lock_guard lock(mutex_);
    is_measuring_ = false;
    has_tried_ = true;
    if (!note.empty()) notes_.push_back(std::move(note));
    if (!why.empty()) why_unknown_ = std::move(why);
    if (measured.arithmetic.empty()) return;
    measured_ = std::move(measured);
    date_ = std::move(date);
  }

  /// Measures the devices that did work, where that is wanted, once a process.
  [[gnu::cold]] void measure_gpus(const std::vector<device_info>& devices) {
    const mark_inside_kprof mark;
    for (const device_info& d : devices) {
      {
        const std::lock_guard lock(mutex_);
        find();
        if (choice_ != "measure" || is_measuring_ || obstacle(0) != nullptr) return;
        if (!gpus_.take_untried(d)) continue;
        is_measuring_ = true;
      }
      measure_gpu(d);
    }
  }
  /// Without the lock, as measure().
  [[gnu::cold]] void measure_gpu(const device_info& d) {
    gpu_ceilings measured;
    std::string note;
    const bool has_paused = recording_.pause(recording_.of);
    mark_own_work(true);
    const bool had_memory = attempt([&] {
      cuda_functions cuda{};
      const status found = find_cuda_functions(cuda);
      if (found) measured = measure_and_keep(cuda, d, note);
      else note.append("devices were not measured: ").append(found.message);
    });
    mark_own_work(false);
    if (has_paused) recording_.resume(recording_.of);
    const std::lock_guard lock(mutex_);
    is_measuring_ = false;
    if (!had_memory) return;
    gpus_.put(d, std::move(measured));
    notes_.push_back(std::move(note));
  }

  const recording_control recording_;  // of the session that devices_ are part of
  device_session* const devices_;
  std::mutex mutex_;  // guards all below; locked after the session's
  std::string choice_ = "auto";
  machine_ceilings by_program_, by_file_;
  cpu_ceilings measured_;
  measured_gpus gpus_;
  std::string date_;         // when; empty: never
  std::string why_unknown_;  // the processors' ceilings
  std::vector<std::string> notes_;
  bool found_ = false;         // what is known without measuring
  bool has_tried_ = false;     // to measure
  bool is_measuring_ = false;  // a thread does now
  bool is_child_ = false;      // of a fork
  bool writes_at_exit_ = false;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
