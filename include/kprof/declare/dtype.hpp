// SPDX-License-Identifier: MIT
#ifndef KPROF_DECLARE_DTYPE_HPP
#define KPROF_DECLARE_DTYPE_HPP

// Element types and checked counts: what formulas are written with.
// Included by op.hpp. Everything is constexpr, nothing allocates, any thread may use it.

#include <kprof/build_options.hpp>
#include <kprof/declare/extent.hpp>

#include <cstdint>
#include <type_traits>

KPROF_DETAIL_BEGIN

/// Element type of a tensor. Complex types are named by their component: c64 is two f32.
enum class dtype : std::uint8_t {
  unknown,
  f64,
  f32,
  tf32,
  f16,
  bf16,
  fp8_e4m3,
  fp8_e5m2,
  fp6_e2m3,
  fp6_e3m2,
  fp4_e2m1,
  int64,
  int32,
  int16,
  int8,
  int4,
  uint64,
  uint32,
  uint16,
  uint8,
  uint4,
  boolean,
  c64,
  c128
};

/// Width of one element in memory, in bits; 0 for dtype::unknown. tf32 is stored as f32.
constexpr unsigned bits_of(dtype type) noexcept {
  switch (type) {
    case dtype::unknown: return 0;
    case dtype::c128: return 128;
    case dtype::f64:
    case dtype::int64:
    case dtype::uint64:
    case dtype::c64: return 64;
    case dtype::f32:
    case dtype::tf32:
    case dtype::int32:
    case dtype::uint32: return 32;
    case dtype::f16:
    case dtype::bf16:
    case dtype::int16:
    case dtype::uint16: return 16;
    case dtype::fp8_e4m3:
    case dtype::fp8_e5m2:
    case dtype::int8:
    case dtype::uint8:
    case dtype::boolean: return 8;
    case dtype::fp6_e2m3:
    case dtype::fp6_e3m2: return 6;
    case dtype::fp4_e2m1:
    case dtype::int4:
    case dtype::uint4: return 4;
  }
  return 0;
}

namespace detail {
// Deliberately not constexpr: reaching one in a constant expression is the compile error a wrong
// formula gets.
inline void formula_overflows_64_bits() noexcept {}
inline void formula_divides_by_zero() noexcept {}
inline void formula_has_a_negative_count() noexcept {}
inline void dtype_has_no_whole_byte_size() noexcept {}
inline void makes_no_sense(const char*) noexcept {}
}  // namespace detail

/// An unsigned 64-bit number of operations or bytes whose arithmetic is checked.
///
/// Overflow, a negative value and a division by zero are compile errors in a constant expression;
/// at run time the count becomes invalid, stays so, and its row is reported as `invalid`. Integers
/// convert to it implicitly.
///     constexpr kprof::count flops() const { return kprof::count{2} * m * n * k; }
class count {
 public:
  constexpr count() noexcept = default;
  template <class T>
    requires(std::is_integral_v<T> && !std::is_signed_v<T>)
  constexpr count(T value) noexcept : value_(static_cast<std::uint64_t>(value)) {}
  template <class T>
    requires(std::is_integral_v<T>&& std::is_signed_v<T>)
  constexpr count(T value) noexcept : value_(static_cast<std::uint64_t>(value)) {
    if (value < 0) {
      detail::formula_has_a_negative_count();
      value_ = invalid_;
    }
  }
  constexpr count(extent value) noexcept : value_(static_cast<std::uint64_t>(value.value_)) {
    if (value.value_ < 0) {
      detail::formula_has_a_negative_count();
      value_ = invalid_;
    }
  }

  /// False after an overflow, a negative operand or a division by zero.
  constexpr bool valid() const noexcept { return value_ != invalid_; }
  /// One that is not valid().
  static constexpr count invalid() noexcept { return raw(invalid_); }
  /// The number; 2^64 - 1 when not valid().
  constexpr std::uint64_t value() const noexcept { return value_; }

  friend constexpr count operator+(count a, count b) noexcept {
    if (a.value_ == invalid_ || b.value_ == invalid_) return invalid();
    if (a.value_ >= invalid_ - b.value_) {
      detail::formula_overflows_64_bits();
      return invalid();
    }
    return raw(a.value_ + b.value_);
  }
  friend constexpr count operator-(count a, count b) noexcept {
    if (a.value_ == invalid_ || b.value_ == invalid_) return invalid();
    if (a.value_ < b.value_) {
      detail::formula_has_a_negative_count();
      return invalid();
    }
    return raw(a.value_ - b.value_);
  }
  friend constexpr count operator*(count a, count b) noexcept {
    if (a.value_ == invalid_ || b.value_ == invalid_) return invalid();
    if (b.value_ != 0 && a.value_ > (invalid_ - 1) / b.value_) {
      detail::formula_overflows_64_bits();
      return invalid();
    }
    return raw(a.value_ * b.value_);
  }
  friend constexpr count operator/(count a, count b) noexcept {
    if (a.value_ == invalid_ || b.value_ == invalid_) return invalid();
    if (b.value_ == 0) {
      detail::formula_divides_by_zero();
      return invalid();
    }
    return raw(a.value_ / b.value_);
  }
  constexpr count& operator+=(count b) noexcept { return *this = *this + b; }
  constexpr count& operator-=(count b) noexcept { return *this = *this - b; }
  constexpr count& operator*=(count b) noexcept { return *this = *this * b; }
  constexpr count& operator/=(count b) noexcept { return *this = *this / b; }
  friend constexpr bool operator==(count a, count b) noexcept { return a.value_ == b.value_; }

 private:
  static constexpr std::uint64_t invalid_ = ~std::uint64_t{0};
  static constexpr count raw(std::uint64_t value) noexcept {
    count c;
    c.value_ = value;
    return c;
  }
  std::uint64_t value_ = 0;
};

/// Bytes of one element. A type below 8 bits has no whole size: use bytes_for(n, type), which
/// packs.
constexpr count size_of(dtype type) noexcept {
  const unsigned bits = bits_of(type);
  if (bits == 0 || bits % 8 != 0) {
    detail::dtype_has_no_whole_byte_size();
    return count{1} / count{0};
  }
  return bits / 8;
}

/// Bytes of a tensor of `n` elements, packed: ceil(n * bits / 8).
constexpr count bytes_for(count n, dtype type) noexcept { return (n * bits_of(type) + 7) / 8; }

/// Memory traffic of one call, in bytes: each distinct input element read once, each output element
/// written once.
struct traffic {
  count read;
  count written;
  /// read + written.
  constexpr count total() const noexcept { return read + written; }
};

/// The unit that does an operator's arithmetic. `unknown` where the operator does not say.
enum class arithmetic_unit : std::uint8_t { unknown, cuda_core, tensor_core };

/// The arithmetic class of an operator: which ceiling its FLOP/s are held against.
struct arithmetic {
  dtype type = dtype::unknown;
  arithmetic_unit on = arithmetic_unit::unknown;
};

/// What an operator's threads() says where as many threads work in a call as the process may use
/// CPUs: a library's own pool, for instance.
inline constexpr std::uint32_t all_cpus = 0xffffffffU;

/// What a call is for, in the training of a network. `unknown` where the operator does not say.
enum class pass_kind : std::uint8_t {
  unknown,
  fprop,      ///< forward
  bprop,      ///< backward; of an operator with weights all gradients in one call
  dgrad,      ///< backward, with respect to the input
  wgrad,      ///< backward, with respect to the weights
  bgrad,      ///< backward, with respect to the bias
  update,     ///< the optimizer's step
  recompute,  ///< forward once more, for activations that were not kept
};

KPROF_DETAIL_END

#endif
