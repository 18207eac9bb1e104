// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_BINARY_HPP
#define KPROF_OPS_BINARY_HPP

// Elementwise functions of two operands with broadcasting: sums, products, comparisons and the
// like. pointwise.hpp includes this header.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>
#include <kprof/ops/shape.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

enum class binary_function : std::uint8_t {
  add,
  sub,
  mul,
  div,
  remainder,
  max,
  min,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  shift_left,
  shift_right,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  logical_and,
  logical_or,
  logical_xor,
  pow,
  atan2
};

}  // namespace ops

namespace ops::detail {

constexpr bool is_transcendental(binary_function f) noexcept { return f >= binary_function::pow; }
constexpr bool is_boolean(binary_function f) noexcept {
  return f >= binary_function::eq && f <= binary_function::logical_xor;
}
constexpr const char* name_of(binary_function f) noexcept {
  switch (f) {
    case binary_function::add: return "Add";
    case binary_function::sub: return "Sub";
    case binary_function::mul: return "Mul";
    case binary_function::div: return "Div";
    case binary_function::max: return "Maximum";
    case binary_function::min: return "Minimum";
    case binary_function::eq: return "Eq";
    case binary_function::ne: return "Ne";
    case binary_function::lt: return "Lt";
    case binary_function::le: return "Le";
    case binary_function::gt: return "Gt";
    case binary_function::ge: return "Ge";
    case binary_function::pow: return "Pow";
    default: return "Binary";
  }
}

}  // namespace ops::detail

namespace ops {

/// y = f(a, b) with NumPy's broadcasting; comparisons and logical functions write booleans. bprop
/// is of add, sub, mul and div: the gradient of a sum is a copy of dy; that of a product or a
/// quotient reads dy and the other operand. Gradients have y's shape: the sum over broadcast sizes
/// is a Reduce.
///     KPROF_OP(kprof::ops::Add, {.a = {128, 256}, .b = {256}, .type = f16});
/// FLOPs(fprop): n
/// FLOPs(bprop): [function in (mul, div)] gradients n
/// flops_pyprof(fprop): (1 + 19 [function in (pow, atan2)]) n
/// transcendentals: [function in (pow, atan2)] n
/// read(fprop): A + B
/// read(bprop): y + [function in (mul, div)] ([gradient != b] B + [gradient != a] A)
/// written(fprop): y
/// written(bprop): gradients bytes(n, type)
/// where: n = numel(broadcast(a, b))
/// where: A = bytes(numel(a), type)
/// where: B = bytes(numel(b), dtypeB or type)
/// where: y = bytes(n, dtypeOut or [function in (eq, ne, lt, le, gt, ge, logical_and, logical_or,
///   logical_xor)] boolean or type)
/// where: gradients = 1 + [gradient = both]
/// source: PyProf pointwise.py; fprop also XLA hlo_cost_analysis.cc, DeepSpeed
/// others: the older PyProf halves the traffic, 1.5 n; PyTorch's computeFlops takes the first
///   operand's elements; DeepSpeed aligns the sizes on the left; fvcore counts nothing
struct Binary {
  binary_function function = binary_function::add;  ///< f
  shape a{1}, b{1};                                 ///< sizes of a; sizes of b
  ops::pass pass = ops::pass::fprop;
  gradient_of gradient = gradient_of::a;  ///< of bprop: the operands whose gradient it computes
  dtype type = dtype::f32;                ///< of a, and of gradients
  dtype dtypeB = dtype::unknown;          ///< of b; unknown: as `type`
  dtype dtypeOut = dtype::unknown;  ///< of y; unknown: as `type`, boolean where the function says
                                    ///< so

  constexpr bool valid() const {
    return detail::compatible(a, b) && detail::known(type, output_type()) &&
           detail::known_or_left_out(dtypeB) && function <= binary_function::atan2 &&
           gradient <= gradient_of::both &&
           (detail::is_forward(pass) ||
            (pass == ops::pass::bprop && function <= binary_function::div));
  }
  constexpr dtype output_type() const {
    return detail::type_or(dtypeOut, detail::is_boolean(function) ? dtype::boolean : type);
  }
  /// Elements of y.
  constexpr count numel() const {
    return detail::sensible(valid()) ? detail::broadcast_numel(a, b) : count::invalid();
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops(cost_model model = cost_model::primitives) const {
    if (pass == ops::pass::bprop) return numel() * (is_linear() ? 0 : gradients());
    return numel() * (model == cost_model::pyprof && detail::is_transcendental(function) ? 20 : 1);
  }
  constexpr count transcendentals() const {
    return numel() * (detail::is_transcendental(function) ? 1 : 0);
  }
  constexpr traffic bytes() const {
    const count n = numel();
    if (!n.valid()) return detail::invalid_traffic;
    if (n == 0) return {};
    const count of_a = bytes_for(detail::broadcast_numel(a), type),
                of_b = bytes_for(detail::broadcast_numel(b), detail::type_or(dtypeB, type));
    const count y = bytes_for(n, output_type());
    if (detail::is_forward(pass)) return {.read = of_a + of_b, .written = y};
    const count other = gradient == gradient_of::a   ? of_b
                        : gradient == gradient_of::b ? of_a
                                                     : of_a + of_b;
    return {.read = y + (is_linear() ? 0 : other), .written = bytes_for(n, type) * gradients()};
  }
  constexpr void brief(brief_text& out) const {
    detail::operands(out, a, b);
    detail::name_in(out.item(""), "function", function);
    if (pass == ops::pass::bprop) detail::name_in(out.item("d"), "gradient", gradient);
    detail::types(out, *this);
  }
  constexpr bool shows(field_name field) const {
    return field != "gradient" || pass == ops::pass::bprop;
  }

 private:
  constexpr bool is_linear() const { return function <= binary_function::sub; }
  constexpr int gradients() const { return gradient == gradient_of::both ? 2 : 1; }
};

/// Binary under its own name: Add, Mul, ...
/// like: Binary, function = Function
template <binary_function Function>
struct named_binary {
  static constexpr const char* name = detail::name_of(Function);

  shape a{1}, b{1};
  ops::pass pass = ops::pass::fprop;
  gradient_of gradient = gradient_of::a;
  dtype type = dtype::f32;
  dtype dtypeB = dtype::unknown, dtypeOut = dtype::unknown;

  constexpr Binary general() const {
    return {.function = Function,
            .a = a,
            .b = b,
            .pass = pass,
            .gradient = gradient,
            .type = type,
            .dtypeB = dtypeB,
            .dtypeOut = dtypeOut};
  }
  constexpr bool valid() const { return general().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return general().arithmetic(); }
  constexpr count flops(cost_model model = cost_model::primitives) const {
    return general().flops(model);
  }
  constexpr count transcendentals() const { return general().transcendentals(); }
  constexpr traffic bytes() const { return general().bytes(); }
  constexpr void brief(brief_text& out) const {
    detail::operands(out, a, b);
    if (pass == ops::pass::bprop) detail::name_in(out.item("d"), "gradient", gradient);
    detail::types(out, *this);
  }
  constexpr bool shows(field_name field) const {
    return field != "gradient" || pass == ops::pass::bprop;
  }
};
using Add = named_binary<binary_function::add>;
using Sub = named_binary<binary_function::sub>;
using Mul = named_binary<binary_function::mul>;
using Div = named_binary<binary_function::div>;
using Pow = named_binary<binary_function::pow>;
using Maximum = named_binary<binary_function::max>;
using Minimum = named_binary<binary_function::min>;
using Eq = named_binary<binary_function::eq>;
using Ne = named_binary<binary_function::ne>;
using Lt = named_binary<binary_function::lt>;
using Le = named_binary<binary_function::le>;
using Gt = named_binary<binary_function::gt>;
using Ge = named_binary<binary_function::ge>;

}  // namespace ops
KPROF_DETAIL_END

#endif
