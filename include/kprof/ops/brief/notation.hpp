// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_BRIEF_NOTATION_HPP
#define KPROF_OPS_BRIEF_NOTATION_HPP

// How operators of the catalogue write their parameters in brief(): sizes, windows, products,
// names of enumerators. Included by the headers of the families; not for users. Element types are
// left to the column dtype: one that differs from it stands beside the text.

#include <kprof/build_options.hpp>
#include <kprof/declare/brief.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/ops/common.hpp>

#include <cstdint>

KPROF_DETAIL_BEGIN
namespace ops::detail {

/// "32×64×56", of one size or more.
constexpr brief_text& sizes(brief_text& out, std::int64_t first, auto... rest) {
  out.put(first);
  (out.by(rest), ...);
  return out;
}
/// The sizes in a list up to the first that is left out, or negative.
constexpr brief_text& sizes_in(brief_text& out, const auto& list) {
  for (std::size_t i = 0; i < list.rank(); ++i) {
    if (i == 0) out.put(list[i]);
    else out.by(list[i]);
  }
  return out;
}
/// ", /2" or ", /2×1": one number for each axis, or for all; nothing where all have the usual one.
constexpr void axes(brief_text& out, const char* what, std::int64_t usual, std::int64_t first,
                    auto... rest) {
  if (first == usual && ((rest == usual) && ...)) return;
  out.item(what).put(first);
  if (!((rest == first) && ...)) (out.by(rest), ...);
}
constexpr void flag(brief_text& out, bool given, const char* text) {
  if (given) out.item(text);
}
/// Memory in the largest unit that divides it.
constexpr brief_text& memory(brief_text& out, std::int64_t bytes) {
  constexpr const char* units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  int unit = 0;
  for (; unit < 4 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return out.put(bytes).put(units[unit]);
}

/// The name that the operator's field `field` has for an enumerator, or its number.
constexpr brief_text& name_in(brief_text& out, const char* field, auto value) {
  const auto number = static_cast<std::int64_t>(value);
  const auto* const fields = out.fields();
  for (std::uint32_t i = 0; fields != nullptr && i < fields->field_count; ++i) {
    const auto* const names = fields->fields[i].enumerators;
    if (names == nullptr || !(field_name{fields->fields[i].name} == field)) continue;
    for (std::uint32_t e = 0; e < names->size; ++e) {
      if (names->list[e].value != number) continue;
      for (std::uint32_t c = 0; c < names->list[e].name.size; ++c) {
        const char letter[] = {names->list[e].name.data[c], '\0'};
        out.put(letter);
      }
      return out;
    }
  }
  return out.put(number);
}

/// Has what differs from the operator's own element type stand beside the text.
constexpr void types(brief_text& out, const auto& op) {
  dtype own = dtype::unknown;
  if constexpr (requires { op.dtypeA; }) own = op.dtypeA;
  if constexpr (requires { op.type; }) own = op.type;
  const auto one = [&](dtype type, const char* field) {
    if (type != own && type != dtype::unknown) out.beside(field);
  };
#define KPROF_DETAIL_TYPE(field) \
  if constexpr (requires { op.field; }) one(op.field, #field);
  KPROF_DETAIL_TYPE(dtypeA)
  KPROF_DETAIL_TYPE(dtypeB)
  KPROF_DETAIL_TYPE(dtypeC)
  KPROF_DETAIL_TYPE(dtypeW)
  KPROF_DETAIL_TYPE(dtypeY)
  KPROF_DETAIL_TYPE(dtypeP)
  KPROF_DETAIL_TYPE(dtypeG)
  KPROF_DETAIL_TYPE(dtypeCopy)
  KPROF_DETAIL_TYPE(dtypeOut)
  KPROF_DETAIL_TYPE(dtypeIndex)
  KPROF_DETAIL_TYPE(dtypeOffsets)
  KPROF_DETAIL_TYPE(dtypeTarget)
  KPROF_DETAIL_TYPE(dtypeMask)
  KPROF_DETAIL_TYPE(dtypeKV)
  KPROF_DETAIL_TYPE(dtypeTable)
  KPROF_DETAIL_TYPE(dtypeScale)
  KPROF_DETAIL_TYPE(dtypeValue)
  KPROF_DETAIL_TYPE(dtypeCounter)
#undef KPROF_DETAIL_TYPE
}

/// Sizes, and the other types: all there is to say of many operators.
constexpr void plain(brief_text& out, const auto& op, std::int64_t first, auto... rest) {
  sizes(out, first, rest...);
  types(out, op);
}

/// The input of a convolution or a pool, N×C×D×H×W as far as the operator has these axes.
constexpr void input(brief_text& out, const auto& op) {
  if constexpr (requires { op.D; }) sizes(out, op.N, op.C, op.D, op.H, op.W);
  else if constexpr (requires { op.H; }) sizes(out, op.N, op.C, op.H, op.W);
  else sizes(out, op.N, op.C, op.W);
}
/// ", 3×3, /2, pad 1, dilation 2".
constexpr void window_of(brief_text& out, const auto& op) {
  out.item("");
  if constexpr (requires { op.T; }) {
    sizes(out, op.T, op.R, op.S);
    axes(out, "/", 1, op.sd, op.U, op.V);
    axes(out, "pad ", 0, op.pd, op.ph, op.pw);
    axes(out, "dilation ", 1, op.dd, op.dh, op.dw);
  } else if constexpr (requires { op.R; }) {
    sizes(out, op.R, op.S);
    axes(out, "/", 1, op.U, op.V);
    axes(out, "pad ", 0, op.ph, op.pw);
    axes(out, "dilation ", 1, op.dh, op.dw);
  } else {
    sizes(out, op.S);
    axes(out, "/", 1, op.V);
    axes(out, "pad ", 0, op.pw);
    axes(out, "dilation ", 1, op.dw);
  }
}
/// "32×64×56×56 → 64, 3×3, /2, pad 1, groups 4, bias, relu".
constexpr void convolution(brief_text& out, const auto& op) {
  input(out, op);
  out.to(op.K);
  window_of(out, op);
  if constexpr (requires { op.opd; }) axes(out, "output pad ", 0, op.opd, op.oph, op.opw);
  else if constexpr (requires { op.oph; }) axes(out, "output pad ", 0, op.oph, op.opw);
  else if constexpr (requires { op.opw; }) axes(out, "output pad ", 0, op.opw);
  axes(out, "groups ", 1, op.g);
  flag(out, op.bias && has_bias(op.pass), "bias");
  if (is_forward(op.pass)) {
    flag(out, op.residual, "residual");
    if (static_cast<int>(op.act) != 0) name_in(out.item(""), "act", op.act);
  }
  types(out, op);
}
/// What is fused behind a convolution means nothing to its gradients, but that a bias has one.
constexpr bool fused_shows(const auto& op, field_name field) {
  if (field == "bias") return has_bias(op.pass);
  return is_forward(op.pass) || !(field == "act" || field == "residual");
}
constexpr void pool(brief_text& out, const auto& op) {
  input(out, op);
  window_of(out, op);
  flag(out, op.ceil_mode, "ceil");
  if constexpr (requires { op.return_indices; })
    flag(out, op.return_indices && is_forward(op.pass), "indices");
  types(out, op);
}

/// "4096×4096×1024, batch 8, Aᵀ, beta".
constexpr void product(brief_text& out, const auto& op) {
  sizes(out, op.M, op.N, op.K);
  if constexpr (requires { op.batch; }) axes(out, "batch ", 1, op.batch);
  if constexpr (requires { op.transA; }) {
    flag(out, op.transA, "A\u1D40");
    flag(out, op.transB, "B\u1D40");
  }
  if constexpr (requires { op.beta; }) flag(out, op.beta, "beta");
  types(out, op);
}

/// "8 groups", or "6 of 8 groups".
constexpr void groups_of(brief_text& out, std::int64_t active, std::int64_t all, const char* what) {
  out.item(active);
  if (active != all) out.put(" of ").put(all);
  out.put(what);
}
/// "128×256, 256": the sizes of operands, once where all have the same.
constexpr void operands(brief_text& out, const auto& first, const auto&... rest) {
  sizes_in(out, first);
  if (!((rest == first) && ...)) (sizes_in(out.item(""), rest), ...);
}
/// "scale per group of 128, 64 channels, zeros".
constexpr void scales(brief_text& out, const auto& op) {
  name_in(out.item("scale per "), "scaling", op.scaling);
  if (op.scaling == decltype(op.scaling)::group) out.put(" of ").put(op.group);
  axes(out, "channels ", 1, op.channels);
  flag(out, op.zero_points, "zeros");
}
/// "B=4 H=32/8": heads of queries, and of keys where there are others.
constexpr void heads(brief_text& out, const auto& op) {
  out.named("B", op.B).named("H", op.Hq);
  if (op.kv_heads() != op.Hq) out.put("/").put(op.kv_heads());
}
constexpr void head_sizes(brief_text& out, const auto& op) {
  out.named("D", op.D);
  if (op.value_size() != op.D) out.named("Dv", op.value_size());
}

/// Of normalisations behind their sizes.
constexpr void norm(brief_text& out, const auto& op) {
  if constexpr (requires { op.train; }) flag(out, !op.train, "eval");
  flag(out, !op.affine, "not affine");
  flag(out, !op.stats, "no stats");
  types(out, op);
}
constexpr void recurrent_cell(brief_text& out, const auto& op) {
  sizes(out, op.B, op.input_size).to(op.H);
  flag(out, !op.bias, "no bias");
  types(out, op);
}
constexpr void recurrent_net(brief_text& out, const auto& op) {
  sizes(out, op.seq_len, op.B, op.input_size).to(op.H);
  axes(out, "layers ", 1, op.layers);
  flag(out, op.bidirectional, "bidirectional");
  flag(out, !op.bias, "no bias");
  types(out, op);
}

}  // namespace ops::detail
KPROF_DETAIL_END

#endif
