// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROW_SUM_HPP
#define KPROF_MODEL_ROW_SUM_HPP

// How the nodes of a profile are summed into a row of the operator table. Included by summary.hpp.
// Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/off_cpu.hpp>
#include <kprof/model/operator_row.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/shared_sum.hpp>
#include <kprof/model/variant_sum.hpp>
#include <kprof/model/verdict.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/histogram.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// Sums the nodes of one row.
struct row_sum {
  operator_row row;
  const histogram* durations = nullptr;  // in ticks; of the one node, or `merged`
  histogram merged;
  double duration_ns = 0, min_ns = HUGE_VAL, max_ns = 0;
  double first_ns = -1, first_end_ns = HUGE_VAL;
  bool lacks_first = false;  // some node does not have it
  double flops = 0, bytes = 0, flops_calls = 0, bytes_calls = 0;
  double timed_flops = 0, timed_bytes = 0;  // of the calls whose durations are known
  std::uint64_t timed_calls = 0;
  shared_sum shared;
  row_roofs roof;
  double roofless_ns = 0;  // of calls whose roof is not known
  // Of calls that are above it.
  double impossible_ns = 0, impossible_flops = 0, impossible_bytes = 0;
  absence no_flops = absence::none, no_bytes = absence::none;
  bool any_flops = false, any_bytes = false;  // has a call with that formula
  bool lacks_flops = false, lacks_bytes = false;
  bool classed = false;
  // Nodes of this row that the walk is in and that cover others: with their time, their formulas.
  std::uint32_t active = 0, active_flops = 0, active_bytes = 0;

  void begin(const scope_node& n, std::uint64_t operators) {
    row.operators = operators;
    if (operators == 1) row.name = n.name;
    row.file = n.file;
    row.line = n.line;
    row.thread = n.thread;
  }

  counted_call counted() const noexcept {
    return {active == 0, active_flops == 0, active_bytes == 0};
  }
  void enter(const scope_node& n) noexcept {
    ++active;
    active_flops += says_flops(n) ? 1U : 0U;
    active_bytes += says_bytes(n) ? 1U : 0U;
  }
  void leave(const scope_node& n) noexcept {
    --active;
    active_flops -= says_flops(n) ? 1U : 0U;
    active_bytes -= says_bytes(n) ? 1U : 0U;
  }

  /// A call's duration and its end; negative: not known.
  void add_first(double ns, double end_ns) {
    lacks_first = lacks_first || !(ns >= 0);
    if (end_ns < first_end_ns) first_ns = ns, first_end_ns = end_ns;
  }

  void add(const profile& p, const scope_node& n, const counted_call& counted,
           const call_roof& of_call) {
    if (says_flops(n) ? counted.flops : counted.bytes)
      roof.add(of_call, timed_share(n) * static_cast<double>(executions(n)));
    if (counted.time && of_call.why != absence::none) roofless_ns += elapsed_ns(n);
    else if (of_call.is_impossible) add_impossible(n, counted);
    row.calls += finished_calls(n);
    row.captured += std::min(n.captured, finished_calls(n));
    row.replays += n.replays;
    if (opens_calls(n)) {
      row.open += n.open;
      row.open_ns += not_negative(n.open_ns);
    }
    shared.add(p, n, counted.time);
    if (detail::timed_calls(n) > 0) {
      timed_calls += detail::timed_calls(n);
      duration_ns += calls_ns(n);
      add_durations(is_part(n) ? n.shared.durations : n.durations);
      min_ns = std::min(min_ns, not_negative(is_part(n) ? n.shared.min_ns : n.min_ns));
      max_ns = std::max(max_ns, not_negative(is_part(n) ? n.shared.max_ns : n.max_ns));
      add_first(is_part(n) ? n.shared.first_ns : n.first_ns,
                is_part(n) ? n.shared.first_end_ns : n.first_end_ns);
    }
    if (row.line != n.line || row.file != n.file) row.several_sites = true;
    if (row.thread != n.thread) row.thread = scope_node::none;
    row.merged = row.merged || n.merged;
    if (!n.merged) add_class(n.work.type, n.work.pass);
    add_work(n, counted);
  }

  [[gnu::cold]] void add_impossible(const scope_node& n, const counted_call& counted) {
    if (counted.time) impossible_ns += elapsed_ns(n);
    if (counted.flops && says_flops(n)) impossible_flops += timed_share(n) * all_flops(n);
    if (counted.bytes && says_bytes(n)) impossible_bytes += timed_share(n) * all_bytes(n);
  }

  void add_durations(const histogram& more) {
    if (durations == nullptr) {  // most rows have one node: nothing is copied
      durations = &more;
      return;
    }
    if (durations != &merged) merged = *std::exchange(durations, &merged);
    merged.merge(more);
  }

  void add_class(dtype type, pass_kind pass) {
    if (!classed) {
      row.type = type;
      row.pass = pass;
    }
    row.several_types = row.several_types || row.type != type;
    row.several_passes = row.several_passes || row.pass != pass;
    classed = true;
  }

  void add_work(const scope_node& n, const counted_call& counted) {
    const absence known = n.merged        ? absence::merged
                          : !n.work.valid ? absence::invalid
                                          : absence::none;
    if (row.operators == 1 || counted.flops) no_flops = std::max(no_flops, known);
    if (row.operators == 1 || counted.bytes) no_bytes = std::max(no_bytes, known);
    if (!n.work.valid) {
      row.invalid = true;
      row.invalid_calls += finished_calls(n);
    }
    if (counted.time) {
      row.total_ns += is_part(n) ? 0 : elapsed_ns(n);
      row.measured_ns += not_negative(n.measured_ns);
      row.off_cpu_ns += not_negative(n.off_cpu_ns);
      row.denormal_ns += not_negative(n.denormal_ns);
      row.measured_calls += n.measured_calls;
      row.denormal_calls += n.denormal_calls;
      row.page_faults += n.page_faults;
    }
    const std::uint64_t done = executions(n);
    const bool lacks_flops_here = !n.merged && !n.work.has_flops;
    const bool lacks_bytes_here = !n.merged && !n.work.has_bytes;
    lacks_flops = lacks_flops || lacks_flops_here;
    lacks_bytes = lacks_bytes || lacks_bytes_here;
    any_flops = any_flops || says_flops(n);
    any_bytes = any_bytes || says_bytes(n);
    if (counted.flops) {
      if (says_flops(n)) flops += all_flops(n), timed_flops += timed_share(n) * all_flops(n);
      if (lacks_flops_here) row.calls_without_flops += done;
      else flops_calls += static_cast<double>(done);
    }
    if (counted.bytes) {
      if (says_bytes(n)) bytes += all_bytes(n), timed_bytes += timed_share(n) * all_bytes(n);
      if (lacks_bytes_here) row.calls_without_bytes += done;
      else bytes_calls += static_cast<double>(done);
    }
  }

  double quantile(double q) const noexcept {
    return durations == nullptr ? 0 : durations->quantile(q);
  }

  /// Why no number of the work can be known: nothing was done.
  absence nothing_done() const noexcept {
    if (row.calls - row.captured + row.replays > 0) return absence::none;
    return row.captured > 0 ? absence::not_replayed : absence::no_calls;
  }

  operator_row finish(const profile& p, double all_self_ns) {
    row.total_ns += shared.total_ns(p);
    row.overlap_ns = shared.added_ns - shared.total_ns(p);
    const absence none_finished = timed_calls > 0   ? absence::none
                                  : row.calls > 0   ? absence::not_joined
                                  : row.replays > 0 ? absence::graphs_only
                                                    : absence::no_calls;
    const auto duration = [&](double ns) {
      return figure{
          none_finished == absence::none ? std::clamp(ns, min_ns, std::max(min_ns, max_ns)) : 0,
          none_finished};
    };
    row.share = all_self_ns > 0 ? row.self_ns / all_self_ns : 0;
    row.mean_ns =
        duration(duration_ns / static_cast<double>(std::max<std::uint64_t>(timed_calls, 1)));
    row.median_ns = duration(quantile(0.5) * p.clock.ns_per_tick);
    row.p99_ns = duration(quantile(0.99) * p.clock.ns_per_tick);
    row.min_ns = duration(min_ns);
    row.max_ns = duration(max_ns);
    row.first_ns = lacks_first ? figure{0, absence::not_noted} : duration(first_ns);
    row.cpu = cpu_share(row.measured_ns, row.off_cpu_ns,
                        row.calls == 0 ? none_finished : absence::none, p.clock);
    if (lacks_flops && (row.operators == 1 || !any_flops)) no_flops = absence::no_flops;
    if (lacks_bytes && (row.operators == 1 || !any_bytes))
      no_bytes = std::max(no_bytes, absence::no_bytes);
    if (row.operators == 1) row.calls_without_flops = row.calls_without_bytes = 0;
    row.flops = {flops, std::max(no_flops, nothing_done())};
    row.bytes = {bytes, std::max(no_bytes, nothing_done())};
    row.flops_per_call = ratio(row.flops, flops_calls, absence::no_calls);
    row.bytes_per_call = ratio(row.bytes, bytes_calls, absence::no_calls);
    const absence untimed =
        none_finished == absence::not_joined ? absence::not_joined : absence::none;
    // What is known of less than half of the time says nothing of the row.
    const bool mostly_known = roofless_ns <= 0.5 * row.total_ns;
    const row_roofs::judged judged =
        roof.by(mostly_known ? row.operators : 1, row.total_ns, impossible_ns);
    row.flops_per_s = judged.rate(timed_flops, impossible_flops, std::max(row.flops.why, untimed));
    row.bytes_per_s = judged.rate(timed_bytes, impossible_bytes, std::max(row.bytes.why, untimed));
    row.threads = shared.threads();
    row.imbalance = shared.imbalance();
    row.waiting_ns = shared.waiting(p);
    row.shared_ns = shared.time(p);
    row.verdict = judge(judged.roofs, {.time_ns = judged.time_ns,
                                       .timed = std::max(untimed, nothing_done()),
                                       .is_short = row.mean_ns.known() &&
                                                   row.mean_ns.value < 10 * p.cost.empty_scope_ns});
    const absence unknown = std::max(row.flops.why, row.bytes.why);
    row.flops_per_byte = ratio({flops, unknown}, bytes, absence::zero_bytes);
    if (row.several_types) row.type = dtype::unknown;
    if (row.several_passes) row.pass = pass_kind::unknown;
    if (row.several_sites) {
      row.file.clear();
      row.line = 0;
    }
    return std::move(row);
  }
};

}  // namespace detail
KPROF_DETAIL_END

#endif
