// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_POOL_WINDOWS_HPP
#define KPROF_OPS_POOL_WINDOWS_HPP

// How pooling divides its input: into windows a stride apart, or into a given number of windows.

#include <kprof/ops/window.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// A window that must meet the input, and may end behind the padding where `ceil_mode`.
struct pool_window {
  window of;
  bool ceil_mode = false;

  constexpr bool valid() const { return of.valid() && of.pad < of.span(); }
  /// Positions. A last one that would begin behind the input is left out, as PyTorch does.
  constexpr std::int64_t out() const {
    const std::int64_t room = of.in + 2 * of.pad - of.span();
    if (!ceil_mode || room % of.stride == 0) return of.out();
    return of.out() * of.stride < of.in + of.pad ? of.out() + 1 : of.out();
  }
};

constexpr bool pool_common_valid(const auto& op) {
  return not_negative(op.N, op.C) && real(op.type) && is_fprop_or_bprop(op.pass);
}

/// Windows in which a dimension of `in` elements is divided into `out`: window i from floor(i in /
/// out) to ceil((i + 1) in / out). Together they hold in + out - gcd(in, out) elements: neighbours
/// share one where their border falls into it.
struct division {
  std::int64_t in = 1, out = 1;

  constexpr bool valid() const { return extents(in, out) && positive(in); }
  constexpr count taps() const {
    std::int64_t gcd = in;
    for (std::int64_t b = out; b != 0;) {
      const std::int64_t rest = gcd % b;
      gcd = b;
      b = rest;
    }
    return in + out - gcd;
  }
};

}  // namespace ops::detail
KPROF_DETAIL_END

#endif
