// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_X86_FEATURES_HPP
#define KPROF_MACHINE_X86_FEATURES_HPP

// Which instructions this processor and its system let a program use. Included by loops.hpp on
// x86-64. Any thread. Bits: Intel's Software Developer's Manual, volume 2A, CPUID.

#include <kprof/build_options.hpp>

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace detail {

struct x86_features {
  bool flush_opt = false;
  bool avx = false;
  bool fma = false;  // with AVX
  bool avx512 = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool avx512_vnni = false;
  bool avx_vnni = false;
  bool amx_bf16 = false;
  bool amx_int8 = false;
};

/// The registers that the system keeps for each thread, as a mask.
inline std::uint64_t x86_kept_state() noexcept {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32U) | low;
}

/// Whether this process has asked the system for AMX's tiles: without, no code of it can use them.
/// It is not asked here, since that is for the whole process: small signal stacks are refused then.
inline bool x86_may_use_tiles() noexcept {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr long get_permission = 0x1022;  // linux: asm/prctl.h
  constexpr std::uint64_t tile_data = std::uint64_t{1} << 18U;
  std::uint64_t permitted = 0;
  return syscall(SYS_arch_prctl, get_permission, &permitted) == 0 && (permitted & tile_data) != 0;
#else
  return false;
#endif
}

[[gnu::cold]] inline x86_features find_x86_features() noexcept {
  x86_features found;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) found.flush_opt = ((b >> 23U) & 1U) != 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return found;
  const std::uint64_t kept = x86_kept_state();
  constexpr std::uint64_t ymm = 0x6, zmm = 0xE6, tiles = 0x60000;
  found.avx = (kept & ymm) == ymm && (c & bit_AVX) != 0;
  found.fma = found.avx && (c & bit_FMA) != 0;
  if (!found.fma || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
  const auto has = [](std::uint32_t word, unsigned bit) { return ((word >> bit) & 1U) != 0; };
  const std::uint32_t leaves = a;
  found.avx512 = (kept & zmm) == zmm && has(b, 16) && has(b, 17);  // F and DQ
  found.avx512_vnni = found.avx512 && has(c, 11);
  found.avx512_fp16 = found.avx512 && has(d, 23);
  const bool has_tiles = (kept & tiles) == tiles && has(d, 24) && x86_may_use_tiles();
  found.amx_bf16 = has_tiles && has(d, 22);
  found.amx_int8 = has_tiles && has(d, 25);
  if (leaves > 0 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) {
    found.avx512_bf16 = found.avx512 && has(a, 5);
    found.avx_vnni = has(a, 4);
  }
  return found;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
