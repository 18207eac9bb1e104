// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_MOE_HPP
#define KPROF_OPS_MOE_HPP

// Mixtures of experts: the router, and the experts' products. What lies between, the permutation of
// the rows and the activation, are operators of their own.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/gemm.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// logits[tokens,experts] = x[tokens,hidden] w[hidden,experts]; writes the logits, or their
/// softmax.
/// FLOPs: (2 hidden + 5 [softmax]) tokens experts
/// transcendentals: [softmax] tokens experts
/// read: bytes(tokens hidden, type) + bytes(hidden experts, type)
/// written: bytes(tokens experts, dtypeOut or type)
/// parameters: hidden experts
/// source: EleutherAI cookbook calc_transformer_flops.py; Softmax's for the softmax
/// others: Megatron does not count the router
struct MoeRouter {
  extent tokens = 1;                ///< rows of x
  extent hidden = 1, experts = 1;   ///< elements of a token; logits of a token
  bool softmax = false;             ///< a softmax is fused
  dtype type = dtype::bf16;         ///< of x and w
  dtype dtypeOut = dtype::unknown;  ///< of what is written; unknown: as `type`

  constexpr bool valid() const {
    return detail::not_negative(tokens, hidden) && detail::positive(experts) &&
           detail::known(type) && detail::known_or_left_out(dtypeOut);
  }
  constexpr kprof::arithmetic arithmetic() const { return product().arithmetic(); }
  constexpr count flops() const {
    return detail::sensible(valid())
               ? product().flops() + (softmax ? count{5} * tokens * experts : 0)
               : count::invalid();
  }
  constexpr count transcendentals() const {
    if (!detail::sensible(valid())) return count::invalid();
    return softmax ? count{tokens} * experts : count{0};
  }
  constexpr traffic bytes() const {
    return detail::sensible(valid()) ? product().bytes() : detail::invalid_traffic;
  }
  constexpr count parameters() const { return count{hidden} * experts; }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, tokens, hidden).to(experts);
    detail::flag(out, softmax, "softmax");
    detail::types(out, *this);
  }

 private:
  constexpr Gemm product() const {
    return {.M = tokens,
            .N = experts,
            .K = hidden,
            .batch = 1,
            .dtypeA = type,
            .dtypeB = type,
            .dtypeC = detail::type_or(dtypeOut, type)};
  }
};

/// The experts' perceptrons as two grouped products: up, with the gate's beside it where `gated`,
/// and down. Each reads its rows and the weights of those experts that have rows, and writes its
/// result. The activation is not counted.
///     MoeMlp::of(tokens_per_expert, {.hidden = 64, .ffn = 128, .gated = true})
/// FLOPs: 2 tokens hidden (wide + ffn)
/// read: bytes(tokens hidden, type) + bytes(active_experts hidden wide, dtypeW or type)
///   + bytes(tokens ffn, type) + bytes(active_experts ffn hidden, dtypeW or type)
/// written: bytes(tokens wide, type) + bytes(tokens hidden, type)
/// parameters: experts hidden (wide + ffn)
/// where: wide = (1 + [gated]) ffn
/// source: RaggedGemm's
struct MoeMlp {
  extent tokens = 1;           ///< routed rows of all experts together: tokens x top-k
  extent active_experts = 1;   ///< those with rows
  extent experts = 0;          ///< all there are, for parameters() and valid() alone; 0: not said
  extent hidden = 1, ffn = 1;  ///< elements of a token; elements between the two products
  bool gated = true;  ///< up has a second product, the gate's: two results of ffn elements a row
  dtype type = dtype::bf16;
  dtype dtypeW = dtype::unknown;  ///< of the weights; unknown: as `type`

  constexpr bool valid() const {
    return up().valid() && down().valid() && (experts == 0 || active_experts <= experts);
  }
  constexpr kprof::arithmetic arithmetic() const { return down().arithmetic(); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? up().flops() + down().flops() : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    const traffic first = up().bytes(), second = down().bytes();
    return {.read = first.read + second.read, .written = first.written + second.written};
  }
  constexpr count parameters() const { return count{experts} * hidden * ffn * (gated ? 3 : 2); }

  /// `layer` for so many rows of each expert: an array, or another range of integers.
  template <class Range>
  static constexpr MoeMlp of(const Range& tokens_per_expert, MoeMlp layer) {
    count rows, active, all;
    for (const auto t : tokens_per_expert) {
      rows += t;
      active += t != 0 ? 1 : 0;
      all += 1;
    }
    layer.tokens = signed_of(rows);
    layer.active_experts = signed_of(active);
    layer.experts = signed_of(all);
    return layer;
  }
  constexpr void brief(brief_text& out) const {
    detail::sizes(out, tokens, hidden).to(ffn);
    detail::groups_of(out, active_experts, experts == 0 ? active_experts : experts, " experts");
    detail::flag(out, !gated, "not gated");
    detail::types(out, *this);
  }

 private:
  /// -1, which valid() refuses, for what does not fit.
  static constexpr std::int64_t signed_of(count n) {
    return n.valid() && n.value() <= 0x7FFF'FFFF'FFFF'FFFFU ? static_cast<std::int64_t>(n.value())
                                                            : -1;
  }
  constexpr RaggedGemm product(std::int64_t n, std::int64_t k) const {
    return {.M = tokens,
            .N = n,
            .K = k,
            .groups = active_experts,
            .active_groups = active_experts,
            .dtypeA = type,
            .dtypeB = detail::type_or(dtypeW, type),
            .dtypeC = type};
  }
  constexpr RaggedGemm up() const {
    return product(gated ? (ffn >= 0 && ffn <= widest ? 2 * ffn : -1) : std::int64_t{ffn}, hidden);
  }
  constexpr RaggedGemm down() const { return product(hidden, ffn); }
  static constexpr std::int64_t widest = 0x3FFF'FFFF'FFFF'FFFF;
};

}  // namespace ops
KPROF_DETAIL_END

#endif
