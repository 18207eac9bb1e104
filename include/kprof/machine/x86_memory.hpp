// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_X86_MEMORY_HPP
#define KPROF_MACHINE_X86_MEMORY_HPP

// Loops that reach the peak bandwidth of x86-64 processors. Included by loops.hpp. Each is one
// assembler statement, for the reasons that x86_arithmetic.hpp gives.

#include <kprof/build_options.hpp>

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::size_t x86_bytes_per_round = 512;

#define KPROF_DETAIL_CLOBBERED \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "cc", "memory"
// .rept and \@ would number registers and offsets in the assembler, but clang's does not know \@.
#define KPROF_DETAIL_READ(name, load, r, width, times, end)                            \
  inline void name(const void* from, std::size_t bytes, std::uint64_t passes) {        \
    const std::uint64_t rounds = bytes / x86_bytes_per_round;                          \
    const void* at = from;                                                             \
    std::uint64_t left = 0;                                                            \
    asm volatile(                                                                      \
        "2:\n\t"                                                                       \
        "mov %[from], %[at]\n\t"                                                       \
        "mov %[rounds], %[left]\n\t"                                                   \
        ".p2align 5\n\t"                                                               \
        "1:\n\t"                                                                       \
        ".rept " times "\n\t" load " (%[at]), " r "0\n\t" load " " width "(%[at]), " r \
        "1\n\t" load " 2*" width "(%[at]), " r "2\n\t" load " 3*" width "(%[at]), " r  \
        "3\n\t"                                                                        \
        "add $4*" width                                                                \
        ", %[at]\n\t"                                                                  \
        ".endr\n\t"                                                                    \
        "dec %[left]\n\t"                                                              \
        "jnz 1b\n\t"                                                                   \
        "dec %[passes]\n\t"                                                            \
        "jnz 2b\n\t" end                                                               \
        : [at] "+&r"(at), [left] "+&r"(left), [passes] "+&r"(passes)                   \
        : [from] "r"(from), [rounds] "r"(rounds)                                       \
        : KPROF_DETAIL_CLOBBERED);                                                     \
  }
KPROF_DETAIL_READ(read_avx512, "vmovups", "%%zmm", "64", "2", "vzeroupper")
KPROF_DETAIL_READ(read_avx, "vmovups", "%%ymm", "32", "4", "vzeroupper")
KPROF_DETAIL_READ(read_sse2, "movups", "%%xmm", "16", "8", "")
#undef KPROF_DETAIL_READ

// `element` computes b + s c at an offset in register n, and stores it; `back` writes lines back.
#define KPROF_DETAIL_TRIAD_LOOP(spread, element, width, times, back, end)                        \
  const std::uint64_t rounds = bytes / x86_bytes_per_round;                                      \
  const float factor = 0.5F;                                                                     \
  std::uint64_t at = 0, left = 0;                                                                \
  asm volatile(spread                                                                            \
               "2:\n\t"                                                                          \
               "xor %[at], %[at]\n\t"                                                            \
               "mov %[rounds], %[left]\n\t"                                                      \
               ".p2align 5\n\t"                                                                  \
               "1:\n\t"                                                                          \
               ".rept " times "\n\t" element("0", "1") element(width, "2")                       \
                   element("2*" width, "3") element("3*" width, "4") back "add $4*" width        \
                                                                          ", %[at]\n\t"          \
                                                                          ".endr\n\t"            \
                                                                          "dec %[left]\n\t"      \
                                                                          "jnz 1b\n\t"           \
                                                                          "dec %[passes]\n\t"    \
                                                                          "jnz 2b\n\t" end       \
               : [at] "+&r"(at), [left] "+&r"(left), [passes] "+&r"(passes)                      \
               : [a] "r"(a), [b] "r"(b), [c] "r"(c), [rounds] "r"(rounds), [factor] "m"(factor), \
                 [stored] "r"(stored)                                                            \
               : KPROF_DETAIL_CLOBBERED)
#define KPROF_DETAIL_TRIADS(name, spread, element, width, times, back, end)               \
  inline void triad_##name(void* a, const void* b, const void* c, std::size_t bytes,      \
                           std::uint64_t passes) {                                        \
    const void* const stored = nullptr;                                                   \
    KPROF_DETAIL_TRIAD_LOOP(spread, element, width, times, "", end);                      \
  }                                                                                       \
  inline void triad_back_##name(void* a, const void* b, const void* c, std::size_t bytes, \
                                const void* stored) {                                     \
    std::uint64_t passes = 1;                                                             \
    KPROF_DETAIL_TRIAD_LOOP(spread, element, width, times, back, end);                    \
  }
#define KPROF_DETAIL_BACK(offset) "clflushopt " offset "(%[stored],%[at])\n\t"
#define KPROF_DETAIL_ZMM(offset, n)                     \
  "vmovups " offset "(%[b],%[at]), %%zmm" n             \
  "\n\t"                                                \
  "vfmadd231ps " offset "(%[c],%[at]), %%zmm0, %%zmm" n \
  "\n\t"                                                \
  "vmovups %%zmm" n ", " offset "(%[a],%[at])\n\t"
#define KPROF_DETAIL_YMM(offset, n)                     \
  "vmovups " offset "(%[b],%[at]), %%ymm" n             \
  "\n\t"                                                \
  "vfmadd231ps " offset "(%[c],%[at]), %%ymm0, %%ymm" n \
  "\n\t"                                                \
  "vmovups %%ymm" n ", " offset "(%[a],%[at])\n\t"
#define KPROF_DETAIL_XMM(offset, n)        \
  "movups " offset "(%[c],%[at]), %%xmm" n \
  "\n\t"                                   \
  "mulps %%xmm0, %%xmm" n                  \
  "\n\t"                                   \
  "addps " offset "(%[b],%[at]), %%xmm" n  \
  "\n\t"                                   \
  "movups %%xmm" n ", " offset "(%[a],%[at])\n\t"
KPROF_DETAIL_TRIADS(avx512, "vbroadcastss %[factor], %%zmm0\n\t", KPROF_DETAIL_ZMM, "64", "2",
                    KPROF_DETAIL_BACK("0") KPROF_DETAIL_BACK("64") KPROF_DETAIL_BACK("128")
                        KPROF_DETAIL_BACK("192"),
                    "vzeroupper")
KPROF_DETAIL_TRIADS(avx, "vbroadcastss %[factor], %%ymm0\n\t", KPROF_DETAIL_YMM, "32", "4",
                    KPROF_DETAIL_BACK("0") KPROF_DETAIL_BACK("64"), "vzeroupper")
KPROF_DETAIL_TRIADS(sse2, "movss %[factor], %%xmm0\n\tshufps $0, %%xmm0, %%xmm0\n\t",
                    KPROF_DETAIL_XMM, "16", "8", KPROF_DETAIL_BACK("0"), "")
#undef KPROF_DETAIL_TRIADS
#undef KPROF_DETAIL_TRIAD_LOOP
#undef KPROF_DETAIL_BACK
#undef KPROF_DETAIL_ZMM
#undef KPROF_DETAIL_YMM
#undef KPROF_DETAIL_XMM
#undef KPROF_DETAIL_CLOBBERED

/// Waits for each line.
inline void flush_sse2(const void* from, std::size_t bytes) {
  const char* const first = static_cast<const char*>(from);
  for (std::size_t at = 0; at < bytes; at += 64)
    asm volatile("clflush %0" : : "m"(first[at]) : "memory");
  asm volatile("mfence" : : : "memory");
}
/// Waits for all lines together.
inline void flush_opt(const void* from, std::size_t bytes) {
  const char* const first = static_cast<const char*>(from);
  for (std::size_t at = 0; at < bytes; at += 64)
    asm volatile("clflushopt %0" : : "m"(first[at]) : "memory");
  asm volatile("mfence" : : : "memory");
}

}  // namespace detail
KPROF_DETAIL_END

#endif
