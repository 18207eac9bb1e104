// SPDX-License-Identifier: MIT
//
// The catalogue in constant expressions of nvcc, whatever its host compiler is. With clang++, nvcc
// 13 forgets the defaults of members that designated initialisers leave out before the last one
// they name: an operator that is turned into a more general one must name all. Members are assigned
// here for the same reason. Compiled, not run.

#include <kprof/ops.hpp>

namespace {

using namespace kprof::ops;
using kprof::dtype;

static_assert(catalogue::contains("Conv2d"));  // all formulas are constant expressions

/// `Op` with fields set by `set`.
template <class Op, class Set>
constexpr Op with(Set set) {
  Op op;
  set(op);
  return op;
}
/// FLOPs and bytes of both, which are not nothing.
template <class A, class B>
constexpr bool same(const A& a, const B& b) {
  return a.flops() == b.flops() && a.flops().value() > 0 && a.bytes().read == b.bytes().read &&
         a.bytes().written == b.bytes().written && a.bytes().read.value() > 0;
}

constexpr auto along_w = [](auto& o) { o.N = 2, o.C = 4, o.W = 32; };
constexpr auto plane = [](auto& o) { along_w(o), o.H = 16; };
constexpr auto filters = [](auto& o) { o.K = 8, o.S = 3, o.pw = 1, o.V = 2; };
constexpr auto filters_2d = [](auto& o) { filters(o), o.R = 5, o.ph = 2; };
constexpr auto image = [](auto& o) { plane(o), filters_2d(o); };
constexpr auto line = [](auto& o) { along_w(o), filters(o); };
static_assert(same(with<Conv2d>(image), with<Conv3d>(image)));
static_assert(same(with<Conv1d>(line), with<Conv3d>(line)));
static_assert(with<Conv2d>(image).flops() == 2 * 2 * 4 * 8 * 16 * 16 * 5 * 3);
static_assert(same(with<ConvTranspose2d>(image), with<ConvTranspose3d>(image)));
static_assert(same(with<ConvTranspose1d>(line), with<ConvTranspose3d>(line)));

constexpr auto window = [](auto& o) { plane(o), o.R = 3, o.S = 3, o.U = 2, o.V = 2; };
constexpr auto window_1d = [](auto& o) { along_w(o), o.S = 3, o.V = 2; };
static_assert(same(with<MaxPool2d>(window), with<MaxPool3d>(window)));
static_assert(same(with<MaxPool1d>(window_1d), with<MaxPool3d>(window_1d)));
static_assert(same(with<AvgPool2d>(window), with<AvgPool3d>(window)));
static_assert(same(with<AvgPool1d>(window_1d), with<AvgPool3d>(window_1d)));
static_assert(same(with<AvgPool3d>(window), with<MaxPool3d>(window)));
constexpr auto adapted = [](auto& o) { plane(o), o.P = 4, o.Q = 8; };
constexpr auto adapted_1d = [](auto& o) { along_w(o), o.Q = 8; };
static_assert(same(with<AdaptiveAvgPool2d>(adapted), with<AdaptiveAvgPool3d>(adapted)));
static_assert(same(with<AdaptiveAvgPool1d>(adapted_1d), with<AdaptiveAvgPool3d>(adapted_1d)));

constexpr auto cell = [](auto& o) { o.B = 4, o.input_size = 8, o.H = 16; };
static_assert(with<RnnCell>(cell).flops() == with<Rnn>(cell).flops() &&
              with<RnnCell>(cell).flops().value() > 0);
static_assert(with<LstmCell>(cell).flops() == with<Lstm>(cell).flops() &&
              with<Lstm>(cell).flops() == 4 * with<Rnn>(cell).flops().value());
static_assert(with<GruCell>(cell).flops() == with<Gru>(cell).flops() &&
              with<Gru>(cell).flops() == 3 * with<Rnn>(cell).flops().value());

constexpr auto sizes = [](auto& o) { o.M = 8, o.N = 16, o.K = 32; };
constexpr auto one_group = [](GroupedGemm<>& o) {
  gemm_shape shape;
  sizes(shape);
  o.groups = {shape};
};
static_assert(same(with<GroupedGemm<>>(one_group), with<Gemm>(sizes)));
constexpr auto router = [](auto& o) { o.tokens = 8, o.experts = 16, o.hidden = 32; };
static_assert(with<MoeRouter>(router).flops().value() > 0);

}  // namespace

int main() {}
