// SPDX-License-Identifier: MIT
// expect: kprof: the operator has no field `pass`, so no backward calls; add it with add()
#include <kprof/ops/gemm.hpp>
#include <kprof/ops/network.hpp>

#ifdef KPROF_TEST_BAD
using Layer = kprof::ops::Gemm;
#else
using Layer = kprof::ops::Linear;
#endif
static_assert(kprof::ops::network{}.add_with_backward(Layer{}).valid());
