// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_HPP
#define KPROF_PROFILE_HPP

// A profile: the run up to a moment as a plain value that owns all it holds. snapshot() makes one,
// load() reads a saved one, and every output is a function of one. Include it to walk a profile.
// Times are nanoseconds. Text is as the program gave it: an output makes it safe to print.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/profile/ceilings.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/profile/parameter_text.hpp>
#include <kprof/profile/parameters.hpp>
#include <kprof/profile/stepping.hpp>
#include <kprof/record/histogram.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {
/// The state of a profile that is no run of a program, see kprof/measure.hpp.
inline constexpr const char* measured_alone = "measured alone";
}  // namespace detail

/// What a node of the call tree is.
enum class scope_kind : std::uint8_t {
  root,    ///< a thread: the parent of what it ran outside any scope
  op,      ///< calls of one operator with the same parameters from the same call site
  region,  ///< runs of one region
  /// Replays of CUDA graphs launched in the scope around it; below it are the scopes in which they
  /// were captured.
  graph,
};

/// Work of one call by the operator's own formulas.
struct work_per_call {
  bool has_flops = false;  ///< flops() is declared
  bool has_bytes = false;  ///< bytes() is declared
  /// False: valid() fails, or a formula overflowed or was negative; there are no numbers then.
  bool valid = true;
  std::uint64_t flops = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  dtype type = dtype::unknown;
  arithmetic_unit on = arithmetic_unit::unknown;
  pass_kind pass = pass_kind::unknown;
  std::uint32_t threads = 0;  ///< that work in a call, or all_cpus; 0: the operator does not say
};

/// One part of calls that several threads share, see KPROF_PART. The node's own counts and times
/// are those of the part; the calls as a whole are told by the nodes of their part 0.
struct shared_part {
  std::uint32_t part = 0;  ///< from 0
  /// Of the call. 0: the node's scopes are no parts; or part 0 of calls whose parameters were not
  /// kept, which stands for the call.
  std::uint32_t parts = 0;
  /// Of part 0: calls all parts of which have finished. All else here is of part 0 too.
  std::uint64_t calls = 0;
  std::uint64_t joined = 0;  ///< of these, calls whose times are known and counted below
  double wall_ns = 0;        ///< from the first begin to the last end of a call, summed
  /// The same with time in which several of them ran counted once: without a barrier a thread
  /// begins the next call before others have ended the last. Negative: not known, a file lacks it.
  double elapsed_ns = -1;
  double busy_ns = 0;     ///< in the parts, summed
  double longest_ns = 0;  ///< in the longest part of each call, summed
  double min_ns = 0;      ///< from the first begin to the last end
  double max_ns = 0;
  double first_ns = -1;      ///< of the call that ended first; negative: not known
  double first_end_ns = -1;  ///< when that was since the session's start
  histogram durations;       ///< from the first begin to the last end, in ticks of profile::clock
};

/// One call of a node.
struct single_call {
  double ns = 0;
  double begin_ns = 0;  ///< since the session's start
};

/// One node of a thread's call tree. Its path is its own name and those of its parents.
struct scope_node {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  /// Index in profile::nodes, always smaller than the node's own; none for a root.
  std::uint32_t parent = none;
  std::uint32_t thread = 0;  ///< index in profile::threads
  scope_kind kind = scope_kind::root;
  /// Stands for calls with differing parameters, kept together for want of memory.
  bool merged = false;
  std::string name;         ///< operator or region
  std::uint32_t op = none;  ///< of a call: index in profile::operators
  parameter_values values;  ///< of its parameters; none where `merged`
  std::string file;         ///< call site; empty for a guard that has none
  std::uint32_t line = 0;
  work_per_call work;
  /// The parameters in the notation of the operator's brief(): at most 120 bytes; empty where it
  /// has none. Like a name it is as the program gave it.
  std::string brief;
  std::uint64_t beside = 0;   ///< bit i: the i-th field of the operator is not in `brief`
  std::uint64_t unshown = 0;  ///< bit i: the i-th field has no meaning in these calls

  std::uint64_t calls = 0;  ///< finished
  /// Of these, calls that captured their work into a CUDA graph; all that they did on the device at
  /// once was to copy and to set memory.
  std::uint64_t captured = 0;
  /// Of these, calls in which this thread neither launched work on a device nor captured any.
  std::uint64_t unlaunched = 0;
  /// Calls made by replaying a graph; of a graph node: its launches. They are not in `calls`, and
  /// take no host time.
  std::uint64_t replays = 0;
  /// Launches in it of whose work on a device not all records have come: of a graph node, of the
  /// graphs; else of kernels, copies and memsets.
  std::uint64_t unrecorded = 0;
  std::uint64_t open = 0;  ///< still open; not in the times below
  double open_ns = 0;      ///< how long those have been open, summed
  double total_ns = 0;
  double self_ns = 0;  ///< total less the time in child scopes of the same thread
  double min_ns = 0;
  double max_ns = 0;
  /// The call that ended first, and when that was since the session's start. Negative: not known,
  /// as no call has finished or a file lacks it.
  double first_ns = -1;
  double first_end_ns = -1;
  /// The three that took longest, the longest first; fewer where there were not so many, or where a
  /// file lacks them. Of parts: the calls as a whole, at their part 0.
  std::vector<single_call> slowest;
  /// Up to 32 calls in the order of their ends: all, or so many that are spread evenly over the
  /// recording and drawn at random, so that each is as likely to be among them as any other. None
  /// where memory was short or a file lacks them. Of parts: as `slowest`.
  std::vector<single_call> sampled;
  /// Durations of the calls of which the thread's CPU time is known, summed: those with a reading
  /// of it near their end and, no more than an eighth of the call away, before their begin. Long
  /// ones have both, see clock_info::cpu_interval_ns.
  double measured_ns = 0;
  /// Of measured_ns, the time that the thread ran on no CPU, at least: it waited, or others ran in
  /// its place. What is not known counts as time on the CPU.
  double off_cpu_ns = 0;
  /// Of measured_ns, the calls in which the thread computed with denormal numbers: operands of a
  /// type's least exponent, for which many processors take a slow way. Known on x86-64.
  double denormal_ns = 0;
  std::uint64_t measured_calls = 0;  ///< in measured_ns
  std::uint64_t denormal_calls = 0;  ///< in denormal_ns
  /// In the calls of measured_ns but the first of a thread, at least: page faults that waited for
  /// no disk, the first touch of memory that the system has just given.
  std::uint64_t page_faults = 0;
  histogram durations;  ///< of the finished calls, in ticks of profile::clock; of parts it is empty
  shared_part shared;   ///< what part of calls it is, if any: `calls` are then parts
};

struct thread_info {
  std::uint64_t id = 0;  ///< the operating system's; 0 for the threads kept together
  std::string name;      ///< as the operating system has it
  bool ended = false;
  /// How many ended threads this entry stands for; 0 for a single thread.
  std::uint64_t merged = 0;
  /// When it opened its first scope, since the session's start; of several, the first of them.
  double begin_ns = 0;
  /// From then until it ended, or the profile was made; of several, summed. 0: not known, a file
  /// lacks it.
  double wall_ns = 0;
  double in_scopes_ns = 0;  ///< of that, the time in scopes, open ones too
  /// From the thread's first reading of its CPU time to its last one; of several, summed.
  double measured_ns = 0;
  double off_cpu_ns = 0;  ///< of that, the time that it ran on no CPU
};

/// A finished scope of the timeline, in ticks of profile::clock: integers nest as the scopes did,
/// and become nanoseconds by clock_info::to_ns().
struct timeline_scope {
  std::uint32_t node = 0;  ///< index in profile::nodes
  std::int64_t start = 0;  ///< since the session's start
  std::uint64_t duration = 0;
};

/// The program said that a call belongs to an earlier one, as a backward call does to its forward
/// call: kprof::belongs_to().
struct call_link {
  std::uint32_t call = 0;  ///< index in profile::timeline
  std::uint32_t of = 0;    ///< the earlier one, the same
};

struct clock_info {
  std::string source;  ///< "tsc", "cntvct" or "clock_gettime"
  double ns_per_tick = 1;
  /// Largest distance of a calibration point from the line through the first and the last;
  /// negative: unknown, there are only these two.
  double residual_ns = 0;
  /// The session's start in CLOCK_REALTIME, the clock of CUPTI's records.
  std::uint64_t start_realtime_ns = 0;
  /// A thread reads its CPU time (CLOCK_THREAD_CPUTIME_ID) no more often than that; 0: the system
  /// does not tell it; negative: not known, a file lacks it.
  double cpu_interval_ns = -1;

  double to_ns(std::int64_t ticks) const noexcept {
    return static_cast<double>(ticks) * ns_per_tick;
  }
  double to_ns(std::uint64_t ticks) const noexcept {
    return static_cast<double>(ticks) * ns_per_tick;
  }
};

/// What was seen and what was not. Every count is of scopes unless it says otherwise.
struct completeness {
  std::uint64_t recorded = 0;      ///< finished and in the totals
  std::uint64_t open = 0;          ///< open at the snapshot
  std::uint64_t never_closed = 0;  ///< open when their thread ended
  std::uint64_t dropped = 0;       ///< not recorded for want of memory
  /// Not recorded: a guard opened them while kprof itself was at work on that thread, in an
  /// allocator for instance.
  std::uint64_t dropped_inside = 0;
  std::uint64_t closed_by_parent = 0;  ///< closed because a scope around them ended first
  /// Guards destroyed on another thread, or again after their scope was gone.
  std::uint64_t closed_elsewhere = 0;
  std::uint64_t invalid = 0;  ///< calls whose parameters are invalid
  /// Scopes whose parameters or region name found no memory; each part of a shared call counts.
  std::uint64_t merged = 0;
  /// Calls whose duration counts in sums and extremes, but near the truth in quantiles, for want of
  /// memory.
  std::uint64_t imprecise = 0;
  /// Calls that threads share of which some parts have finished and others have not begun; they are
  /// counted in no row. At least so many, where a note says that memory was lacking to find out.
  std::uint64_t incomplete_calls = 0;
  /// Parts of such calls that have no place: their number is not below the number of parts, or
  /// there are more than 65,536. They belong to no call.
  std::uint64_t impossible_parts = 0;
  /// Calls that threads share whose times are not known: some of their parts came later than others
  /// by more calls than there is memory to keep the times of.
  std::uint64_t unjoined_calls = 0;
  /// Finished scopes that the timeline still holds, without those before its unbroken end.
  std::uint64_t in_timeline = 0;
  double timeline_ns = 0;  ///< length of the timeline's unbroken end, up to the snapshot
};

/// What kprof itself took, measured in this process.
struct own_cost {
  double scope_ns = 0;        ///< one scope: what it costs the thread
  double empty_scope_ns = 0;  ///< what an empty scope shows as its duration
  /// scope_ns times the scopes finished or open, and cpu_reading_ns times the readings
  double recording_ns = 0;
  double cpu_reading_ns = 0;       ///< a thread's reading of its CPU time: what it costs
  std::uint64_t cpu_readings = 0;  ///< how many there have been
  double folding_ns = 0;           ///< time spent folding logs into totals
  double snapshot_folding_ns = 0;  ///< of that, what snapshots took and no scope waited for
  std::uint64_t memory = 0;        ///< bytes held now
  std::uint64_t memory_limit = 0;
};

/// A run up to a moment, or a part of one.
struct profile {
  bool recording = false;  ///< false: nothing is being recorded now; `state` says why
  std::string state;       ///< "recording", "stopped", "off (KPROF=off)", ...
  std::string program;     ///< its file's name, without the folder
  std::uint32_t cpus = 0;  ///< that it may run on; 0: not known
  double wall_ns = 0;      ///< from the session's start to the snapshot or stop, pauses included
  double paused_ns = 0;
  /// How long all threads of the process ran on CPUs meanwhile, those without guards too, summed,
  /// without pauses; negative: not known, the system does not tell it or a file lacks it.
  double cpu_ns = -1;
  std::vector<thread_info> threads;
  std::vector<operator_info> operators;  ///< those that nodes refer to
  std::vector<scope_node> nodes;         ///< parents before children; one root a thread
  /// Filled on request: the latest scopes, and before them those of `stepping.kept`.
  std::vector<timeline_scope> timeline;
  std::vector<call_link> links;  ///< of calls that the timeline has both of
  kprof::stepping stepping;      ///< sums of the steps, and their scopes
  std::vector<step_mark> steps;  ///< in the order of their ends
  device_profile device;         ///< what the GPU did
  machine_ceilings machine;      ///< what the processors and GPUs reach at most
  clock_info clock;
  completeness complete;
  own_cost cost;
  std::vector<std::string> notes;  ///< one line each: what is degraded, and what to do about it

  /// The operator of a node; nullptr where it is no call of one.
  const operator_info* operator_of(const scope_node& n) const noexcept {
    return n.op < operators.size() ? &operators[n.op] : nullptr;
  }
  /// A parameter's typed value, by the field's name or a path as in parameter_at(); none where the
  /// node has no such field or its parameters were not kept.
  ///     run.value(node, "shape[0]").as_signed()
  parameter_value value(const scope_node& n, std::string_view field) const {
    const operator_info* const op = operator_of(n);
    return op == nullptr || n.merged ? parameter_value{} : parameter_at(*op, n.values, field);
  }
};

/// The parameters of a node as reports print them: "n=1024 type=f32"; empty for a region and where
/// they were not kept.
inline std::string parameter_text(const profile& p, const scope_node& n) {
  const operator_info* const op = p.operator_of(n);
  return op == nullptr || n.values.empty() ? std::string{} : parameter_text(*op, n.values);
}

KPROF_DETAIL_END

#endif
