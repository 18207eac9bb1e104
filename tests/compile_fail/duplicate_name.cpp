// SPDX-License-Identifier: MIT
// Two operators of one name could not be told apart in a report.
// expect: kprof: two operators of the registry have the same name; give one of them `static
//   constexpr const char* name`
// expect: kprof: two operators of the registry have the same name
// expect: kprof: two operators of the registry have the same name
// expect: kprof: two operators of the registry have the same name
#include <kprof/registry.hpp>

namespace a {
struct Gemm {
  int m, n, k;
};
}  // namespace a
namespace b {
struct Gemm {
  int m, n, k;
  static constexpr const char* name = "BatchedGemm";
};
}  // namespace b
template <class T>
struct Conv {
  int n;
};
static_assert(kprof::op_registry<a::Gemm, b::Gemm, Conv<float>, Conv<double>>::size == 4);
static_assert(kprof::op_registry<>::size == 0);

#ifdef KPROF_TEST_BAD
namespace c {
struct Gemm {
  int m;
};
}  // namespace c
struct Renamed {
  int n;
  static constexpr const char* name = "Conv<float>";
};
#if KPROF_TEST_BAD == 1
static_assert(kprof::op_registry<a::Gemm, c::Gemm>::size == 2);
#elif KPROF_TEST_BAD == 2
static_assert(kprof::op_registry<a::Gemm, b::Gemm, Conv<float>, a::Gemm>::contains("x"));
#elif KPROF_TEST_BAD == 3
static_assert(kprof::op_registry<Conv<float>, Conv<double>, Renamed>::index_of("x") == 0);
#elif KPROF_TEST_BAD == 4
void bad() { kprof::op_registry<a::Gemm, c::Gemm>::enroll(); }
#endif
#endif
