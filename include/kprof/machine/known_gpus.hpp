// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_KNOWN_GPUS_HPP
#define KPROF_MACHINE_KNOWN_GPUS_HPP

// GPUs by their common names, for what a run would take on another one. Included by
// report/text/other_machine.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/machine/gpu_table.hpp>
#include <kprof/profile/device_profile.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

KPROF_DETAIL_BEGIN
namespace detail {

/// What the driver would describe a card with.
struct known_gpu {
  const char* name;    // the common one
  const char* device;  // how the driver's name begins, without "NVIDIA "
  std::uint32_t compute, multiprocessors, mhz;
  std::uint32_t gb_per_s;  // of its memory
  std::uint32_t l2_mib;    // 0: not known
};

// Sources: NVIDIA's data sheets, for the clocks that they give their figures for; L2 by the white
// papers of V100, Turing, A100, GA102, Ada and H100.
inline constexpr known_gpu known_gpus[] = {
    {"V100", "Tesla V100-SXM2", 70, 80, 1530, 900, 6},
    {"T4", "Tesla T4", 75, 40, 1590, 320, 4},
    {"RTX 2080 Ti", "GeForce RTX 2080 Ti", 75, 68, 1635, 616, 0},
    {"A100", "A100-SXM4-80GB", 80, 108, 1410, 2039, 40},
    {"A100 40GB", "A100-SXM4-40GB", 80, 108, 1410, 1555, 40},
    {"A100 PCIe", "A100 80GB PCIe", 80, 108, 1410, 1935, 40},
    {"A30", "A30", 80, 56, 1440, 933, 24},
    {"A10", "A10", 86, 72, 1695, 600, 6},
    {"A40", "A40", 86, 84, 1740, 696, 6},
    {"RTX A6000", "RTX A6000", 86, 84, 1800, 768, 6},
    {"RTX 3090", "GeForce RTX 3090", 86, 82, 1695, 936, 6},
    {"RTX 4090", "GeForce RTX 4090", 89, 128, 2520, 1008, 72},
    {"L4", "L4", 89, 58, 2040, 300, 48},
    {"L40", "L40", 89, 142, 2490, 864, 96},
    {"L40S", "L40S", 89, 142, 2520, 864, 96},
    {"RTX 6000 Ada", "RTX 6000 Ada Generation", 89, 142, 2505, 960, 96},
    {"H100", "H100 80GB HBM3", 90, 132, 1980, 3352, 50},
    {"H100 PCIe", "H100 PCIe", 90, 114, 1755, 2039, 50},
    {"H100 NVL", "H100 NVL", 90, 132, 1785, 3938, 50},
    {"H200", "H200", 90, 132, 1980, 4800, 50},
    {"H200 NVL", "H200 NVL", 90, 132, 1785, 4813, 50},
    {"GH200", "GH200 480GB", 90, 132, 1980, 4022, 50},
    {"H800", "H800", 90, 132, 1980, 3352, 50},
    {"H20", "H20", 90, 78, 1980, 4000, 0},
    {"B200", "B200", 100, 148, 1965, 7672, 0},
    {"GB200", "GB200", 100, 152, 2062, 8000, 0},
    {"RTX 5090", "GeForce RTX 5090", 120, 170, 2407, 1792, 96},
    {"RTX PRO 6000", "RTX PRO 6000 Blackwell", 120, 188, 2617, 1792, 128},
};

/// "h100-sxm5" and "NVIDIA H100" are "H100": letters and digits, without the words that many cards
/// share.
[[gnu::cold]] inline std::string plain_gpu_name(std::string_view name) {
  std::string out;
  for (const char c : name)
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')) out += c;
    else if (c >= 'a' && c <= 'z') out += static_cast<char>(c - 'a' + 'A');
  for (const std::string_view shared :
       {"NVIDIA", "GEFORCE", "TESLA", "RTX", "SXM2", "SXM4", "SXM5", "SXM"})
    if (const std::size_t at = out.find(shared); at != out.npos) out.erase(at, shared.size());
  return out;
}

/// By its common name, or as its driver names it; null where none is called so.
[[gnu::cold]] inline const known_gpu* find_known_gpu(std::string_view name) {
  const std::string wanted = plain_gpu_name(name);
  for (const known_gpu& gpu : known_gpus)
    if (wanted == plain_gpu_name(gpu.name) || wanted == plain_gpu_name(gpu.device)) return &gpu;
  return nullptr;
}

/// "H100, H100 PCIe, H100 NVL": the names that contain `part`, or all.
[[gnu::cold]] inline std::string gpu_names_with(std::string_view part) {
  const std::string wanted = plain_gpu_name(part);
  std::string out;
  for (const known_gpu& gpu : known_gpus)
    if (plain_gpu_name(gpu.name).find(wanted) != std::string::npos)
      out.append(out.empty() ? "" : ", ").append(gpu.name);
  return out;
}

[[gnu::cold]] inline device_info describe(const known_gpu& gpu) {
  device_info d;
  d.described = true;
  d.name = std::string{"NVIDIA "} + gpu.device;
  d.compute_major = gpu.compute / 10;
  d.compute_minor = gpu.compute % 10;
  d.multiprocessors = gpu.multiprocessors;
  d.clock_hz = std::uint64_t{gpu.mhz} * 1'000'000;
  d.memory_bytes_per_s = std::uint64_t{gpu.gb_per_s} * 1'000'000'000;
  d.l2_bytes = std::uint64_t{gpu.l2_mib} << 20U;
  return d;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
