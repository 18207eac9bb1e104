// SPDX-License-Identifier: MIT
// One function without a scope and the same function with one, for the size of a call site. What the function does may
// throw, so that the scope must also be closed on that way, and does not end in a tail call, which a scope forbids.
#include <kprof/guard.hpp>

struct Params {
  std::int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
};

void work(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e, std::int64_t f, std::int64_t g, std::int64_t h);

#define KPROF_TEST_WORK(p)                                     \
  work(p.a, p.b, p.c, p.d, p.e, p.f, p.g, p.h);                \
  __asm__ volatile("" ::: "memory")
#define KPROF_TEST_WORK_OF_EIGHT                               \
  work(a, b, c, d, e, f, g, h);                                \
  __asm__ volatile("" ::: "memory")

extern "C" {

void lvalue_bare(const Params& p) { KPROF_TEST_WORK(p); }

void lvalue_guarded(const Params& p) {
  KPROF_OP(Params, p);
  KPROF_TEST_WORK(p);
}

void braced_bare(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e, std::int64_t f, std::int64_t g, std::int64_t h) {
  KPROF_TEST_WORK_OF_EIGHT;
}

void braced_guarded(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d, std::int64_t e, std::int64_t f, std::int64_t g, std::int64_t h) {
  KPROF_OP(Params, {.a = a, .b = b, .c = c, .d = d, .e = e, .f = f, .g = g, .h = h});
  KPROF_TEST_WORK_OF_EIGHT;
}

}
