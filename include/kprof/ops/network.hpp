// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_NETWORK_HPP
#define KPROF_OPS_NETWORK_HPP

// Sums the FLOPs, bytes and parameters of a list of operators, such as the layers of a model, at
// compile time or at run time. Takes operators of the catalogue and others. Nothing allocates: a
// network is a plain value of sums and does not keep the operators.

#include <kprof/op.hpp>
#include <kprof/ops/common.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace ops {

/// What a number of calls cost by their formulas.
struct cost {
  count calls;
  count flops;
  count transcendentals;  ///< among the FLOPs
  traffic bytes;

  /// False when a call's parameters make no sense or a sum does not fit 64 bits.
  constexpr bool valid() const {
    return calls.valid() && flops.valid() && transcendentals.valid() && bytes.total().valid();
  }
  constexpr cost& operator+=(const cost& more) {
    calls += more.calls;
    flops += more.flops;
    transcendentals += more.transcendentals;
    bytes.read += more.bytes.read;
    bytes.written += more.bytes.written;
    return *this;
  }
  friend constexpr cost operator*(const cost& one, count times) {
    return {one.calls * times,
            one.flops * times,
            one.transcendentals * times,
            {one.bytes.read * times, one.bytes.written * times}};
  }
};

namespace detail {
template <class Op>
concept has_pass = requires(const Op& op) {
  op.pass;
}
&&requires(Op& op) { op.pass = pass::fprop; };
template <class Op>
concept has_parameters = requires(const Op& op) {
  count{op.parameters()};
};
template <class Op>
inline constexpr bool has_both_formulas = ::kprof::KPROF_DETAIL_ABI::detail::has_flops<
    Op>&& ::kprof::KPROF_DETAIL_ABI::detail::has_bytes<Op>;
template <class Op>
concept has_transcendentals = requires(const Op& op) {
  count{op.transcendentals()};
};

inline constexpr std::uint32_t pass_count = static_cast<std::uint32_t>(pass::recompute) + 1;
constexpr bool known_pass(pass p) noexcept {
  return p != pass::unknown && static_cast<std::uint32_t>(p) < pass_count;
}

/// A call that is not valid has no numbers, as in the report.
template <class Op>
constexpr cost cost_of(const Op& op) {
  const auto w = ::kprof::KPROF_DETAIL_ABI::detail::evaluate(op);
  if (!sensible(w.valid != 0)) return {1, count::invalid(), count::invalid(), invalid_traffic};
  cost one{1, w.flops, 0, {w.read, w.written}};
  if constexpr (has_transcendentals<Op>) one.transcendentals = op.transcendentals();
  return one;
}
}  // namespace detail

/// Sums over operators, in all and by pass. An operator without a field `pass` is forward.
///     constexpr kprof::ops::network mlp = [] {
///       kprof::ops::network n;
///       n.add(Linear{.tokens = 32, .in_features = 784, .out_features = 512, .bias = true});
///       n.add(Relu{.numel = 32 * 512}, 2);
///       return n;
///     }();
///     static_assert(mlp.total().flops == 2 * 32 * 784 * 512 + 3 * 32 * 512);
class network {
 public:
  /// `times` calls of operators with weights of their own, as the layers of a model are.
  template <class Op>
  constexpr network& add(const Op& op, count times = 1) {
    if constexpr (detail::has_parameters<Op>) {
      if (is_forward(op)) parameters_ += op.parameters() * times;
    }
    return repeat(op, times);
  }
  /// The same with weights that are counted elsewhere: another step of the same layer, or tied
  /// weights.
  template <class Op>
  constexpr network& repeat(const Op& op, count times = 1) {
    static_assert(::kprof::KPROF_DETAIL_ABI::detail::check_operator<Op>());
    static_assert(detail::has_both_formulas<Op>,
                  "kprof: a network adds operators that have flops() and bytes(); return 0 where "
                  "there are none");
    pass p = pass::fprop;
    // then the cost is not valid
    if constexpr (detail::has_pass<Op>) p = detail::known_pass(op.pass) ? op.pass : pass::fprop;
    by_pass_[static_cast<std::uint32_t>(p)] += detail::cost_of(op) * times;
    return *this;
  }
  /// A part of the model, `times` times, each with weights of its own.
  constexpr network& add(const network& part, count times = 1) {
    parameters_ += part.parameters_ * times;
    return repeat(part, times);
  }
  constexpr network& repeat(const network& part, count times = 1) {
    for (std::uint32_t p = 0; p < detail::pass_count; ++p) by_pass_[p] += part.by_pass_[p] * times;
    return *this;
  }
  /// A forward call as training has it, and all its backward calls: dgrad, wgrad and, with a bias,
  /// bgrad; or bprop. Forward saves what bprop reads (indices of MaxPool, the logsumexp of Sdpa),
  /// and products have the gradients of both operands.
  template <class Op>
  constexpr network& add_with_backward(Op op, count times = 1) {
    static_assert(
        detail::has_pass<Op>,
        "kprof: the operator has no field `pass`, so no backward calls; add it with add()");
    // its backward calls are not known: no cost is valid
    if (!detail::sensible(is_forward(op))) op.pass = static_cast<pass>(detail::pass_count);
    if constexpr (requires { op.return_indices = true; }) op.return_indices = true;
    if constexpr (requires { op.lse = true; }) op.lse = true;
    if constexpr (requires { op.gradient = gradient_of::both; }) op.gradient = gradient_of::both;
    add(op, times);
    Op backward = op;
    backward.pass = pass::dgrad;
    const bool has_weights = backward.valid();
    for (const pass p : {pass::bprop, pass::dgrad, pass::wgrad, pass::bgrad}) {
      backward.pass = p;
      // One call for all gradients has the FLOPs of the others.
      if (p == pass::bprop && has_weights) continue;
      if (p == pass::bgrad && !has_bias(op)) continue;
      if (backward.valid()) repeat(backward, times);
    }
    return *this;
  }

  /// Of one pass; nothing of one that there is not.
  constexpr cost of(pass p) const {
    return detail::known_pass(p) ? by_pass_[static_cast<std::uint32_t>(p)] : cost{};
  }
  constexpr cost total() const {
    cost sum;
    for (const cost& one : by_pass_) sum += one;
    return sum;
  }
  /// Weights, biases and the like.
  constexpr count parameters() const { return parameters_; }
  constexpr bool valid() const { return parameters_.valid() && total().valid(); }

 private:
  template <class Op>
  static constexpr bool is_forward(const Op& op) {
    if constexpr (detail::has_pass<Op>) return op.pass == pass::fprop;
    else return true;
  }
  template <class Op>
  static constexpr bool has_bias(const Op& op) {
    if constexpr (requires { op.bias ? 1 : 0; }) return op.bias;
    else return false;
  }

  cost by_pass_[detail::pass_count];
  count parameters_;
};

}  // namespace ops
KPROF_DETAIL_END

#endif
