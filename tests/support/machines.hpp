// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_MACHINES_HPP
#define KPROF_TESTS_MACHINES_HPP

// Machines with known ceilings.

#include <kprof/profile.hpp>

#include <string>
#include <utility>

namespace kprof_test {

/// Two CPUs: f32 100 GFLOP/s a thread, f64 half of that; caches of 32 KiB, 1 MiB and 32 MiB with
/// 400, 200 and 100 GB/s a thread; memory 20 GB/s for one thread, 30 for both.
inline kprof::cpu_ceilings two_cpus() {
  kprof::cpu_ceilings cpu;
  cpu.model = "Test CPU";
  cpu.threads = 2;
  cpu.clock_hz = 3e9;
  cpu.arithmetic = {{kprof::dtype::f64, "FMA", {50e9, 100e9, false}},
                    {kprof::dtype::f32, "FMA", {100e9, 200e9, false}}};
  const auto level = [](std::string name, std::uint64_t bytes, double one, double both) {
    kprof::memory_ceiling m;
    m.level = std::move(name);
    m.bytes = bytes;
    m.read = {one, both, false};
    m.triad = {0.9 * one, 0.9 * both, false};
    return m;
  };
  cpu.memory = {level("L1", 32 << 10, 400e9, 800e9), level("L2", 1 << 20, 200e9, 400e9),
                level("L3", 32 << 20, 100e9, 190e9), level("DRAM", 0, 20e9, 30e9)};
  return cpu;
}

inline kprof::gpu_arithmetic_ceiling gpu_rate(kprof::dtype type, kprof::arithmetic_unit on,
                                              double operations) {
  kprof::gpu_arithmetic_ceiling a;
  a.type = type;
  a.on = on;
  a.operations = operations;
  return a;
}

/// H100 SXM by its data sheet.
inline kprof::gpu_ceilings h100() {
  using kprof::arithmetic_unit;
  using kprof::dtype;
  kprof::gpu_ceilings gpu;
  gpu.device = "NVIDIA H100 80GB HBM3";
  gpu.arithmetic = {gpu_rate(dtype::f16, arithmetic_unit::tensor_core, 989.4e12),
                    gpu_rate(dtype::tf32, arithmetic_unit::tensor_core, 494.7e12),
                    gpu_rate(dtype::f32, arithmetic_unit::cuda_core, 66.9e12),
                    gpu_rate(dtype::f16, arithmetic_unit::cuda_core, 133.8e12)};
  gpu.memory_bytes = 3352e9;
  gpu.l2_bytes = 12e12;
  return gpu;
}

}  // namespace kprof_test

#endif
