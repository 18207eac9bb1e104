// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_OPTIMIZER_HPP
#define KPROF_OPS_OPTIMIZER_HPP

// Steps of optimizers over `numel` parameters, of one tensor or of all. FLOPs an element are
// counted in NVIDIA/apex's CUDA expressions (multi_tensor_sgd, _adam, _lamb), what is the same for
// all elements left out; weight decay counts only where it is asked for. Bytes: parameters and
// states are read and written, gradients are read; where the parameters are masters of a copy in
// another type, that is written too.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// What the optimizers share. `states`: tensors of the parameters' type that are kept besides
/// these.
struct step {
  extent numel;
  dtype type, dtypeG, dtypeCopy;
  int states;

  constexpr bool valid() const {
    return not_negative(numel) && real(type, type_or(dtypeG, type), type_or(dtypeCopy, type));
  }
  constexpr count flops(int an_element) const {
    return sensible(valid()) ? count{numel} * an_element : count::invalid();
  }
  constexpr count gradient() const { return bytes_for(numel, detail::type_or(dtypeG, type)); }
  constexpr traffic bytes() const {
    if (!sensible(valid())) return invalid_traffic;
    const count kept = bytes_for(numel, type) * (1 + states);
    // 0 bytes for dtype::unknown
    return {.read = gradient() + kept, .written = kept + bytes_for(numel, dtypeCopy)};
  }
};

}  // namespace ops::detail

namespace ops {

/// p -= lr g.
/// FLOPs: (2 + 2 [weight_decay]) numel
/// read: g + p
/// written: p + bytes(numel, dtypeCopy)
/// where: p = bytes(numel, type)
/// where: g = bytes(numel, dtypeG or type)
/// source: apex multi_tensor_sgd_kernel.cu
struct Sgd {
  extent numel = 1;                  ///< parameters
  bool weight_decay = false;         ///< g += wd p before
  dtype type = dtype::f32;           ///< of the parameters
  dtype dtypeG = dtype::unknown;     ///< of the gradients; unknown: as `type`
  dtype dtypeCopy = dtype::unknown;  ///< of the copy that is written besides; unknown: none

  constexpr bool valid() const { return step().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return step().flops(2 + (weight_decay ? 2 : 0)); }
  constexpr traffic bytes() const { return step().bytes(); }
  constexpr ops::pass pass() const { return ops::pass::update; }
  constexpr void brief(brief_text& out) const {
    detail::plain(out, *this, numel);
    detail::flag(out, weight_decay, "weight decay");
  }

 private:
  constexpr detail::step step() const { return {numel, type, dtypeG, dtypeCopy, 0}; }
};

/// Sgd with momentum: m = mu m + g, p -= lr m.
/// FLOPs: (4 + 2 [nesterov] + [dampening] + 2 [weight_decay]) numel
/// read: g + 2 p
/// written: 2 p + bytes(numel, dtypeCopy)
/// where: p = bytes(numel, type)
/// where: g = bytes(numel, dtypeG or type)
/// source: apex multi_tensor_sgd_kernel.cu
struct Momentum {
  extent numel = 1;        ///< parameters
  bool nesterov = false;   ///< p -= lr (g + mu m)
  bool dampening = false;  ///< m = mu m + (1 - d) g; not with nesterov, which PyTorch refuses too
  bool weight_decay = false;
  dtype type = dtype::f32;           ///< of parameters and momentum
  dtype dtypeG = dtype::unknown;     ///< of the gradients; unknown: as `type`
  dtype dtypeCopy = dtype::unknown;  ///< of the copy that is written besides; unknown: none

  constexpr bool valid() const { return step().valid() && !(nesterov && dampening); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const {
    return detail::sensible(valid())
               ? step().flops(4 + (nesterov ? 2 : 0) + (dampening ? 1 : 0) + (weight_decay ? 2 : 0))
               : count::invalid();
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? step().bytes() : detail::invalid_traffic;
  }
  constexpr ops::pass pass() const { return ops::pass::update; }
  constexpr void brief(brief_text& out) const {
    detail::plain(out, *this, numel);
    detail::flag(out, weight_decay, "weight decay");
    detail::flag(out, nesterov, "nesterov");
    detail::flag(out, dampening, "dampening");
  }

 private:
  constexpr detail::step step() const { return {numel, type, dtypeG, dtypeCopy, 1}; }
};

/// m = b1 m + (1 - b1) g (3 FLOPs), v = b2 v + (1 - b2) g g (4), p -= lr (m / c1) / (sqrt(v / c2) +
/// eps) (7, with the root).
/// FLOPs: (14 + 2 [weight_decay]) numel
/// transcendentals: numel
/// read: g + 3 p
/// written: 3 p + bytes(numel, dtypeCopy)
/// where: p = bytes(numel, type)
/// where: g = bytes(numel, dtypeG or type)
/// source: apex multi_tensor_adam.cu, PyProf optim.py for the bytes
/// others: apex evaluates the decay even where it is 0, 16 numel; PyProf counts no FLOPs
struct Adam {
  extent numel = 1;  ///< parameters
  bool weight_decay = false;
  dtype type = dtype::f32;           ///< of parameters and both moments
  dtype dtypeG = dtype::unknown;     ///< of the gradients; unknown: as `type`
  dtype dtypeCopy = dtype::unknown;  ///< of the copy that is written besides; unknown: none

  constexpr bool valid() const { return step().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return step().flops(14 + (weight_decay ? 2 : 0)); }
  /// The root.
  constexpr count transcendentals() const { return step().flops(1); }
  constexpr traffic bytes() const { return step().bytes(); }
  constexpr ops::pass pass() const { return ops::pass::update; }
  constexpr void brief(brief_text& out) const {
    detail::plain(out, *this, numel);
    detail::flag(out, weight_decay, "weight decay");
  }

 private:
  constexpr detail::step step() const { return {numel, type, dtypeG, dtypeCopy, 2}; }
};

/// Adam whose decay is added to the update, not to the gradient, at the same cost; decay is what it
/// is used for.
/// like: Adam
struct AdamW {
  extent numel = 1;
  bool weight_decay = true;          ///< lr wd p is taken from p too
  dtype type = dtype::f32;           ///< of parameters and both moments
  dtype dtypeG = dtype::unknown;     ///< of the gradients; unknown: as `type`
  dtype dtypeCopy = dtype::unknown;  ///< of the copy that is written besides; unknown: none

  constexpr Adam adam() const {
    return {.numel = numel,
            .weight_decay = weight_decay,
            .type = type,
            .dtypeG = dtypeG,
            .dtypeCopy = dtypeCopy};
  }
  constexpr bool valid() const { return adam().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return adam().arithmetic(); }
  constexpr count flops() const { return adam().flops(); }
  constexpr count transcendentals() const { return adam().transcendentals(); }
  constexpr traffic bytes() const { return adam().bytes(); }
  constexpr ops::pass pass() const { return ops::pass::update; }
  constexpr void brief(brief_text& out) const {
    detail::plain(out, *this, numel);
    detail::flag(out, !weight_decay, "no weight decay");
  }
};

/// Adam's update of the clipped gradient (13 FLOPs), the norms of parameters and update (4), and p
/// -= ratio update (2). Bytes are the least, as if one kernel did it all; bytes_staged() are those
/// of apex's two stages, which pass the update through memory.
/// FLOPs: (19 + 2 [weight_decay]) numel
/// transcendentals: numel
/// read: g + 3 p
/// written: 3 p + bytes(numel, dtypeCopy)
/// where: p = bytes(numel, type)
/// where: g = bytes(numel, dtypeG or type)
/// source: apex multi_tensor_lamb.cu
/// others: apex evaluates the decay even where it is 0; its two stages move 10 numel elements, not
///   7
struct Lamb {
  extent numel = 1;                  ///< parameters
  bool weight_decay = false;         ///< wd p is added, to the gradient or to the update
  dtype type = dtype::f32;           ///< of parameters and both moments
  dtype dtypeG = dtype::unknown;     ///< of the gradients; unknown: as `type`
  dtype dtypeCopy = dtype::unknown;  ///< of the copy that is written besides; unknown: none

  constexpr bool valid() const { return step().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return detail::scalar(type); }
  constexpr count flops() const { return step().flops(19 + (weight_decay ? 2 : 0)); }
  /// The root.
  constexpr count transcendentals() const { return step().flops(1); }
  constexpr traffic bytes() const { return step().bytes(); }
  /// Of the two stages of apex's multi_tensor_lamb, without those of its norms: the first puts the
  /// update in place of the gradient, the second reads it and the parameters once more.
  constexpr traffic bytes_staged() const {
    const traffic once = bytes();
    if (!once.read.valid()) return detail::invalid_traffic;
    const count update = step().gradient();
    return {.read = once.read + update + bytes_for(numel, type), .written = once.written + update};
  }
  constexpr ops::pass pass() const { return ops::pass::update; }
  constexpr void brief(brief_text& out) const {
    detail::plain(out, *this, numel);
    detail::flag(out, weight_decay, "weight decay");
  }

 private:
  constexpr detail::step step() const { return {numel, type, dtypeG, dtypeCopy, 2}; }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
