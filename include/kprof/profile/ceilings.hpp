// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_CEILINGS_HPP
#define KPROF_PROFILE_CEILINGS_HPP

// The rates that a machine reaches at most: what a program's rates are compared with. Plain values.
// Included by profile.hpp, kprof/ceilings.hpp and the headers of machine/.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>

#include <cstdint>
#include <string>
#include <string_view>
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
  std::string level;          ///< "L1", "L2", "L3", "DRAM"
  std::uint64_t bytes = 0;    ///< of one cache; 0 for DRAM
  rate_ceiling read;          ///< bytes read
  rate_ceiling triad;         ///< a[i] = b[i] + s c[i], the bytes of all three arrays
  std::uint32_t sharers = 1;  ///< CPUs of the process that share one cache
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

/// How fast a GPU multiplies and adds numbers of a type by its table: no kernel is faster.
struct gpu_arithmetic_ceiling {
  dtype type = dtype::unknown;
  arithmetic_unit on = arithmetic_unit::unknown;
  /// What tensor cores add products into, where that makes a difference; else unknown.
  dtype sums = dtype::unknown;
  double operations = 0;         ///< a second, with dense operands, at clock_hz
  double sparse_operations = 0;  ///< with 2 of 4 operands zero; 0: there is no such form
  double clock_hz = 0;           ///< lower than the device's for the tensor cores of some cards
  std::string source;            ///< "vendor", "measured", "derived", "statement" or "by hand"
  /// What a kernel of kprof's reached on this device, with dense operands; 0: it was not measured.
  /// That is `operations` too, unless the unit does more with instructions that the kernel does not
  /// have, as the tensor cores of compute 9.0 to 11.0.
  double measured_operations = 0;
  double table_operations = 0;  ///< `operations` by the table, where they are measured; else 0
};

/// What a GPU reaches at most by its table, and what kprof measured of it where it was asked to.
/// What is not known is left out.
struct gpu_ceilings {
  /// How the note about the clock begins.
  static constexpr std::string_view clock_note = "rates at the device's highest clock, ";

  std::string device;  ///< its name
  std::vector<gpu_arithmetic_ceiling> arithmetic;
  double memory_bytes = 0;         ///< a second; 0: not known
  double l2_bytes = 0;             ///< a second; 0: not known
  double shared_bytes = 0;         ///< of shared memory, a second; 0: not known
  std::vector<std::string> notes;  ///< what is not known and why, and which clock was taken
  std::string measured;            ///< when kprof measured: "2026-11-23"; empty: never
  double measured_clock_hz = 0;    ///< of the multiprocessors, while they computed with f32
  double table_memory_bytes = 0;   ///< `memory_bytes` by the table, where they are measured; else 0
  double table_l2_bytes = 0;       ///< the same of `l2_bytes`
  double to_device_bytes = 0;      ///< a second, copied from pinned memory of the host; measured
  double from_device_bytes = 0;    ///< a second, copied to pinned memory of the host; measured

  /// Null where it is not known.
  const gpu_arithmetic_ceiling* find(dtype type, arithmetic_unit on,
                                     dtype sums = dtype::unknown) const noexcept {
    for (const gpu_arithmetic_ceiling& a : arithmetic)
      if (a.type == type && a.on == on && (sums == dtype::unknown || a.sums == sums)) return &a;
    return nullptr;
  }
};

/// What the machine of a run reaches. What is not known is empty or 0, and `notes` of the processor
/// or the GPU say why.
struct machine_ceilings {
  cpu_ceilings cpu;
  std::vector<gpu_ceilings> gpus;  ///< of device_profile::devices, in their order; or none
  /// Where those of the processors come from, in words: "measured 2026-11-23"; empty where none are
  /// known.
  std::string source;
};

KPROF_DETAIL_END

#endif
