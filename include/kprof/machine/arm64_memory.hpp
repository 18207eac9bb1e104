// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_ARM64_MEMORY_HPP
#define KPROF_MACHINE_ARM64_MEMORY_HPP

// Loops that reach the peak bandwidth of arm64 processors. Included by loops.hpp. Each is one
// assembler statement, for the reasons that arm64_arithmetic.hpp gives.

#if defined(__aarch64__)  // nothing elsewhere: compilers know no foreign registers

#include <kprof/build_options.hpp>

#include <cstddef>
#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

inline constexpr std::size_t arm64_bytes_per_round = 512;

inline void read_neon(const void* from, std::size_t bytes, std::uint64_t passes) {
  const std::uint64_t rounds = bytes / arm64_bytes_per_round;
  const void* at = from;
  std::uint64_t left = 0;
  asm volatile(
      "2:\n\t"
      "mov %[at], %[from]\n\t"
      "mov %[left], %[rounds]\n\t"
      ".p2align 5\n\t"
      "1:\n\t"
      ".rept 8\n\t"
      "ldp q0, q1, [%[at]]\n\t"
      "ldp q2, q3, [%[at], #32]\n\t"
      "add %[at], %[at], #64\n\t"
      ".endr\n\t"
      "subs %[left], %[left], #1\n\t"
      "b.ne 1b\n\t"
      "subs %[passes], %[passes], #1\n\t"
      "b.ne 2b"
      : [at] "+&r"(at), [left] "+&r"(left), [passes] "+&r"(passes)
      : [from] "r"(from), [rounds] "r"(rounds)
      : "v0", "v1", "v2", "v3", "cc", "memory");
}

inline void triad_neon(void* a, const void* b, const void* c, std::size_t bytes,
                       std::uint64_t passes) {
  const std::uint64_t rounds = bytes / arm64_bytes_per_round;
  const float factor = 0.5F;
  void* to = a;
  const void *first = b, *second = c;
  std::uint64_t left = 0;
  asm volatile(
      "ld1r {v0.4s}, [%[factor]]\n\t"
      "2:\n\t"
      "mov %[to], %[a]\n\t"
      "mov %[first], %[b]\n\t"
      "mov %[second], %[c]\n\t"
      "mov %[left], %[rounds]\n\t"
      ".p2align 5\n\t"
      "1:\n\t"
      ".rept 16\n\t"
      "ldp q1, q2, [%[first]], #32\n\t"
      "ldp q3, q4, [%[second]], #32\n\t"
      "fmla v1.4s, v3.4s, v0.4s\n\t"
      "fmla v2.4s, v4.4s, v0.4s\n\t"
      "stp q1, q2, [%[to]], #32\n\t"
      ".endr\n\t"
      "subs %[left], %[left], #1\n\t"
      "b.ne 1b\n\t"
      "subs %[passes], %[passes], #1\n\t"
      "b.ne 2b"
      : [to] "+&r"(to), [first] "+&r"(first), [second] "+&r"(second), [left] "+&r"(left),
        [passes] "+&r"(passes)
      : [a] "r"(a), [b] "r"(b), [c] "r"(c), [rounds] "r"(rounds), [factor] "r"(&factor)
      : "v0", "v1", "v2", "v3", "v4", "cc", "memory");
}

inline void triad_back_neon(void* a, const void* b, const void* c, std::size_t bytes,
                            const void* stored) {
  std::uint64_t left = bytes / arm64_bytes_per_round;
  const float factor = 0.5F;
  void* to = a;
  const void *first = b, *second = c, *back = stored;
  asm volatile(
      "ld1r {v0.4s}, [%[factor]]\n\t"
      ".p2align 5\n\t"
      "1:\n\t"
      ".rept 8\n\t"
      "dc cvac, %[back]\n\t"
      "add %[back], %[back], #64\n\t"
      ".rept 2\n\t"
      "ldp q1, q2, [%[first]], #32\n\t"
      "ldp q3, q4, [%[second]], #32\n\t"
      "fmla v1.4s, v3.4s, v0.4s\n\t"
      "fmla v2.4s, v4.4s, v0.4s\n\t"
      "stp q1, q2, [%[to]], #32\n\t"
      ".endr\n\t"
      ".endr\n\t"
      "subs %[left], %[left], #1\n\t"
      "b.ne 1b"
      : [to] "+&r"(to), [first] "+&r"(first), [second] "+&r"(second), [back] "+&r"(back),
        [left] "+&r"(left)
      : [factor] "r"(&factor)
      : "v0", "v1", "v2", "v3", "v4", "cc", "memory");
}

/// Waits for all lines together. No arm64 processor's lines are shorter than 64 bytes.
inline void flush_arm64(const void* from, std::size_t bytes) {
  const char* const first = static_cast<const char*>(from);
  for (std::size_t at = 0; at < bytes; at += 64)
    asm volatile("dc civac, %0" : : "r"(first + at) : "memory");
  asm volatile("dsb sy" : : : "memory");
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // __aarch64__

#endif
