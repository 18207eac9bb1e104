// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_LOSS_HPP
#define KPROF_OPS_LOSS_HPP

// Loss functions, forward and backward. One FLOP an element for each primitive; what is done once a row (the logarithm of
// the row's sum) or once a call (the mean) is not counted. Class indices are int64, as PyTorch has them.

#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// mean and sum give one number, none one for each element.
enum class loss_reduction : std::uint8_t { none, mean, sum };

/// Softmax and logarithm and Nll in one, over logits[rows,classes], reduced to one f32. fprop (max, subtract, exp, add) reads logits
/// and targets and writes the loss and each row's logarithm of the sum (f32); bprop (subtract, exp, scale) reads these and
/// writes the gradient of the logits.
struct CrossEntropy {
  std::int64_t rows = 1, classes = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;
  dtype dtypeTarget = dtype::int64;

  constexpr bool valid() const {
    return detail::not_negative(rows) && detail::positive(classes) && detail::known(type, dtypeTarget) &&
           detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    return count{pass == ops::pass::bprop ? 3 : 4} * rows * classes;
  }
  constexpr count transcendentals() const { return detail::sensible(valid()) ? count{rows} * classes : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count logits = bytes_for(count{rows} * classes, type), target = bytes_for(rows, dtypeTarget);
    const count lse = bytes_for(rows, dtype::f32), loss = 4;
    if (pass == ops::pass::bprop) return {.read = logits + target + lse + loss, .written = logits};
    return {.read = logits + target, .written = lse + loss};
  }
};

/// Negative log likelihood of rows x classes log-probabilities, reduced to one number. fprop reads one of them a row, and
/// the targets; bprop reads the targets and writes the gradient of all of them, which is 0 but for one a row.
struct Nll {
  std::int64_t rows = 1, classes = 1;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;
  dtype dtypeTarget = dtype::int64;

  constexpr bool valid() const {
    return detail::not_negative(rows) && detail::positive(classes) && detail::known(type, dtypeTarget) &&
           detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return detail::sensible(valid()) ? count{rows} : count::invalid(); }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count target = bytes_for(rows, dtypeTarget), loss = bytes_for(1, type);
    if (pass == ops::pass::bprop) return {.read = target + loss, .written = bytes_for(count{rows} * classes, type)};
    return {.read = bytes_for(rows, type) + target, .written = loss};
  }
};
using NllLoss = Nll;

/// Squared differences of two tensors. fprop: 3 FLOPs an element (subtract, multiply, add), 2 without reduction; bprop: 2
/// (subtract, scale), 3 where each element has a gradient of its own. bprop reads both tensors and the gradient of the loss
/// and writes that of the first.
struct Mse {
  std::int64_t numel = 1;
  loss_reduction reduction = loss_reduction::mean;
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;

  constexpr bool valid() const {
    return detail::not_negative(numel) && detail::known(type) && reduction <= loss_reduction::sum && detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    const bool reduced = reduction != loss_reduction::none, backward = pass == ops::pass::bprop;
    return count{numel} * (reduced != backward ? 3 : 2);
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count x = bytes_for(numel, type), loss = reduction == loss_reduction::none ? x : bytes_for(1, type);
    if (pass == ops::pass::bprop) return {.read = x + x + loss, .written = x};
    return {.read = x + x, .written = loss};
  }
};
using MseLoss = Mse;

}  // namespace ops
KPROF_DETAIL_END

#endif
