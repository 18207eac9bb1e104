// SPDX-License-Identifier: MIT
#ifndef KPROF_MEASURE_HPP
#define KPROF_MEASURE_HPP

// A micro-benchmark of one operator: how long a call takes with warm and with cold caches, how
// near that is to the machine's roof, and what holds it back. Include it where such a measurement
// is taken; it takes about as long to compile as kprof.hpp, which leaves it out for that reason.
//
//   kprof::measure(Saxpy{.n = n}, [&] { saxpy(3.0F, x, y); });
//
// The call is timed by itself, without guards, and nothing of it is recorded: a recording that is
// on is paused meanwhile, for all threads, and its report counts the time as paused. What the
// machine reaches is taken as for a report: from the settings, a file, or measured once.

#include <kprof/build_options.hpp>
#include <kprof/kprof.hpp>
#include <kprof/model/median_interval.hpp>
#include <kprof/model/summary.hpp>
#if KPROF_ENABLE
#include <kprof/attach/hub.hpp>
#include <kprof/machine/cache_eviction.hpp>
#include <kprof/session/measured_profile.hpp>
#include <kprof/session/sampling.hpp>
#include <kprof/write/message.hpp>
#endif

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

KPROF_DETAIL_BEGIN

struct measure_options {
  /// Calls are repeated until their median is known to this share of it, either way, in 95 of 100
  /// cases; or until a limit is reached, which the report says.
  double precision = 0.01;
  double seconds = 1;       ///< at most, with warm caches and again with cold ones; a call is ended
  std::uint64_t calls = 0;  ///< about so many at most; 0: as many as the time allows
  bool cold = true;         ///< measure with cold caches too
  bool print = true;        ///< print the rows, as `report` says
  report_options report{};  ///< of the page; rows are by region, which is warm or cold
};

/// What was measured, with warm caches or with cold ones.
struct measured_calls {
  std::string why = "not measured";  ///< why there is nothing; empty: it was measured
  median_interval median;            ///< of a call
  std::uint64_t calls = 0;           ///< that were timed
  std::uint64_t batch = 1;           ///< calls timed at a time, where one is too short
  std::uint64_t interrupted = 0;     ///< samples left out: another thread took the CPU
  bool is_precise = false;           ///< the median is known as was asked
  operator_row row;                  ///< as reports have it: rates, and in `verdict` roof and bound

  explicit operator bool() const noexcept { return why.empty(); }
};

struct measurement {
  measured_calls warm;  ///< the data that the call used before is where it was then
  measured_calls cold;  ///< it is in no cache
  work_per_call work;   ///< by the operator's formulas
  profile run;          ///< the same for tables and outputs

  explicit operator bool() const noexcept { return static_cast<bool>(warm); }
};

/// Makes the compiler compute `value`, which a measured function does not return.
template <class T>
[[gnu::always_inline]] inline void keep(const T& value) noexcept {
  __asm__ volatile("" : : "r"(&value) : "memory");
}

namespace detail {

[[gnu::cold]] inline std::string wrong_limits(const measure_options& o) {
  if (!(o.precision > 0) || !(o.precision < 1))
    return "precision is a share of the median, above 0 and below 1: 0.01 is 1 %";
  if (!(o.seconds > 0) || !std::isfinite(o.seconds)) return "seconds must be a number above 0";
  return {};
}

#if KPROF_ENABLE

/// Pauses the recording, if there is one, and goes on with it at the end of the last of them.
class KPROF_DETAIL_LOCAL recording_pause {
 public:
  [[gnu::cold]] recording_pause() {
    const std::lock_guard lock(mutex_);
    if (count_ == 0 && listener() != nullptr) {
      const profile before = snapshot();
      // Armed, a guard in the call would begin a recording.
      has_paused_ = before.recording || before.state.starts_with("armed");
      if (has_paused_) pause();
    }
    ++count_;
  }
  [[gnu::cold]] ~recording_pause() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0 && std::exchange(has_paused_, false)) resume();
  }
  recording_pause(const recording_pause&) = delete;
  recording_pause& operator=(const recording_pause&) = delete;

 private:
  static inline std::mutex mutex_;  // guards the two below
  static inline int count_ = 0;     // of all threads
  static inline bool has_paused_ = false;
};

[[gnu::cold]] inline void fill_in(measured_calls& out, const call_samples& s,
                                  const sampling_limits& limits) {
  out.why.clear();
  out.median = s.median;
  out.batch = s.batch;
  out.calls = s.ns.size() * s.batch;
  out.interrupted = s.took_interrupted ? 0 : s.interrupted;
  out.is_precise = s.median.precision() <= limits.precision;
}

/// `clock`: the system's, but in tests.
[[gnu::cold]] KPROF_DETAIL_LOCAL inline measurement measure_call(const op_desc& desc,
                                                                 const void* params,
                                                                 const repeated_call& call,
                                                                 const measure_options& options,
                                                                 const sampling_clock& clock) {
  measurement out;
  measured_profile samples(desc, params);
  out.work = samples.call().work;
  if (std::string wrong = wrong_limits(options); !wrong.empty()) {
    tell({"nothing is measured: ", wrong});
    out.warm.why = out.cold.why = std::move(wrong);
    return out;
  }
  const sampling_limits limits{options.precision, options.seconds * 1e9, options.calls};
  std::string notes[2];
  {
    const recording_pause pause;
    const call_samples warm = sampling(clock, call, limits).take({nullptr, nullptr});
    fill_in(out.warm, warm, limits);
    samples.add("warm", warm);
    notes[0] = text_of_samples("warm", warm, limits);
    if (options.cold) {
      cache_eviction caches;
      if (caches.why_not() != nullptr) {
        out.cold.why = caches.why_not();
        notes[1] = "cold: not measured: " + out.cold.why;
      } else {
        const repeated_call evict{
            [](void* of, std::uint64_t) { static_cast<const cache_eviction*>(of)->run(); },
            &caches};
        const call_samples cold = sampling(clock, call, limits).take(evict);
        fill_in(out.cold, cold, limits);
        samples.add("cold", cold);
        notes[1] = text_of_samples("cold", cold, limits) + "; before each " +
                   format_memory(caches.bytes()) + " were read, which is not timed";
      }
    }
  }
  out.run = samples.take();
  for (std::string& note : notes)
    if (!note.empty()) out.run.notes.push_back(std::move(note));
  add_ceilings_for_report(out.run);
  for (operator_row& row : operator_table(out.run, grouping::region + grouping::parameters)) {
    const std::uint32_t region =
        row.node < out.run.nodes.size() ? out.run.nodes[row.node].parent : 0;
    measured_calls& of = out.run.nodes[region].name == "warm" ? out.warm : out.cold;
    of.row = std::move(row);
  }
  if (options.print) {
    report_options page = options.report;
    page.by = grouping::region + grouping::parameters;
    if (page.advice.empty()) page.advice = {"off"};  // it is of runs
    if (page.sort.empty()) page.sort = "roof";
    if (page.columns.empty())
      page.columns = {"operator", "parameters", "region", "median", "min", "gflops",
                      "gbs",      "roof",       "bound",  "ideal",  "lost"};
    if (!page.tree) page.tree = false;
    static_cast<void>(report(out.run, page));  // which tells what is wrong
  }
  return out;
}

#endif  // KPROF_ENABLE

}  // namespace detail

/// Calls fn() until the median of its time is known to 1 %, with warm caches and with cold ones,
/// and prints a row of the report for each. Takes two seconds at most, but for calls that take
/// longer themselves. fn() does one call of operator `Op` with `params` on this machine's
/// processors, and ends when the work is done; what it returns counts as used. What fn() throws
/// ends the measurement and comes out of here. May be called by any thread; while others work it is
/// slower.
///     const kprof::measurement m = kprof::measure(Saxpy{.n = n}, [&] { saxpy(3.0F, x, y); });
///     if (m) use(m.warm.median.median_ns, m.warm.row.verdict.roof, m.warm.row.verdict.bound);
template <class Op, class Fn>
measurement measure(const Op& params, Fn&& fn, const measure_options& options = {}) {
  static_assert(detail::check_operator<Op>());
#if KPROF_ENABLE
  using function = std::remove_reference_t<Fn>;
  const auto run = [](void* of, std::uint64_t times) {
    function& call = *static_cast<function*>(of);
    for (; times > 0; --times) {
      if constexpr (std::is_void_v<std::invoke_result_t<function&>>) {
        call();
        __asm__ volatile("" : : : "memory");
      } else {
        keep(call());
      }
    }
  };
  return detail::measure_call(
      detail::op_desc_of<Op>, &params,
      {run, const_cast<void*>(static_cast<const void*>(std::addressof(fn)))}, options,
      detail::clock_of_system);
#else
  static_cast<void>(params), static_cast<void>(fn), static_cast<void>(options);
  measurement out;
  out.warm.why = out.cold.why = "compiled out (KPROF_ENABLE=0)";
  return out;
#endif
}

KPROF_DETAIL_END

#endif
