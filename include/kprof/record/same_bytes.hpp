// SPDX-License-Identifier: MIT
#ifndef KPROF_RECORD_SAME_BYTES_HPP
#define KPROF_RECORD_SAME_BYTES_HPP

// Compares parameters, which are a few words: here that takes half the time of calling memcmp.

#include <kprof/build_options.hpp>

#include <bit>
#include <cstdint>
#include <cstring>

KPROF_DETAIL_BEGIN
namespace detail {

inline std::uint64_t differing_bits(const char* a, const char* b) noexcept {
  std::uint64_t x, y;
  std::memcpy(&x, a, 8);
  std::memcpy(&y, b, 8);
  return x ^ y;
}
inline std::uint64_t differing_bits_of_4(const char* a, const char* b) noexcept {
  return differing_bits(a, b) | differing_bits(a + 8, b + 8) | differing_bits(a + 16, b + 16) |
         differing_bits(a + 24, b + 24);
}

/// Whether `n` bytes are the same. `Padded`: up to a multiple of 8 there are more, which may be
/// read but do not count.
template <bool Padded>
bool same_bytes(const char* a, const char* b, std::uint32_t n) noexcept {
  for (; n >= 64; a += 64, b += 64, n -= 64)
    if ((differing_bits_of_4(a, b) | differing_bits_of_4(a + 32, b + 32)) != 0) return false;
  for (; n >= 8; a += 8, b += 8, n -= 8)
    if (differing_bits(a, b) != 0) return false;
  if (n == 0) return true;
  if constexpr (Padded && std::endian::native == std::endian::little)
    return differing_bits(a, b) << (64 - 8 * n) == 0;
  else return std::memcmp(a, b, n) == 0;
}

/// A hash of 64 bits of these bytes and of `h`.
inline std::uint64_t mixed_in(std::uint64_t h, const char* bytes, std::uint32_t size) noexcept {
  std::uint32_t i = 0;
  for (; i + 8 <= size; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    h = (h ^ word) * 0x9E3779B97F4A7C15U;
    h ^= h >> 29U;
  }
  for (; i < size; ++i) h = (h ^ static_cast<unsigned char>(bytes[i])) * 0x100000001B3U;
  return h;
}

}  // namespace detail
KPROF_DETAIL_END

#endif
