// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_EXTENT_HPP
#define KPROF_DECLARE_EXTENT_HPP

// The type of a size among an operator's parameters. Included by op.hpp. Everything is constexpr,
// nothing allocates, any thread may use it.

#include <kprof/build_options.hpp>

#include <cstdint>
#include <type_traits>

KPROF_DETAIL_BEGIN

namespace detail {
// Not constexpr: reaching it in a constant expression is a compile error.
inline void size_exceeds_64_bits() noexcept {}
}  // namespace detail

/// A size: a std::int64_t that any integer initialises, v.size() too, without a warning.
///
/// It converts to std::int64_t, and reports, files and NVTX payloads have it as one. A value that
/// does not fit, 2^63 or more, is a compile error in a constant expression; at run time it becomes
/// `out_of_range`, and the call is reported as `invalid`. Numbers with a fraction and enumerators
/// do not compile. Where the other branch of `?:` is an integer, convert one: `std::int64_t{n}`.
///     struct Scale { kprof::extent n = 0; };
///     KPROF_OP(Scale, {.n = x.size()});
class extent {
 public:
  constexpr extent() noexcept = default;
  template <class T>
    requires(std::is_integral_v<T> && (sizeof(T) < 8 || (sizeof(T) == 8 && std::is_signed_v<T>)))
  constexpr extent(T value) noexcept : value_(value) {}
  template <class T>
    requires(std::is_integral_v<T> && (sizeof(T) > 8 || (sizeof(T) == 8 && !std::is_signed_v<T>)))
  constexpr extent(T value) noexcept : value_(static_cast<std::int64_t>(value)) {
    bool fits;
    if constexpr (std::is_unsigned_v<T>) fits = value <= 0x7FFF'FFFF'FFFF'FFFFU;
    else fits = static_cast<T>(value_) == value;
    if (!fits) {
      detail::size_exceeds_64_bits();
      value_ = out_of_range;
    }
  }

  constexpr operator std::int64_t() const noexcept { return value_; }
  constexpr extent& operator+=(std::int64_t n) noexcept { return *this = value_ + n; }
  constexpr extent& operator-=(std::int64_t n) noexcept { return *this = value_ - n; }
  constexpr extent& operator*=(std::int64_t n) noexcept { return *this = value_ * n; }
  constexpr extent& operator/=(std::int64_t n) noexcept { return *this = value_ / n; }

  /// -2^63
  static constexpr std::int64_t out_of_range = -0x7FFF'FFFF'FFFF'FFFF - 1;

 private:
  friend class count;
  std::int64_t value_ = 0;
};

KPROF_DETAIL_END

#endif
