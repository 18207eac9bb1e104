// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_ARM64_FEATURES_HPP
#define KPROF_MACHINE_ARM64_FEATURES_HPP

// Which instructions this processor and its system let a program use. Included by loops.hpp on
// arm64. Any thread. Bits: Linux, arch/arm64/include/uapi/asm/hwcap.h. Elsewhere only what every
// arm64 processor has is used.

#if defined(__aarch64__)  // nothing elsewhere: compilers know no foreign registers

#include <kprof/build_options.hpp>

#include <cstdint>

#if defined(__linux__)
#include <sys/auxv.h>
#endif

KPROF_DETAIL_BEGIN
namespace detail {

struct arm64_features {
  bool fp16 = false;
  bool dot_product = false;
  bool bf16 = false;
  bool int8_matrix = false;
  /// Of a register of the scalable extension; 0: there is none.
  std::uint32_t scalable_bytes = 0;
};

/// Only where the processor has the scalable extension.
inline std::uint32_t arm64_scalable_bytes() noexcept {
  register std::uint64_t bytes asm("x0");
  asm volatile(".inst 0x0420e3e0" : "=r"(bytes));  // cntb x0, which not all assemblers know
  return static_cast<std::uint32_t>(bytes);
}

[[gnu::cold]] inline arm64_features find_arm64_features() noexcept {
  arm64_features found;
#if defined(__linux__)
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  const auto has = [](unsigned long word, unsigned bit) { return ((word >> bit) & 1U) != 0; };
  found.fp16 = has(first, 10);         // ASIMDHP
  found.dot_product = has(first, 20);  // ASIMDDP
  found.int8_matrix = has(second, 13);
  found.bf16 = has(second, 14);
  if (has(first, 22)) found.scalable_bytes = arm64_scalable_bytes();
#endif
  return found;
}

}  // namespace detail
KPROF_DETAIL_END

#endif  // __aarch64__

#endif
