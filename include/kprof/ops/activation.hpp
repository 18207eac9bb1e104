// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_ACTIVATION_HPP
#define KPROF_OPS_ACTIVATION_HPP

// Named activations and the gated linear units that are made of them. A named activation counts one
// FLOP an element, whatever it is made of, as PyProf and DeepSpeed have it;
// flops(cost_model::expressions) counts the primitives of its definition. Included by
// pointwise.hpp.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

struct activation_cost {
  const char* name;
  int expression;       ///< primitives of the definition
  int transcendentals;  ///< among them
};
constexpr activation_cost cost_of(activation act) noexcept {
  switch (act) {
    case activation::none: break;
    case activation::relu: return {"Relu", 1, 0};        // max(x, 0)
    case activation::gelu: return {"Gelu", 5, 1};        // 0.5 x (1 + erf(x c))
    case activation::silu: return {"Silu", 5, 1};        // x sigmoid(x)
    case activation::sigmoid: return {"Sigmoid", 4, 1};  // 1 / (1 + exp(-x))
    case activation::tanh: return {"Tanh", 1, 1};
    case activation::elu: return {"Elu", 5, 1};               // x > 0 ? x : a (exp(x) - 1)
    case activation::leaky_relu: return {"LeakyRelu", 3, 0};  // x > 0 ? x : a x
    case activation::softplus: return {"Softplus", 3, 2};     // log(1 + exp(x))
    case activation::hardswish: return {"Hardswish", 5, 0};   // x min(max(x + 3, 0), 6) / 6
    case activation::mish: return {"Mish", 5, 3};             // x tanh(log(1 + exp(x)))
    case activation::prelu: return {"Prelu", 3, 0};           // x > 0 ? x : w x
  }
  return {"none", 0, 0};
}
inline constexpr int gelu_tanh_expression = 9;  // 0.5 x (1 + tanh(c (x + d x x x)))

}  // namespace ops::detail

namespace ops {

/// y = act(x). bprop reads dy and x (or y) and writes dx. Expressions are known of the forward
/// direction only: bprop counts one FLOP an element by each cost_model, as in PyProf's
/// activation.py.
/// FLOPs: numel
/// flops_expressions(fprop): expression numel
/// transcendentals: [t > 0] numel
/// transcendentals_expressions(fprop): t numel
/// read(fprop): x + w
/// read(bprop): 2 x + w
/// written(fprop): x
/// written(bprop): x + w
/// parameters: weights
/// where: x = bytes(numel, type)
/// where: w = bytes(weights, type)
/// where: expression = [act in (relu, tanh)] + 3 [act in (leaky_relu, softplus, prelu)] + 4 [act =
///   sigmoid] + 5 [act in (gelu, silu, elu, hardswish, mish)] + 4 [tanh_approximation]
/// where: t = [act in (gelu, silu, sigmoid, tanh, elu)] + 2 [act = softplus] + 3 [act = mish]
/// source: PyProf activation.py, DeepSpeed
/// others: XLA counts a sigmoid as 3 and a transcendental; MIOpen moves two tensors backward, not
///   three
struct Activation {
  activation act = activation::relu;  ///< the function
  extent numel = 1;
  extent weights = 0;  ///< of prelu, read in both directions; their gradient is written by
                       ///< bprop. 0: not counted
  bool tanh_approximation = false;  ///< of gelu: 0.5 x (1 + tanh(...)), else by erf
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr bool valid() const {
    return detail::not_negative(numel, weights) && detail::known(type) &&
           detail::is_fprop_or_bprop(pass) && detail::known_activation(act) &&
           act != activation::none && (weights == 0 || act == activation::prelu) &&
           (!tanh_approximation || act == activation::gelu);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops(cost_model model = cost_model::primitives) const {
    if (!detail::sensible(valid())) return count::invalid();
    const bool one = model != cost_model::expressions || pass == ops::pass::bprop;
    return count{numel} * (one                  ? 1
                           : tanh_approximation ? detail::gelu_tanh_expression
                                                : detail::cost_of(act).expression);
  }
  /// One an element where the activation has any; by its definition for cost_model::expressions.
  constexpr count transcendentals(cost_model model = cost_model::primitives) const {
    if (!detail::sensible(valid())) return count::invalid();
    const int n = detail::cost_of(act).transcendentals;
    const bool one = model != cost_model::expressions || pass == ops::pass::bprop;
    return count{numel} * (one && n > 1 ? 1 : n);
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (numel == 0) return {};
    const count x = bytes_for(numel, type), w = bytes_for(weights, type);
    if (pass == ops::pass::bprop) return {.read = x + x + w, .written = x + w};
    return {.read = x + w, .written = x};
  }
  constexpr count parameters() const { return weights; }
  constexpr void brief(brief_text& out) const {
    detail::name_in(out.put(numel).item(""), "act", act);
    detail::flag(out, tanh_approximation, "by tanh");
    detail::axes(out, "weights ", 0, weights);
  }
  constexpr bool shows(field_name field) const {
    return (field != "weights" || act == activation::prelu) &&
           (field != "tanh_approximation" || act == activation::gelu);
  }
};

/// Activation under its own name: Relu, Gelu, ...
/// like: Activation, act = Function
template <activation Function>
struct named_activation {
  static constexpr const char* name = detail::cost_of(Function).name;

  extent numel = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr Activation general() const {
    return {.act = Function, .numel = numel, .pass = pass, .type = type};
  }
  constexpr bool valid() const { return general().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return general().arithmetic(); }
  constexpr count flops(cost_model model = cost_model::primitives) const {
    return general().flops(model);
  }
  constexpr count transcendentals(cost_model model = cost_model::primitives) const {
    return general().transcendentals(model);
  }
  constexpr traffic bytes() const { return general().bytes(); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, numel); }
};
using Relu = named_activation<activation::relu>;
using Gelu = named_activation<activation::gelu>;
using Silu = named_activation<activation::silu>;
using Sigmoid = named_activation<activation::sigmoid>;
using Tanh = named_activation<activation::tanh>;
using Elu = named_activation<activation::elu>;
using LeakyRelu = named_activation<activation::leaky_relu>;
using Softplus = named_activation<activation::softplus>;
using Hardswish = named_activation<activation::hardswish>;
using Mish = named_activation<activation::mish>;
using Prelu = named_activation<activation::prelu>;

/// y[rows,F] = act(x[rows,:F]) * x[rows,F:]: an activation and a product. bprop reads dy and x and
/// writes dx: it evaluates act and its derivative and does two products.
/// FLOPs(fprop): (1 + [act != none]) rows F
/// FLOPs(bprop): (2 + 2 [act != none]) rows F
/// flops_expressions(fprop): (1 + expression) rows F
/// flops_expressions(bprop): (2 + expression + [act != none]) rows F
/// transcendentals(fprop): [t > 0] rows F
/// transcendentals(bprop): 2 [t > 0] rows F
/// transcendentals_expressions(fprop): t rows F
/// transcendentals_expressions(bprop): (t + [t > 0]) rows F
/// read(fprop): x
/// read(bprop): x + y
/// written(fprop): y
/// written(bprop): x
/// where: x = bytes(2 rows F, type)
/// where: y = bytes(rows F, type)
/// where: expression = [act in (relu, tanh)] + 3 [act in (leaky_relu, softplus, prelu)] + 4 [act =
///   sigmoid] + 5 [act in (gelu, silu, elu, hardswish, mish)]
/// where: t = [act in (gelu, silu, sigmoid, tanh, elu)] + 2 [act = softplus] + 3 [act = mish]
/// source: Activation's, and one for each product
struct Glu {
  activation act = activation::sigmoid;  ///< the gate's function; none: the product alone
  extent rows = 1, F = 1;                ///< rows; elements of a row of y, half of those of x
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr bool valid() const {
    return detail::not_negative(rows, F) && detail::known(type) && detail::known_activation(act) &&
           detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops(cost_model model = cost_model::primitives) const {
    if (!detail::sensible(valid())) return count::invalid();
    const int derivative = act == activation::none ? 0 : 1;
    const int once =
        model == cost_model::expressions ? detail::cost_of(act).expression : derivative;
    return count{rows} * F * (pass == ops::pass::bprop ? once + derivative + 2 : once + 1);
  }
  constexpr count transcendentals(cost_model model = cost_model::primitives) const {
    if (!detail::sensible(valid())) return count::invalid();
    const int n = detail::cost_of(act).transcendentals;
    const int once = model != cost_model::expressions && n > 1 ? 1 : n;
    return count{rows} * F * (pass == ops::pass::bprop ? once + (n > 0 ? 1 : 0) : once);
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count y = bytes_for(count{rows} * F, type), x = bytes_for(count{2} * rows * F, type);
    if (pass == ops::pass::bprop) return {.read = y + x, .written = x};
    return {.read = x, .written = y};
  }
  constexpr void brief(brief_text& out) const {
    detail::name_in(detail::sizes(out, rows, F).item(""), "act", act);
  }
};

/// Glu under the name of its activation.
/// like: Glu, act = Function
template <activation Function>
struct named_glu {
  static constexpr const char* name = Function == activation::silu   ? "Swiglu"
                                      : Function == activation::gelu ? "Geglu"
                                                                     : "Reglu";

  extent rows = 1, F = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr Glu general() const {
    return {.act = Function, .rows = rows, .F = F, .pass = pass, .type = type};
  }
  constexpr bool valid() const { return general().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return general().arithmetic(); }
  constexpr count flops(cost_model model = cost_model::primitives) const {
    return general().flops(model);
  }
  constexpr count transcendentals(cost_model model = cost_model::primitives) const {
    return general().transcendentals(model);
  }
  constexpr traffic bytes() const { return general().bytes(); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, rows, F); }
};
using Swiglu = named_glu<activation::silu>;
using Geglu = named_glu<activation::gelu>;
using Reglu = named_glu<activation::relu>;

}  // namespace ops
KPROF_DETAIL_END

#endif
