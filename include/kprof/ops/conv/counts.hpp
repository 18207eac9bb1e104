// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_CONV_COUNTS_HPP
#define KPROF_OPS_CONV_COUNTS_HPP

// What convolutions and transposed convolutions count alike: which parameters make sense, what is
// fused behind the product, and the bytes of each direction.

#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

constexpr bool conv_common_valid(const auto& op) {
  return not_negative(op.N, op.C, op.K) && positive(op.g) && op.C % op.g == 0 && op.K % op.g == 0 &&
         multiplies(op.type, op.weight_type(), op.output_type()) && known_activation(op.act) &&
         has_weights(op.pass);
}
constexpr kprof::arithmetic conv_arithmetic(const auto& op) {
  return op.pass == pass::bgrad ? scalar(op.type) : matmul(op.type);
}
/// From multiply-adds and output elements.
constexpr count conv_flops(const auto& op, count macs, count y) {
  if (op.pass == pass::bgrad) return y;
  if (op.pass == pass::bprop) return fma_flops(op.type) * 2 * macs + (op.bias ? y : 0);
  const int fused =
      (op.bias ? 1 : 0) + (op.act != activation::none ? 1 : 0) + (op.residual ? 1 : 0);
  return fma_flops(op.type) * macs + (is_forward(op.pass) ? y * fused : 0);
}
constexpr count conv_transcendentals(const auto& op, count y) {
  return is_forward(op.pass) && is_transcendental(op.act) ? y : count{0};
}
/// From the elements of input, filter and output.
constexpr traffic conv_bytes(const auto& op, count x_size, count w_size, count y_size) {
  const count x = bytes_for(x_size, op.type), w = bytes_for(w_size, op.weight_type()),
              y = bytes_for(y_size, op.output_type());
  const count b = bytes_for(op.K, op.weight_type());
  switch (op.pass) {
    case pass::dgrad: return {.read = x == 0 ? 0 : y + w, .written = x};
    case pass::wgrad: return {.read = w == 0 ? 0 : x + y, .written = w};
    case pass::bgrad: return {.read = y, .written = b};
    case pass::bprop:
      return {.read = read_for_gradients(op.bias, x, w, y), .written = x + w + (op.bias ? b : 0)};
    default:
      return {.read = y == 0 ? 0 : x + w + (op.bias ? b : 0) + (op.residual ? y : 0), .written = y};
  }
}

}  // namespace ops::detail
KPROF_DETAIL_END

#endif
