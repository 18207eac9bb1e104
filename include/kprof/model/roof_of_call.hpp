// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ROOF_OF_CALL_HPP
#define KPROF_MODEL_ROOF_OF_CALL_HPP

// The least time that a call takes on a machine, by its formulas: the larger of FLOPs / highest
// rate of their type and bytes / bandwidth; where bytes run faster than memory can and fit a cache,
// the cache's bandwidth. Included by roofline.hpp and projection.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/model/ceiling_rates.hpp>
#include <kprof/model/figure.hpp>
#include <kprof/model/roof_sum.hpp>
#include <kprof/profile.hpp>
#include <kprof/profile/ceilings.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// A level of memory: how much it holds and how fast it is.
struct memory_level {
  double bytes = 0;  // of a cache; 0 of memory
  double rate = 0;
  bool may_be_faster = false;
  bool stores_fetch = false;  // what is written is fetched first, if it has not been read
};

/// What the ceilings of a machine say of a type.
struct flop_rates {
  double of_type = 0;  // 0: not known
  double slowest = 0;  // of any type: nothing takes longer
  bool may_be_faster = false;
};

inline absence formulas_of(const scope_node& n) noexcept {
  if (!n.work.valid) return absence::invalid;
  if (!n.work.has_flops) return n.work.has_bytes ? absence::none : absence::no_flops;
  return absence::none;
}
inline double bytes_of(const scope_node& n) noexcept {
  return static_cast<double>(n.work.bytes_read) + static_cast<double>(n.work.bytes_written);
}
/// What a cache has to hold at least: a call may write where it read.
inline double footprint_of(const scope_node& n) noexcept {
  return static_cast<double>(std::max(n.work.bytes_read, n.work.bytes_written));
}

/// How long the calls of a node took.
struct call_durations {
  double mean_ns = 0;
  double usual_ns = 0;  // half of them took no longer
};

/// Faster than memory: from the smallest cache that holds it, if one does. Levels come from the
/// first cache to memory.
[[gnu::cold]] inline void use_cache(const scope_node& n, const std::vector<memory_level>& levels,
                                    bool needs_cache, call_roof& roof) {
  for (const memory_level& level : levels) {
    if (!(level.bytes >= footprint_of(n))) continue;
    if (!(level.rate > 0) && !needs_cache) return;
    roof.from_cache = true;
    roof.at_most = level.may_be_faster;
    if (level.rate > 0) roof.memory_ns = std::min(roof.memory_ns, bytes_of(n) / level.rate * 1e9);
    else roof.why = std::max(roof.why, absence::no_ceiling);
    return;
  }
}

/// A rate that was disturbed when it was measured, and that the calls exceed, is at least theirs.
[[gnu::cold]] inline void stay_within(double mean_ns, double& least_ns) noexcept {
  if (mean_ns > 0) least_ns = std::min(least_ns, mean_ns);
}

/// A ceiling is the rate at which a processor fetches lines, also those that it only writes. A call
/// that writes where it has read, or past the caches, fetches fewer: it gets up to half as much
/// again, and no more than what it reads at that rate.
[[gnu::cold]] inline void fetch_what_is_read(const scope_node& n, double mean_ns,
                                             double& least_ns) noexcept {
  const double read = static_cast<double>(n.work.bytes_read) / bytes_of(n);
  if (least_ns * std::max(read, 2.0 / 3) <= over_the_roof * mean_ns) stay_within(mean_ns, least_ns);
}

[[gnu::cold]] inline call_roof roof_of(const scope_node& n, const flop_rates& rates,
                                       const call_durations& took,
                                       const std::vector<memory_level>& levels) {
  call_roof roof;
  roof.type = n.work.type;
  roof.why = formulas_of(n);
  if (roof.why != absence::none) return roof;
  if (n.work.has_flops && n.work.flops > 0) {
    if (!(rates.of_type > 0))
      roof.why = n.work.type == dtype::unknown ? absence::no_type : absence::no_ceiling;
    else roof.compute_ns = static_cast<double>(n.work.flops) / rates.of_type * 1e9;
  }
  roof.no_bytes = !n.work.has_bytes;
  if (n.work.has_bytes && bytes_of(n) > 0) {
    const double memory = levels.empty() ? 0 : levels.back().rate;
    if (!(memory > 0)) roof.why = std::max(roof.why, absence::no_ceiling);
    else roof.memory_ns = bytes_of(n) / memory * 1e9;
    roof.at_most = !levels.empty() && levels.back().may_be_faster;
    // Where half of the calls were faster than memory, a cache holds the data of all.
    const bool is_faster = roof.memory_ns > took.mean_ns;
    if (is_faster || roof.memory_ns > over_the_roof * took.usual_ns)
      use_cache(n, levels, is_faster, roof);
    roof.cached = roof.from_cache && is_faster;
    if (roof.at_most) stay_within(took.mean_ns, roof.memory_ns);
    if (!levels.empty() && levels.back().stores_fetch)
      fetch_what_is_read(n, took.mean_ns, roof.memory_ns);
  }
  const double mean_ns = took.mean_ns;
  if (rates.may_be_faster) stay_within(mean_ns, roof.compute_ns);
  if (roof.compute_ns > roof.memory_ns) roof.at_most = rates.may_be_faster;
  roof.is_impossible = mean_ns > 0 && roof.ideal_ns() > over_the_roof * mean_ns;
  // Whatever the type, the bytes take longer than the arithmetic, or are too many themselves.
  if (roof.why == absence::no_type &&
      (roof.is_impossible ||
       (rates.slowest > 0 &&
        static_cast<double>(n.work.flops) / rates.slowest * 1e9 <= roof.memory_ns)))
    roof.why = absence::none;
  return roof;
}

/// On so many threads of a machine's processors.
[[gnu::cold]] inline call_roof roof_on_cpu(const scope_node& n, const cpu_ceilings& cpu,
                                           double threads, const call_durations& took) {
  const double all_threads = std::max(1.0, static_cast<double>(cpu.threads));
  flop_rates rates;
  double as_f32 = 0;
  bool f32_may_be_faster = false;
  for (const arithmetic_ceiling& a : cpu.arithmetic) {
    const double rate = rate_of(a.operations, threads, all_threads);
    if (rate > 0) rates.slowest = rates.slowest > 0 ? std::min(rates.slowest, rate) : rate;
    if (a.type == dtype::f32) as_f32 = rate, f32_may_be_faster = a.operations.is_lower_bound;
    if (a.type != computed_in(n.work.type)) continue;
    rates.of_type = rate;
    rates.may_be_faster = a.operations.is_lower_bound;
  }
  // Some processors are slower with numbers of 16 bits: they may be widened.
  if (rates.of_type > 0 && (n.work.type == dtype::f16 || n.work.type == dtype::bf16))
    if (as_f32 > rates.of_type) rates.of_type = as_f32, rates.may_be_faster = f32_may_be_faster;
  std::vector<memory_level> levels;
  for (const memory_ceiling& m : cpu.memory) {
    // Threads share caches, or have as many more as they are more than share one.
    const double caches = std::max(1.0, threads / std::max(1.0, static_cast<double>(m.sharers)));
    levels.push_back(
        {static_cast<double>(m.bytes) * caches,
         std::max(rate_of(m.read, threads, all_threads), rate_of(m.triad, threads, all_threads)),
         m.read.is_lower_bound || m.triad.is_lower_bound, true});
  }
  call_roof roof = roof_of(n, rates, took, levels);
  roof.threads = threads;
  return roof;
}

/// The highest rate of a type on a unit, whatever the products are added into.
inline double highest_rate(const gpu_ceilings& gpu, dtype type, arithmetic_unit on) noexcept {
  double rate = 0;
  for (const gpu_arithmetic_ceiling& a : gpu.arithmetic)
    if (a.type == type && a.on == on) rate = std::max(rate, a.operations);
  return rate;
}

/// What is measured, by the table.
[[gnu::cold]] inline gpu_ceilings by_table(gpu_ceilings gpu) {
  for (gpu_arithmetic_ceiling& a : gpu.arithmetic)
    a.operations = std::max(a.operations, a.table_operations);
  gpu.memory_bytes = std::max(gpu.memory_bytes, gpu.table_memory_bytes);
  gpu.l2_bytes = std::max(gpu.l2_bytes, gpu.table_l2_bytes);
  return gpu;
}

/// On a device with so large an L2 cache, on tensor cores if a kernel's name says so. Where neither
/// that nor the operator says the unit, on the faster one; but f32 is computed on tensor cores, as
/// tf32, only where a program allows it.
[[gnu::cold]] inline call_roof roof_by_rates(const scope_node& n, const gpu_ceilings& gpu,
                                             std::uint64_t l2_bytes, bool tensor_cores,
                                             double mean_ns) {
  std::vector<memory_level> levels;
  if (l2_bytes > 0) levels.push_back({static_cast<double>(l2_bytes), gpu.l2_bytes, false});
  levels.push_back({0, gpu.memory_bytes, false});
  flop_rates rates;
  for (const gpu_arithmetic_ceiling& a : gpu.arithmetic)
    if (a.operations > 0)
      rates.slowest = rates.slowest > 0 ? std::min(rates.slowest, a.operations) : a.operations;
  const bool is_f32 = computed_in(n.work.type) == dtype::f32;
  const dtype type = computed_in(n.work.type), on_tensor_cores = is_f32 ? dtype::tf32 : type;
  const double cuda = highest_rate(gpu, type, arithmetic_unit::cuda_core),
               tensor = highest_rate(gpu, on_tensor_cores, arithmetic_unit::tensor_core);
  const auto is_on = [&](arithmetic_unit unit) { return n.work.on == unit; };
  bool by_tensor_cores =
      is_on(arithmetic_unit::tensor_core) || (is_on(arithmetic_unit::unknown) && tensor_cores);
  // Faster than CUDA cores: on tensor cores, as tf32.
  if (is_on(arithmetic_unit::unknown) && n.work.type == dtype::f32 && mean_ns > 0 &&
      tensor > cuda && static_cast<double>(n.work.flops) > over_the_roof * cuda * mean_ns * 1e-9)
    by_tensor_cores = true;
  rates.of_type = by_tensor_cores                               ? tensor
                  : is_on(arithmetic_unit::cuda_core) || is_f32 ? cuda
                                                                : std::max(cuda, tensor);
  call_roof roof = roof_of(n, rates, {mean_ns, mean_ns}, levels);
  roof.threads = 0;
  roof.tensor_cores = by_tensor_cores;
  if (by_tensor_cores && n.work.type == dtype::f32) roof.type = dtype::tf32;
  return roof;
}
/// What is faster than kprof's kernels were is not impossible unless the table says so too, and is
/// held against the table then.
[[gnu::cold]] inline call_roof roof_on_gpu(const scope_node& n, const gpu_ceilings& gpu,
                                           std::uint64_t l2_bytes, bool tensor_cores,
                                           double mean_ns) {
  const call_roof roof = roof_by_rates(n, gpu, l2_bytes, tensor_cores, mean_ns);
  return roof.is_impossible && !gpu.measured.empty()
             ? roof_by_rates(n, by_table(gpu), l2_bytes, tensor_cores, mean_ns)
             : roof;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
