// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_POINTWISE_HPP
#define KPROF_OPS_POINTWISE_HPP

// Elementwise operators: functions of one, two and three tensors, with broadcasting; dropout; and,
// from activation.hpp, named activations. One FLOP an output element for each primitive, a
// comparison, a selection and a division among them; flops(cost_model::pyprof) counts 20 for
// transcendental ones. Bytes: each operand at its own size and width, the output once; in place is
// a read and a write.

#include <kprof/ops/activation.hpp>
#include <kprof/ops/binary.hpp>
#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>
#include <kprof/ops/shape.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// From `exp` on they are transcendental; up to `is_nan` they have no derivative that is worth a
/// call.
enum class unary_function : std::uint8_t {
  sign,
  ceil,
  floor,
  round,
  trunc,
  bitwise_not,
  logical_not,
  is_nan,
  neg,
  abs,
  reciprocal,
  square,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sqrt,
  rsqrt,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  erf,
  erfc,
  erfinv
};

}  // namespace ops

namespace ops::detail {

constexpr bool is_transcendental(unary_function f) noexcept { return f >= unary_function::exp; }
constexpr bool is_boolean(unary_function f) noexcept {
  return f == unary_function::logical_not || f == unary_function::is_nan;
}
constexpr const char* name_of(unary_function f) noexcept {
  switch (f) {
    case unary_function::neg: return "Neg";
    case unary_function::abs: return "Abs";
    case unary_function::reciprocal: return "Reciprocal";
    case unary_function::square: return "Square";
    case unary_function::exp: return "Exp";
    case unary_function::log: return "Log";
    case unary_function::sqrt: return "Sqrt";
    case unary_function::rsqrt: return "Rsqrt";
    case unary_function::sin: return "Sin";
    case unary_function::cos: return "Cos";
    case unary_function::erf: return "Erf";
    default: return "Unary";
  }
}

}  // namespace ops::detail

namespace ops {

/// y = f(x); logical_not and is_nan write booleans. bprop reads dy and x (or y), neg dy alone, and
/// writes dx.
/// FLOPs: numel
/// flops_pyprof: (1 + 19 transcendental) numel
/// transcendentals: transcendental numel
/// read(fprop): x
/// read(bprop): y + [function != neg] x
/// written(fprop): y
/// written(bprop): x
/// where: x = bytes(numel, type)
/// where: y = bytes(numel, dtypeOut or [function in (logical_not, is_nan)] boolean or type)
/// where: transcendental = [not function in (sign, ceil, floor, round, trunc, bitwise_not,
///   logical_not, is_nan, neg, abs, reciprocal, square)]
/// source: XLA hlo_cost_analysis.cc, with its separate counter of transcendentals; DeepSpeed
/// others: PyProf counts 20 for a transcendental, the older PyProf 4 for tanh and log; fvcore
///   counts nothing
struct Unary {
  unary_function function = unary_function::abs;  ///< f
  extent numel = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;
  dtype dtypeOut = dtype::unknown;  ///< of y; unknown: as `type`, boolean where the function says
                                    ///< so

  constexpr bool valid() const {
    return detail::not_negative(numel) && detail::known(type, output_type()) &&
           function <= unary_function::erfinv &&
           (detail::is_forward(pass) ||
            (pass == ops::pass::bprop && function > unary_function::is_nan));
  }
  constexpr dtype output_type() const {
    return detail::type_or(dtypeOut, detail::is_boolean(function) ? dtype::boolean : type);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops(cost_model model = cost_model::primitives) const {
    if (!detail::sensible(valid())) return count::invalid();
    return count{numel} *
           (model == cost_model::pyprof && detail::is_transcendental(function) ? 20 : 1);
  }
  constexpr count transcendentals() const {
    if (!detail::sensible(valid())) return count::invalid();
    return detail::is_transcendental(function) ? numel : extent{};
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count x = bytes_for(numel, type), y = bytes_for(numel, output_type());
    if (pass == ops::pass::bprop)
      return {.read = y + (function == unary_function::neg ? 0 : x), .written = x};
    return {.read = x, .written = y};
  }
  constexpr void brief(brief_text& out) const {
    detail::plain(out, *this, numel);
    detail::name_in(out.item(""), "function", function);
  }
};

/// Unary under its own name: Exp, Sqrt, ...
/// like: Unary, function = Function
template <unary_function Function>
struct named_unary {
  static constexpr const char* name = detail::name_of(Function);

  extent numel = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;
  dtype dtypeOut = dtype::unknown;

  constexpr Unary general() const {
    return {.function = Function, .numel = numel, .pass = pass, .type = type, .dtypeOut = dtypeOut};
  }
  constexpr bool valid() const { return general().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return general().arithmetic(); }
  constexpr count flops(cost_model model = cost_model::primitives) const {
    return general().flops(model);
  }
  constexpr count transcendentals() const { return general().transcendentals(); }
  constexpr traffic bytes() const { return general().bytes(); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, numel); }
};
using Neg = named_unary<unary_function::neg>;
using Abs = named_unary<unary_function::abs>;
using Reciprocal = named_unary<unary_function::reciprocal>;
using Square = named_unary<unary_function::square>;
using Exp = named_unary<unary_function::exp>;
using Log = named_unary<unary_function::log>;
using Sqrt = named_unary<unary_function::sqrt>;
using Rsqrt = named_unary<unary_function::rsqrt>;
using Sin = named_unary<unary_function::sin>;
using Cos = named_unary<unary_function::cos>;
using Erf = named_unary<unary_function::erf>;

enum class ternary_function : std::uint8_t { fma, addcmul, addcdiv, lerp, where, clamp };

}  // namespace ops

namespace ops::detail {

struct ternary_cost {
  const char* name;
  int flops;
};
constexpr ternary_cost cost_of(ternary_function f) noexcept {
  switch (f) {
    case ternary_function::fma: return {"Fma", 2};
    case ternary_function::addcmul: return {"Addcmul", 3};
    case ternary_function::addcdiv: return {"Addcdiv", 3};
    case ternary_function::lerp: return {"Lerp", 3};
    case ternary_function::where: return {"Where", 1};
    case ternary_function::clamp: return {"Clamp", 2};
  }
  return {"Ternary", 0};
}

}  // namespace ops::detail

namespace ops {

/// y = f(a, b, c) with NumPy's broadcasting. fma: a b + c. addcmul, addcdiv: a + s b c, a + s b /
/// c. lerp: a + w (b - a), w being c. where: a ? b : c. clamp: min(max(a, b), c).
/// FLOPs: ([function = where] + 2 [function in (fma, clamp)] + 3 [function in (addcmul, addcdiv,
///   lerp)]) n
/// read: bytes(numel(a), dtypeA or [function = where] boolean or type) + bytes(numel(b), type) +
///   bytes(numel(c), type)
/// written: bytes(n, type)
/// where: n = numel(broadcast(a, b, c))
/// source: PyProf pointwise.py for addcmul and addcdiv; the primitives of the others
/// others: fvcore counts nothing
struct Ternary {
  ternary_function function = ternary_function::fma;  ///< f
  shape a{1}, b{1}, c{1};                             ///< sizes of a; sizes of b; sizes of c
  dtype type = dtype::f32;                            ///< of b, c and y
  dtype dtypeA = dtype::unknown;  ///< of a; unknown: as `type`, boolean for `where`

  constexpr bool valid() const {
    return detail::compatible(a, b, c) && detail::known(type) &&
           detail::known_or_left_out(dtypeA) && function <= ternary_function::clamp;
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops(cost_model = cost_model::primitives) const {
    return detail::sensible(valid())
               ? detail::broadcast_numel(a, b, c) * detail::cost_of(function).flops
               : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count n = detail::broadcast_numel(a, b, c);
    if (n == 0) return {};
    const dtype of_a =
        detail::type_or(dtypeA, function == ternary_function::where ? dtype::boolean : type);
    return {.read = bytes_for(detail::broadcast_numel(a), of_a) +
                    bytes_for(detail::broadcast_numel(b), type) +
                    bytes_for(detail::broadcast_numel(c), type),
            .written = bytes_for(n, type)};
  }
  constexpr void brief(brief_text& out) const {
    detail::operands(out, a, b, c);
    detail::name_in(out.item(""), "function", function);
    detail::types(out, *this);
  }
};

/// Ternary under its own name: Addcmul, Where, ...
/// like: Ternary, function = Function
template <ternary_function Function>
struct named_ternary {
  static constexpr const char* name = detail::cost_of(Function).name;

  shape a{1}, b{1}, c{1};
  dtype type = dtype::f32;
  dtype dtypeA = dtype::unknown;

  constexpr Ternary general() const {
    return {.function = Function, .a = a, .b = b, .c = c, .type = type, .dtypeA = dtypeA};
  }
  constexpr bool valid() const { return general().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return general().arithmetic(); }
  constexpr count flops(cost_model model = cost_model::primitives) const {
    return general().flops(model);
  }
  constexpr traffic bytes() const { return general().bytes(); }
  constexpr void brief(brief_text& out) const {
    detail::operands(out, a, b, c);
    detail::types(out, *this);
  }
};
using Fma = named_ternary<ternary_function::fma>;
using Addcmul = named_ternary<ternary_function::addcmul>;
using Addcdiv = named_ternary<ternary_function::addcdiv>;
using Lerp = named_ternary<ternary_function::lerp>;
using Where = named_ternary<ternary_function::where>;
using Clamp = named_ternary<ternary_function::clamp>;

/// y = x mask scale. fprop reads x and writes y and the mask, of one byte an element; bprop reads
/// dy and the mask and writes dx.
/// FLOPs: 2 numel
/// read(fprop): x
/// read(bprop): x + numel
/// written(fprop): x + numel
/// written(bprop): x
/// where: x = bytes(numel, type)
/// source: its two products
/// others: PyProf counts 5 an element and no mask; XLA a transcendental for each random number;
///   DeepSpeed nothing
struct Dropout {
  extent numel = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr bool valid() const {
    return detail::not_negative(numel) && detail::known(type) && detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{2} * numel : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count x = bytes_for(numel, type), mask = numel;
    if (pass == ops::pass::bprop) return {.read = x + mask, .written = x};
    return {.read = x, .written = x + mask};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, numel); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
