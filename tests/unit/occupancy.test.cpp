// SPDX-License-Identifier: MIT
// Resident blocks, occupancy and waves: known kernels, and NVIDIA's own calculator where its header
// is there.

#include <kprof/ceilings.hpp>

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

#if __has_include(<cuda_occupancy.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#define HAS_NVIDIA_S_CALCULATOR 1
#endif

using namespace kprof::detail;
using kprof::device_info;
using kprof::device_work;
using kprof::kernel_occupancy;

namespace {

device_info device(std::uint32_t compute, std::uint32_t multiprocessors = 100) {
  device_info d;
  d.described = true;
  d.compute_major = compute / 10;
  d.compute_minor = compute % 10;
  d.multiprocessors = multiprocessors;
  return d;
}

struct known_kernel {
  std::uint32_t compute, threads, registers, static_shared, dynamic_shared;
  std::uint32_t by_warps, by_registers, by_shared_memory, by_blocks;
  std::uint32_t blocks;
  double share;
};
constexpr std::uint32_t none = allowed_blocks::none;
const std::vector<known_kernel> kernels{
    {70, 256, 32, 0, 0, 8, 8, none, 32, 8, 1},
    {80, 128, 255, 0, 0, 16, 2, 164, 32, 2, 0.125},
    {80, 256, 128, 0, 73728, 8, 2, 2, 32, 2, 0.25},
    {86, 256, 40, 0, 0, 6, 6, 100, 16, 6, 1},
    {86, 192, 72, 0, 49152, 8, 4, 2, 16, 2, 0.25},
    {89, 64, 24, 1024, 0, 24, 42, 50, 24, 24, 1},
    {90, 384, 168, 0, 215040, 5, 1, 1, 32, 1, 0.1875},
    {90, 1024, 64, 0, 0, 2, 1, 228, 32, 1, 0.5},
    {110, 96, 16, 0, 0, 16, 42, 228, 24, 16, 1},
    {120, 128, 96, 0, 98304, 12, 5, 1, 24, 1, 4. / 48},
};

}  // namespace

TEST_CASE("occupancy.known_kernels") {
  for (const known_kernel& k : kernels) {
    INFO(k.compute << ", " << k.threads << " threads");
    const allowed_blocks allowed =
        blocks_allowed(*find_limits(k.compute / 10, k.compute % 10),
                       {k.threads, k.registers, std::uint64_t{k.static_shared} + k.dynamic_shared});
    CHECK(allowed.by_warps == k.by_warps);
    CHECK(allowed.by_registers == k.by_registers);
    CHECK(allowed.by_shared_memory == k.by_shared_memory);
    CHECK(allowed.by_blocks == k.by_blocks);
    device_work w;
    w.grid[0] = w.grid[1] = w.grid[2] = 1;
    w.block[0] = k.threads / 2, w.block[1] = 2, w.block[2] = 1;
    w.registers = k.registers;
    w.static_shared = k.static_shared;
    w.dynamic_shared = k.dynamic_shared;
    const kernel_occupancy found = kprof::occupancy_of(device(k.compute), w);
    CHECK(found.unknown == nullptr);
    CHECK(found.blocks == k.blocks);
    CHECK(found.share == k.share);
    CHECK(found.limited_by_warps == (k.by_warps == k.blocks));
    CHECK(found.limited_by_registers == (k.by_registers == k.blocks));
    CHECK(found.limited_by_shared_memory == (k.by_shared_memory == k.blocks));
    CHECK(found.limited_by_blocks == (k.by_blocks == k.blocks));
  }
}

TEST_CASE("occupancy.waves_and_their_tail") {
  struct wave {
    double grid;
    std::uint32_t multiprocessors, threads, resident;
    double waves, tail;
  };
  // 2048 threads a multiprocessor on 8.0 and 9.0: blocks of 1024 or 512 with enough registers
  for (const wave& w :
       {wave{98, 108, 1024, 1, 0.9074, 0.0926}, wave{109, 108, 1024, 1, 1.0093, 0.4954},
        wave{529, 132, 1024, 2, 2.0038, 0.3321}, wave{40, 132, 640, 3, 0.1010, 0.8990}}) {
    const std::uint32_t registers = w.resident == 1 ? 64 : 32;
    const kernel_occupancy found =
        occupancy_of(device(80, w.multiprocessors), {w.threads, registers, 0}, w.grid);
    REQUIRE(found.blocks == w.resident);
    CHECK(found.waves == Approx(w.waves).epsilon(0.0005));
    CHECK(found.tail_share == Approx(w.tail).epsilon(0.0005));
  }
  // A grid of more blocks than 32 bits count.
  device_work large;
  large.block[0] = 256, large.block[1] = large.block[2] = 1;
  large.grid[0] = large.grid[1] = 1U << 16U, large.grid[2] = 4;
  large.registers = 32;
  CHECK(kprof::occupancy_of(device(90, 132), large).waves == Approx(17179869184. / (132 * 8)));
  CHECK(occupancy_of(device(80, 4), {1024, 64, 0}, 8).tail_share == 0);
  CHECK(occupancy_of(device(80, 4), {1024, 64, 0}, 0).tail_share == 0);
}

// 96 KiB a block with the kibibyte that the system takes: two in the 228 KiB of 9.0.
TEST_CASE("occupancy.the_driver_may_leave_shared_memory_to_L1") {
  device_work w;
  w.grid[0] = 132, w.grid[1] = w.grid[2] = 1;
  w.block[0] = 128, w.block[1] = w.block[2] = 1;
  w.registers = 32;
  w.dynamic_shared = 95 * 1024;
  const auto blocks = [&](std::uint32_t kib) {
    w.multiprocessor_shared = kib * 1024;
    const kernel_occupancy found = kprof::occupancy_of(device(90, 132), w);
    CHECK(found.limited_by_shared_memory);
    CHECK(found.waves == 132.0 / (132 * found.blocks));
    return found.blocks;
  };
  CHECK(blocks(0) == 2);
  CHECK(blocks(228) == 2);
  CHECK(blocks(192) == 2);
  CHECK(blocks(191) == 1);
  CHECK(blocks(132) == 1);
  CHECK(blocks(96) == 1);
  // What no kernel can have run with, and more than there is.
  CHECK(blocks(64) == 2);
  CHECK(blocks(1000) == 2);
}

TEST_CASE("occupancy.waves_of_clusters_are_not_known") {
  device_work w;
  w.grid[0] = 529, w.grid[1] = w.grid[2] = 1;
  w.block[0] = 1024, w.block[1] = w.block[2] = 1;
  w.registers = 32;
  CHECK(kprof::occupancy_of(device(90, 132), w).waves == 529.0 / 264);
  w.cluster[0] = 2, w.cluster[1] = w.cluster[2] = 1;
  const kernel_occupancy found = kprof::occupancy_of(device(90, 132), w);
  CHECK(found.blocks == 2);
  CHECK(found.share == 1);
  CHECK(found.waves == 0);
  CHECK(found.tail_share == 0);
}

TEST_CASE("occupancy.what_is_not_known_has_its_reason") {
  const auto reason = [](const device_info& d, std::uint32_t threads) {
    const kernel_occupancy found = occupancy_of(d, {threads, 32, 0}, 1);
    CHECK(found.blocks == 0);
    return std::string(found.unknown == nullptr ? "" : found.unknown);
  };
  CHECK(reason(device_info{}, 32) == "the driver did not describe the device");
  CHECK(reason(device(91), 32) == "kprof does not know the limits of the device's architecture");
  CHECK(reason(device(90, 0), 32) == "the driver gives no multiprocessors");
  CHECK(reason(device(90), 0) == "CUPTI gives no block");
  // known, and impossible
  CHECK(reason(device(90), 1025).empty());
  CHECK(occupancy_of(device(90), {1024, 65, 0}, 1).blocks == 0);
  CHECK(occupancy_of(device(90), {32, 32, 228 * 1024}, 1).blocks == 0);
  device_work odd;  // products beyond 32 bits
  for (auto& n : odd.block) n = 1U << 20U;
  for (auto& n : odd.grid) n = 1U << 31U;
  CHECK(kprof::occupancy_of(device(90), odd).blocks == 0);
}

#if defined(HAS_NVIDIA_S_CALCULATOR)
TEST_CASE("occupancy.every_kernel_is_as_in_nvidia_s_calculator") {
  std::uint64_t compared = 0, different = 0;
  for (const residency_limits& sm : residency::multiprocessors) {
    cudaOccDeviceProp p;
    p.computeMajor = static_cast<int>(sm.compute / 10);
    p.computeMinor = static_cast<int>(sm.compute % 10);
    p.maxThreadsPerBlock = 1024;
    p.maxThreadsPerMultiprocessor = static_cast<int>(sm.warps * 32);
    p.regsPerBlock = p.regsPerMultiprocessor = 65536;
    p.warpSize = 32;
    p.sharedMemPerBlock = 48 * 1024;
    p.sharedMemPerMultiprocessor = sm.shared_bytes;
    p.numSms = 1;
    p.sharedMemPerBlockOptin = sm.shared_bytes_of_block;
    p.reservedSharedMemPerBlock = sm.reserved_bytes;
    cudaOccFuncAttributes f;
    f.maxThreadsPerBlock = 1024;
    f.partitionedGCConfig = PARTITIONED_GC_OFF;
    f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    f.maxDynamicSharedSizeBytes = sm.shared_bytes_of_block;
    f.numBlockBarriers = 1;
    const cudaOccDeviceState state;
    for (int threads = 1; threads <= 1024; threads += threads < 160 ? 31 : 73)
      for (int registers = 0; registers <= 256; registers += registers < 40 ? 5 : 24)
        for (std::size_t shared = 0; shared <= sm.shared_bytes; shared += 1500) {
          f.numRegs = registers;
          f.sharedSizeBytes = shared / 3;
          cudaOccResult result{};
          const int error = static_cast<int>(cudaOccMaxActiveBlocksPerMultiprocessor(
              &result, &p, &f, &state, threads, shared - shared / 3));
          const auto own = blocks_allowed(sm, {static_cast<std::uint32_t>(threads),
                                               static_cast<std::uint32_t>(registers), shared});
          ++compared;
          const auto theirs =
              error == 0 ? static_cast<std::uint32_t>(result.activeBlocksPerMultiprocessor) : 0U;
          different += own.least() == theirs ? 0U : 1U;
        }
  }
  CHECK(compared > 100'000);
  CHECK(different == 0);
}
#endif
