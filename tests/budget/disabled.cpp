// SPDX-License-Identifier: MIT
// With KPROF_TEST_GUARDED the function has scopes, compiled out; without it the file knows nothing
// of kprof.
#ifdef KPROF_TEST_GUARDED
#define KPROF_ENABLE 0
#include <kprof/guard.hpp>
#else
#define KPROF_OP(...) static_cast<void>(0)
#define KPROF_REGION(...) static_cast<void>(0)
#endif

struct Saxpy {
  long n = 0;
  float a = 0;
#ifdef KPROF_TEST_GUARDED
  constexpr kprof::count flops() const { return kprof::count{2} * n; }
#endif
};

// never called: a parameter of a scope that is compiled out
long expensive(const float* x, long n);

float saxpy(float a, const float* x, float* y, long n) {
  KPROF_REGION("layer");
  KPROF_OP(Saxpy, {.n = n, .a = a});
  float sum = 0;
  for (long i = 0; i < n; ++i) {
    KPROF_OP(Saxpy, {.n = expensive(x, i), .a = a});
    y[i] += a * x[i];
    sum += y[i];
  }
  const Saxpy params{.n = n, .a = sum};
  { KPROF_OP(Saxpy, params); }
#ifdef KPROF_TEST_GUARDED
  kprof::op_guard guard{params};
  kprof::region_guard region{"tail"};
  kprof::context_guard under{kprof::context::current()};
#endif
  return sum;
}
