// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_LOSS_HPP
#define KPROF_OPS_LOSS_HPP

// Loss functions, forward and backward. One FLOP an element for each primitive; what is done once a
// row (the logarithm of the row's sum) or once a call (the mean) is not counted. Class indices are
// int64, as PyTorch has them.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// mean and sum give one number, none one for each element.
enum class loss_reduction : std::uint8_t { none, mean, sum };

/// Softmax and logarithm and Nll in one, over logits[rows,classes], reduced to one f32, the loss.
/// fprop (max, subtract, exp, add) keeps of each row the logarithm of the sum, an f32; bprop
/// (subtract, exp, scale) writes the gradient of the logits.
/// FLOPs(fprop): 4 rows classes
/// FLOPs(bprop): 3 rows classes
/// transcendentals: rows classes
/// read(fprop): logits + targets
/// read(bprop): logits + targets + lse + loss
/// written(fprop): lse + loss
/// written(bprop): logits
/// where: logits = bytes(rows classes, type)
/// where: targets = bytes(rows, dtypeTarget)
/// where: lse = 4 rows
/// where: loss = 4
/// source: one FLOP for each primitive of an element, as XLA and DeepSpeed count them
struct CrossEntropy {
  extent rows = 1, classes = 1;  ///< tokens or samples; logits of each
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;           ///< of the logits and their gradient
  dtype dtypeTarget = dtype::int64;  ///< of the class indices, one a row

  constexpr bool valid() const {
    return detail::not_negative(rows) && detail::positive(classes) && detail::real(type) &&
           detail::is_index(dtypeTarget) && detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    return count{pass == ops::pass::bprop ? 3 : 4} * rows * classes;
  }
  constexpr count transcendentals() const {
    return detail::sensible(valid()) ? count{rows} * classes : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count logits = bytes_for(count{rows} * classes, type),
                target = bytes_for(rows, dtypeTarget);
    const count lse = bytes_for(rows, dtype::f32), loss = 4;
    if (pass == ops::pass::bprop)
      return {.read = rows == 0 ? 0 : logits + target + lse + loss, .written = logits};
    return {.read = logits + target, .written = lse + loss};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, rows, classes); }
};

/// Negative log likelihood of rows x classes log-probabilities, reduced to one number; NllLoss is
/// the same. Of each row one is read; bprop writes the gradient of all of them, which is 0 but for
/// one a row.
/// FLOPs: rows
/// read(fprop): bytes(rows, type) + targets
/// read(bprop): bytes(1, type) + targets
/// written(fprop): bytes(1, type)
/// written(bprop): bytes(rows classes, type)
/// where: targets = bytes(rows, dtypeTarget)
/// source: one FLOP for each primitive of an element, as XLA and DeepSpeed count them
struct Nll {
  extent rows = 1, classes = 1;  ///< tokens or samples; log-probabilities of each
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;  ///< of log-probabilities, loss and their gradients
  dtype dtypeTarget = dtype::int64;

  constexpr bool valid() const {
    return detail::not_negative(rows) && detail::positive(classes) && detail::real(type) &&
           detail::is_index(dtypeTarget) && detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{rows} : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count target = bytes_for(rows, dtypeTarget), loss = bytes_for(1, type);
    if (pass == ops::pass::bprop)
      return {.read = rows == 0 ? 0 : target + loss,
              .written = bytes_for(count{rows} * classes, type)};
    return {.read = bytes_for(rows, type) + target, .written = loss};
  }
  constexpr void brief(brief_text& out) const { detail::plain(out, *this, rows, classes); }
};
using NllLoss = Nll;

/// Squared differences of two tensors: fprop subtracts, multiplies and, where it reduces, adds;
/// bprop subtracts and multiplies by the gradient of the loss, one number or one for each element.
/// It writes the gradient of the first tensor. MseLoss is the same.
/// FLOPs(fprop): (2 + [reduction != none]) numel
/// FLOPs(bprop): 2 numel
/// read(fprop): 2 x
/// read(bprop): 2 x + loss
/// written(fprop): loss
/// written(bprop): x
/// where: x = bytes(numel, type)
/// where: loss = bytes([reduction = none] numel + [reduction != none], type)
/// source: one FLOP for each primitive of an element, as XLA and DeepSpeed count them
/// others: PyProf counts twice the elements that are moved, and 1: reduced, in fprop, 4 numel + 1
struct Mse {
  extent numel = 1;                                 ///< of each tensor
  loss_reduction reduction = loss_reduction::mean;  ///< mean and sum give one number, none one for
                                                    ///< each element
  ops::pass pass = ops::pass::fprop;
  dtype type = dtype::f32;  ///< of both tensors, the loss and the gradients

  constexpr bool valid() const {
    return detail::not_negative(numel) && detail::real(type) && reduction <= loss_reduction::sum &&
           detail::is_fprop_or_bprop(pass);
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    return count{numel} * (detail::is_forward(pass) && reduction != loss_reduction::none ? 3 : 2);
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const count x = bytes_for(numel, type),
                loss = reduction == loss_reduction::none ? x : bytes_for(1, type);
    if (pass == ops::pass::bprop) return {.read = numel == 0 ? 0 : x + x + loss, .written = x};
    return {.read = x + x, .written = loss};
  }
  constexpr void brief(brief_text& out) const {
    out.put(numel);
    if (reduction != loss_reduction::mean) detail::name_in(out.item(""), "reduction", reduction);
  }
};
using MseLoss = Mse;

}  // namespace ops
KPROF_DETAIL_END

#endif
