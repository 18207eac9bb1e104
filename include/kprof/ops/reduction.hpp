// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_REDUCTION_HPP
#define KPROF_OPS_REDUCTION_HPP

// Reductions of n_in elements to n_out results, along any dimensions. One FLOP for each element and primitive: a sum of n
// elements counts n, as PyProf and RAJAPerf have it, not n - 1. Bytes: the input once, the result once.

#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

enum class reduction : std::uint8_t { sum, mean, max, min, prod, norm2, var, argmax, argmin };

}  // namespace ops

namespace ops::detail {

constexpr const char* name_of(reduction kind) noexcept {
  switch (kind) {
    case reduction::sum: return "Sum";
    case reduction::mean: return "Mean";
    case reduction::max: return "Max";
    case reduction::min: return "Min";
    case reduction::prod: return "Prod";
    case reduction::norm2: return "Norm2";
    case reduction::var: return "Var";
    case reduction::argmax: return "Argmax";
    case reduction::argmin: return "Argmin";
  }
  return "Reduce";
}

}  // namespace ops::detail

namespace ops {

/// y[n_out] = reduced x[n_in]. n_in: sum, max, min, prod, argmax, argmin; n_in + n_out: mean (a division each result); 2 n_in + n_out:
/// norm2 (square, add; a root each result); 4 n_in: var (the mean; subtract, multiply, add). argmax and argmin write int64.
struct Reduce {
  reduction kind = reduction::sum;
  std::int64_t n_in = 1, n_out = 1;
  dtype type = dtype::f32;
  dtype dtypeOut = dtype::unknown;   ///< of y; unknown: as `type`, or int64 for positions

  constexpr bool valid() const {
    if (!detail::not_negative(n_in, n_out) || !detail::known(type) || kind > reduction::argmin) return false;
    if (n_out == 0) return n_in == 0;
    if (n_in == 0) return !is_selection();   // there is a sum of nothing, but no greatest element of it
    return n_in % n_out == 0;
  }
  constexpr dtype output_type() const { return dtypeOut != dtype::unknown ? dtypeOut : is_position() ? dtype::int64 : type; }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    switch (kind) {
      case reduction::mean: return count{n_in} + n_out;
      case reduction::norm2: return count{2} * n_in + n_out;
      case reduction::var: return count{4} * n_in;
      default: return n_in;
    }
  }
  constexpr count transcendentals() const {
    if (!detail::sensible(valid())) return count::invalid();
    return kind == reduction::norm2 ? n_out : 0;
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = bytes_for(n_in, type), .written = bytes_for(n_out, output_type())};
  }

 private:
  constexpr bool is_position() const { return kind == reduction::argmax || kind == reduction::argmin; }
  constexpr bool is_selection() const { return is_position() || kind == reduction::max || kind == reduction::min; }
};

/// Reduce under its own name: Sum, Mean, ...
template <reduction Kind>
struct named_reduction {
  static constexpr const char* name = detail::name_of(Kind);

  std::int64_t n_in = 1, n_out = 1;
  dtype type = dtype::f32;
  dtype dtypeOut = dtype::unknown;

  constexpr Reduce general() const { return {.kind = Kind, .n_in = n_in, .n_out = n_out, .type = type, .dtypeOut = dtypeOut}; }
  constexpr bool valid() const { return general().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return general().arithmetic(); }
  constexpr count flops() const { return general().flops(); }
  constexpr count transcendentals() const { return general().transcendentals(); }
  constexpr traffic bytes() const { return general().bytes(); }
};
using Sum = named_reduction<reduction::sum>;
using Mean = named_reduction<reduction::mean>;
using Max = named_reduction<reduction::max>;
using Min = named_reduction<reduction::min>;
using Prod = named_reduction<reduction::prod>;
using Norm2 = named_reduction<reduction::norm2>;
using Var = named_reduction<reduction::var>;
using Argmax = named_reduction<reduction::argmax>;
using Argmin = named_reduction<reduction::argmin>;

}  // namespace ops
KPROF_DETAIL_END

#endif
