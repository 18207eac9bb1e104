// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_DEVICE_PROFILE_HPP
#define KPROF_PROFILE_DEVICE_PROFILE_HPP

// The device's part of a profile: kernels, copies and memsets under the scopes that launched them,
// the devices they ran on, and what is known to be missing. Included by profile.hpp. Times are
// nanoseconds by the device's own clock readings.

#include <kprof/build_options.hpp>
#include <kprof/profile/device_timeline.hpp>

#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// What a device does.
enum class device_task : std::uint8_t { kernel, copy, set };

/// Where a copy goes. Arrays count as device memory.
enum class copy_direction : std::uint8_t {
  unknown,
  host_to_device,
  device_to_host,
  device_to_device,
  host_to_host,
  peer_to_peer
};

/// What kind of memory a copy reads or writes.
enum class memory_place : std::uint8_t { unknown, pageable, pinned, device, array, managed };

/// Runs of one kernel with one launch configuration, or copies of one kind, that one scope launched
/// on one stream.
struct device_work {
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  /// Index in profile::nodes of the innermost scope; a root: launched outside all scopes; none:
  /// whose launch is not known.
  std::uint32_t scope = none;
  device_task task = device_task::kernel;
  bool merged = false;  ///< several kernels or configurations, kept together for want of memory
  /// Index in device_profile::kernels; none for copies, memsets and merged work.
  std::uint32_t kernel = none;
  std::uint32_t device = 0;          ///< CUDA's ordinal, as in device_info::id
  std::uint32_t stream = 0;          ///< CUPTI's number of the stream
  std::uint32_t grid[3] = {};        ///< blocks
  std::uint32_t block[3] = {};       ///< threads
  std::uint32_t registers = 0;       ///< a thread
  std::uint32_t static_shared = 0;   ///< bytes a block
  std::uint32_t dynamic_shared = 0;  ///< bytes a block
  /// Bytes of shared memory that a multiprocessor had while it ran, as the driver chose; 0: CUPTI
  /// does not tell, or it differs among the runs.
  std::uint32_t multiprocessor_shared = 0;
  std::uint32_t cluster[3] = {};                       ///< blocks placed together; 0: no clusters
  bool cooperative = false;                            ///< all blocks were on the device at a time
  copy_direction direction = copy_direction::unknown;  ///< of a copy
  memory_place from = memory_place::unknown;           ///< of a copy
  memory_place to = memory_place::unknown;             ///< of a copy or a memset

  std::uint64_t calls = 0;  ///< runs; those without timing are in no time below
  /// Of these, runs for which CUPTI gave no time, or an end before the beginning.
  std::uint64_t untimed = 0;
  double total_ns = 0;  ///< run times, summed: concurrent runs count each
  double min_ns = 0;
  double max_ns = 0;
  std::uint64_t gaps = 0;  ///< runs whose launch was seen
  /// From the call that launched them to their start, summed over these; of a graph's work from the
  /// graph's launch.
  double gap_ns = 0;
  std::uint64_t bytes = 0;  ///< copied or set, summed
};

/// A device, as the NVIDIA driver describes it.
struct device_info {
  std::uint32_t id = 0;    ///< CUDA's ordinal
  bool described = false;  ///< false: no description came; the next nine are unknown then
  std::string name;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint32_t multiprocessors = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_bytes_per_s = 0;  ///< theoretical peak
  std::uint64_t clock_hz = 0;            ///< highest core clock
  std::uint64_t l2_bytes = 0;            ///< of the L2 cache; 0: not known, a file lacks it
  std::string uuid;    ///< 32 hexadecimal digits, as in nvidia-smi -L; empty: not known
  double busy_ns = 0;  ///< while at least one kernel, copy or memset ran: the union of their times
  double sum_ns = 0;   ///< their times, summed
  /// False: records came too far out of order, and busy_ns is at least this.
  bool busy_is_exact = true;
};

/// What was seen of the device's work and what was not.
struct device_completeness {
  /// Calls that launch a kernel, a copy, a memset or a graph, seen to succeed.
  std::uint64_t launches = 0;
  /// Of these, launches with work on the device, made in an operator.
  std::uint64_t attributed = 0;
  std::uint64_t outside = 0;  ///< the same, made in no operator
  /// Launches of which no work on the device is known: in flight, or without any.
  std::uint64_t open = 0;
  std::uint64_t unknown = 0;  ///< records whose launch was not seen
  std::uint64_t records = 0;  ///< kernels, copies and memsets that were received
  /// Launches that could not be noted for want of memory; their records are of unknown launch.
  std::uint64_t launches_lost = 0;
  std::uint64_t dropped = 0;  ///< records that CUPTI, or kprof for want of memory, dropped
  /// Buffers of records of which CUPTI could not read the rest.
  std::uint64_t cut_buffers = 0;
  /// Buffers of records that another user of CUPTI's activity API asked for, and which came to
  /// kprof.
  std::uint64_t foreign_buffers = 0;
  std::uint64_t untimed = 0;  ///< records without timing
  /// Records of launches made before the recording began or while it was paused.
  std::uint64_t ignored = 0;
  std::uint64_t odd = 0;  ///< records of a kind that kprof does not know
  /// Records kept without their launch configuration for want of memory.
  std::uint64_t merged = 0;
  /// Records of graph nodes made before the recording began, or forgotten.
  std::uint64_t foreign_graphs = 0;
  /// Graphs of whose nodes kprof forgot the operators for want of memory.
  std::uint64_t forgotten_graphs = 0;
  /// Kernels, copies and memsets of graphs that had been instantiated when an earlier recording of
  /// the process stopped. They stand under the scopes known then: what updated these graphs before
  /// this recording was not seen.
  std::uint64_t older_graphs = 0;
  std::uint64_t synchronizations = 0;
  double synchronizing_ns = 0;  ///< host time in synchronising calls, as CUPTI gives it
  double overhead_ns = 0;       ///< time that CUPTI says it took itself
};

/// What the device did in a run.
struct device_profile {
  bool collecting = false;  ///< a collector is or was at work
  /// "CUPTI 13.0 (API 130001)", or why there is none and what to do; empty: the program does not
  /// use CUDA.
  std::string state;
  std::vector<device_info> devices;
  std::vector<std::string> kernels;  ///< names as the compiler mangled them
  std::vector<device_work> work;
  std::vector<std::string> functions;  ///< of CUDA's libraries, that the program called
  std::vector<host_call_sum> calls;    ///< of them
  device_timeline timeline;
  device_completeness complete;
  double collecting_ns = 0;  ///< host time spent reading and attributing records
};

KPROF_DETAIL_END

#endif
