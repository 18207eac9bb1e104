// SPDX-License-Identifier: MIT
#ifndef KPROF_OPS_HPP
#define KPROF_OPS_HPP

// The catalogue: operators that deep-learning frameworks and HPC codes run, ready to guard, and the
// list of them. Each family can be included by itself, kprof/ops/conv.hpp for instance. Declares
// only: it arms nothing and has no state.
//
//   KPROF_OP(kprof::ops::Conv2d, {.N = 32, .C = 3, .H = 224, .W = 224, .K = 64, .R = 7, .S = 7,
//                                 .ph = 3, .pw = 3, .U = 2, .V = 2});

#include <kprof/build_options.hpp>
#include <kprof/ops/activation.hpp>
#include <kprof/ops/attention.hpp>
#include <kprof/ops/blas.hpp>
#include <kprof/ops/collective.hpp>
#include <kprof/ops/conv.hpp>
#include <kprof/ops/fft.hpp>
#include <kprof/ops/gemm.hpp>
#include <kprof/ops/indexing.hpp>
#include <kprof/ops/lapack.hpp>
#include <kprof/ops/loss.hpp>
#include <kprof/ops/moe.hpp>
#include <kprof/ops/movement.hpp>
#include <kprof/ops/network.hpp>
#include <kprof/ops/norm.hpp>
#include <kprof/ops/optimizer.hpp>
#include <kprof/ops/pointwise.hpp>
#include <kprof/ops/pool.hpp>
#include <kprof/ops/primitives.hpp>
#include <kprof/ops/quantize.hpp>
#include <kprof/ops/reduction.hpp>
#include <kprof/ops/rnn.hpp>
#include <kprof/ops/softmax.hpp>
#include <kprof/ops/sparse.hpp>
#include <kprof/ops/stencil.hpp>
#include <kprof/registry.hpp>

KPROF_DETAIL_BEGIN
namespace ops {

/// Every operator of the catalogue, names distinct. A grouped product stands for those of all
/// capacities.
///     static_assert(kprof::ops::catalogue::contains("Conv2d"));
using catalogue = op_registry<
    Gemm, Bmm, GemmStridedBatched, GroupedGemm<>, RaggedGemm, GemmEpilogue, Linear, SparseGemm,
    BlockScaledGemm, GemmQuant, Quantize, Dequantize, Conv1d, Conv2d, Conv3d, ConvTranspose1d,
    ConvTranspose2d, ConvTranspose3d, MaxPool1d, MaxPool2d, MaxPool3d, AvgPool1d, AvgPool2d,
    AvgPool3d, AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, BatchNorm, LayerNorm,
    GroupNorm, InstanceNorm, RmsNorm, Softmax, LogSoftmax, Activation, Relu, Gelu, Silu, Sigmoid,
    Tanh, Elu, LeakyRelu, Softplus, Hardswish, Mish, Prelu, Glu, Swiglu, Geglu, Reglu, Unary, Neg,
    Abs, Reciprocal, Square, Exp, Log, Sqrt, Rsqrt, Sin, Cos, Erf, Binary, Add, Sub, Mul, Div, Pow,
    Maximum, Minimum, Eq, Ne, Lt, Le, Gt, Ge, Ternary, Fma, Addcmul, Addcdiv, Lerp, Where, Clamp,
    Dropout, Reduce, Sum, Mean, Max, Min, Prod, Norm2, Var, Argmax, Argmin, Embedding, Gather,
    IndexSelect, Scatter, ScatterAdd, MaskedSelect, Concat, Slice, Copy, Transpose, Permute, Cast,
    Reshape, Fill, Memcpy, Memset, CrossEntropy, Nll, Mse, Sgd, Momentum, Adam, AdamW, Lamb,
    RnnCell, LstmCell, GruCell, Rnn, Lstm, Gru, Sdpa, DecodeAttention, MlaDecode, Rope, MoeRouter,
    MoeMlp, Collective, AllReduce, ReduceScatter, AllGather, AllToAll, CollectiveGather,
    CollectiveScatter, Broadcast, CollectiveReduce, SendRecv, Fft, SpmvCsr, SpmvCoo, SpmmCsr,
    Stencil, Sort, Scan, Histogram, ReduceArray, TransposeMatrix, Stream, Axpy, Dot, Nrm2, Asum,
    Scal, CopyVector, Swap, Gemv, Ger, Symv, Trmv, Trsv, Syr, Symm, Syrk, Syr2k, Trmm, Trsm, Getrf,
    Potrf, Geqrf, Getrs, Potrs, Getri, Gesv>;

}  // namespace ops
KPROF_DETAIL_END

#endif
