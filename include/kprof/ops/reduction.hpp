// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_REDUCTION_HPP
#define KPROF_OPS_REDUCTION_HPP

// Reductions of n_in elements to n_out results, along any dimensions. One FLOP for each element and
// primitive: a sum of n elements counts n, as PyProf and RAJAPerf have it, not n - 1. Bytes: the
// input once, the result once.

#include <kprof/ops/brief/notation.hpp>
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

/// y[n_out] = reduced x[n_in]. A mean divides each result; norm2 squares and adds, and takes a root
/// of each result; var takes the mean, then subtracts, multiplies and adds. argmax and argmin write
/// positions.
/// FLOPs(mean): n_in + n_out
/// FLOPs(norm2): 2 n_in + n_out
/// FLOPs(var): 4 n_in
/// FLOPs: n_in
/// transcendentals(norm2): n_out
/// read: bytes(n_in, type)
/// written: bytes(n_out, dtypeOut or [kind in (argmax, argmin)] int64 or type)
/// source: PyProf reduction.py, RAJAPerf, likwid
/// others: XLA and blaspp count n_in - n_out; PyProf's Sum writes nothing, its Mean one element
struct Reduce {
  reduction kind = reduction::sum;  ///< what is computed
  extent n_in = 1, n_out = 1;       ///< elements of x; elements of y, which divide them
  dtype type = dtype::f32;
  dtype dtypeOut = dtype::unknown;  ///< of y; unknown: as `type`, or int64 for positions

  constexpr bool valid() const {
    if (!detail::not_negative(n_in, n_out) || !detail::known(type) ||
        !detail::known_or_left_out(dtypeOut) || kind > reduction::argmin)
      return false;
    if (n_out == 0) return n_in == 0;
    // there is a sum of nothing, but no greatest element of it
    if (n_in == 0) return !is_selection();
    return n_in % n_out == 0;
  }
  constexpr dtype output_type() const {
    return dtypeOut != dtype::unknown ? dtypeOut : is_position() ? dtype::int64 : type;
  }
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
    return kind == reduction::norm2 ? n_out : extent{};
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    return {.read = bytes_for(n_in, type), .written = bytes_for(n_out, output_type())};
  }
  constexpr void brief(brief_text& out) const {
    detail::name_in(out.put(n_in).to(n_out).item(""), "kind", kind);
    detail::types(out, *this);
  }

 private:
  constexpr bool is_position() const {
    return kind == reduction::argmax || kind == reduction::argmin;
  }
  constexpr bool is_selection() const {
    return is_position() || kind == reduction::max || kind == reduction::min;
  }
};

/// Reduce under its own name: Sum, Mean, ...
/// like: Reduce, kind = Kind
template <reduction Kind>
struct named_reduction {
  static constexpr const char* name = detail::name_of(Kind);

  extent n_in = 1, n_out = 1;
  dtype type = dtype::f32;
  dtype dtypeOut = dtype::unknown;

  constexpr Reduce general() const {
    return {.kind = Kind, .n_in = n_in, .n_out = n_out, .type = type, .dtypeOut = dtypeOut};
  }
  constexpr bool valid() const { return general().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return general().arithmetic(); }
  constexpr count flops() const { return general().flops(); }
  constexpr count transcendentals() const { return general().transcendentals(); }
  constexpr traffic bytes() const { return general().bytes(); }
  constexpr void brief(brief_text& out) const {
    out.put(n_in).to(n_out);
    detail::types(out, *this);
  }
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
