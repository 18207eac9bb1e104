// SPDX-License-Identifier: MIT
#ifndef KPROF_PROFILE_OCCUPANCY_HPP
#define KPROF_PROFILE_OCCUPANCY_HPP

// How a kernel's blocks fill a GPU. Plain values. Included by kprof/ceilings.hpp and by
// machine/residency.hpp.

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN

/// How many blocks of a kernel run on a multiprocessor at a time, by its registers, its shared
/// memory and its threads: the theoretical occupancy.
struct kernel_occupancy {
  /// Null, or why the rest is not known.
  const char* unknown = nullptr;
  std::uint32_t blocks = 0;  ///< on a multiprocessor; 0: the kernel could not be launched
  std::uint32_t warps = 0;   ///< of these blocks
  double share = 0;          ///< of the warps that a multiprocessor holds, 0 to 1
  // What allows no more blocks; several may do so alike.
  bool limited_by_warps = false;
  bool limited_by_registers = false;
  bool limited_by_shared_memory = false;
  bool limited_by_blocks = false;
  /// How often the whole GPU is filled: blocks of the grid by those that run at a time. 0: not
  /// known, of blocks in clusters.
  double waves = 0;
  /// The share of the time in which multiprocessors are idle since the last wave is not full, where
  /// all blocks take the same time: 1 - waves / ceil(waves).
  double tail_share = 0;
};

KPROF_DETAIL_END

#endif
