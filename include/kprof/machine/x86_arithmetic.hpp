// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_X86_ARITHMETIC_HPP
#define KPROF_MACHINE_X86_ARITHMETIC_HPP

// Loops that reach the peak arithmetic rate of x86-64 processors. Included by loops.hpp. Each is
// one assembler statement: compilers would join the chains of operations, and they would want the
// instructions enabled by a flag. 14 independent chains are enough for two units with a latency of
// up to 7 clocks; no x86 processor needs more than 12.

#include <kprof/build_options.hpp>
#include <kprof/machine/loop.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Operands: any numbers that stay finite and normal for as long as a loop runs.
struct alignas(64) x86_operands {
  std::uint32_t words[16];
};
inline constexpr std::uint32_t f32_half = 0x3F000000, f16_halves = 0x38003800,
                               bf16_halves = 0x3F003F00, int8_ones = 0x01010101;
#define KPROF_DETAIL_16(word) \
  { word, word, word, word, word, word, word, word, word, word, word, word, word, word, word, word }
inline constexpr x86_operands f32_operands{KPROF_DETAIL_16(f32_half)};
inline constexpr x86_operands f16_operands{KPROF_DETAIL_16(f16_halves)};
inline constexpr x86_operands bf16_operands{KPROF_DETAIL_16(bf16_halves)};
inline constexpr x86_operands int8_operands{KPROF_DETAIL_16(int8_ones)};
#undef KPROF_DETAIL_16
struct alignas(64) x86_f64_operands {
  double values[8];
};
inline constexpr x86_f64_operands f64_operands{{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}};

#define KPROF_DETAIL_CLOBBERED                                                             \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory"
// An instruction for each chain: on registers 2 to 8, and on 9 to 15.
#define KPROF_DETAIL_FIRST_7(instruction, r)                                      \
  instruction r "2\n\t" instruction r "3\n\t" instruction r "4\n\t" instruction r \
                "5\n\t" instruction r "6\n\t" instruction r "7\n\t" instruction r "8\n\t"
#define KPROF_DETAIL_LAST_7(instruction, r)                                         \
  instruction r "9\n\t" instruction r "10\n\t" instruction r "11\n\t" instruction r \
                "12\n\t" instruction r "13\n\t" instruction r "14\n\t" instruction r "15\n\t"
#define KPROF_DETAIL_14(instruction, r) \
  KPROF_DETAIL_FIRST_7(instruction, r) KPROF_DETAIL_LAST_7(instruction, r)
// A function whose round has 28 instructions, two of each chain.
#define KPROF_DETAIL_CHAINS(name, operands, load, r, clear, instruction, end)                   \
  inline void name(std::uint64_t rounds) {                                                      \
    asm volatile(load " (%[from]), " r "0\n\t" load " (%[from]), " r "1\n\t" KPROF_DETAIL_14( \
                     clear, r) ".p2align 5\n\t"                                               \
                               "1:\n\t" KPROF_DETAIL_14(instruction, r)                       \
                     KPROF_DETAIL_14(instruction, r) "dec %[left]\n\t"                        \
                                                     "jnz 1b\n\t" end                         \
                 : [left] "+r"(rounds)                                                        \
                 : [from] "r"(&(operands))                                                    \
                 : KPROF_DETAIL_CLOBBERED); \
  }

// clang-format off
KPROF_DETAIL_CHAINS(fma_f32_avx512, f32_operands, "vmovups", "%%zmm",
                    "vpxorq %%zmm0, %%zmm0, ", "vfmadd231ps %%zmm0, %%zmm1, ", "vzeroupper\n\t")
KPROF_DETAIL_CHAINS(fma_f64_avx512, f64_operands, "vmovups", "%%zmm",
                    "vpxorq %%zmm0, %%zmm0, ", "vfmadd231pd %%zmm0, %%zmm1, ", "vzeroupper\n\t")
KPROF_DETAIL_CHAINS(fma_f16_avx512, f16_operands, "vmovups", "%%zmm",
                    "vpxorq %%zmm0, %%zmm0, ", "vfmadd231ph %%zmm0, %%zmm1, ", "vzeroupper\n\t")
KPROF_DETAIL_CHAINS(dot_bf16_avx512, bf16_operands, "vmovups", "%%zmm",
                    "vpxorq %%zmm0, %%zmm0, ", "vdpbf16ps %%zmm0, %%zmm1, ", "vzeroupper\n\t")
KPROF_DETAIL_CHAINS(dot_int8_avx512, int8_operands, "vmovups", "%%zmm",
                    "vpxorq %%zmm0, %%zmm0, ", "vpdpbusd %%zmm0, %%zmm1, ", "vzeroupper\n\t")
KPROF_DETAIL_CHAINS(fma_f32_avx2, f32_operands, "vmovups", "%%ymm",
                    "vxorps %%ymm0, %%ymm0, ", "vfmadd231ps %%ymm0, %%ymm1, ", "vzeroupper\n\t")
KPROF_DETAIL_CHAINS(fma_f64_avx2, f64_operands, "vmovups", "%%ymm",
                    "vxorps %%ymm0, %%ymm0, ", "vfmadd231pd %%ymm0, %%ymm1, ", "vzeroupper\n\t")
KPROF_DETAIL_CHAINS(dot_int8_avx, int8_operands, "vmovups", "%%ymm",
                    "vxorps %%ymm0, %%ymm0, ", "%{vex%} vpdpbusd %%ymm0, %%ymm1, ",
                    "vzeroupper\n\t")
// clang-format on

// Without fused multiplication and addition: seven chains multiply by 1 and seven add 1/2.
#define KPROF_DETAIL_MULTIPLY_AND_ADD(name, operands, load, r, multiply, add, neutral, end)       \
  inline void name(std::uint64_t rounds) {                                                        \
    asm volatile(load " (%[ones]), " r "0\n\t" load " (%[from]), " r "1\n\t" KPROF_DETAIL_14(   \
                     load " (%[ones]), ", r) ".p2align 5\n\t"                                   \
                                            "1:\n\t" KPROF_DETAIL_FIRST_7(multiply, r)         \
                     KPROF_DETAIL_LAST_7(add, r) KPROF_DETAIL_FIRST_7(multiply, r)             \
                         KPROF_DETAIL_LAST_7(add, r) "dec %[left]\n\t"                         \
                                                     "jnz 1b\n\t" end                          \
                 : [left] "+r"(rounds)                                                         \
                 : [from] "r"(&(operands)), [ones] "r"(&(neutral))                            \
                 : KPROF_DETAIL_CLOBBERED); \
  }

inline constexpr struct alignas(16) { float values[4]; } f32_ones{{1, 1, 1, 1}};
inline constexpr struct alignas(16) { double values[2]; } f64_ones{{1, 1}};
// clang-format off
KPROF_DETAIL_MULTIPLY_AND_ADD(mul_add_f32_sse2, f32_operands, "movups", "%%xmm",
                              "mulps %%xmm0, ", "addps %%xmm1, ", f32_ones, "")
KPROF_DETAIL_MULTIPLY_AND_ADD(mul_add_f64_sse2, f64_operands, "movups", "%%xmm",
                              "mulpd %%xmm0, ", "addpd %%xmm1, ", f64_ones, "")
// clang-format on

/// AMX: four tiles of sums, two of operands; a round is 8 products of tiles.
struct alignas(64) x86_tile_shape {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t bytes_of_row[16] = {64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16};
};
inline constexpr x86_tile_shape six_full_tiles{};
#define KPROF_DETAIL_TILES(name, instruction)                                               \
  inline void name(std::uint64_t rounds) {                                                  \
    asm volatile(                                                                           \
        "ldtilecfg (%[shape])\n\t"                                                          \
        "tilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n\ttilezero %%tmm3\n\t"      \
        "tilezero %%tmm4\n\ttilezero %%tmm5\n\t"                                            \
        ".p2align 5\n\t"                                                                    \
        "1:\n\t" instruction " %%tmm5, %%tmm4, %%tmm0\n\t" instruction                      \
        " %%tmm5, %%tmm4, %%tmm1\n\t" instruction " %%tmm5, %%tmm4, %%tmm2\n\t" instruction \
        " %%tmm5, %%tmm4, %%tmm3\n\t" instruction " %%tmm5, %%tmm4, %%tmm0\n\t" instruction \
        " %%tmm5, %%tmm4, %%tmm1\n\t" instruction " %%tmm5, %%tmm4, %%tmm2\n\t" instruction \
        " %%tmm5, %%tmm4, %%tmm3\n\t"                                                       \
        "dec %[left]\n\t"                                                                   \
        "jnz 1b\n\t"                                                                        \
        "tilerelease"                                                                       \
        : [left] "+r"(rounds)                                                               \
        : [shape] "r"(&six_full_tiles)                                                      \
        : "cc", "memory");                                                                  \
  }
KPROF_DETAIL_TILES(tile_dot_bf16, "tdpbf16ps")
KPROF_DETAIL_TILES(tile_dot_int8, "tdpbssd")

#undef KPROF_DETAIL_CHAINS
#undef KPROF_DETAIL_MULTIPLY_AND_ADD
#undef KPROF_DETAIL_TILES
#undef KPROF_DETAIL_14
#undef KPROF_DETAIL_FIRST_7
#undef KPROF_DETAIL_LAST_7
#undef KPROF_DETAIL_CLOBBERED

/// A chain of additions, each of which waits for the one before: one a clock on every x86-64
/// processor.
inline constexpr std::uint64_t clocks_per_round = 64;
inline void count_clocks(std::uint64_t rounds) {
  std::uint64_t sum = 1;
  asm volatile(
      ".p2align 5\n\t"
      "1:\n\t"
      ".rept 64\n\t"
      "add %[ones], %[sum]\n\t"
      ".endr\n\t"
      "dec %[left]\n\t"
      "jnz 1b"
      : [left] "+r"(rounds), [sum] "+r"(sum)
      : [ones] "r"(std::uint64_t{1})
      : "cc");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
