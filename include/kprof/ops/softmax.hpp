// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_SOFTMAX_HPP
#define KPROF_OPS_SOFTMAX_HPP

// Softmax and its logarithm along rows, forward and backward. FLOPs are the primitives for each
// element, an exp being one; what is done once for a row (the log of log_softmax) is left out.
// Forward reads x and writes y, which is as little as a kernel that holds its row can do; backward
// reads y and dy and writes dx.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

constexpr bool softmax_valid(const auto& op) {
  return not_negative(op.rows, op.cols) && real(op.type) && is_fprop_or_bprop(op.pass);
}
constexpr count softmax_flops(const auto& op) {
  return sensible(op.valid()) ? count{op.rows} * op.cols * (op.pass == pass::bprop ? 4 : 5)
                              : count::invalid();
}
constexpr traffic softmax_bytes(const auto& op) {
  if (!sensible(op.valid())) return invalid_traffic;
  const count x = bytes_for(count{op.rows} * op.cols, op.type);
  return {.read = op.pass == pass::bprop ? 2 * x : x, .written = x};
}

}  // namespace ops::detail

namespace ops {

/// y = exp(x - max) / sum. Forward: max, sub, exp, add, div. Backward: dy y and its row sum, sub,
/// mul.
///     KPROF_OP(kprof::ops::Softmax, {.rows = batch * heads * queries, .cols = keys, .type = f16});
/// FLOPs(fprop): 5 rows cols
/// FLOPs(bprop): 4 rows cols
/// transcendentals(fprop): rows cols
/// read(fprop): x
/// read(bprop): 2 x
/// written: x
/// where: x = bytes(rows cols, type)
/// source: its primitives; bytes as Triton's tutorial
/// others: PyProf counts 40 an element, an exp being 20 and done twice, and moves 3 forward and 5
///   backward; CUTLASS example 41 counts 3; DeepSpeed 1
struct Softmax {
  extent rows = 1, cols = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::softmax_valid(*this); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::softmax_flops(*this); }
  /// exp in the forward pass; the backward pass has none.
  constexpr count transcendentals() const {
    if (!detail::sensible(valid())) return count::invalid();
    return pass == ops::pass::bprop ? 0 : count{rows} * cols;
  }
  constexpr traffic bytes() const { return detail::softmax_bytes(*this); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, rows, cols); }
};

/// y = x - max - log(sum of exp(x - max)). Forward: max, sub, exp, add, sub. Backward: row sum of
/// dy, exp(y), mul, sub.
/// FLOPs(fprop): 5 rows cols
/// FLOPs(bprop): 4 rows cols
/// transcendentals: rows cols
/// read(fprop): x
/// read(bprop): 2 x
/// written: x
/// where: x = bytes(rows cols, type)
/// source: as Softmax
/// others: PyProf counts 21 an element, an exp being 20, and moves 3 forward and 5 backward
struct LogSoftmax {
  extent rows = 1, cols = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr bool valid() const { return detail::softmax_valid(*this); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::softmax_flops(*this); }
  /// exp, in either pass.
  constexpr count transcendentals() const {
    return detail::sensible(valid()) ? count{rows} * cols : count::invalid();
  }
  constexpr traffic bytes() const { return detail::softmax_bytes(*this); }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, rows, cols); }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
