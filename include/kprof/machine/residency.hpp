// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_RESIDENCY_HPP
#define KPROF_MACHINE_RESIDENCY_HPP

// How many blocks of a kernel a multiprocessor holds: the rules of NVIDIA's cuda_occupancy.h
// without its header. Limits: CUDA C++ Programming Guide, technical specifications by compute
// capability. Included by kprof/ceilings.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/profile/device_profile.hpp>
#include <kprof/profile/occupancy.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

KPROF_DETAIL_BEGIN
namespace detail {

/// Limits of a multiprocessor. All have 65,536 registers, at most 255 for a thread, in four parts.
struct residency_limits {
  std::uint32_t compute;  // major * 10 + minor
  std::uint32_t warps;
  std::uint32_t blocks;
  std::uint32_t shared_bytes;
  std::uint32_t shared_bytes_of_block;  // at most, where the program asks for it
  std::uint32_t reserved_bytes;         // of each block, for the system
  std::uint32_t shared_step;
};

namespace residency {

inline constexpr std::uint32_t kib = 1024;
inline constexpr residency_limits multiprocessors[] = {
    {70, 64, 32, 96 * kib, 96 * kib, 0, 256},      {72, 64, 32, 96 * kib, 96 * kib, 0, 256},
    {75, 32, 16, 64 * kib, 64 * kib, 0, 256},      {80, 64, 32, 164 * kib, 163 * kib, kib, 128},
    {86, 48, 16, 100 * kib, 99 * kib, kib, 128},   {87, 48, 16, 164 * kib, 163 * kib, kib, 128},
    {89, 48, 24, 100 * kib, 99 * kib, kib, 128},   {90, 64, 32, 228 * kib, 227 * kib, kib, 128},
    {100, 64, 32, 228 * kib, 227 * kib, kib, 128}, {103, 64, 32, 228 * kib, 227 * kib, kib, 128},
    {110, 48, 24, 228 * kib, 227 * kib, kib, 128}, {120, 48, 24, 100 * kib, 99 * kib, kib, 128},
    {121, 48, 24, 100 * kib, 99 * kib, kib, 128},
};

}  // namespace residency

/// Null where they are not known.
constexpr const residency_limits* find_limits(std::uint32_t compute_major,
                                              std::uint32_t compute_minor) {
  std::uint32_t compute = compute_major * 10 + compute_minor;
  if (compute == 101) compute = 110;  // the name that it had before
  for (const residency_limits& l : residency::multiprocessors)
    if (l.compute == compute && compute_minor < 10) return &l;
  return nullptr;
}

/// What a block takes. Bytes are those of static and dynamic shared memory.
struct block_needs {
  std::uint32_t threads = 0;
  std::uint32_t registers = 0;  // of a thread
  std::uint64_t shared_bytes = 0;
  std::uint64_t multiprocessor_shared = 0;  // bytes that the driver gave to all; 0: not known
};

/// Blocks that each resource allows; `none` where it sets no limit.
struct allowed_blocks {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t by_warps = 0, by_registers = none, by_shared_memory = none, by_blocks = 0;

  constexpr std::uint32_t least() const {
    return std::min(std::min(by_warps, by_registers), std::min(by_shared_memory, by_blocks));
  }
};

constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

/// Bytes of a multiprocessor for blocks of `of_block`. The driver may leave more of the memory to
/// L1, but a kernel that ran had room for a block.
constexpr std::uint64_t shared_given(const residency_limits& sm, const block_needs& block,
                                     std::uint64_t of_block) {
  const bool is_known =
      block.multiprocessor_shared >= of_block && block.multiprocessor_shared < sm.shared_bytes;
  return is_known ? block.multiprocessor_shared : sm.shared_bytes;
}

constexpr allowed_blocks blocks_allowed(const residency_limits& sm, const block_needs& block) {
  constexpr std::uint32_t warp = 32, most_threads = 1024, registers = 65'536, parts = 4;
  constexpr std::uint32_t most_registers = 256;  // NVIDIA's own check, though 255 is the most
  const std::uint32_t warps = (block.threads + warp - 1) / warp;
  allowed_blocks allowed;
  allowed.by_blocks = sm.blocks;
  if (block.threads == 0 || block.threads > most_threads) return allowed;
  allowed.by_warps = sm.warps / warps;
  // Registers are given to whole warps in steps, and each part of the multiprocessor has a fourth.
  const auto of_warp =
      static_cast<std::uint32_t>(rounded_up(std::uint64_t{block.registers} * warp, most_registers));
  if (block.registers > most_registers || of_warp * rounded_up(warps, parts) > registers)
    allowed.by_registers = 0;
  else if (of_warp > 0) allowed.by_registers = registers / parts / of_warp * parts / warps;
  const std::uint64_t shared = rounded_up(block.shared_bytes + sm.reserved_bytes, sm.shared_step);
  if (shared > sm.shared_bytes_of_block + sm.reserved_bytes) allowed.by_shared_memory = 0;
  else if (shared > 0)
    allowed.by_shared_memory = static_cast<std::uint32_t>(shared_given(sm, block, shared) / shared);
  return allowed;
}

constexpr const char* why_unknown(const device_info& device, const block_needs& block) {
  if (!device.described) return "the driver did not describe the device";
  if (find_limits(device.compute_major, device.compute_minor) == nullptr)
    return "kprof does not know the limits of the device's architecture";
  if (device.multiprocessors == 0) return "the driver gives no multiprocessors";
  if (block.threads == 0) return "CUPTI gives no block";
  return nullptr;
}

inline kernel_occupancy occupancy_of(const device_info& device, const block_needs& block,
                                     double blocks_of_grid) {
  kernel_occupancy found;
  found.unknown = why_unknown(device, block);
  if (found.unknown != nullptr) return found;
  const residency_limits& sm = *find_limits(device.compute_major, device.compute_minor);
  const allowed_blocks allowed = blocks_allowed(sm, block);
  found.blocks = allowed.least();
  found.limited_by_warps = allowed.by_warps == found.blocks;
  found.limited_by_registers = allowed.by_registers == found.blocks;
  found.limited_by_shared_memory = allowed.by_shared_memory == found.blocks;
  found.limited_by_blocks = allowed.by_blocks == found.blocks;
  if (found.blocks == 0) return found;
  found.warps = found.blocks * ((block.threads + 31) / 32);
  found.share = static_cast<double>(found.warps) / sm.warps;
  found.waves = blocks_of_grid / (static_cast<double>(device.multiprocessors) * found.blocks);
  if (found.waves > 0) found.tail_share = 1 - found.waves / std::ceil(found.waves);
  return found;
}

}  // namespace detail

/// The theoretical occupancy of a kernel on a device, from what CUPTI recorded of its launch: with
/// the shared memory that the driver gave to a multiprocessor, where the record says it. The waves
/// of blocks in clusters are not known: a cluster needs room for all its blocks in one part of the
/// device, and so fewer may fit.
[[gnu::cold]] inline kernel_occupancy occupancy_of(const device_info& device,
                                                   const device_work& kernel) {
  const auto product = [](const std::uint32_t(&of)[3]) {
    return static_cast<double>(of[0]) * of[1] * of[2];
  };
  const double threads = product(kernel.block);
  return detail::occupancy_of(
      device,
      {threads > 1e6 ? 1'000'000U : static_cast<std::uint32_t>(threads), kernel.registers,
       std::uint64_t{kernel.static_shared} + kernel.dynamic_shared, kernel.multiprocessor_shared},
      kernel.cluster[0] == 0 ? product(kernel.grid) : 0);
}

KPROF_DETAIL_END

#endif
