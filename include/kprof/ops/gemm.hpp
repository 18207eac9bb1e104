// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_GEMM_HPP
#define KPROF_OPS_GEMM_HPP

// Products of matrices: plain, batched, with broadcast operands, grouped, with an epilogue, sparse,
// block-scaled, and fully connected layers. D[M,N] = A[M,K] B[K,N] (+ C), row-major; layout does
// not change a count. All FLOPs are 2 M N K (8 for complex types), as PyProf, PyTorch's flop
// counter, CUTLASS and oneDNN have it. An empty product reads nothing.

#include <kprof/ops/common.hpp>

#include <cstddef>

KPROF_DETAIL_BEGIN
namespace ops {

/// D = A B, and + beta C where `beta`; `batch` times, each time with operands of its own.
///     KPROF_OP(kprof::ops::Gemm, {.M = m, .N = n, .K = k, .dtypeA = f16, .dtypeB = f16, .dtypeC =
///     f16});
/// FLOPs: 2 M N K batch
/// read: bytes(batch M K, dtypeA) + bytes(batch K N, dtypeB or dtypeA) + [beta] bytes(batch M N,
///   dtypeC or dtypeA)
/// written: bytes(batch M N, dtypeC or dtypeA)
/// source: PyProf blas.py, PyTorch flop_counter.py, Triton's Proton, oneDNN
/// others: CUTLASS adds 2 M N for its epilogue; DeepSpeed adds M N for addmm; fvcore counts M N K;
///   rocBLAS takes K = 0 for 1
struct Gemm {
  std::int64_t M = 1, N = 1, K = 1;  ///< rows of A and D; columns of B and D; columns of A, rows
                                     ///< of B
  std::int64_t batch = 1;
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
};

/// PyTorch's bmm: Gemm without C.
/// like: Gemm, dtypeA = type, dtypeB = type, dtypeC = type
struct Bmm {
  std::int64_t batch = 1;
  std::int64_t M = 1, N = 1, K = 1;
  dtype type = dtype::f32;

  constexpr Gemm gemm() const {
    return {.M = M, .N = N, .K = K, .batch = batch, .dtypeA = type, .dtypeB = type, .dtypeC = type};
  }
  constexpr bool valid() const { return gemm().valid(); }
  constexpr kprof::arithmetic arithmetic() const { return gemm().arithmetic(); }
  constexpr count flops() const { return gemm().flops(); }
  constexpr traffic bytes() const { return gemm().bytes(); }
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

  std::int64_t M = 1, N = 1, K = 1;
  std::int64_t batch = 1;
  std::int64_t strideA = dense, strideB = dense, strideC = dense;  ///< elements from one product's
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
    const count a = count{strideA == 0 ? 1 : batch} * M * K,
                b = count{strideB == 0 ? 1 : batch} * K * N;
    return {.read = bytes_for(a, dtypeA) + bytes_for(b, typeB()) + (beta ? c : 0), .written = c};
  }
};

/// Shape of one product of a group.
struct gemm_shape {
  std::int64_t M = 0, N = 0, K = 0;
};

/// Products of any shapes in one call, at most `Capacity` of them. Empty ones cost nothing, and so
/// do those that are left out. Where all share N and K, as the experts of a mixture do, RaggedGemm
/// takes any number of them.
///     KPROF_OP(kprof::ops::GroupedGemm<2>, {.groups = {{{64, 128, 32}, {16, 128, 32}}}, .dtypeA =
///     bf16});   // GroupedGemm<>: up to 8
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
  std::int64_t M = 1;  ///< rows of all groups together
  std::int64_t N = 1, K = 1;
  std::int64_t groups = 1;         ///< with rows or without; of consequence for valid() alone
  std::int64_t active_groups = 1;  ///< those with rows: only their B is read
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
  std::int64_t M = 1, N = 1, K = 1;
  std::int64_t batch = 1;
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
};

/// A fully connected layer over `tokens` rows: y[T,O] = x[T,I] w[O,I] (+ bias[O]). fprop, dgrad
/// (dx), wgrad (dw), bgrad (db).
/// FLOPs(fprop): (2 in_features + [bias]) tokens out_features
/// FLOPs(dgrad, wgrad): 2 tokens in_features out_features
/// FLOPs(bgrad): tokens out_features
/// read(fprop): x + w + [bias] b
/// read(dgrad): y + w
/// read(wgrad): x + y
/// read(bgrad): y
/// written(fprop): y
/// written(dgrad): x
/// written(wgrad): w
/// written(bgrad): b
/// parameters: (in_features + [bias]) out_features
/// where: x = bytes(tokens in_features, type)
/// where: y = bytes(tokens out_features, type)
/// where: w = bytes(in_features out_features, dtypeW or type)
/// where: b = bytes(out_features, dtypeW or type)
/// source: PyTorch flop_counter.py, DeepSpeed; the bias as in DeepSpeed's convolutions
/// others: PyTorch, fvcore and DeepSpeed count no bias; PyProf linear.py scales the input alone by
///   the width of an element
struct Linear {
  std::int64_t tokens = 1;                         ///< product of the leading dimensions
  std::int64_t in_features = 1, out_features = 1;  ///< elements of a row of x; elements of a row
                                                   ///< of y
  bool bias = false;  ///< of consequence for fprop: bgrad is a call of its own
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
    return detail::fma_flops(type) * out * in_features +
           (bias && pass == ops::pass::fprop ? out : 0);
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
      default: return {.read = y == 0 ? 0 : x + w + (bias ? b : 0), .written = y};
    }
  }
  /// Weights and bias.
  constexpr count parameters() const {
    return count{in_features} * out_features + (bias ? out_features : 0);
  }
};

/// Gemm whose A has two zeros in each four elements (2:4; one in two for 32-bit types, four in
/// eight for 4-bit types). FLOPs are those of the dense product, as CUTLASS reports them;
/// sparse_flops() are those that are executed. Of A the half is read, and its metadata: 2 bits for
/// each element kept, 4 for 32-bit types, 1 for 4-bit types.
/// FLOPs: 2 M N K
/// sparse_flops: M N K
/// read: bytes(M K / 2, dtypeA) + ceil(M K / 2 metadata_bits / 8) + bytes(K N, dtypeB) + [beta]
///   bytes(M N, dtypeC)
/// written: bytes(M N, dtypeC)
/// where: metadata_bits = 1 + [bits(dtypeA) != 4] + 2 [bits(dtypeA) = 32]
/// source: CUTLASS sparse_gemm_operation_profiler.cu
/// others: CUTLASS adds 2 M N for its epilogue
struct SparseGemm {
  std::int64_t M = 1, N = 1, K = 4;
  dtype dtypeA = dtype::f16, dtypeB = dtype::f16, dtypeC = dtype::f16;
  bool beta = false;

  constexpr bool valid() const {
    const unsigned bits = bits_of(dtypeA);
    const std::int64_t step = bits == 32 ? 2 : bits == 4 ? 8 : 4;
    return detail::not_negative(M, N, K) && detail::real(dtypeA, dtypeB, dtypeC) && bits <= 32 &&
           K % step == 0;
  }
  // no other unit has it
  constexpr kprof::arithmetic arithmetic() const { return {dtypeA, arithmetic_unit::tensor_core}; }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{2} * M * N * K : count::invalid();
  }
  constexpr count sparse_flops() const { return flops() / 2; }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0 || N == 0) return {};
    const count kept = count{M} * K / 2, c = bytes_for(count{M} * N, dtypeC);
    const unsigned metadata_bits = bits_of(dtypeA) == 32 ? 4 : bits_of(dtypeA) == 4 ? 1 : 2;
    return {.read = bytes_for(kept, dtypeA) + (kept * metadata_bits + 7) / 8 +
                    bytes_for(count{K} * N, dtypeB) + (beta ? c : 0),
            .written = c};
  }
};

/// Gemm of types below 16 bits whose operands carry a scale of 8 bits for each `block` elements
/// along K: OCP microscaling (block 32, e8m0) and NVFP4 (block 16, e4m3). Scales are counted
/// without the padding that CUTLASS's layout adds.
/// FLOPs: 2 M N K
/// read: bytes(M K, dtypeA) + bytes(K N, dtypeB) + (M + N) ceil(K / block) + [beta] bytes(M N,
///   dtypeC)
/// written: bytes(M N, dtypeC)
/// source: CUTLASS block_scaled_gemm_operation_profiler.cu
/// others: CUTLASS pads the scales to 128 x 4 and adds 2 M N for its epilogue
struct BlockScaledGemm {
  std::int64_t M = 1, N = 1, K = 32;
  std::int64_t block = 32;  ///< elements along K that share a scale
  dtype dtypeA = dtype::fp8_e4m3, dtypeB = dtype::fp8_e4m3, dtypeC = dtype::bf16;
  bool beta = false;

  constexpr bool valid() const {
    return detail::not_negative(M, N, K) && detail::positive(block) &&
           detail::real(dtypeA, dtypeB, dtypeC) && bits_of(dtypeA) < 16 && bits_of(dtypeB) < 16;
  }
  constexpr kprof::arithmetic arithmetic() const { return {dtypeA, arithmetic_unit::tensor_core}; }
  constexpr count flops() const {
    return detail::sensible(valid()) ? count{2} * M * N * K : count::invalid();
  }
  constexpr traffic bytes() const {
    if (!detail::sensible(valid())) return detail::invalid_traffic;
    if (M == 0 || N == 0) return {};
    const count scales = (count{M} + N) * detail::ceil_div(K, block),
                c = bytes_for(count{M} * N, dtypeC);
    return {.read = bytes_for(count{M} * K, dtypeA) + bytes_for(count{K} * N, dtypeB) + scales +
                    (beta ? c : 0),
            .written = c};
  }
};

}  // namespace ops
KPROF_DETAIL_END

#endif
