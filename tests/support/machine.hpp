// SPDX-License-Identifier: MIT
#ifndef KPROF_TESTS_MACHINE_HPP
#define KPROF_TESTS_MACHINE_HPP

// Ceilings as kprof measures them on a small server, and as nobody would measure them.

#include <kprof/profile/ceilings.hpp>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace kprof_test {

/// Two threads with AVX-512, and an H100.
inline kprof::machine_ceilings sample_machine() {
  using kprof::dtype;
  kprof::machine_ceilings m;
  m.source = "measured 2026-11-23";
  m.cpu.model = "AMD EPYC";
  m.cpu.threads = 2;
  m.cpu.clock_hz = 3.69e9;
  m.cpu.arithmetic = {{dtype::f64, "AVX-512 FMA", {59.1e9, 117.5e9, false}},
                      {dtype::f32, "AVX-512 FMA", {118.1e9, 233.3e9, false}},
                      {dtype::bf16, "AVX-512 BF16", {236.3e9, 471.9e9, true}}};
  m.cpu.memory = {
      {"L1", 32'768, {221.4e9, 444.2e9, false}, {284.7e9, 566.1e9, false}},
      {"L2", 1'048'576, {111.2e9, 222.7e9, false}, {104.9e9, 209.6e9, false}},
      {"L3", 33'554'432, {60.3e9, 117.2e9, false}, {50.2e9, 95.5e9, true}},
      {"DRAM", 0, {23.1e9, 40.9e9, false}, {21.4e9, 38.6e9, false}},
  };
  m.cpu.notes = {"a note"};
  kprof::gpu_ceilings gpu;
  gpu.device = "NVIDIA H100";
  gpu.arithmetic = {
      {dtype::f32, kprof::arithmetic_unit::cuda_core, dtype::unknown, 66.9e12, 0, 1.98e9, "vendor"},
      {dtype::f16, kprof::arithmetic_unit::tensor_core, dtype::f32, 989.4e12, 1978.9e12, 1.83e9,
       "derived"}};
  gpu.memory_bytes = 3.352e12;
  gpu.l2_bytes = 5.5e12;
  gpu.shared_bytes = 33.4e12;
  gpu.notes = {"tensor rates are at 1830 MHz"};
  m.gpus = {gpu};
  return m;
}

/// Any rate that a file or a program may hold.
inline double random_rate(std::mt19937_64& random) {
  constexpr double odd[] = {0,
                            -0.0,
                            -1,
                            5e-324,
                            1e308,
                            std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  const std::uint64_t n = random();
  return n % 4 == 0 ? odd[n / 4 % 7] : 1e6 * static_cast<double>(1 + n / 4 % 10'000'000);
}

inline kprof::machine_ceilings random_machine(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto ceiling = [&] {
    return kprof::rate_ceiling{random_rate(random), random_rate(random), random() % 4 == 0};
  };
  const auto type = [&] { return static_cast<kprof::dtype>(random() % 24); };
  constexpr const char* levels[] = {"L1", "L2", "L3", "DRAM", "", "L1", "two\nlines \xFF"};
  kprof::machine_ceilings m;
  m.source = random() % 2 == 0 ? "" : "from \"\xFF\n\"";
  m.cpu.threads = static_cast<std::uint32_t>(random() % 5);
  m.cpu.clock_hz = random_rate(random);
  for (std::uint64_t n = random() % 6; n > 0; --n)
    m.cpu.arithmetic.push_back({type(), "AVX", ceiling()});
  for (std::uint64_t n = random() % 6; n > 0; --n)
    m.cpu.memory.push_back({levels[random() % 7], random() >> random() % 64, ceiling(), ceiling()});
  for (std::uint64_t n = random() % 4; n > 0; --n) {
    kprof::gpu_ceilings gpu;
    gpu.device = "any";
    for (std::uint64_t k = random() % 6; k > 0; --k)
      gpu.arithmetic.push_back({type(), static_cast<kprof::arithmetic_unit>(random() % 3), type(),
                                random_rate(random), random_rate(random), random_rate(random),
                                "by hand"});
    gpu.memory_bytes = random_rate(random);
    gpu.l2_bytes = random_rate(random);
    gpu.shared_bytes = random_rate(random);
    m.gpus.push_back(gpu);
  }
  return m;
}

}  // namespace kprof_test

#endif
