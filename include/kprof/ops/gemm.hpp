// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_GEMM_HPP
#define KPROF_OPS_GEMM_HPP

// Products of matrices: plain, batched, with broadcast operands, grouped, with an epilogue, sparse,
// block-scaled, and fully connected layers. D[M,N] = A[M,K] B[K,N] (+ C), row-major; layout does
// not change a count. All FLOPs are 2 M N K (8 for complex types), as PyProf, PyTorch's flop
// counter, CUTLASS and oneDNN have it. An empty product reads nothing.

#include <kprof/ops/brief/notation.hpp>
#include <kprof/ops/common.hpp>
#include <kprof/ops/linear.hpp>
#include <kprof/ops/tensor_core_gemm.hpp>

#include <cstddef>

KPROF_DETAIL_BEGIN
namespace ops {

/// D = A B, and + beta C where `beta`; `batch` times, each time with operands of its own.
///     KPROF_OP(kprof::ops::Gemm, {.M = m, .N = n, .K = k, .dtypeA = f16, .dtypeB = f16,
///                                 .dtypeC = f16});
/// FLOPs: 2 M N K batch
/// read: bytes(batch M K, dtypeA) + bytes(batch K N, dtypeB or dtypeA) + [beta] bytes(batch M N,
///   dtypeC or dtypeA)
/// written: bytes(batch M N, dtypeC or dtypeA)
/// source: PyProf blas.py, PyTorch flop_counter.py, Triton's Proton, oneDNN
/// others: CUTLASS adds 2 M N for its epilogue; DeepSpeed adds M N for addmm; fvcore counts M N K;
///   rocBLAS takes K = 0 for 1
struct Gemm {
  extent M = 1, N = 1, K = 1;  ///< rows of A and D; columns of B and D; columns of A, rows
                               ///< of B
  extent batch = 1;
  dtype dtypeA = dtype::f32, dtypeB = dtype::unknown,
        dtypeC = dtype::unknown;  ///< of A; of B, unknown: as of A; of C and D, unknown: as of A
  bool beta = false;              ///< C is added: it is read as well as written
  bool transA = false, transB = false;  ///< how the operands lie in memory: of no consequence for
                                        ///< the counts

  constexpr dtype typeB() const { return detail::type_or(dtypeB, dtypeA); }
  constexpr dtype typeC() const { return detail::type_or(dtypeC, dtypeA); }
  constexpr bool valid() const {
    return detail::not_negative(M, N, K, batch) && detail::multiplies(dtypeA, typeB(), typeC());
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(dtypeA, typeB()); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::fma_flops(dtypeA) * batch * M * N * K
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0 || N == 0) return {};
    const count c = bytes_for(count{batch} * M * N, typeC());
    return {.read = bytes_for(count{batch} * M * K, dtypeA) +
                    bytes_for(count{batch} * K * N, typeB()) + (beta ? c : 0),
            .written = c};
  }
  constexpr void brief(brief_text& out) const { detail::product(out, *this); }
};

/// PyTorch's bmm: Gemm without C.
/// like: Gemm, dtypeA = type, dtypeB = type, dtypeC = type
struct Bmm {
  extent batch = 1;
  extent M = 1, N = 1, K = 1;
  dtype type = dtype::f32;

  constexpr Gemm gemm() const {
    return {.M = M, .N = N, .K = K, .batch = batch, .dtypeA = type, .dtypeB = type, .dtypeC = type};
  }
  constexpr bool valid() const { return gemm().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return gemm().arithmetic(); }
  constexpr count flops() const { return gemm().flops(); }
  constexpr traffic bytes() const { return gemm().bytes(); }
  constexpr void brief(brief_text& out) const { detail::product(out, *this); }
};

/// Batched Gemm whose operands lie a stride apart, in elements. An operand with stride 0 is the
/// same in each product and counts once; others count for each, since operands whose rows lie
/// between one another's, as heads do, overlap nowhere. `dense`: one behind another.
/// FLOPs: 2 M N K batch
/// read: bytes(batch_A M K, dtypeA) + bytes(batch_B K N, dtypeB or dtypeA) + [beta] bytes(batch M
///   N, dtypeC or dtypeA)
/// written: bytes(batch M N, dtypeC or dtypeA)
/// where: batch_A = [strideA = 0] + [strideA != 0] batch
/// where: batch_B = [strideB = 0] + [strideB != 0] batch
/// source: Gemm's, and that a broadcast operand is read once
struct GemmStridedBatched {
  static constexpr std::int64_t dense = -1;

  extent M = 1, N = 1, K = 1;
  extent batch = 1;
  extent strideA = dense, strideB = dense, strideC = dense;  ///< elements from one product's
                                                             ///< operand to the next one's:
                                                             ///< 0 of a broadcast one, -1 of
                                                             ///< dense ones
  dtype dtypeA = dtype::f32, dtypeB = dtype::unknown, dtypeC = dtype::unknown;
  bool beta = false;
  bool transA = false, transB = false;

  constexpr dtype typeB() const { return detail::type_or(dtypeB, dtypeA); }
  constexpr dtype typeC() const { return detail::type_or(dtypeC, dtypeA); }
  constexpr bool valid() const {
    return detail::not_negative(M, N, K, batch) && detail::multiplies(dtypeA, typeB(), typeC()) &&
           strideA >= dense && strideB >= dense && strideC >= dense &&
           (batch <= 1 || strideC != 0);  // products have outputs of their own
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(dtypeA, typeB()); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::fma_flops(dtypeA) * batch * M * N * K
                                     : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0 || N == 0 || batch == 0) return {};
    const count c = bytes_for(count{batch} * M * N, typeC());
    const count a = count{strideA == 0 ? extent{1} : batch} * M * K,
                b = count{strideB == 0 ? extent{1} : batch} * K * N;
    return {.read = bytes_for(a, dtypeA) + bytes_for(b, typeB()) + (beta ? c : 0), .written = c};
  }
  constexpr void brief(brief_text& out) const {
    detail::product(out, *this);
    detail::flag(out, strideA == 0, "A shared");
    detail::flag(out, strideB == 0, "B shared");
    if (strideA > 0) out.beside("strideA");
    if (strideB > 0) out.beside("strideB");
    if (strideC >= 0) out.beside("strideC");
  }
};

/// Shape of one product of a group.
struct gemm_shape {
  extent M, N, K;  // 0; g++ 12 leaves elements of a list uninitialised where an "= 0" stands here
};

/// Products of any shapes in one call, at most `Capacity` of them. Empty ones cost nothing, and so
/// do those that are left out. Where all share N and K, as the experts of a mixture do, RaggedGemm
/// takes any number of them.
///     KPROF_OP(kprof::ops::GroupedGemm<2>, {.groups = {{{64, 128, 32}, {16, 128, 32}}},
///                                           .dtypeA = bf16});  // GroupedGemm<>: up to 8
/// FLOPs: sum(groups: 2 M N K)
/// read: sum(groups: [M N > 0] (bytes(M K, dtypeA) + bytes(K N, dtypeB or dtypeA)))
/// written: sum(groups: bytes(M N, dtypeC or dtypeA))
/// source: CUTLASS grouped_gemm_operation_profiler.cu, which skips empty groups too
/// others: CUTLASS adds 2 M N for its epilogue
template <std::size_t Capacity = 8>
struct GroupedGemm {
  static_assert(
      Capacity >= 1 && Capacity <= 40,
      "kprof: a GroupedGemm holds 1 to 40 shapes; use RaggedGemm or a guard for each product");
  static constexpr const char* name = "GroupedGemm";

  fixed_list<gemm_shape, Capacity> groups{};  ///< M, N and K of each
  dtype dtypeA = dtype::f32, dtypeB = dtype::unknown, dtypeC = dtype::unknown;

  constexpr bool valid() const {
    for (const gemm_shape& g : groups)
      if (!gemm(g).valid()) return false;
    return true;
  }
  constexpr kprof::arithmetic arithmetic() const { return gemm({}).arithmetic(); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    count sum;
    for (const gemm_shape& g : groups) sum += gemm(g).flops();
    return sum;
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    traffic sum;
    for (const gemm_shape& g : groups) {
      const traffic one = gemm(g).bytes();
      sum.read += one.read;
      sum.written += one.written;
    }
    return sum;
  }
  constexpr void brief(brief_text& out) const {
    std::size_t used = Capacity;
    while (used > 0 && groups[used - 1].M == 0 && groups[used - 1].N == 0 &&
           groups[used - 1].K == 0)
      --used;
    if (used == 0) out.put("no product");
    for (std::size_t i = 0; i < used; ++i)
      detail::sizes(out.item(""), groups[i].M, groups[i].N, groups[i].K);
    detail::types(out, *this);
  }

 private:
  constexpr Gemm gemm(const gemm_shape& s) const {
    return {.M = s.M,
            .N = s.N,
            .K = s.K,
            .batch = 1,
            .dtypeA = dtypeA,
            .dtypeB = dtypeB,
            .dtypeC = dtypeC};
  }
};

/// A grouped product whose groups differ in M alone, and each has a B of its own.
/// FLOPs: 2 M N K
/// read: bytes(M K, dtypeA) + bytes(active_groups K N, dtypeB or dtypeA)
/// written: bytes(M N, dtypeC or dtypeA)
/// source: triton_kernels matmul_details, which counts the weights of groups with rows
struct RaggedGemm {
  extent M = 1;  ///< rows of all groups together
  extent N = 1, K = 1;
  extent groups = 1;         ///< with rows or without; of consequence for valid() alone
  extent active_groups = 1;  ///< those with rows: only their B is read
  dtype dtypeA = dtype::f32, dtypeB = dtype::unknown, dtypeC = dtype::unknown;

  constexpr dtype typeB() const { return detail::type_or(dtypeB, dtypeA); }
  constexpr dtype typeC() const { return detail::type_or(dtypeC, dtypeA); }
  constexpr bool valid() const {
    return detail::not_negative(M, N, K, active_groups) && active_groups <= groups &&
           active_groups <= M && (M == 0) == (active_groups == 0) &&
           detail::multiplies(dtypeA, typeB(), typeC());
  }
  constexpr kprof::arithmetic arithmetic() const { return detail::matmul(dtypeA, typeB()); }
  constexpr count flops() const {
    return detail::sensible(valid()) ? detail::fma_flops(dtypeA) * M * N * K : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0 || N == 0) return {};
    return {
        .read = bytes_for(count{M} * K, dtypeA) + bytes_for(count{active_groups} * K * N, typeB()),
        .written = bytes_for(count{M} * N, typeC())};
  }
  constexpr void brief(brief_text& out) const {
    detail::product(out, *this);
    detail::groups_of(out, active_groups, groups, " groups");
  }
};

enum class bias_kind : std::uint8_t { none, per_col, per_row };

/// Gemm with what is fused behind it: a bias of N (per_col) or M (per_row) elements, an activation,
/// a residual of the output's shape. Each is one FLOP per output element. All of them have the type
/// of D.
/// FLOPs: (2 K + [bias != none] + [act != none] + [residual]) M N batch
/// read: bytes(batch M K, dtypeA) + bytes(batch K N, dtypeB or dtypeA) + ([beta] + [residual])
///   bytes(batch M N, dtypeC or dtypeA) + bytes([bias = per_col] N + [bias = per_row] M, dtypeC or
///   dtypeA)
/// written: bytes(batch M N, dtypeC or dtypeA)
/// transcendentals: [act in (gelu, silu, sigmoid, tanh, elu, softplus, mish)] M N batch
/// source: XLA hlo_cost_analysis.cc for what is fused, 1 FLOP an element
/// others: PyTorch, fvcore and PyProf count no bias and no activation; XLA counts a sigmoid as 3
///   and a transcendental
struct GemmEpilogue {
  extent M = 1, N = 1, K = 1;
  extent batch = 1;
  dtype dtypeA = dtype::f32, dtypeB = dtype::unknown, dtypeC = dtype::unknown;
  bool beta = false;
  bool transA = false, transB = false;
  bias_kind bias = bias_kind::none;   ///< of N elements, per_col, or of M, per_row
  activation act = activation::none;  ///< applied last
  bool residual = false;              ///< a tensor of D's shape is added

  constexpr Gemm gemm() const {
    return {.M = M,
            .N = N,
            .K = K,
            .batch = batch,
            .dtypeA = dtypeA,
            .dtypeB = dtypeB,
            .dtypeC = dtypeC,
            .beta = beta,
            .transA = transA,
            .transB = transB};
  }
  constexpr bool valid() const {
    return gemm().valid() && bias <= bias_kind::per_row && detail::known_activation(act);
  }
  constexpr kprof::arithmetic arithmetic() const { return gemm().arithmetic(); }
  constexpr count flops() const {
    if (!detail::sensible(valid())) return count::invalid();
    const int fused =
        (bias != bias_kind::none ? 1 : 0) + (act != activation::none ? 1 : 0) + (residual ? 1 : 0);
    return gemm().flops() + count{batch} * M * N * fused;
  }
  /// Of the activation.
  constexpr count transcendentals() const {
    return detail::sensible(valid())
               ? count{batch} * M * N * (detail::is_transcendental(act) ? 1 : 0)
               : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    traffic t = gemm().bytes();
    if (M == 0 || N == 0 || batch == 0) return t;
    if (bias != bias_kind::none)
      t.read += bytes_for(bias == bias_kind::per_col ? N : M, gemm().typeC());
    if (residual) t.read += bytes_for(count{batch} * M * N, gemm().typeC());
    return t;
  }
  constexpr void brief(brief_text& out) const {
    detail::product(out, *this);
    detail::flag(out, bias == bias_kind::per_col, "bias");
    detail::flag(out, bias == bias_kind::per_row, "bias per row");
    detail::flag(out, residual, "residual");
    if (act != activation::none) detail::name_in(out.item(""), "act", act);
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
