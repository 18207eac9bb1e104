// SPDX-License-Identifier: MIT
#ifndef KPROF_SESSION_MEASURED_PROFILE_HPP
#define KPROF_SESSION_MEASURED_PROFILE_HPP

// Makes a profile of the samples of one operator, as if they had been recorded: so every table and
// output says of them what it says of a run. Included by kprof/measure.hpp. No clock is read here.

#include <kprof/attach/hub.hpp>
#include <kprof/attribute/parameters.hpp>
#include <kprof/attribute/process_facts.hpp>
#include <kprof/build_options.hpp>
#include <kprof/declare/descriptor.hpp>
#include <kprof/model/number_text.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/op_info.hpp>
#include <kprof/session/sampling.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

class measured_profile {
 public:
  /// `params`: of the operator that the description is of.
  [[gnu::cold]] measured_profile(const op_desc& desc, const void* params) {
    run_.state = measured_alone;
    run_.clock.source = "clock_gettime";
    run_.clock.ns_per_tick = ns_per_tick;
    describe_process(run_);
    run_.threads.resize(1);
    run_.threads[0].name = "measured";
    run_.nodes.resize(1);
    op_info info(desc);
    info.add_evaluator(&this_module, desc);
    run_.operators.push_back(to_operator(info));
    // Of any alignment that a formula may want.
    alignas(alignof(std::max_align_t)) char bytes[max_params_bytes] = {};
    info.canonical(static_cast<const char*>(params), bytes);
    work values{};
    presentation shown{};
    info.evaluate(bytes, values, shown);
    call_.kind = scope_kind::op;
    call_.name = info.name;
    call_.op = 0;
    call_.values = pack_parameters(info, bytes);
    call_.work = to_work(values);
    call_.brief.assign(shown.text, shown.size);
    call_.beside = shown.beside;
    call_.unshown = shown.unshown;
  }

  const scope_node& call() const noexcept { return call_; }

  /// The samples as calls in a region. Returns the number of the calls' node.
  [[gnu::cold]] std::uint32_t add(const char* region, const call_samples& samples) {
    scope_node call = call_, around;
    for (const double ns : samples.ns) {
      call.calls += samples.batch;
      call.total_ns += ns * static_cast<double>(samples.batch);
      call.durations.restore(histogram::bucket_of(static_cast<std::uint64_t>(ns / ns_per_tick)),
                             samples.batch);
    }
    const auto [least, most] = std::minmax_element(samples.ns.begin(), samples.ns.end());
    if (call.calls > 0) call.min_ns = *least, call.max_ns = *most;
    call.self_ns = call.total_ns;
    around.parent = 0;
    around.kind = scope_kind::region;
    around.name = region;
    around.calls = call.calls > 0 ? 1 : 0;
    around.total_ns = around.min_ns = around.max_ns = call.total_ns;
    if (around.calls > 0)
      around.durations.restore(
          histogram::bucket_of(static_cast<std::uint64_t>(call.total_ns / ns_per_tick)), 1);
    run_.nodes.push_back(std::move(around));
    call.parent = static_cast<std::uint32_t>(run_.nodes.size() - 1);
    run_.wall_ns += call.total_ns;
    run_.threads[0].wall_ns = run_.threads[0].in_scopes_ns = run_.wall_ns;
    run_.complete.recorded += call.calls;
    if (!call.work.valid) run_.complete.invalid += call.calls;
    run_.cost.scope_ns = samples.clock_ns / static_cast<double>(samples.batch);
    run_.cost.recording_ns += samples.clock_ns * static_cast<double>(samples.ns.size());
    run_.nodes.push_back(std::move(call));
    return static_cast<std::uint32_t>(run_.nodes.size() - 1);
  }

  profile take() { return std::move(run_); }

 private:
  static constexpr double ns_per_tick = 1.0 / 1024;  // of batches, a call may take less than 1 ns
  static constexpr std::size_t max_params_bytes = 1024;

  profile run_;
  scope_node call_;
};

/// "warm: median 12.1 ms, -0.3% +0.6% (95%), of 23 samples of 1 call each; ...", what a reader has
/// to know of the samples.
[[gnu::cold]] inline std::string text_of_samples(const char* region, const call_samples& s,
                                                 const sampling_limits& limits) {
  const median_interval& m = s.median;
  std::string text = std::string{region} + ": median " + format_time(m.median_ns);
  if (m.has_interval() && m.median_ns > 0)
    text += ", -" + format_share((m.median_ns - m.low_ns) / m.median_ns) + " +" +
            format_share((m.high_ns - m.median_ns) / m.median_ns) + " (95% sure)";
  text += ", of " + format_count(s.ns.size()) + (s.ns.size() == 1 ? " sample" : " samples") +
          " of " + format_count(s.batch) + (s.batch == 1 ? " call" : " calls");
  if (s.interrupted > 0 && !s.took_interrupted)
    text += "; " + format_count(s.interrupted) + " left out, in which another thread took the CPU";
  if (s.took_interrupted)
    text += "; another thread took the CPU in all of them, so the true times are shorter";
  if (m.precision() > limits.precision)
    text +=
        !m.has_interval()
            ? "; too few for an interval before the limit was reached (6 are needed)"
            : "; not known to " + format_share(limits.precision) + " before the limit was reached";
  if (s.batch == 1 && s.clock_ns > 0 && m.median_ns < 10 * s.clock_ns)
    text += "; a call takes less than ten readings of the clock, so this is rough";
  return text;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
