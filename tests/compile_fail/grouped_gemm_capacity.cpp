// SPDX-License-Identifier: MIT
// expect: kprof: a GroupedGemm holds 1 to 40 shapes; use RaggedGemm or a guard for each product
#include <kprof/op.hpp>
#include <kprof/ops/gemm.hpp>

#ifdef KPROF_TEST_BAD
constexpr std::size_t capacity = 41;
#else
constexpr std::size_t capacity = 40;
#endif
static_assert(kprof::flops_of(kprof::ops::GroupedGemm<capacity>{}) == 0);
