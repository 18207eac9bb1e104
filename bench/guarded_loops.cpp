// SPDX-License-Identifier: MIT

// The code under test, as a library that uses kprof has it: only guard.hpp, which arms nothing. The
// very same machine code is idle, recording or emitting, as the session is.

#include "loops.hpp"

#include <kprof/guard.hpp>

namespace {

struct Conv {
  std::int64_t n = 0, c = 0, h = 0, w = 0, k = 0, r = 0, s = 0, stride = 1;
  constexpr kprof::count flops() const { return kprof::count{2} * n * c * h * w * k * r * s; }
};

struct Barrier {
  constexpr kprof::count flops() const { return kprof::count{0}; }
};

}  // namespace

#if KPROF_BENCH_LIBRARY
namespace bench::in_library {
#elif KPROF_ENABLE
namespace bench::on {
#else
namespace bench::off {
#endif

void op(std::int64_t scopes, const shape& values) {
  for (std::int64_t i = 0; i < scopes; ++i) {
    KPROF_OP(Conv, {.n = i % layers,
                    .c = values.c,
                    .h = values.h,
                    .w = values.w,
                    .k = values.k,
                    .r = values.r,
                    .s = values.s,
                    .stride = values.stride});
    work();
  }
}

void op_from_struct(std::int64_t scopes, const shape& values) {
  Conv params{0, values.c, values.h, values.w, values.k, values.r, values.s, values.stride};
  for (std::int64_t i = 0; i < scopes; ++i) {
    params.n = i % layers;
    KPROF_OP(Conv, params);
    work();
  }
}

void op_without_fields(std::int64_t scopes, const shape&) {
  for (std::int64_t i = 0; i < scopes; ++i) {
    KPROF_OP(Barrier);
    work();
  }
}

void region(std::int64_t scopes, const shape&) {
  for (std::int64_t i = 0; i < scopes; ++i) {
    KPROF_REGION("encoder.layer");
    work();
  }
}

}  // namespace bench::in_library, bench::on or bench::off
