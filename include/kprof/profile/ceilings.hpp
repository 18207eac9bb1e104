// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_CEILINGS_HPP
#define KPROF_PROFILE_CEILINGS_HPP

// The rates that a machine reaches at most: what a program's rates are compared with. Plain values.
// Included by kprof/ceilings.hpp and by the headers of machine/.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>

#include <cstdint>
#include <string>
#include <vector>

KPROF_DETAIL_BEGIN

/// A highest rate, per second; 0 where it is not known.
struct rate_ceiling {
  double one_thread = 0;   ///< that one thread reaches while the others rest
  double all_threads = 0;  ///< that cpu_ceilings::threads reach together
  /// Another program disturbed every measurement: the true ceiling is this or higher.
  bool is_lower_bound = false;
};

/// How fast a processor multiplies and adds numbers of a type. Each multiplication and each
/// addition is an operation.
struct arithmetic_ceiling {
  dtype type = dtype::unknown;
  std::string instructions;  ///< such as "AVX-512 FMA"; empty where a person gave the rate
  rate_ceiling operations;
};

/// How fast a processor reaches data. Bytes are those that the program names: a store's line that
/// has to be read first is not counted.
struct memory_ceiling {
  std::string level;        ///< "L1", "L2", "L3", "DRAM"
  std::uint64_t bytes = 0;  ///< of the cache, for one CPU; 0 for DRAM
  rate_ceiling read;        ///< bytes read
  rate_ceiling triad;       ///< a[i] = b[i] + s c[i], the bytes of all three arrays
};

/// What the processors reach that a process may use.
struct cpu_ceilings {
  std::string model;          ///< as the system names the processor
  std::uint32_t threads = 0;  ///< at a time: the affinity's CPUs, less where a quota allows less
  double clock_hz = 0;        ///< of the core while one thread ran; 0: not known
  std::vector<arithmetic_ceiling> arithmetic;  ///< one entry a type
  std::vector<memory_ceiling> memory;          ///< from the first cache to DRAM
  std::vector<std::string> notes;              ///< what could not be measured, and why
};

KPROF_DETAIL_END

#endif
