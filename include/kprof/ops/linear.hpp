// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_LINEAR_HPP
#define KPROF_OPS_LINEAR_HPP

// The fully connected layer, with its three directions. gemm.hpp includes this header.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// A fully connected layer over `tokens` rows: y[T,O] = x[T,I] w[O,I] (+ bias[O]). fprop, dgrad
/// (dx), wgrad (dw), bgrad (db); bprop is one call that computes all of them.
/// FLOPs(fprop): (2 in_features + [bias]) tokens out_features
/// FLOPs(dgrad, wgrad): 2 tokens in_features out_features
/// FLOPs(bgrad): tokens out_features
/// FLOPs(bprop): (4 in_features + [bias]) tokens out_features
/// read(fprop): x + w + [bias] b
/// read(dgrad): y + w
/// read(wgrad): x + y
/// read(bgrad): y
/// read(bprop): x + w + y
/// written(fprop): y
/// written(dgrad): x
/// written(wgrad): w
/// written(bgrad): b
/// written(bprop): x + w + [bias] b
/// parameters: (in_features + [bias]) out_features
/// where: x = bytes(tokens in_features, type)
/// where: y = bytes(tokens out_features, type)
/// where: w = bytes(in_features out_features, dtypeW or type)
/// where: b = bytes(out_features, dtypeW or type)
/// source: PyTorch flop_counter.py, DeepSpeed; the bias as in DeepSpeed's convolutions
/// others: PyTorch, fvcore and DeepSpeed count no bias; PyProf linear.py scales the input alone by
///   the width of an element
struct Linear {
  extent tokens = 1;                         ///< product of the leading dimensions
  extent in_features = 1, out_features = 1;  ///< elements of a row of x; elements of a row
                                             ///< of y
  bool bias = false;  ///< of consequence for fprop and bprop: bgrad is a call of its own
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;        ///< of x, y and their gradients
  dtype dtypeW = dtype::unknown;  ///< of weights, bias and their gradients; unknown: as `type`

  constexpr dtype weight_type() const { return detail::type_or(dtypeW, type); }
  constexpr bool valid() const {
    return detail::not_negative(tokens, in_features, out_features) &&
           detail::multiplies(type, weight_type(), type) && detail::has_weights(pass);
  }
  constexpr kprof::arithmetic arithmetic() const {
    return pass == ops::pass::bgrad ? detail::scalar(type) : detail::matmul(type);
  }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    const count out = count{tokens} * out_features;
    if (pass == ops::pass::bgrad) return out;
    const int products = pass == ops::pass::bprop ? 2 : 1;
    return detail::fma_flops(type) * products * out * in_features +
           (bias && detail::has_bias(pass) ? out : 0);
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count x = bytes_for(count{tokens} * in_features, type),
                y = bytes_for(count{tokens} * out_features, type);
    const count w = bytes_for(count{in_features} * out_features, weight_type()),
                b = bytes_for(out_features, weight_type());
    switch (pass) {
      case ops::pass::dgrad: return {.read = x == 0 ? 0 : y + w, .written = x};
      case ops::pass::wgrad: return {.read = w == 0 ? 0 : y + x, .written = w};
      case ops::pass::bgrad: return {.read = y, .written = b};
      case ops::pass::bprop:
        return {.read = detail::read_for_gradients(bias, x, w, y),
                .written = x + w + (bias ? b : 0)};
      default: return {.read = y == 0 ? 0 : x + w + (bias ? b : 0), .written = y};
    }
  }
  /// Weights and bias.
  constexpr count parameters() const {
    return count{in_features} * out_features + (bias ? out_features : extent{});
  }
  constexpr void brief(brief_text& out) const {
    out.beside("tokens").put(in_features).to(out_features);
    detail::flag(out, bias && detail::has_bias(pass), "bias");
    detail::types(out, *this);
  }
  constexpr bool shows(field_name field) const { return field != "bias" || detail::has_bias(pass); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
