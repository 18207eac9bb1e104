// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_SHAPE_HPP
#define KPROF_OPS_SHAPE_HPP

// Lists of sizes of any length up to a limit, and how the shapes of operands broadcast. Included by
// the headers that need it.

#include <kprof/ops/common.hpp>

#include <cstddef>
#include <type_traits>

KPROF_DETAIL_BEGIN
namespace ops {

/// 1 to N sizes: `.n = {64, 64}`, of any integer types. What is left out holds -1, a size that is
/// given and negative, or 2^63 or more, -2; a size may be 0.
template <class T, std::size_t N>
struct size_list {
  using value_type = T;
  static constexpr std::size_t capacity = N;
  T values[N];

  template <class... Sizes>
    requires(((std::is_integral_v<Sizes> || std::is_same_v<Sizes, extent>)&&...) &&
             sizeof...(Sizes) <= N)
  constexpr size_list(Sizes... sizes) noexcept : values{given(extent{sizes})...} {
    for (std::size_t i = sizeof...(Sizes); i < N; ++i) values[i] = -1;
  }

  /// The number of sizes.
  constexpr std::size_t rank() const noexcept {
    std::size_t n = 0;
    while (n < N && values[n] != -1) ++n;
    return n;
  }
  /// There is a size, none is negative, and none stands behind one that is left out.
  constexpr bool valid() const noexcept {
    const std::size_t given = rank();
    for (std::size_t i = 0; i < N; ++i)
      if (i < given ? values[i] < 0 : values[i] != -1) return false;
    return given != 0;
  }
  constexpr T operator[](std::size_t i) const noexcept { return values[i]; }
  friend constexpr bool operator==(const size_list&, const size_list&) = default;

 private:
  static constexpr T given(std::int64_t size) noexcept { return size < 0 ? T{-2} : T{size}; }
};

/// Sizes of a tensor, the outermost first: `.a = {128, 256}`. {1} is a scalar.
using shape = size_list<std::int64_t, 6>;

/// The sizes of a framework's tensor: any range with size() and []. Without sizes it is a scalar;
/// more than six make the call invalid.
///     KPROF_OP(kprof::ops::Add, {.a = kprof::ops::shape_of(x.sizes()),
///                                .b = kprof::ops::shape_of(y.sizes())});
template <class Sizes>
  requires requires(const Sizes& s) {
    s.size();
    s[0];
  }
constexpr shape shape_of(const Sizes& sizes) {
  const auto rank = static_cast<std::size_t>(sizes.size());
  shape out{1};
  if (rank > shape::capacity) return {-2};
  for (std::size_t i = 0; i < rank; ++i) {
    const auto size = static_cast<std::int64_t>(sizes[i]);  // 2^63 or more: negative
    out.values[i] = size < 0 ? -2 : size;
  }
  return out;
}

}  // namespace ops

namespace ops::detail {

/// The size `k` places from the innermost one: 1 beyond the outermost, as NumPy aligns shapes.
constexpr std::int64_t size_from_right(const shape& s, std::size_t k) noexcept {
  return k >= s.rank() ? 1 : s[s.rank() - 1 - k];
}

/// The size that operands broadcast to, `k` places from the innermost one; -1 where they do not.
constexpr std::int64_t broadcast_size(std::size_t k, const auto&... operands) noexcept {
  std::int64_t out = 1;
  const auto fits = [&out](std::int64_t size) {
    if (size == 1) return true;
    if (out == 1) out = size;
    return size == out;
  };
  return (fits(size_from_right(operands, k)) && ...) ? out : -1;
}
constexpr bool compatible(const auto&... operands) noexcept {
  if (!(operands.valid() && ...)) return false;
  for (std::size_t k = 0; k < shape::capacity; ++k)
    if (broadcast_size(k, operands...) < 0) return false;
  return true;
}
/// Elements of what operands broadcast to; of one operand, its own.
constexpr count broadcast_numel(const auto&... operands) noexcept {
  count n = 1;
  for (std::size_t k = 0; k < shape::capacity; ++k) n *= broadcast_size(k, operands...);
  return n;
}

}  // namespace ops::detail
KPROF_DETAIL_END

#endif
