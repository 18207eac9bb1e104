// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_SESSION_STATE_HPP
#define KPROF_SESSION_SESSION_STATE_HPP

// The session of the process: made by the first binary that asks for it, found by the others
// through the hub, never freed. A binary that did not make it works on the same object, but leaves
// to the maker what must be the maker's own code: the functions that guards call, NVTX, and what is
// registered with the system.

#include <kprof/attach/build_name.hpp>
#include <kprof/attach/hub.hpp>
#include <kprof/attribute/build.hpp>
#include <kprof/build_options.hpp>
#include <kprof/collect/cupti.hpp>
#include <kprof/collect/uses_cuda.hpp>
#include <kprof/emit/nvtx.hpp>
#include <kprof/record/scope_functions.hpp>
#include <kprof/report/output.hpp>
#include <kprof/report/text.hpp>
#include <kprof/session/device_session.hpp>
#include <kprof/settings.hpp>
#include <kprof/status.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

enum class session_phase : std::uint8_t { idle, armed, off, recording, paused, stopped };

class KPROF_DETAIL_LOCAL session_state {
 public:
  // First, so that another build can read it.
  const char* const build = session_build;

  session_state() {
    code_ = {{{&scope_functions<counter_clock, false>::api(),
               &scope_functions<counter_clock, true>::api()},
              {&scope_functions<system_clock, false>::api(),
               &scope_functions<system_clock, true>::api()}},
             &bootstrap(),
             &attach,
             &refuse_nvtx,
             &disarm_nvtx,
             [] { own_session->report_at_exit(); },
             []() noexcept -> bool& { return inside_kprof; }};
    device_.set_code(device_session::code(cupti_api()));
  }

  /// This binary's code serves the process from now on.
  void own() noexcept {
    own_session = this;
    own_recorder = &recorder_;
    device_.own();
  }

  /// Waits for the first scope, as KPROF says.
  void arm() {
    const entry in(*this);
    if (phase_ != session_phase::idle) return;
    const settings& wanted = environment();
    report_when_the_program_ends(wanted);
    settings_ = wanted;
    phase_ = wanted.enabled ? session_phase::armed : session_phase::off;
    off_reason_ = "off (KPROF=off)";
    if (!wanted.enabled || !wanted.nvtx) code_.refuse_nvtx();
    if (wanted.enabled) listen(code_.bootstrap);
  }

  /// As the program says; but what KPROF turns off stays off, so that a run can be had without
  /// kprof and without a rebuild.
  status start(settings wanted) {
    look_for_tool(wanted.nvtx);
    collect(wanted);
    const entry in(*this);
    settings_are_from_environment_ = false;
    if (!environment().nvtx) wanted.nvtx = false;
    return start_locked(wanted);
  }
  /// As KPROF says.
  status start() {
    look_for_tool(true);
    collect(environment_settings());
    const entry in(*this);
    settings_are_from_environment_ = true;
    return start_locked(environment());
  }

  void stop() {
    device_.stop();
    const entry in(*this);
    if (phase_ == session_phase::armed) listen(nullptr);
    if (phase_ == session_phase::armed || phase_ == session_phase::idle)
      phase_ = session_phase::stopped;
    if (phase_ != session_phase::recording && phase_ != session_phase::paused) return;
    if (phase_ == session_phase::paused) add_pause();
    listen(nullptr);
    device_.set_recording(false);
    time_.add(calibrate_now());
    phase_ = session_phase::stopped;
  }

  void pause() {
    look_for_tool(true);
    if (is_armed()) collect(armed_settings());
    const entry in(*this);
    if (phase_ == session_phase::armed) start_locked(settings_);
    if (phase_ != session_phase::recording) return;
    listen(nullptr);
    device_.set_recording(false);
    paused_at_ = nanoseconds_of(CLOCK_MONOTONIC);
    phase_ = session_phase::paused;
  }

  void resume() {
    const entry in(*this);
    if (phase_ != session_phase::paused) return;
    add_pause();
    phase_ = session_phase::recording;
    device_.set_recording(true);
    listen(active_api());
  }

  profile snapshot(bool timeline) {
    device_.flush();
    if (!device_.has_collected() && looks_for_cuda() && uses_cuda()) device_.note_late();
    const entry in(*this);
    profile out;
    if (started_) {
      const bool running = phase_ == session_phase::recording || phase_ == session_phase::paused;
      if (running) time_.add(calibrate_now());
      const std::uint64_t now = time_.last().ticks;
      out = device_.build([&](attribution* device) {
        return build_profile(recorder_, device, {time_, now, timeline});
      });
      out.wall_ns = time_.since_start_ns(now);
      out.paused_ns =
          paused_ns_ + (phase_ == session_phase::paused
                            ? static_cast<double>(nanoseconds_of(CLOCK_MONOTONIC) - paused_at_)
                            : 0);
      describe_clock(out);
      describe_cost(out);
    }
    out.recording = phase_ == session_phase::recording;
    out.state = describe_phase();
    out.notes = notes_;
    return out;
  }

  report_options report_settings() const {
    const entry in(*this);
    return settings_.report;
  }

  /// A binary is about to be unloaded.
  static void detach(const module_record& leaving) noexcept {
    own_session->recorder_.detach(leaving);
    if (own_session->previous_detach_ != nullptr) own_session->previous_detach_(leaving);
  }
  // whoever else takes leave of binaries
  void (*previous_detach_)(const module_record& leaving) noexcept = nullptr;

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
    const calibration_point now = calibrate_now();
    recorder_.in_child(now.ticks);
    device_.in_child(now.realtime_ns);
    if (started_) {
      time_.reset(now);
      paused_ns_ = 0;
      paused_at_ = now.monotonic_ns;
      has_reported_ = false;
      notes_.push_back("forked from process " + std::to_string(getppid()) +
                       ": this profile is of the child alone");
    }
    mutex_.unlock();
  }

  /// The first scope of an armed session.
  void wake() {
    const staying_inside guard;
    look_for_tool(true);
    collect(armed_settings());
    const entry in(*this);
    if (phase_ == session_phase::armed) start_locked(settings_);
  }

  /// The program has printed `run` as the settings say: the report at the end need not say it
  /// again.
  void reported(const profile& run) {
    const entry in(*this);
    has_reported_ = settings_are_from_environment_ || !environment_.report_at_exit;
    reported_ = run.complete;
  }

  KPROF_DETAIL_LOCAL static session_state* own_session;  // in the binary that made it

 private:
  /// What only the binary that made the session can give: the addresses of its own code.
  struct maker_code {
    const scope_api* recorder_api[2][2];  // by clock (counter, system) and emitter (no, yes)
    const scope_api* bootstrap;
    const emitter_api* (*attach_nvtx)() noexcept;
    void (*refuse_nvtx)() noexcept;
    void (*disarm_nvtx)() noexcept;
    void (*at_exit)();
    bool& (*inside)() noexcept;  // this thread's flag that guards' slow paths look at
  };

  /// The lock, and word to the guards in the program's allocator that this thread must not come
  /// back for it.
  class entry {
   public:
    explicit entry(const session_state& s) noexcept
        : flag_(s.code_.inside()), before_(std::exchange(flag_, true)), lock_(s.mutex_) {}
    ~entry() { flag_ = before_; }
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;

   private:
    bool& flag_;
    bool before_;
    std::lock_guard<std::mutex> lock_;
  };

  static const emitter_api* attach() noexcept {
    const emitter_api* tool = attach_nvtx();
    if (tool == nullptr) disarm_nvtx();
    return tool;
  }

  /// Without the lock: NVTX opens the tool's library, and a thread that is opening one may be
  /// waiting for this session.
  void look_for_tool(bool wanted) {
    {
      const entry in(*this);
      wanted = wanted && environment().enabled && environment().nvtx &&
               (phase_ != session_phase::armed || settings_.nvtx);
    }
    if (wanted) static_cast<void>(code_.attach_nvtx());
  }

  settings environment_settings() {
    const entry in(*this);
    return environment();
  }
  bool looks_for_cuda() const {
    const entry in(*this);
    return started_ && settings_.cupti == cupti_choice::automatic &&
           environment_.cupti == cupti_choice::automatic;
  }
  bool is_armed() const {
    const entry in(*this);
    return phase_ == session_phase::armed;
  }
  settings armed_settings() const {
    const entry in(*this);
    return settings_;
  }

  /// Without the lock, as above.
  void collect(const settings& wanted) {
    const settings& from_environment = environment_settings();
    const cupti_choice cupti =
        from_environment.cupti == cupti_choice::automatic ? wanted.cupti : from_environment.cupti;
    const bool enabled = from_environment.enabled && wanted.enabled;
    const bool cuda = enabled && (cupti == cupti_choice::on || uses_cuda());
    device_.collect(cuda && cupti != cupti_choice::off,
                    !cuda                                         ? ""
                    : from_environment.cupti == cupti_choice::off ? "off (KPROF=cupti=off)"
                                                                  : "off (settings::cupti is off)",
                    wanted.memory,
                    wanted.clock == clock_choice::automatic && counter_clock::usable());
  }

  // Guards call these until the session has started; each starts it and goes on with what then
  // listens.
  static const scope_api* woken() noexcept {
    // an allocator's guard, while this thread is waking the session
    if (inside_kprof) return nullptr;
    own_session->wake();
    return load(this_module.api);
  }
  template <std::size_t Words>
  static scope_token first_begin(site& where, const void* params) noexcept {
    const scope_api* api = woken();
    return api == nullptr ? 0 : api->begin[Words](where, params);
  }
  template <std::size_t... Words>
  static constexpr scope_api make_bootstrap(std::index_sequence<Words...>) noexcept {
    return {1,
            sizeof(scope_api),
            // The guard that woke the session closes its scope through this table.
            [](scope_token token) noexcept {
              if (const scope_api* api = load(own_session->started_api_)) api->end(token);
            },
            [](site& where, const void* bytes, std::uint32_t size) noexcept -> scope_token {
              const scope_api* api = woken();
              return api == nullptr ? 0 : api->begin_any(where, bytes, size);
            },
            {&first_begin<Words>...},
            []() noexcept -> std::uint32_t { return 0; },
            [](std::uint32_t) noexcept -> scope_token { return 0; },
            [](scope_token) noexcept {}};
  }
  static const scope_api& bootstrap() noexcept {
    static constexpr scope_api table =
        make_bootstrap(std::make_index_sequence<max_fast_words + 1>{});
    return table;
  }

  /// The settings in KPROF, read once; mistakes are said on standard error and in every report.
  const settings& environment() {
    if (environment_read_) return environment_;
    environment_read_ = true;
    if (const char* text = std::getenv("KPROF")) {
      parsed_settings parsed = settings::parse(text);
      environment_ = parsed.value;
      for (const std::string& e : parsed.errors) {
        notes_.push_back("KPROF: " + e);
        std::fprintf(stderr, "kprof: KPROF: %s\n", e.c_str());
      }
    }
    return environment_;
  }

  status start_locked(const settings& wanted) {
    if (!environment().enabled || !wanted.enabled) {
      listen(nullptr);
      device_.set_recording(false);
      phase_ = session_phase::off;
      off_reason_ = environment().enabled ? "off (settings::enabled is false)" : "off (KPROF=off)";
      return {};
    }
    settings_ = wanted;
    report_when_the_program_ends(wanted);
    const bool counter = wanted.clock == clock_choice::automatic && counter_clock::usable();
    if (started_ && counter != uses_counter_)
      note_once("the clock cannot change between recordings of a process; it stays " +
                std::string(clock_name()));
    else uses_counter_ = counter;
    std::size_t memory = wanted.memory;
    static_assert(settings::smallest_memory == recorder::smallest_memory);
    if (memory < recorder::smallest_memory) {
      note_once("memory=" + std::to_string(memory) +
                " is too small to work with; the smallest, 1 MiB, is used");
      memory = recorder::smallest_memory;
    }
    const std::size_t for_devices = device_.has_collected() ? device_session::share(memory) : 0;
    recorder_.set_memory(memory - for_devices);
    const calibration_point now = calibrate_now();
    memory_ = memory;
    device_.restart(now.realtime_ns, memory, [&] {
      if (started_) recorder_.restart(now.ticks);
    });
    started_ = true;
    has_reported_ = false;
    time_.reset(now);
    paused_ns_ = 0;
    const emitter_api* emitter = wanted.nvtx ? code_.attach_nvtx() : nullptr;
    if (!wanted.nvtx) code_.disarm_nvtx();
    if (emitter != nullptr) store(the_hub().emitter, emitter);
    emits_ = emitter != nullptr;
    phase_ = session_phase::recording;
    device_.set_recording(true);
    store(started_api_, active_api());
    listen(active_api());
    return {};
  }

  void report_when_the_program_ends(const settings& wanted) {
    if (!wanted.report_at_exit || exit_report_) return;
    exit_report_ = true;
    std::atexit(code_.at_exit);
  }
  /// The report that KPROF asks for is as KPROF says, whatever the program has set meanwhile.
  report_options exit_report_settings() const {
    const entry in(*this);
    return environment_.report_at_exit ? environment_.report : settings_.report;
  }

  void note_once(std::string note) {
    for (const std::string& n : notes_)
      if (n == note) return;
    notes_.push_back(std::move(note));
  }

  const scope_api* active_api() const noexcept {
    return code_.recorder_api[uses_counter_ ? 0 : 1][emits_ ? 1 : 0];
  }
  void listen(const scope_api* api) noexcept {
    hub_record& hub = the_hub();
    store(hub.recorder, api);
    publish(hub);
  }
  void add_pause() noexcept {
    paused_ns_ += static_cast<double>(nanoseconds_of(CLOCK_MONOTONIC) - paused_at_);
  }

  const char* clock_name() const noexcept {
    return uses_counter_ ? counter_clock::name : system_clock::name;
  }
  calibration_point calibrate_now() const noexcept {
    return uses_counter_ ? calibrate<counter_clock>() : calibrate<system_clock>();
  }

  void describe_clock(profile& out) const {
    out.clock = {clock_name(), time_.ns_per_tick(), time_.residual_ns(), time_.first().realtime_ns};
  }
  void describe_cost(profile& out) {
    const scope_cost cost =
        uses_counter_ ? measure_scope<counter_clock>() : measure_scope<system_clock>();
    out.cost.scope_ns = cost.scope * time_.ns_per_tick();
    out.cost.empty_scope_ns = cost.empty * time_.ns_per_tick();
    out.cost.recording_ns =
        out.cost.scope_ns * static_cast<double>(out.complete.recorded + out.complete.open);
    out.cost.folding_ns = static_cast<double>(recorder_.folding_ns());
    out.cost.memory = recorder_.memory_held() + device_.memory_held();
    out.cost.memory_limit = memory_;
  }
  std::string describe_phase() const {
    switch (phase_) {
      case session_phase::idle:
        return "not started; call kprof::start() or include <kprof/kprof.hpp>";
      case session_phase::armed: return "armed; no scope has begun yet";
      case session_phase::off: return off_reason_;
      case session_phase::recording: return "recording";
      case session_phase::paused: return "paused";
      case session_phase::stopped: return "stopped";
    }
    return {};
  }

  static bool same_scopes(const completeness& a, const completeness& b) noexcept {
    return a.recorded == b.recorded && a.open == b.open && a.dropped == b.dropped &&
           a.dropped_inside == b.dropped_inside && a.closed_by_parent == b.closed_by_parent &&
           a.closed_elsewhere == b.closed_elsewhere && a.never_closed == b.never_closed;
  }

  void report_at_exit() {
    const report_options options = exit_report_settings();
    device_.end();  // waits for the devices, but not for ever
    const profile run = snapshot(false);
    if (has_reported_ && same_scopes(run.complete, reported_)) return;
    std::string text;
    status s = write_text(run, options, text);
    if (s) s = write_output(expand_path(options.path), text);
    if (!s) std::fprintf(stderr, "kprof: %s\n", s.message.c_str());
  }

  maker_code code_{};
  mutable std::mutex mutex_;
  recorder recorder_;
  device_session device_{recorder_};
  std::size_t memory_ = 0;
  timebase time_;
  settings environment_;
  bool environment_read_ = false;
  bool exit_report_ = false;
  settings settings_;
  session_phase phase_ = session_phase::idle;
  std::string off_reason_;
  bool started_ = false;
  bool uses_counter_ = false;
  bool emits_ = false;
  const scope_api* started_api_ = nullptr;  // what the scope that woke the session ends with
  double paused_ns_ = 0;
  std::uint64_t paused_at_ = 0;
  std::vector<std::string> notes_;
  bool settings_are_from_environment_ = true;
  bool has_reported_ = false;  // the program, as the report at exit would
  completeness reported_;
};
KPROF_DETAIL_LOCAL inline constinit session_state* session_state::own_session = nullptr;

}  // namespace detail
KPROF_DETAIL_END

#endif
