// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_OPERATOR_ROW_HPP
#define KPROF_MODEL_OPERATOR_ROW_HPP

// A row of the operator table, and how the nodes of a profile are summed into it. Included by
// summary.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/device_sums.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/node_walk.hpp>
#include <kprof/model/off_cpu.hpp>
#include <kprof/model/roofline.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/model/shared_sum.hpp>
#include <kprof/model/variant_sum.hpp>
#include <kprof/model/verdict.hpp>
#include <kprof/profile.hpp>
#include <kprof/record/histogram.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

KPROF_DETAIL_BEGIN

/// The calls of one operator, of one set of parameters, ... as `grouping` says.
///
/// `total_ns`, `flops` and `bytes` leave out a call made inside another call of the same row: the
/// outer one's time and formulas cover it. So rates divide what belongs together, and recursion
/// counts once. In a row of several operators an outer call without a formula covers no formula,
/// and calls that have none are left out of `flops` and `bytes` as long as others have one:
/// `calls_without_flops` says how many.
///
/// `self_ns` holds the time of regions, which only annotate what an operator does: with that of the
/// scopes outside any operator, rows add up to the whole. It may be more than `total_ns` where a
/// path was handed to other threads: what their regions took is in it. By thread, such time belongs
/// to no row.
///
/// Work on the device counts in the same way, and by thread to the thread that launched it. Times
/// of calls are host times, of which replays of CUDA graphs have none. Where calls of the row have
/// work on the device, in the row or in operators nested in it, rates are what these calls'
/// formulas say over `device_total_ns`, and not known while records of that work are missing; else
/// they are over `total_ns`.
struct operator_row {
  /// The same in every run of the program: see row_key_text(). No two rows of a table have the
  /// same.
  std::uint64_t key = 0;
  std::string name;             ///< of the operator; empty where there are several
  std::uint64_t operators = 1;  ///< different names of operators in this row
  /// What the calls have in common: for each key of the grouping its value.
  std::vector<group_value> values;
  /// Of fields that are folded and, in a row of one operator with several sets of parameters, of
  /// each number that differs: the values that it has in them.
  std::vector<field_range> ranges;
  /// Their text, without folded fields; empty where the calls differ in it.
  std::string parameters;
  /// Index in profile::nodes of the row's first call: its operator and, where variants is 1, its
  /// typed values.
  std::uint32_t node = scope_node::none;
  std::uint64_t variants = 0;       ///< sets of parameters in this row
  bool merged = false;              ///< holds calls whose parameters were not kept
  std::uint64_t invalid_calls = 0;  ///< finished calls whose parameters are invalid
  bool invalid = false;  ///< holds a call, finished or open, whose parameters are invalid
  std::string file;      ///< call site, if there is one and only one
  std::uint32_t line = 0;
  bool several_sites = false;
  /// Index in profile::threads; none where several threads ran it.
  std::uint32_t thread = scope_node::none;
  dtype type = dtype::unknown;  ///< unknown also where it differs from call to call
  bool several_types = false;
  pass_kind pass = pass_kind::unknown;  ///< unknown also where it differs from call to call
  bool several_passes = false;

  std::uint64_t calls = 0;  ///< finished
  /// Of these, calls that captured their work into a CUDA graph and did none.
  std::uint64_t captured = 0;
  std::uint64_t replays = 0;  ///< calls made by replaying graphs, not in `calls`
  std::uint64_t open = 0;
  double open_ns = 0;
  /// Of the calls and the regions in them, up to the operators nested in them.
  double self_ns = 0;
  double total_ns = 0;
  double share = 0;  ///< self_ns, of the self time of all scopes of the profile; 0 to 1
  /// Of total_ns, or of the parts of shared calls, the calls whose CPU time is known.
  double measured_ns = 0;
  double off_cpu_ns = 0;  ///< of that, the time on no CPU, at least
  /// off_cpu_ns of all calls, less that of the operators inside them; and less where a path was
  /// handed to other threads, since it waits for these.
  double off_cpu_self_ns = 0;
  figure cpu;  ///< 1 - off_cpu_ns / measured_ns: the share of the time on a CPU, at most
  /// Of a call's duration; median and p99 within 0.8 %.
  figure mean_ns, median_ns, p99_ns, min_ns, max_ns;
  figure first_ns;      ///< of the call that ended first, in all threads
  figure flops, bytes;  ///< of the calls in total_ns, summed
  /// Of a row of several operators: calls whose operator has no such formula, in no call that has.
  std::uint64_t calls_without_flops = 0, calls_without_bytes = 0;
  figure flops_per_call, bytes_per_call;  ///< their means
  figure flops_per_s, bytes_per_s;        ///< flops and bytes over time, see above
  figure flops_per_byte;                  ///< arithmetic intensity

  /// Of calls that several threads share: parts of a call, the mean; the longest part over the mean
  /// part; and the time that threads lost, parts times duration less the time in the parts.
  figure threads{0, absence::not_shared}, imbalance{0, absence::not_shared},
      waiting_ns{0, absence::not_shared};

  bool on_device = false;  ///< launched work, or operators nested in it did
  /// Runs launched in the calls, and in regions and graphs in them, up to nested operators.
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;    ///< copies and memsets, the same
  double device_ns = 0;        ///< of both, the run times; concurrent runs count each
  double device_total_ns = 0;  ///< that with nested operators
  double device_share = 0;     ///< device_ns, of the time of all work of the devices; 0 to 1
  /// Mean time from the launch of the row's own work to its start on the device.
  figure gap_ns{0, absence::no_launch};

  /// How near it is to the roof that profile::machine gives, over the time that its rates are
  /// over. Calls without formulas or ceilings are left out in a row of several operators, as long
  /// as others have them.
  roof_verdict verdict;
};

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

  void add(const scope_node& n, const counted_call& counted, const call_roof& of_call) {
    if (says_flops(n) ? counted.flops : counted.bytes)
      roof.add(of_call, timed_share(n) * static_cast<double>(executions(n)));
    if (counted.time && of_call.why != absence::none) roofless_ns += calls_ns(n);
    row.calls += finished_calls(n);
    row.captured += std::min(n.captured, finished_calls(n));
    row.replays += n.replays;
    if (opens_calls(n)) {
      row.open += n.open;
      row.open_ns += not_negative(n.open_ns);
    }
    shared.add(n);
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
      row.total_ns += calls_ns(n);
      row.measured_ns += not_negative(n.measured_ns);
      row.off_cpu_ns += not_negative(n.off_cpu_ns);
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

  operator_row finish(double all_self_ns, const clock_info& clock, double empty_scope_ns) {
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
    row.median_ns = duration(quantile(0.5) * clock.ns_per_tick);
    row.p99_ns = duration(quantile(0.99) * clock.ns_per_tick);
    row.min_ns = duration(min_ns);
    row.max_ns = duration(max_ns);
    row.first_ns = lacks_first ? figure{0, absence::not_noted} : duration(first_ns);
    row.cpu = cpu_share(row.measured_ns, row.off_cpu_ns,
                        row.calls == 0 ? none_finished : absence::none, clock);
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
    row.flops_per_s = ratio({timed_flops, std::max(row.flops.why, untimed)}, row.total_ns * 1e-9,
                            absence::no_time);
    row.bytes_per_s = ratio({timed_bytes, std::max(row.bytes.why, untimed)}, row.total_ns * 1e-9,
                            absence::no_time);
    row.threads = shared.threads();
    row.imbalance = shared.imbalance();
    row.waiting_ns = shared.waiting();
    // What is known of less than half of the time says nothing of the row.
    const bool mostly_known = roofless_ns <= 0.5 * row.total_ns;
    row.verdict =
        judge(roof.of(mostly_known ? row.operators : 1),
              {.time_ns = row.total_ns,
               .timed = std::max(untimed, nothing_done()),
               .is_short = row.mean_ns.known() && row.mean_ns.value < 10 * empty_scope_ns});
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
