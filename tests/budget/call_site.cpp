// SPDX-License-Identifier: MIT
// Functions without a scope and the same functions with one, for what a scope adds at its call
// site. What they do may throw, so that the scope must be closed on that way too, and does not end
// in a tail call, which a scope forbids.
#include <kprof/guard.hpp>

struct Params {
  std::int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
};
struct Tensor {
  void* data;
  std::int64_t n, c, h, w;
};

void work(const Params& p);
void work(const Tensor& x, const Tensor& y);
void work(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e,
          std::int64_t f, std::int64_t g, std::int64_t h);

#define KPROF_TEST_WORK(...) \
  work(__VA_ARGS__);         \
  __asm__ volatile("" ::: "memory")

extern "C" {

// Parameters that are there anyway.
void lvalue_bare(const Params& p) { KPROF_TEST_WORK(p); }
void lvalue_guarded(const Params& p) {
  KPROF_OP(Params, p);
  KPROF_TEST_WORK(p);
}

// Parameters put together from what the function works on.
void braced_bare(const Tensor& x, const Tensor& y) { KPROF_TEST_WORK(x, y); }
void braced_guarded(const Tensor& x, const Tensor& y) {
  KPROF_OP(Params,
           {.a = x.n, .b = x.c, .c = x.h, .d = x.w, .e = y.n, .f = y.c, .g = y.h, .h = y.w});
  KPROF_TEST_WORK(x, y);
}

// The worst case: eight parameters that all live on in registers, and must be kept over the scope's
// beginning.
void registers_bare(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e,
                    std::int64_t f, std::int64_t g, std::int64_t h) {
  KPROF_TEST_WORK(a, b, c, d, e, f, g, h);
}
void registers_guarded(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d,
                       std::int64_t e, std::int64_t f, std::int64_t g, std::int64_t h) {
  KPROF_OP(Params, {.a = a, .b = b, .c = c, .d = d, .e = e, .f = f, .g = g, .h = h});
  KPROF_TEST_WORK(a, b, c, d, e, f, g, h);
}
}
