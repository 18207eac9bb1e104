// SPDX-License-Identifier: MIT
#ifndef KPROF_MODEL_ADVICE_KERNELS_HPP
#define KPROF_MODEL_ADVICE_KERNELS_HPP

// Rules of advice about how kernels fill a GPU, and how many there are. Included by catalogue.hpp.
// Pure. Thresholds are those of Nsight Compute where it has one.

#include <kprof/build_options.hpp>
#include <kprof/machine/residency.hpp>
#include <kprof/model/advice/facts.hpp>
#include <kprof/model/advice/rule.hpp>
#include <kprof/model/advice/sentence.hpp>
#include <kprof/model/tensor_core.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// How a kernel's launches fill their device.
struct kernel_fill {
  const device_info* device = nullptr;  // null: the rest is not known
  double blocks = 0;                    // of the grid
  block_needs needs;
  kernel_occupancy filled;
};

[[gnu::cold]] inline kernel_fill fill_of(const profile& p, const kernel_row& kernel) {
  kernel_fill out;
  out.blocks = static_cast<double>(kernel.grid[0]) * kernel.grid[1] * kernel.grid[2];
  const double threads = static_cast<double>(kernel.block[0]) * kernel.block[1] * kernel.block[2];
  if (kernel.several_configurations || kernel.several_devices || threads > 1024) return out;
  out.needs = {static_cast<std::uint32_t>(threads), kernel.registers, kernel.shared,
               kernel.multiprocessor_shared};
  for (const device_info& d : p.device.devices) {
    if (d.id != kernel.device) continue;
    out.filled = kernel.occupancy;
    if (out.filled.unknown == nullptr && out.filled.blocks > 0) out.device = &d;
  }
  return out;
}

/// Whether nothing else ran on the device meanwhile, as far as sums can tell.
inline bool runs_alone(const device_info& d) noexcept {
  return d.busy_is_exact && d.sum_ns <= 1.05 * d.busy_ns;
}

inline bool has_word(const std::string& name, std::initializer_list<const char*> words) {
  const std::string plain = lower(name);
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return plain.find(word) != std::string::npos; });
}

inline bool on_tensor_cores(const kernel_row& kernel) noexcept {
  return kernel.tensor_core == tensor_use::yes_by_name ||
         kernel.tensor_core == tensor_use::yes_declared;
}

namespace advice_rules {

/// G3. Fewer blocks than multiprocessors.
[[gnu::cold]] inline bool small_grid(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  const kernel_fill fill = fill_of(f.run, kernel);
  if (fill.device == nullptr || !runs_alone(*fill.device) || fill.blocks < 1 ||
      fill.blocks >= fill.device->multiprocessors)
    return false;
  const double all = fill.device->multiprocessors;
  out.gain_ns = kernel.total_ns * (all - fill.blocks) / all;
  out.fact =
      sentence("has # blocks for # multiprocessors", {as_number(fill.blocks), as_number(all)});
  out.action = "Use more and smaller blocks, split the reduction, or run it beside other work";
  return true;
}

/// G4. The last wave of blocks leaves multiprocessors idle.
[[gnu::cold]] inline bool tail(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  const kernel_fill fill = fill_of(f.run, kernel);
  if (fill.device == nullptr || !runs_alone(*fill.device)) return false;
  const double waves = fill.filled.waves, full = std::floor(waves);
  // A kernel that loops over its work launches as many blocks as fit, and a cooperative one cannot
  // launch more. The waves of clusters are not known.
  const bool loops = kernel.cooperative ||
                     (std::fmod(fill.blocks, fill.device->multiprocessors) == 0 && waves <= 2 &&
                      has_word(kernel.kernel, {"cutlass3x", "device_kernel", "nvjet", "stream",
                                               "flash", "persistent"}));
  if (full < 1 || waves == full || 1 / (1 + full) < 0.2 || loops) return false;
  out.gain_ns = kernel.total_ns * std::min(1 / (1 + full), fill.filled.tail_share);
  out.fact = sentence("runs in # waves of blocks, the last of them # full",
                      {as_number(full + 1), as_share(waves - full)});
  out.action = "Choose blocks so that waves are full, or let blocks loop over the work";
  return true;
}

/// G5. The last warp of a block is not full.
[[gnu::cold]] inline bool odd_block(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  const kernel_fill fill = fill_of(f.run, kernel);
  const std::uint32_t rest = fill.needs.threads % 32;
  if (fill.needs.threads == 0 || rest == 0) return false;
  out.gain_ns = kernel.total_ns / std::ceil(fill.needs.threads / 32.0) * (1 - rest / 32.0);
  out.fact = sentence("has blocks of # threads: # lanes of the last warp are idle",
                      {as_number(fill.needs.threads), as_number(32 - rest)});
  out.action = "Make a block a multiple of 32 threads";
  return true;
}

/// A kernel whose occupancy is low, which matters: its operator waits for memory, and it is not on
/// tensor cores, which need few warps.
[[gnu::cold]] inline bool is_starved(const advice_facts& f, const kernel_row& kernel,
                                     const kernel_fill& fill) {
  const std::uint32_t row = row_of(f, kernel);
  if (fill.device == nullptr || row == scope_node::none || on_tensor_cores(kernel)) return false;
  const bound_by bound = f.rows[row].verdict.bound;
  return fill.filled.share < 0.5 && fill.filled.waves >= 1 &&
         (bound == bound_by::latency || bound == bound_by::memory);
}

/// What a kernel saves where it is as much faster as more warps fit.
[[gnu::cold]] inline double saved_by_warps(const kernel_row& kernel, const kernel_fill& fill,
                                           const allowed_blocks& allowed) noexcept {
  const std::uint32_t now = fill.filled.blocks, then = allowed.least();
  return then > now ? kernel.total_ns * (1 - static_cast<double>(now) / then) : 0;
}
inline allowed_blocks blocks_of(const kernel_fill& fill) {
  return blocks_allowed(*find_limits(fill.device->compute_major, fill.device->compute_minor),
                        fill.needs);
}

/// G6. Registers allow few blocks.
[[gnu::cold]] inline bool registers(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  const kernel_fill fill = fill_of(f.run, kernel);
  if (!is_starved(f, kernel, fill) || !fill.filled.limited_by_registers) return false;
  allowed_blocks allowed = blocks_of(fill);
  allowed.by_registers = allowed_blocks::none;
  out.gain_ns = saved_by_warps(kernel, fill, allowed);
  if (!(out.gain_ns > 0)) return false;
  out.fact = sentence("needs # registers a thread: # of the warps fit",
                      {as_number(kernel.registers), as_share(fill.filled.share)});
  out.action = "Limit them with __launch_bounds__, or split the kernel";
  return true;
}

/// Whether more blocks would fit if the driver gave the kernel all shared memory that there is.
[[gnu::cold]] inline bool asks_for_more_shared(const kernel_row& kernel, const kernel_fill& fill,
                                               advice& out) {
  kernel_fill all = fill;
  all.needs.multiprocessor_shared = 0;
  out.gain_ns = saved_by_warps(kernel, fill, blocks_of(all));
  if (!(out.gain_ns > 0)) return false;
  out.fact = sentence("has # of shared memory on a multiprocessor, # a block: # of the warps fit",
                      {as_bytes(kernel.multiprocessor_shared), as_bytes(kernel.shared),
                       as_share(fill.filled.share)});
  out.action = "Ask for more of it with cudaFuncAttributePreferredSharedMemoryCarveout";
  return true;
}

/// G7. Shared memory allows few blocks.
[[gnu::cold]] inline bool shared_memory(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  const kernel_fill fill = fill_of(f.run, kernel);
  if (!is_starved(f, kernel, fill) || !fill.filled.limited_by_shared_memory) return false;
  if (asks_for_more_shared(kernel, fill, out)) return true;
  allowed_blocks allowed = blocks_of(fill);
  allowed.by_shared_memory = allowed_blocks::none;
  out.gain_ns = saved_by_warps(kernel, fill, allowed);
  if (!(out.gain_ns > 0)) return false;
  out.fact = sentence("needs # of shared memory a block: # of the warps fit",
                      {as_bytes(kernel.shared), as_share(fill.filled.share)});
  out.action = "Use smaller tiles or fewer stages";
  return true;
}

/// G8. Blocks of a warp fill the places for blocks before those for warps.
[[gnu::cold]] inline bool tiny_blocks(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  const kernel_fill fill = fill_of(f.run, kernel);
  if (fill.device == nullptr || fill.needs.threads > 32 || !fill.filled.limited_by_blocks ||
      fill.filled.share > 0.5 || fill.filled.waves < 1)
    return false;
  allowed_blocks allowed = blocks_of(fill);
  allowed.by_blocks = allowed_blocks::none;
  out.gain_ns = saved_by_warps(kernel, fill, allowed);
  if (!(out.gain_ns > 0)) return false;
  out.fact = sentence("has blocks of # threads, of which # fill a multiprocessor's places",
                      {as_number(fill.needs.threads), as_number(fill.filled.blocks)});
  out.action = "Use blocks of 128 to 256 threads";
  return true;
}

/// G18. Bytes move far slower than memory can.
[[gnu::cold]] inline bool slow_memory(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  const gpu_ceilings* const gpu = only_gpu(f.run);
  if (!row.on_device || gpu == nullptr || f.run.device.devices.empty() ||
      row.verdict.bound != bound_by::latency || !row.verdict.of_memory ||
      !row.bytes_per_call.known() || !row.bytes_per_s.known())
    return false;
  const std::uint64_t l2 = f.run.device.devices[0].l2_bytes;
  if (l2 == 0 || row.bytes_per_call.value < 4.0 * static_cast<double>(l2)) return false;
  out.gain_ns = row.verdict.lost_ns.value;
  out.fact = sentence("moves # of the # that memory can deliver",
                      {as_rate(row.bytes_per_s.value), as_rate(gpu->memory_bytes)});
  out.action =
      "Its access is strided or misaligned, or it moves more than its formula says: count the "
      "bytes "
      "with Nsight Compute";
  return true;
}

/// G19. Kernels that change the layout for an operator.
[[gnu::cold]] inline bool layout_kernels(const advice_facts& f, std::size_t i, advice& out) {
  const kernel_row& kernel = f.kernels[i];
  const std::uint32_t row = row_of(f, kernel);
  if (row == scope_node::none ||
      !has_word(kernel.kernel, {"nchwtonhwc", "nhwctonchw", "transpose", "converttensor"}) ||
      has_word(f.rows[row].name, {"transpose", "permute", "copy", "reshape"}) ||
      kernel.total_ns < 0.05 * f.rows[row].device_ns)
    return false;
  out.gain_ns = kernel.total_ns;
  out.fact = sentence("takes # of the operator's time to change the layout of its data",
                      {as_share(kernel.total_ns / f.rows[row].device_ns)});
  out.action = "Keep the data in the layout that the library computes in: channels last";
  return true;
}

/// G20. Several kernels where one pass over the data would do.
[[gnu::cold]] inline bool unfused(const advice_facts& f, std::size_t i, advice& out) {
  const operator_row& row = f.rows[i];
  const auto calls =
      static_cast<double>(row.calls - std::min(row.calls, row.captured) + row.replays);
  const bool fusible = has_word(row.name, {"norm", "softmax", "entropy", "loss", "nll", "mse",
                                           "adam", "sgd", "lamb", "momentum", "optimizer"});
  if (!row.on_device || !fusible || !(calls > 0) || !has_verdict(row) ||
      row.verdict.roof.value >= 0.4 || static_cast<double>(row.kernels) <= 2 * calls)
    return false;
  out.gain_ns = row.verdict.lost_ns.value;
  out.fact = sentence("runs # kernels a call where one pass over the data would do",
                      {as_number(static_cast<double>(row.kernels) / calls + 0.5)});
  out.action = "Use a fused version";
  return true;
}

}  // namespace advice_rules
}  // namespace detail
KPROF_DETAIL_END

#endif
