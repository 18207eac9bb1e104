// SPDX-License-Identifier: MIT
// Checked counts: in a constant expression each mistake names itself.
// expect-anywhere: formula_overflows_64_bits
// expect-anywhere: formula_overflows_64_bits
// expect-anywhere: formula_has_a_negative_count
// expect-anywhere: formula_has_a_negative_count
// expect-anywhere: formula_divides_by_zero
// expect-anywhere: dtype_has_no_whole_byte_size
#include <kprof/declare/dtype.hpp>

using kprof::count;
static_assert(count{1ULL << 31} * count{1ULL << 31} == count{1ULL << 62});
static_assert(count{7} - 7 == 0 && count{7} / 2 == 3 && size_of(kprof::dtype::f32) == 4);

#ifdef KPROF_TEST_BAD
#if KPROF_TEST_BAD == 1
static_assert(count{1ULL << 32} * count{1ULL << 32} == 0);
#elif KPROF_TEST_BAD == 2
static_assert(count{~0ULL - 1} + 2 == 0);
#elif KPROF_TEST_BAD == 3
static_assert(count{3} - 4 == 0);
#elif KPROF_TEST_BAD == 4
static_assert(count{-1} == 0);
#elif KPROF_TEST_BAD == 5
static_assert(count{3} / 0 == 0);
#elif KPROF_TEST_BAD == 6
static_assert(size_of(kprof::dtype::int4) == 0);
#endif
#endif
