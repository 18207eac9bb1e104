// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_ARM64_ARITHMETIC_HPP
#define KPROF_MACHINE_ARM64_ARITHMETIC_HPP

// Loops that reach the peak arithmetic rate of arm64 processors. Included by loops.hpp. Each is one
// assembler statement: compilers would join the chains of operations, and they would want the
// instructions enabled by a flag. 24 independent chains are enough for four units with a latency of
// up to 6 clocks; no arm64 processor needs more than 20.

#if defined(__aarch64__)  // nothing elsewhere: compilers know no foreign registers

#include <kprof/build_options.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

/// Operands, 8 bytes of each: any numbers that stay finite and normal for as long as a loop runs.
inline constexpr std::uint64_t arm64_f64 = 0x3FE0000000000000, arm64_f32 = 0x3F0000003F000000,
                               arm64_f16 = 0x3800380038003800, arm64_bf16 = 0x3F003F003F003F00,
                               arm64_int8 = 0x0101010101010101;

#define KPROF_DETAIL_CLOBBERED                                                                  \
  "v0", "v1", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", \
      "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc"
// A line of each chain, on registers 8 to 31.
#define KPROF_DETAIL_8(before, after, a, b, c, d, e, f, g, h)                                      \
  before a after before b after before c after before d after before e after before f after before \
      g after before h after
#define KPROF_DETAIL_24(before, after)                                          \
  KPROF_DETAIL_8(before, after, "8", "9", "10", "11", "12", "13", "14", "15")   \
  KPROF_DETAIL_8(before, after, "16", "17", "18", "19", "20", "21", "22", "23") \
  KPROF_DETAIL_8(before, after, "24", "25", "26", "27", "28", "29", "30", "31")
// A function whose round has 24 instructions, one of each chain. The operands are spread over
// register 0, and register 1 gets the same.
#define KPROF_DETAIL_CHAINS(name, operands, begin, before, after, ...)                         \
  inline void name(std::uint64_t rounds) {                                                     \
    asm volatile(begin KPROF_DETAIL_24("movi v", ".2d, #0\n\t") ".p2align 5\n\t"             \
                                                                "1:\n\t"                     \
                 KPROF_DETAIL_24(before, after "\n\t") "subs %[left], %[left], #1\n\t"       \
                                                       "b.ne 1b"                             \
                 : [left] "+r"(rounds)                                                       \
                 : [from] "r"(operands)                                                      \
                 : KPROF_DETAIL_CLOBBERED __VA_ARGS__); \
  }
#define KPROF_DETAIL_NEON "dup v0.2d, %[from]\n\tdup v1.2d, %[from]\n\t"
// ptrue p0.b; dup z0.d, z0.d[0]; dup z1.d, z1.d[0]. A register of NEON is the first part of one of
// SVE: what writes it clears the rest.
#define KPROF_DETAIL_SVE \
  KPROF_DETAIL_NEON      \
  ".inst 0x2518e3e0\n\t.inst 0x05282000\n\t.inst 0x05282021\n\t"

// Assemblers differ in what they call extensions, so their instructions are given as words, to
// which the number of the chain's register is added.
// clang-format off
KPROF_DETAIL_CHAINS(fma_f64_neon, arm64_f64, KPROF_DETAIL_NEON, "fmla v", ".2d, v0.2d, v1.2d")
KPROF_DETAIL_CHAINS(fma_f32_neon, arm64_f32, KPROF_DETAIL_NEON, "fmla v", ".4s, v0.4s, v1.4s")
// fmla v.8h, v0.8h, v1.8h
KPROF_DETAIL_CHAINS(fma_f16_neon, arm64_f16, KPROF_DETAIL_NEON, ".inst 0x4e410c00 + ", "")
// bfmmla v.4s, v0.8h, v1.8h
KPROF_DETAIL_CHAINS(matrix_bf16_neon, arm64_bf16, KPROF_DETAIL_NEON, ".inst 0x6e41ec00 + ", "")
// smmla v.4s, v0.16b, v1.16b
KPROF_DETAIL_CHAINS(matrix_int8_neon, arm64_int8, KPROF_DETAIL_NEON, ".inst 0x4e81a400 + ", "")
// sdot v.4s, v0.16b, v1.16b
KPROF_DETAIL_CHAINS(dot_int8_neon, arm64_int8, KPROF_DETAIL_NEON, ".inst 0x4e819400 + ", "")
// fmla z.d, p0/m, z0.d, z1.d; then of .s, and of .h
KPROF_DETAIL_CHAINS(fma_f64_sve, arm64_f64, KPROF_DETAIL_SVE, ".inst 0x65e10000 + ", "", , "p0")
KPROF_DETAIL_CHAINS(fma_f32_sve, arm64_f32, KPROF_DETAIL_SVE, ".inst 0x65a10000 + ", "", , "p0")
KPROF_DETAIL_CHAINS(fma_f16_sve, arm64_f16, KPROF_DETAIL_SVE, ".inst 0x65610000 + ", "", , "p0")
// clang-format on

#undef KPROF_DETAIL_CHAINS
#undef KPROF_DETAIL_NEON
#undef KPROF_DETAIL_SVE
#undef KPROF_DETAIL_24
#undef KPROF_DETAIL_8
#undef KPROF_DETAIL_CLOBBERED

/// A chain of additions, each of which waits for the one before: one a clock on every arm64
/// processor.
inline constexpr std::uint64_t arm64_clocks_per_round = 64;
inline void count_arm64_clocks(std::uint64_t rounds) {
  std::uint64_t sum = 1;
  asm volatile(
      ".p2align 5\n\t"
      "1:\n\t"
      ".rept 64\n\t"
      "add %[sum], %[sum], %[ones]\n\t"
      ".endr\n\t"
      "subs %[left], %[left], #1\n\t"
      "b.ne 1b"
      : [left] "+r"(rounds), [sum] "+r"(sum)
      : [ones] "r"(std::uint64_t{1})
      : "cc");
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // __aarch64__

#endif
