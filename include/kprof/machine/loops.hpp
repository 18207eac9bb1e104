// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_LOOPS_HPP
#define KPROF_MACHINE_LOOPS_HPP

// The loops that measure this processor. Included by measure_cpu.hpp. Any thread.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/machine/loop.hpp>
#if defined(__aarch64__)
#include <kprof/machine/arm64_arithmetic.hpp>
#include <kprof/machine/arm64_features.hpp>
#include <kprof/machine/arm64_memory.hpp>
#elif defined(__x86_64__)
#include <kprof/machine/x86_arithmetic.hpp>
#include <kprof/machine/x86_features.hpp>
#include <kprof/machine/x86_memory.hpp>
#endif

#include <cstdint>
#include <vector>

KPROF_DETAIL_BEGIN
namespace detail {

/// The loops that this processor runs, for each type the one with the highest peak.
struct processor_loops {
  std::vector<arithmetic_loop> arithmetic;
  memory_loop memory;                    // read is null where there is none
  void (*clocks)(std::uint64_t rounds);  // null where there is none
  double clocks_per_round = 0;
};

#if defined(__aarch64__)
/// The loops of a processor with these features.
[[gnu::cold]] inline processor_loops loops_with(const arm64_features& has) {
  constexpr double chains = 24, two = 2;  // instructions of a round; a product and a sum each
  processor_loops found{
      {},
      {arm64_bytes_per_round, &read_neon, &triad_neon, &triad_back_neon, &flush_arm64},
      &count_arm64_clocks,
      static_cast<double>(arm64_clocks_per_round)};
  auto& loops = found.arithmetic;
  // Shorter registers of the scalable extension are no quicker than NEON's.
  const bool is_wide = has.scalable_bytes > 16;
  const double bytes = is_wide ? has.scalable_bytes : 16;
  const char* const name = is_wide ? "SVE" : "NEON";
  loops.push_back(
      {dtype::f64, name, chains * bytes / 8 * two, is_wide ? &fma_f64_sve : &fma_f64_neon});
  loops.push_back(
      {dtype::f32, name, chains * bytes / 4 * two, is_wide ? &fma_f32_sve : &fma_f32_neon});
  if (has.fp16)
    loops.push_back(
        {dtype::f16, name, chains * bytes / 2 * two, is_wide ? &fma_f16_sve : &fma_f16_neon});
  constexpr double sums = 4;  // of a matrix instruction
  if (has.bf16)
    loops.push_back({dtype::bf16, "BFMMLA", chains * sums * 4 * two, &matrix_bf16_neon});
  if (has.int8_matrix)
    loops.push_back({dtype::int8, "SMMLA", chains * sums * 8 * two, &matrix_int8_neon});
  else if (has.dot_product)
    loops.push_back({dtype::int8, "SDOT", chains * sums * 4 * two, &dot_int8_neon});
  return found;
}

inline processor_loops find_loops() { return loops_with(find_arm64_features()); }
#elif defined(__x86_64__)
/// The loops of a processor with these features.
[[gnu::cold]] inline processor_loops loops_with(const x86_features& has) {
  constexpr double chains = 28, two = 2;  // instructions of a round; a product and a sum each
  processor_loops found{
      {},
      {x86_bytes_per_round, &read_sse2, &triad_sse2, has.flush_opt ? &triad_back_sse2 : nullptr,
       has.flush_opt ? &flush_opt : &flush_sse2},
      &count_clocks,
      static_cast<double>(clocks_per_round)};
  auto& loops = found.arithmetic;
  if (has.avx512) {
    loops.push_back({dtype::f64, "AVX-512 FMA", chains * 8 * two, &fma_f64_avx512});
    loops.push_back({dtype::f32, "AVX-512 FMA", chains * 16 * two, &fma_f32_avx512});
    found.memory.read = &read_avx512;
    found.memory.triad = &triad_avx512;
    if (has.flush_opt) found.memory.triad_written_back = &triad_back_avx512;
  } else if (has.fma) {
    loops.push_back({dtype::f64, "AVX2 FMA", chains * 4 * two, &fma_f64_avx2});
    loops.push_back({dtype::f32, "AVX2 FMA", chains * 8 * two, &fma_f32_avx2});
    found.memory.read = &read_avx;
    found.memory.triad = &triad_avx;
    if (has.flush_opt) found.memory.triad_written_back = &triad_back_avx;
  } else {
    loops.push_back({dtype::f64, "SSE2", chains * 2, &mul_add_f64_sse2});
    loops.push_back({dtype::f32, "SSE2", chains * 4, &mul_add_f32_sse2});
  }
  if (has.avx512_fp16)
    loops.push_back({dtype::f16, "AVX-512 FP16", chains * 32 * two, &fma_f16_avx512});
  constexpr double tiles = 8, products = 16 * 16 * 32;  // of a round; of a tile
  if (has.amx_bf16) loops.push_back({dtype::bf16, "AMX", tiles * products * two, &tile_dot_bf16});
  else if (has.avx512_bf16)
    loops.push_back({dtype::bf16, "AVX-512 BF16", chains * 32 * two, &dot_bf16_avx512});
  if (has.amx_int8)
    loops.push_back({dtype::int8, "AMX", tiles * 2 * products * two, &tile_dot_int8});
  else if (has.avx512_vnni)
    loops.push_back({dtype::int8, "AVX-512 VNNI", chains * 64 * two, &dot_int8_avx512});
  else if (has.avx_vnni)
    loops.push_back({dtype::int8, "AVX-VNNI", chains * 32 * two, &dot_int8_avx});
  return found;
}

inline processor_loops find_loops() { return loops_with(find_x86_features()); }
#else
inline processor_loops find_loops() { return {}; }
#endif

}  // namespace detail
KPROF_DETAIL_END

#endif
