// SPDX-License-Identifier: MIT
// Parameters of the catalogue's operators that make no sense, in a constant expression.
// expect-anywhere: kprof: a size is negative or too large, or sizes, types and pass do not match
// expect-anywhere: kprof: a size is negative or too large, or sizes, types and pass do not match
// expect-anywhere: kprof: a size is negative or too large, or sizes, types and pass do not match
// expect-anywhere: kprof: a size is negative or too large, or sizes, types and pass do not match
// expect-anywhere: kprof: valid() does not hold for these parameters
// expect-anywhere: formula_overflows_64_bits
#include <kprof/op.hpp>
#include <kprof/ops/conv.hpp>
#include <kprof/ops/gemm.hpp>
#include <kprof/ops/pointwise.hpp>

using namespace kprof::ops;
constexpr std::int64_t large = std::int64_t{1} << 40;
static_assert(Conv2d{.N = 2, .C = 6, .H = 5, .W = 5, .K = 4, .R = 3, .S = 3, .g = 2}.flops() ==
              2 * 2 * 4 * 9 * 3 * 9);

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
static_assert(Gemm{.M = -1}.flops() == 0);
#elif KPROF_TEST_BAD == 2
static_assert(Conv2d{.C = 6, .K = 4, .g = 4}.flops() == 0);
#elif KPROF_TEST_BAD == 3
static_assert(Conv2d{.H = 2, .W = 2, .R = 3, .S = 3}.bytes().total() == 0);
#elif KPROF_TEST_BAD == 4
static_assert(Add{.a = {2, 3}, .b = {2}}.flops() == 0);
#elif KPROF_TEST_BAD == 5
static_assert(kprof::flops_of(Gemm{.M = -1}) == 0);
#elif KPROF_TEST_BAD == 6
static_assert(Gemm{.M = large, .N = large}.flops() == 0);
#endif
#endif
