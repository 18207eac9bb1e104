// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_KERNEL_ROW_HPP
#define KPROF_MODEL_KERNEL_ROW_HPP

// A row of the table of kernels. Plain values. Included by kernel_table.hpp.

#include <kprof/build_options.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/launch_places.hpp>
#include <kprof/model/row_values.hpp>
#include <kprof/model/tiles.hpp>
#include <kprof/model/verdict.hpp>
#include <kprof/profile.hpp>
#include <kprof/profile/occupancy.hpp>

#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// Whether a kernel computes on tensor cores, and how that is known.
///
/// A name says yes or nothing. An operator that declares a unit says yes for a kernel that is all
/// its calls run, and no for any kernel of its calls: of several, those that prepare and reduce
/// need not be on tensor cores.
enum class tensor_use : std::uint8_t { unknown, yes_by_name, yes_declared, no_declared };

/// Runs of one kernel. What differs among them, and does not make rows of their own, is marked so.
///
/// Rows differ in kernel and in the keys of their grouping, as seen from the launch: `region` and
/// `layer` are around it, in the operator too; `thread` is the thread that launched and the stream.
/// By `parameters` they also differ in pass, device and launch configuration.
struct kernel_row {
  /// The same in every run of the program: see row_key_text(). No two rows of a table have the
  /// same.
  std::uint64_t key = 0;
  launch_place place = launch_place::unknown;
  /// Innermost operator around the launch; empty outside of all, and where there are several.
  std::string op;
  std::uint64_t operators = 0;      ///< different names of operators in this row
  std::vector<group_value> values;  ///< what the launches have in common: one for each key
  /// Of its calls, as text, without folded fields; empty where they differ in it.
  std::string parameters;
  /// Index in profile::nodes of the operator's first call in the row; none outside of all
  /// operators.
  std::uint32_t node = scope_node::none;
  std::uint64_t variants = 0;      ///< sets of parameters in this row
  bool parameters_merged = false;  ///< calls whose parameters were not kept
  bool invalid = false;            ///< calls whose parameters are invalid
  /// Innermost region around the launch, in the operator or around it; empty: none.
  std::string region;
  std::uint64_t regions = 0;  ///< different ones; 0 where no launch is in a region
  bool also_in_none = false;  ///< of several launches, some are in a region and some in none
  /// The pass of the innermost operator that has one or, where kprof does not know it, the value of
  /// its field `pass`; empty: none.
  std::string pass;
  bool several_passes = false;
  /// As kernel_name() gives it; empty: several kernels, which kprof had no memory to keep apart.
  std::string kernel;
  std::uint32_t device = 0;
  bool several_devices = false;
  std::uint32_t stream = 0;
  std::uint64_t streams = 0;            ///< different ones
  std::uint32_t grid[3] = {};           ///< blocks
  std::uint32_t block[3] = {};          ///< threads
  std::uint32_t registers = 0;          ///< a thread
  std::uint32_t shared = 0;             ///< bytes a block, static and dynamic
  std::uint32_t cluster[3] = {};        ///< blocks placed together; 0: no clusters
  bool cooperative = false;             ///< all blocks were on the device at a time
  bool several_configurations = false;  ///< the six above are then of one of them
  /// Bytes of shared memory that a multiprocessor had; 0: not known, or it differs.
  std::uint32_t multiprocessor_shared = 0;

  std::uint64_t calls = 0;         ///< runs
  std::uint64_t untimed = 0;       ///< of these, runs without timing; they are in no time
  double total_ns = 0;             ///< run times, summed: concurrent runs count each
  double share = 0;                ///< total_ns, of the time of all work of the devices; 0 to 1
  figure mean_ns, min_ns, max_ns;  ///< of a run
  /// By the operator's formulas, where each of its calls runs this kernel and no other.
  figure flops, bytes;
  tensor_use tensor_core = tensor_use::unknown;
  /// How near it is to the roof of its device, where FLOPs or bytes are known.
  roof_verdict verdict;
  kernel_tiles tiles;  ///< of a product of matrices, where the kernel's name says their size
  /// By its launch configuration; of several not known.
  kernel_occupancy occupancy{.unknown = "there is no run"};
};

KPROF_DETAIL_END

#endif
