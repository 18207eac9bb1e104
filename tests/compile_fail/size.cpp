// SPDX-License-Identifier: MIT
// Integers of every type are sizes, without a warning. What is none is refused where the field is
// named.
// expect: extent
// expect-anywhere: .M = fraction
// expect-anywhere: .width = fraction
// expect: extent
// expect: extent
// expect-anywhere: size_exceeds_64_bits
#pragma GCC diagnostic error "-Wconversion"
#pragma GCC diagnostic error "-Wsign-conversion"
#include <kprof/guard.hpp>
#include <kprof/ops.hpp>

#include <array>
#include <string>
#include <vector>

using namespace kprof::ops;

struct Blur {
  kprof::extent width = 0, height = 0;
  std::array<kprof::extent, 2> strides{};
  constexpr kprof::count flops() const { return kprof::count{9} * width * height; }
};

void good(const std::vector<float>& v, unsigned n, unsigned char byte, unsigned long long wide) {
  KPROF_OP(Blur, {.width = v.size(), .height = n, .strides = {v.size(), 1}});
  KPROF_OP(Blur, {v.size(), n});
  KPROF_OP(Gemm, {.M = v.size(), .N = n, .K = 64});
  KPROF_OP(Gemm, {.M = std::string::npos, .N = byte, .K = wide, .batch = -1});
  KPROF_OP(Conv2d, {.N = v.size(), .C = n, .H = sizeof(n), .W = 'W', .g = true});
  KPROF_OP(Sdpa, {.window_left = v.size()});
  KPROF_OP(Add, {.a = {v.size(), n}, .b = {1, std::int16_t{2}}});
  KPROF_OP(Concat, {.inputs = {{v.size(), n}}});
  KPROF_OP(GroupedGemm<2>, {.groups = {{{v.size(), n, 32}}}});
  Gemm gemm{.M = v.size()};
  gemm.M += std::int64_t{gemm.N} * 2;
  KPROF_OP(Gemm, gemm);
}

#ifdef KPROF_TEST_BAD
enum unscoped { enumerator };
void bad([[maybe_unused]] double fraction, [[maybe_unused]] kprof::dtype type) {
#if KPROF_TEST_BAD == 1 || KPROF_TEST_BAD == 2
  KPROF_OP(Gemm, {.M = fraction});
#elif KPROF_TEST_BAD == 3
  KPROF_OP(Blur, {.width = fraction});
#elif KPROF_TEST_BAD == 4
  KPROF_OP(Gemm, {.M = type});
#elif KPROF_TEST_BAD == 5
  KPROF_OP(Gemm, {.M = enumerator});
#elif KPROF_TEST_BAD == 6
  constexpr Gemm gemm{.M = 0x8000'0000'0000'0000};
#endif
}
#endif
