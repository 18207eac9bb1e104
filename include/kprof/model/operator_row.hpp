// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_OPERATOR_ROW_HPP
#define KPROF_MODEL_OPERATOR_ROW_HPP

// A row of the operator table. Included by summary.hpp and row_sum.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/model/verdict.hpp>
#include <kprof/profile.hpp>

#include <cstdint>
#include <string>
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

  /// Rows are told apart by step, and this one is of a step: what is not recorded for single steps
  /// is 0 here, and in the row whose step is not known.
  bool of_step = false;
  /// The row is of a step of which all work of devices is known: the device's numbers are of it.
  bool knows_device_of_step = false;

  std::uint64_t calls = 0;  ///< finished
  /// Of these, calls that captured their kernels into a CUDA graph and ran none.
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
  double off_cpu_ns = 0;   ///< of that, the time on no CPU, at least
  double denormal_ns = 0;  ///< of that, calls that computed with denormal numbers
  std::uint64_t measured_calls = 0, denormal_calls = 0;  ///< in measured_ns, in denormal_ns
  std::uint64_t page_faults = 0;                         ///< in the calls of measured_ns
  /// off_cpu_ns of all calls, less that of the operators inside them; and less where a path was
  /// handed to other threads, since it waits for these.
  double off_cpu_self_ns = 0;
  /// Of self_ns, in calls of the device's libraries that may block.
  double waited_ns = 0;
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
  /// Of total_ns, such calls.
  figure shared_ns{0, absence::not_shared};
  /// The durations of such calls added up, less the time that they took in the run: how much of it
  /// other calls of the row ran too, since threads did not wait for each other. `total_ns` and
  /// `waiting_ns` count such time once.
  double overlap_ns = 0;

  bool on_device = false;  ///< launched work, or operators nested in it did
  /// Runs launched in the calls, and in regions and graphs in them, up to nested operators.
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;    ///< copies and memsets, the same
  double device_ns = 0;        ///< of both, the run times; concurrent runs count each
  double device_total_ns = 0;  ///< that with nested operators
  double device_share = 0;     ///< device_ns, of the time of all work of the devices; 0 to 1
  /// Of a call that has work on the device, device_total_ns; not known while records are missing.
  figure device_mean_ns{0, absence::no_launch};
  /// Mean time from the launch of the row's own work to its start on the device.
  figure gap_ns{0, absence::no_launch};

  /// How near it is to the roof that profile::machine gives, over the time that its rates are
  /// over. Calls without formulas or ceilings are left out in a row of several operators, as long
  /// as others have them.
  roof_verdict verdict;
  /// What the calls would take on another machine at the same share of the roof, and of how much of
  /// their time that is said.
  figure projected_ns{0, absence::no_other_machine};
  double projected_of_ns = 0;
};

namespace detail {

/// Whether calls that threads share ran at once for a part of their time that counts.
inline bool has_overlap(const operator_row& row) noexcept {
  return row.overlap_ns > 0.05 * row.total_ns;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
